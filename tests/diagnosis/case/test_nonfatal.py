"""What comes again while training goes on, and the take-down of a run that is through."""

from pathlib import Path

import pytest

import postmortem

STEPS = [f"epoch 1 it {number} loss {2.4 - number / 40:.4f}" for number in range(60)]
BROKEN = "[data] ERROR cannot decode img_{number}.jpg: broken data stream when reading image file"
STOPPED = (
    "W0301 10:22:11.101000 411 torch/distributed/elastic/agent/server/api.py:719] "
    "Received Signals.SIGTERM death signal, shutting down workers"
)


def skipping(*numbers: int) -> list[str]:
    """Records, with an error behind some of them."""
    return [
        line
        for number, record in enumerate(STEPS)
        for line in (record, BROKEN.format(number=number))[: 1 + (number in numbers)]
    ]


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        pytest.param(skipping(9, 21, 33, 45, 59), "healthy.running", id="again and again"),
        pytest.param(skipping(59), "data.decode", id="once, at the end"),
        pytest.param([*STEPS, "Training complete.", STOPPED], "healthy.completed", id="taken down"),
        pytest.param([*STEPS, STOPPED], "scheduler.terminated", id="stopped on its way"),
    ],
)
def test_what_ended_nothing_is_no_cause(tmp_path: Path, lines: list[str], cause: str) -> None:
    """The verdict."""
    log = tmp_path / "run.log"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert postmortem.analyze(log).verdict.cause == cause
