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


QUOTING = [
    "/env/lib/python3.10/site-packages/vllm/connections.py:8: RuntimeWarning: no commit hash:",
    "No module named 'vllm._version'",
    "  from vllm.version import __version__ as VLLM_VERSION",
]
WORDS = "the job has reached its time limit and is stopped"
PROSE = f"{WORDS}: {80 * 'what, where and when '}"
FAILED = [
    "Traceback (most recent call last):",
    '  File "/home/me/generate.py", line 91, in <module>',
    "    assert count == 0",
    "AssertionError",
]
QUIET = [f"worker {number % 7} takes shard {number}" for number in range(120)]


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
        pytest.param([*QUOTING, *QUIET], None, id="quoted in a warning, far from the end"),
        pytest.param(QUOTING[1:2], "environment.version-incompatible", id="by itself"),
    ],
)
def test_what_ended_nothing_is_no_cause(
    tmp_path: Path, lines: list[str], cause: str | None
) -> None:
    """The verdict."""
    log = tmp_path / "run.log"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert postmortem.analyze(log).verdict.cause == cause


@pytest.mark.parametrize(
    ("before", "first"),
    [
        pytest.param([WORDS], 1, id="right before"),
        pytest.param([WORDS, *QUIET * 4], 485, id="far before"),
        pytest.param([PROSE], 5, id="in a document"),
    ],
)
def test_words_before_a_failure(tmp_path: Path, before: list[str], first: int) -> None:
    """They may be what it comes of, as the line of a message that stands near it."""
    log = tmp_path / "run.log"
    log.write_text("\n".join([*before, *FAILED]) + "\n", encoding="utf-8")
    failure = postmortem.analyze(log).analysis.first_failure
    assert failure is not None
    assert failure.line == first
