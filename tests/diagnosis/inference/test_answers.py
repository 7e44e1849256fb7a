"""A condition that many rules ask is answered once of each case."""

from collections.abc import Mapping
from typing import Any

import pytest

from postmortem.core.findings import Environment
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference import predicates
from postmortem.diagnosis.inference.predicates import evaluate_condition, evaluate_conditions
from postmortem.rules.cause_rules import Condition, ConditionSet


def case(outcome: str) -> Case:
    """A run of which only the outcome is known."""
    return Case((), (), {}, Environment(), {}, {}, outcome)


def test_it_is_asked_once_of_each_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """And each case has its own answer."""
    asked, answer = list[str](), predicates.evaluate_predicate

    def counted(predicate: Mapping[str, Any], of: Case) -> Any:
        asked.append(of.outcome)
        return answer(predicate, of)

    monkeypatch.setattr(predicates, "evaluate_predicate", counted)
    failed = Condition("run-failed", {}, {"outcome": "failed"})
    one, other = case("failed"), case("completed")
    for _ in range(3):
        assert evaluate_conditions(ConditionSet((failed,)), one) is not None
        assert evaluate_conditions(ConditionSet((), (failed,)), one) is None
        assert evaluate_condition(failed, other) is None
    assert asked == ["failed", "completed"]


def test_conditions_of_one_name_are_told_apart() -> None:
    """Two sets of rules may call different things the same."""
    run = case("failed")
    answers = [
        evaluate_condition(Condition("same", {}, {"outcome": name}), run)
        for name in ("failed", "x")
    ]
    assert [one is not None for one in answers] == [True, False]
