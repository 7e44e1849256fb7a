"""What an item of a rule asks, by name."""

from typing import Any

import pytest

from postmortem.core.errors import PatternError
from postmortem.rules.base import load
from postmortem.rules.cause_rules import ALWAYS, Conditions

ENTRY = {
    "id": "rate-is-high",
    "meaning": {"en": "the rate is high", "zh": "学习率过高"},
    "holds": {"setting": {"learning_rate": ">= 1"}},
}


@pytest.mark.parametrize(
    ("name", "predicate"),
    [
        pytest.param("rate-is-high", ENTRY["holds"], id="a condition"),
        pytest.param("hidden-nan", {"shape": "hidden-nan"}, id="a shape of the curves"),
        pytest.param("a.signature", {"signature": "a.signature"}, id="a signature"),
        pytest.param("a.family.*", {"signature": "a.family.*"}, id="all signatures below"),
    ],
)
def test_a_name_is_a_condition_a_shape_or_a_signature(name: str, predicate: dict[str, Any]) -> None:
    """Dots make a signature; a shape is known; all else is written in `patterns/conditions`."""
    asked = Conditions([ENTRY], load().anomalies).read_conditions(
        {"if": [name], "not": [name]}, "a.yaml"
    )
    assert [one.predicate for one in (*asked.wanted, *asked.unwanted)] == [predicate, predicate]


def test_an_item_without_names_always_holds() -> None:
    """A fix without `if` and `not` is for every run."""
    assert Conditions([], ()).read_conditions({"id": "a.fix"}, "a.yaml") is ALWAYS


@pytest.mark.parametrize(
    ("item", "what"),
    [
        pytest.param(
            {"if": {"shape": "hidden-nan"}}, "where names belong", id="an inline predicate"
        ),
        pytest.param(
            {"not": {"shape": "hidden-nan"}}, "where names belong", id="an inline exception"
        ),
        pytest.param({"if": "hidden-nan"}, "where names belong", id="a bare name"),
        pytest.param({"when": {"shape": "hidden-nan"}}, "`when` is now", id="the former form"),
        pytest.param({"if": ["no-such-thing"]}, "'no-such-thing'", id="an unknown name"),
        pytest.param({"if": [3]}, "the name 3", id="no name at all"),
    ],
)
def test_what_is_no_name_is_refused_with_its_place(item: dict[str, Any], what: str) -> None:
    """Whoever wrote it is told to name it as a condition."""
    with pytest.raises(PatternError) as caught:
        Conditions([ENTRY], load().anomalies).read_conditions(item, "causes/mine.yaml")
    assert what in caught.value.what
    assert caught.value.where == "causes/mine.yaml"
    assert "conditions/<area>.yaml" in caught.value.mend
