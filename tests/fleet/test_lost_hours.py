"""GPU-hours, by cause, user, image, node and time."""

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from postmortem.fleet.scheduler.allocations import JudgedJob
from postmortem.fleet.scheduler.scheduler_figures import (
    GpuHours,
    compute_image_shares,
    compute_lost_hours_by_cause,
    compute_node_shares,
    compute_total_hours,
    compute_trend,
    compute_user_shares,
    format_iso_time,
)
from tests.fleet.clusters import BEGIN, HOUR, allocation, failed, sound

DAY = 24 * HOUR


def at(identity: str, end: float | None, make: object = failed) -> JudgedJob:
    """A job that ended then."""
    return make(identity, allocation=allocation(identity, end=end))  # type: ignore[operator,no-any-return]


def test_only_failed_jobs_lose_hours() -> None:
    """Eight GPUs for an hour each; a job that went well took as much and lost none."""
    jobs = [failed("1"), failed("2", "cuda.cublas"), failed("3"), sound("4")]
    assert compute_total_hours(jobs) == (GpuHours(32.0, 4, 0), GpuHours(24.0, 3, 0))
    assert compute_lost_hours_by_cause(jobs) == {
        "cuda.launch-failure": GpuHours(16.0, 2, 0),
        "cuda.cublas": GpuHours(8.0, 1, 0),
    }


def test_what_is_not_known_is_no_zero() -> None:
    """Hours that are not told make no sum; beside known ones they are counted as missing."""
    unknown = failed("1", None, allocation=allocation("1", gpus=None))
    unjoined = failed("2", None, allocation=None)
    idle = failed("3", "io.race", allocation=allocation("3", gpus=0))
    assert compute_lost_hours_by_cause([unknown, unjoined, idle, failed("4", None)]) == {
        None: GpuHours(8.0, 3, 2),
        "io.race": GpuHours(0.0, 1, 0),
    }
    assert compute_total_hours([unknown, unjoined]) == (GpuHours(None, 2, 2), GpuHours(None, 2, 2))


def test_shares() -> None:
    """Of users and images; the hours of a job are split over its nodes, its failure is not."""
    jobs = [
        failed("1", allocation=allocation("1", "n1 n2", image="torch:1")),
        sound("2", allocation=allocation("2", "n2", user="bob", state="COMPLETED")),
    ]
    users = [
        (one.name, one.jobs, one.failed, one.taken.hours, one.lost.hours)
        for one in compute_user_shares(jobs)
    ]
    assert users == [("ann", 1, 1, 8.0, 8.0), ("bob", 1, 0, 8.0, None)]
    assert [(one.name, one.lost.hours) for one in compute_image_shares(jobs)] == [("torch:1", 8.0)]
    nodes = [
        (one.name, one.jobs, one.failed, one.taken.hours, one.lost.hours)
        for one in compute_node_shares(jobs)
    ]
    assert nodes == [("n1", 1, 1, 4.0, 4.0), ("n2", 2, 1, 12.0, 4.0)]


@pytest.mark.parametrize(
    ("ends", "begins"),
    [
        pytest.param([], [], id="none"),
        pytest.param([None], [], id="not known"),
        pytest.param([BEGIN], ["2026-01-01T00:00:00Z"], id="one"),
        pytest.param([BEGIN + 1.5 * HOUR, BEGIN + 3 * HOUR, None], [f"2026-01-01T0{hour}:00:00Z" for hour in (1, 2, 3)], id="hours"),
        pytest.param([BEGIN + 5, BEGIN + 3 * DAY], [f"2026-01-0{day}T00:00:00Z" for day in (1, 2, 3, 4)], id="days"),
        pytest.param([BEGIN, BEGIN + 61 * DAY], [f"2025-12-{day}T00:00:00Z" for day in (29,)] + [f"2026-{day}T00:00:00Z" for day in ("01-05", "01-12", "01-19", "01-26", "02-02", "02-09", "02-16", "02-23", "03-02")], id="weeks from Monday"),
        pytest.param([5.0, BEGIN], ["1969-12-29T00:00:00Z", "2025-12-29T00:00:00Z"], id="a wrong clock makes no decades"),
    ],
)  # fmt: skip
def test_a_trend(ends: list[float | None], begins: list[str]) -> None:
    """By the end of the jobs, without gaps."""
    buckets = compute_trend(at(str(number), end) for number, end in enumerate(ends))
    assert [format_iso_time(one.begin) for one in buckets] == begins
    assert sum(one.jobs for one in buckets) == sum(end is not None for end in ends)


def test_a_bucket_counts_the_failed_by_cause() -> None:
    """All that ended in it are its jobs; failed ones without a cause go under an empty one."""
    jobs = [at("1", BEGIN), at("2", BEGIN, sound), replace(at("3", BEGIN), cause=None)]
    [bucket] = compute_trend(jobs)
    assert (bucket.jobs, bucket.causes) == (3, {"": 1, "cuda.launch-failure": 1})


def test_a_moment_is_told_in_utc() -> None:
    """As the calendar has it, also before 1970 and far beyond."""
    assert format_iso_time(BEGIN) == datetime.fromtimestamp(BEGIN, timezone.utc).strftime(
        "%Y-%m-%dT%H:%M:%SZ"
    )
    assert (format_iso_time(-DAY), format_iso_time(1e15)) == (
        "1969-12-31T00:00:00Z",
        "9999-12-31T23:59:59Z",
    )
