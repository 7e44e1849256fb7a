"""The sum of the evidence."""

import pytest

from postmortem.api import analyze
from postmortem.core.answer import Evidence
from postmortem.diagnosis.inference.scoring import PRIOR, _score_cause

KILLED = "sample_logs/pytorch/job-killed-rank-0"


def item(kind: str, name: str, weight: float, line: int | None = None) -> Evidence:
    """Make a piece of evidence."""
    return Evidence(kind, name, kind, name, weight, 0 if line else None, line=line)


@pytest.mark.parametrize(
    ("items", "kept", "total"),
    [
        pytest.param(
            [item("signature", "a", 1.6, 3), item("signature", "b", 3.0, 3)],
            ["b", "a"],
            3.4,
            id="two signatures of a line",
        ),
        pytest.param(
            [item("signature", "a", 1.6, 3), item("signature", "b", 3.0, 4)],
            ["b", "a"],
            3.4,
            id="of two lines",
        ),
        pytest.param(
            [item("environment", "signal", 1.6), item("environment", "exit_status", 1.6)],
            ["signal"],
            1.6,
            id="a signal and its exit status",
        ),
        pytest.param(
            [item("environment", "signal", 1.6), item("environment", "gpu", 1.6)],
            ["signal", "gpu"],
            2.0,
            id="two facts",
        ),
        pytest.param(
            [item("signature", "a", 1.6, 3), item("signature", "b", -1.6, 3)],
            ["a", "b"],
            0.0,
            id="for and against",
        ),
    ],
)
def test_one_fact_counts_once(items: list[Evidence], kept: list[str], total: float) -> None:
    """What is told twice is shown and weighed once, as the weightier telling."""
    scored = _score_cause("cause", items)
    assert [one.id for one in scored.evidence] == kept
    assert scored.score == pytest.approx(PRIOR + total)


def test_a_killed_rank_counts_its_end_once() -> None:
    """The launcher's line, which two signatures know, and the exit that it names."""
    cause = next(one for one in analyze(KILLED).causes if one.id == "memory.host-oom")
    assert sorted(one.kind for one in cause.evidence) == ["environment", "signature", "signature"]
