"""The times that lines tell, and what lies between two of them."""

import pytest

from postmortem.extraction.facts.clock import (
    compute_seconds_between,
    find_newest_timestamp,
    find_timestamp,
    iter_timed_lines,
)

LIMIT = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-03-09T{} DUE TO TIME LIMIT ***"


@pytest.mark.parametrize(
    ("line", "time"),
    [
        pytest.param(LIMIT.format("19:00:14"), "2026-03-09T19:00:14", id="a scheduler's line"),
        pytest.param("Mon Mar  9 10:00:00 CET 2026", "2026-03-09T10:00:00", id="date"),
        pytest.param("Mon Mar  9 10:00:00 2026", "2026-03-09T10:00:00", id="nvidia-smi"),
        pytest.param("Mon 9 Mar 2026 10:00:00 AM CET", "2026-03-09T10:00:00", id="date, English"),
        pytest.param("Mar  9 10:00:00 node7 kernel: x", "--03-09T10:00:00", id="syslog"),
        pytest.param("[watch] 2026-03-09 10:00 quiet", "2026-03-09T10:00:00", id="no seconds"),
        pytest.param("10:00:00 step 3", "T10:00:00", id="a time of day"),
        pytest.param("loss 1.25 at step 10", None, id="no time"),
    ],
)
def test_a_line_tells_a_time_anywhere(line: str, time: str | None) -> None:
    """At its head or within it."""
    assert find_timestamp(line) == time


@pytest.mark.parametrize(
    ("one", "other", "span"),
    [
        ("2026-03-09T10:00:00", "2026-03-09T12:00:00", 7200.0),
        ("2026-03-09T10:00:00", "--03-09T10:01:00", 60.0),
        ("--12-31T23:59:00", "--01-01T00:01:00", 120.0),
        ("T23:59:00", "2026-03-09T00:01:00", 120.0),
        ("T10:00:00", "T09:00:00", None),
        ("2026-03-09T10:00:00", "2026-03-09T09:00:00", None),
        ("+5.0s", "2026-03-09T09:00:00", None),
    ],
)
def test_times_are_compared_by_what_both_tell(one: str, other: str, span: float | None) -> None:
    """A year, a day, or the time of day alone."""
    assert compute_seconds_between(one, other) == span


def test_the_newest_time_is_the_farthest_behind() -> None:
    """What lies before is left out."""
    times = ["2026-03-09T09:00:00", "2026-03-09T10:05:00", "2026-03-09T10:03:00"]
    assert find_newest_timestamp(times, "2026-03-09T10:00:00") == (300.0, "2026-03-09T10:05:00")
    assert find_newest_timestamp(times[:1], "2026-03-09T10:00:00") is None


def test_a_time_of_day_gets_the_day_of_the_dated_one_before() -> None:
    """Over midnight the next one."""
    found = [
        moment.time for moment, _ in iter_timed_lines((1, "2026-03-09 23:59:00 a\n00:01:00 b"))
    ]
    assert found == ["2026-03-09T23:59:00", "2026-03-10T00:01:00"]
