"""Which questions are worth asking: none is passed over to which the answer is yes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postmortem.diagnosis.inference.example_cases import build_example_case
from postmortem.diagnosis.inference.known_defects import is_applicable, list_matching_advisories
from postmortem.diagnosis.inference.predicates import evaluate_predicate
from postmortem.diagnosis.inference.rule_matching import RuleIndex, infer_predicate_needs
from postmortem.rules.base import load
from postmortem.rules.compile import compile_folders

FOLDER = Path(__file__).resolve().parents[3] / "patterns"
CONDITIONS = compile_folders([FOLDER])["conditions"]
CASES = [build_example_case(example) for one in CONDITIONS for example in one["examples"]["holds"]]


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda one: str(one["id"]))
def test_what_holds_is_due(condition: dict[str, Any]) -> None:
    """In the examples of every condition, its own ones among them."""
    due = RuleIndex([infer_predicate_needs(condition["holds"])])
    passed_over = [case for case in CASES if not due.of(case)]
    assert not [
        case for case in passed_over if evaluate_predicate(condition["holds"], case) is not None
    ]


def predicates() -> Iterator[tuple[dict[str, Any], dict[str, Any], bool]]:
    """Predicates, cases, and whether the one is worth asking of the other."""
    seen = {"signatures": ["memory.cuda-oom.plain"], "shapes": ["spike"]}
    yield {"signature": "memory.cuda-oom.plain"}, seen, True
    yield {"signature": "memory.cuda-oom.*"}, seen, True
    yield {"signature": "memory.*"}, seen, True
    yield {"signature": ["a.b", "memory.cuda-oom"]}, seen, False
    yield {"signature": ["a.b", "a.c"], "shape": "silence"}, seen, False
    yield {"shape": ["silence", "spike"]}, seen, True
    yield {"any": [{"shape": "silence"}, {"setting": {"bf16": True}}]}, seen, False
    yield {"any": [{"shape": "silence"}, {"not": {"shape": "spike"}}]}, seen, True
    yield {"all": [{"shape": "silence"}, {"not": {"shape": "spike"}}]}, seen, False
    yield {"not": {"shape": "spike"}}, seen, True
    yield {"setting": {"bf16": True}}, {"settings": {"bf16": False}}, True
    yield (
        {"package": {"Flash_Attn": "any"}},
        {"environment": {"packages": {"flash-attn": "2"}}},
        True,
    )
    yield {"env": {"exit_status": 1}}, {"environment": {"exit_status": 0}}, True
    yield {"env": {"exit_status": 1}}, {}, False
    yield {"gpu": {"name": "~A100"}}, {}, False
    yield {"traceback": {"exception": "~."}}, {}, False
    yield {"outcome": "failed"}, {"outcome": "finished"}, False


@pytest.mark.parametrize(("predicate", "example", "is_due"), list(predicates()))
def test_what_cannot_hold_is_not(
    predicate: dict[str, Any], example: dict[str, Any], *, is_due: bool
) -> None:
    """A case without what a predicate names is not asked; its values are not looked at."""
    assert (
        bool(RuleIndex([infer_predicate_needs(predicate)]).of(build_example_case(example)))
        == is_due
    )


def test_known_defects_are_found_by_their_packages() -> None:
    """The same ones, in the same order, as if each were asked."""
    knowledge = load()
    packages = {entry.package: "2.0.0" for entry in knowledge.advisories}
    for version in ("2.0.0", "2.1.0", "4.36.0", "0.12.0"):
        told = {"environment": {"packages": dict.fromkeys(packages, version)}}
        wanted = [
            one for one in knowledge.advisories if is_applicable(one, build_example_case(told))
        ]
        assert list_matching_advisories(build_example_case(told), knowledge) == wanted
