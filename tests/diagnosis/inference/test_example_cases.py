"""Conditions on made-up cases."""

from typing import Any

import pytest

from postmortem.diagnosis.inference import example_cases
from postmortem.diagnosis.inference.predicates import (
    _ANSWERS,
    _TRACEBACK,
    evaluate_conditions,
    evaluate_predicate,
)
from postmortem.rules.cause_rules import Condition, ConditionSet
from postmortem.rules.predicate_schema import PredicateEntry, TracebackQuestion


@pytest.mark.parametrize(
    ("predicate", "example", "is_held"),
    [
        ({"signature": ["a.b", "a.c"]}, {"signatures": ["a.c"]}, True),
        ({"signature": "a.*"}, {"signatures": ["ab.c"]}, False),
        ({"shape": "zero-loss"}, {"shapes": ["zero-loss"]}, True),
        ({"precision": "fp16"}, {"environment": {"precision": "fp16"}}, True),
        ({"precision": "fp16"}, {}, False),
        ({"framework": ["peft", "trl"]}, {"frameworks": ["trl"]}, True),
        ({"setting": {"lr": ">= 1e-3"}}, {"settings": {"lr": "2e-3"}}, True),
        ({"setting": {"lr": ">= 1e-3"}}, {"settings": {"lr": "2e-4"}}, False),
        ({"setting": {"fp16": True}}, {"settings": {"fp16": "True"}}, True),
        (
            {"package": {"torch": ">= 2.5, < 2.6"}},
            {"environment": {"packages": {"torch": "2.5.1"}}},
            True,
        ),
        (
            {"gpu": {"capability": "< 8.0"}},
            {"environment": {"gpus": [{"name": "Tesla V100", "capability": 7.0}]}},
            True,
        ),
        ({"gpu": {"capability": "< 8.0"}}, {"environment": {"gpus": [{"name": "X"}]}}, False),
        ({"env": {"driver": "< 525"}}, {"environment": {"driver": "470.82.01"}}, True),
        ({"outcome": ["failed", "stalled"]}, {"outcome": "stalled"}, True),
        (
            {"traceback": {"frame": "~:embedding$", "raised_in": "library"}},
            {"tracebacks": [{"frames": ["/x/site-packages/torch/f.py:embedding"]}]},
            True,
        ),
        (
            {"traceback": {"code": "~embed_tokens"}},
            {"tracebacks": [{"frames": ["/src/m.py:forward: x = self.embed_tokens(ids)"]}]},
            True,
        ),
        ({"all": [{"shape": "a"}, {"not": {"shape": "b"}}]}, {"shapes": ["a"]}, True),
        ({"all": [{"shape": "a"}, {"not": {"shape": "b"}}]}, {"shapes": ["a", "b"]}, False),
        ({"any": [{"shape": "a"}, {"shape": "b"}]}, {"shapes": ["b"]}, True),
    ],
)
def test_a_predicate_holds_in_a_made_up_case(
    predicate: dict[str, Any], example: dict[str, Any], *, is_held: bool
) -> None:
    """What an example does not name was not seen."""
    assert (
        evaluate_predicate(predicate, example_cases.build_example_case(example)) is not None
    ) == is_held


def test_an_example_that_says_otherwise_is_a_fault() -> None:
    """Of either kind, with its number."""
    condition = {
        "id": "an-example",
        "holds": {"shape": "zero-loss"},
        "examples": {
            "holds": [{"shapes": ["zero-loss"]}, {"shapes": ["plateau"]}],
            "fails": [{"shapes": ["zero-loss"]}, {}],
        },
    }
    assert [
        fault.what.split(":")[1].split(" of")[0]
        for fault in example_cases.find_condition_errors([condition])
    ] == [
        " it does not hold in example 2",
        " it holds in example 1",
    ]


@pytest.mark.parametrize(
    ("shapes", "lines"),
    [
        pytest.param(["a", "b"], ["a", "b"], id="all hold: what shows them, in the order of names"),
        pytest.param(["a"], None, id="one does not"),
        pytest.param(["a", "b", "c"], None, id="an exception holds"),
    ],
)
def test_an_item_holds_where_all_its_names_do_and_no_exception(
    shapes: list[str], lines: list[str] | None
) -> None:
    """The hits are those of the conditions; an exception that does not hold shows nothing."""
    a, b, c, d = (Condition(name, {}, {"shape": name}) for name in "abcd")
    hits = evaluate_conditions(
        ConditionSet((a, b), (c, d)), example_cases.build_example_case({"shapes": shapes})
    )
    assert (None if hits is None else [hit.id for hit in hits]) == lines


def test_every_key_of_a_predicate_has_an_answer() -> None:
    """What the check lets pass a run can ask; `condition` is written out before."""
    keys = {field.alias or name for name, field in PredicateEntry.model_fields.items()}
    assert keys - {"condition"} == set(_ANSWERS)
    assert set(TracebackQuestion.model_fields) == set(_TRACEBACK)
