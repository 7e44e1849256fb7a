"""How sure health may be."""

import pytest

from postmortem.core.answer import Evidence
from postmortem.core.findings import Environment
from postmortem.core.message import Message, quote
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference.scoring import (
    ScoredCause,
    get_max_probability,
    reduce_health_score,
)

STRONG, MODERATE, VETO = 3.0, 1.6, -5.0


def item(weight: float) -> Evidence[Message]:
    """Evidence of this weight."""
    return Evidence("shape", "any", "any", quote(""), weight)


def case(outcome: str) -> Case:
    """A run of which only its end is known."""
    return Case((), (), {}, Environment(), {}, {}, outcome)


@pytest.mark.parametrize(
    ("cause", "weights", "most"),
    [
        pytest.param("healthy.running", [MODERATE], 0.75, id="nothing proves it"),
        pytest.param("healthy.running", [STRONG], 0.9999, id="the loss falls"),
        pytest.param("healthy.running", [STRONG, -0.7], 0.75, id="a failure was survived"),
        pytest.param("healthy.running", [STRONG, VETO], 0.4, id="a broken figure"),
        pytest.param("healthy.completed", [STRONG, STRONG, VETO], 0.4, id="at the end, too"),
        pytest.param(
            "healthy.completed", [STRONG], 0.75, id="an end marker alone proves no learning"
        ),
        pytest.param("healthy.completed", [STRONG, -0.7], 0.75, id="a curve worth a look"),
        pytest.param("healthy.completed", [STRONG, -1.6], 0.75, id="few figures"),
        pytest.param(
            "healthy.completed", [STRONG, -3.0], 0.55, id="a loss no better than at first"
        ),
        pytest.param("memory.cuda-oom", [MODERATE], 0.9999, id="another cause"),
    ],
)
def test_the_highest_probability(cause: str, weights: list[float], most: float) -> None:
    """A health that nothing proves stays below three quarters, a vetoed one is no verdict."""
    assert get_max_probability(cause, [item(weight) for weight in weights]) == most


@pytest.mark.parametrize(
    ("outcome", "faults", "weights", "score"),
    [
        pytest.param("running", [], [STRONG], 1.5, id="no fault"),
        pytest.param("running", [1.4], [STRONG], 1.39, id="it wins no tie"),
        pytest.param("running", [0.1], [STRONG], 1.5, id="well ahead"),
        pytest.param("running", [2.0], [STRONG], 1.5, id="behind already"),
        pytest.param(
            "completed", [-0.5], [STRONG, VETO], -0.51, id="a veto comes behind any fault"
        ),
        pytest.param("failed", [], [STRONG], -4.5, id="a failure"),
    ],
)
def test_health_is_held_back(
    outcome: str, faults: list[float], weights: list[float], score: float
) -> None:
    """By a failure, by a veto, by a fault that is as likely."""
    health = ScoredCause("healthy.running", 1.5, tuple(item(weight) for weight in weights))
    assert reduce_health_score(health, case(outcome), faults).score == pytest.approx(score)
