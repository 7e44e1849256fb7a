"""Pattern folders as one plain value."""

from pathlib import Path
from typing import Any

import pytest

from postmortem.core.errors import PatternError
from postmortem.rules.compile import compile_folders, expand_conditions, strip_examples

SHAPE = {"shape": "hidden-nan"}


def conditions(**holds: Any) -> dict[str, dict[str, Any]]:
    """Conditions by name, with what they ask."""
    named = {name.replace("_", "-"): predicate for name, predicate in holds.items()}
    return {name: {"id": name, "holds": predicate} for name, predicate in named.items()}


@pytest.mark.parametrize(
    ("holds", "written_out"),
    [
        pytest.param({"condition": "b"}, SHAPE, id="a name"),
        pytest.param({"condition": ["b", "c"]}, {"any": [SHAPE, SHAPE]}, id="several: any of them"),
        pytest.param({"not": {"condition": "b"}}, {"not": SHAPE}, id="an exception"),
        pytest.param(
            {"any": [{"precision": "fp16"}, {"condition": "c"}]},
            {"any": [{"precision": "fp16"}, SHAPE]},
            id="within a list, and through another",
        ),
        pytest.param(
            {"condition": "b", "any": [{"condition": "c"}]},
            {"all": [SHAPE, {"any": [SHAPE]}]},
            id="beside another key",
        ),
        pytest.param(
            {"setting": {"all": "x", "condition": "y"}},
            {"setting": {"all": "x", "condition": "y"}},
            id="a setting of that name is none",
        ),
    ],
)
def test_names_in_a_condition_are_written_out(
    holds: dict[str, Any], written_out: dict[str, Any]
) -> None:
    """A run sees predicates only."""
    found = expand_conditions(conditions(a=holds, b=SHAPE, c={"condition": "b"}))
    assert {one["id"]: one["holds"] for one in found} == {"a": written_out, "b": SHAPE, "c": SHAPE}


@pytest.mark.parametrize(
    ("others", "what"),
    [
        pytest.param({}, "names b, which is not there", id="an unknown name"),
        pytest.param({"b": {"condition": "a"}}, "names itself in the end", id="a circle of two"),
        pytest.param(
            {"b": {"not": {"condition": "b"}}}, "names itself in the end", id="a circle of one"
        ),
    ],
)
def test_a_name_that_leads_nowhere_or_back_is_refused(others: dict[str, Any], what: str) -> None:
    """Before a run could hang on it."""
    with pytest.raises(PatternError, match=what):
        expand_conditions(conditions(a={"condition": "b"}, **others))


def test_a_later_folder_replaces_a_condition(tmp_path: Path) -> None:
    """Whoever names it gets the later one, and the hash tells them apart."""
    values = []
    for number, shape in enumerate(("hidden-nan", "zero-loss")):
        folder = tmp_path / str(number) / "conditions"
        folder.mkdir(parents=True)
        other = "- {id: other, holds: {condition: same}}\n" if number == 0 else ""
        (folder / "a.yaml").write_text(f"{other}- {{id: same, holds: {{shape: {shape}}}}}\n")
        values.append(compile_folders([tmp_path / str(one) for one in range(number + 1)]))
    first, both = ({one["id"]: one["holds"] for one in value["conditions"]} for value in values)
    assert first == {"other": {"shape": "hidden-nan"}, "same": {"shape": "hidden-nan"}}
    assert both == {"other": {"shape": "zero-loss"}, "same": {"shape": "zero-loss"}}
    assert values[0]["hash"] != values[1]["hash"]


def test_a_run_does_without_examples() -> None:
    """They are left out of the kinds that are named, and nothing else is."""
    value = {"hash": "x", "signatures": [{"id": "a", "examples": 1}], "gpus": [{"examples": 1}]}
    assert strip_examples(value) == {
        "hash": "x",
        "signatures": [{"id": "a"}],
        "gpus": [{"examples": 1}],
    }
    assert strip_examples(value, ("conditions",)) == value
