"""How far a triage is, in words."""

import pytest

from postmortem.interfaces.cli.triage_command import format_progress_line


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ((0, 10, 0, 5_000_000, 3.0), "judging: 0 of 10"),
        (
            (5, 10, 5_000_000, 10_000_000, 10.0),
            "judging: 5 of 10, 0.5 jobs/s, 0.5 MB/s, 10 s left",
        ),
        (
            (10, 1000, 0, 0, 60.0),
            "judging: 10 of 1,000, 0.2 jobs/s, 0.0 MB/s, 1 h 39 min left",
        ),
        ((10, 10, 7, 7, 1.0), "judging: 10 of 10, 10.0 jobs/s, 0.0 MB/s, 0 s left"),
    ],
)
def test_what_remains_is_told(counts: tuple[int, int, int, int, float], told: str) -> None:
    """Rate and remaining time, as soon as one is done."""
    assert format_progress_line("judging", *counts) == told


def test_large_jobs_first_do_not_promise_too_much() -> None:
    """With nine tenths of the bytes behind it and most jobs ahead, most of the time is ahead."""
    text = format_progress_line("judging", 100, 10_000, 900_000_000, 1_000_000_000, 100.0)
    assert "min" in text.rpartition(", ")[2]
