"""The figures that need a scheduler: GPU-hours used and lost, nodes, users, images, trend, retries.

In: jobs with allocations. Out: plain values of `postmortem.triage/1`, ready for JSON; texts as {en,
zh}. Not here: nodes compared (`scheduler.uneven_nodes`), retries (`scheduler.retrying`), groups and
causes of logs, pages.

A job whose hours are not known adds nothing and is counted as such; where none is known, there is
no sum, not 0.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Final, TypeVar

from postmortem.core.message import Message
from postmortem.fleet.scheduler.allocations import Joined, JudgedJob, build_job_without_log
from postmortem.fleet.scheduler.retrying import Advice, Retry, compute_retry_advice, find_retries
from postmortem.fleet.scheduler.uneven_nodes import NodeFigures, compare_nodes


def build_translations(message: Message) -> dict[str, str] | None:
    """Give a sentence in both languages; None if there is none."""
    return {"en": message.text("en"), "zh": message.text("zh")} if message else None


def normalize_hours(hours: float | None) -> float | None:
    """Give hours to a third of a second; None, never 0, if they are not known."""
    return None if hours is None else round(hours, 4)


_HOUR: Final = 3600
_DAY: Final = 24 * _HOUR
_WEEK: Final = 7 * _DAY
_MONDAY: Final = 4 * _DAY
"""1970-01-05 was a Monday."""
_HOURLY_UP_TO: Final = 2 * _DAY
_DAILY_UP_TO: Final = 60 * _DAY
_MOST_BUCKETS: Final = 1000
"""Beyond, buckets without jobs are left out: one wrong clock makes decades of them."""

_FIRST: Final = -62_135_596_800.0
_LAST: Final = 253_402_300_799.0
"""The first and the last second of the calendar, from 1970."""

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class GpuHours:
    """A sum of GPU-hours, and how many jobs it lacks."""

    hours: float | None
    """None if it is known of no job."""
    jobs: int
    unknown: int
    """Of the jobs, those whose hours are not known."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one user, image or node has of the jobs."""

    name: str
    jobs: int
    failed: int
    taken: GpuHours
    lost: GpuHours


@dataclass(frozen=True, slots=True)
class Bucket:
    """The jobs that ended within a span of time."""

    begin: float
    """UTC seconds."""
    end: float
    """UTC seconds, not within."""
    jobs: int
    causes: Mapping[str, int]
    """Failed jobs by cause; the empty one where none is known."""
    lost: GpuHours


def sum_hours(hours: Iterable[float | None]) -> GpuHours:
    """Add up hours; the order does not matter."""
    listed = list(hours)
    known = [each for each in listed if each is not None]
    return GpuHours(math.fsum(known) if known else None, len(listed), len(listed) - len(known))


def compute_lost_hours_by_cause(jobs: Iterable[JudgedJob]) -> dict[str | None, GpuHours]:
    """Give the hours of failed jobs by cause, most first; None where no cause is known."""
    groups = _group_jobs((job for job in jobs if job.has_failed), lambda job: [job.blamed])
    lost = {cause: sum_hours(job.gpu_hours for job in group) for cause, group in groups.items()}
    return dict(sorted(lost.items(), key=lambda item: (-(item[1].hours or 0.0), item[0] or "")))


def compute_total_hours(jobs: Iterable[JudgedJob]) -> tuple[GpuHours, GpuHours]:
    """Give the hours of all jobs, and of the failed ones."""
    listed = list(jobs)
    return (
        sum_hours(job.gpu_hours for job in listed),
        sum_hours(job.gpu_hours for job in listed if job.has_failed),
    )


def compute_user_shares(jobs: Iterable[JudgedJob]) -> tuple[Share, ...]:
    """Give what each user has, most lost first; the empty name where none is known."""
    return _compute_shares(jobs, lambda job: [job.user])


def compute_image_shares(jobs: Iterable[JudgedJob]) -> tuple[Share, ...]:
    """Give what each container image has, most lost first; jobs without one are left out."""
    return _compute_shares(jobs, lambda job: [_get_image(job)] if _get_image(job) else [])


def compute_node_shares(jobs: Iterable[JudgedJob]) -> tuple[Share, ...]:
    """Give what each node has; the hours of a job are split evenly over its nodes."""
    return _compute_shares(jobs, lambda job: job.nodes, lambda job: max(1, len(job.nodes)))


def _get_image(job: JudgedJob) -> str:
    return "" if job.allocation is None else job.allocation.image


def _compute_shares(
    jobs: Iterable[JudgedJob],
    names: Callable[[JudgedJob], Sequence[str]],
    parts: Callable[[JudgedJob], int] = lambda _: 1,
) -> tuple[Share, ...]:
    def hours(job: JudgedJob) -> float | None:
        return None if job.gpu_hours is None else job.gpu_hours / parts(job)

    shares = []
    for name, group in _group_jobs(jobs, names).items():
        failed = [job for job in group if job.has_failed]
        taken, lost = sum_hours(map(hours, group)), sum_hours(map(hours, failed))
        shares.append(Share(name, len(group), len(failed), taken, lost))
    return tuple(
        sorted(shares, key=lambda share: (-(share.lost.hours or 0.0), -share.failed, share.name))
    )


def _group_jobs(
    jobs: Iterable[JudgedJob], names: Callable[[JudgedJob], Iterable[_Key]]
) -> dict[_Key, list[JudgedJob]]:
    groups: dict[_Key, list[JudgedJob]] = defaultdict(list)
    for job in jobs:
        for name in dict.fromkeys(names(job)):
            groups[name].append(job)
    return groups


def compute_trend(jobs: Iterable[JudgedJob]) -> tuple[Bucket, ...]:
    """Give the jobs by the hour, day or week (from Monday) of their end, in UTC, without gaps.

    Empty if no end is known; jobs whose end is not known are in none.
    """
    ended = [(job.allocation.end, job) for job in jobs if job.allocation and job.allocation.end]
    if not ended:
        return ()
    first, last = min(end for end, _ in ended), max(end for end, _ in ended)
    width, shift = _select_bucket_width(last - first)
    groups: dict[int, list[JudgedJob]] = defaultdict(list)
    for end, job in ended:
        groups[_compute_bucket_number(end, width, shift)].append(job)
    numbers: Iterable[int] = range(min(groups), max(groups) + 1)
    if max(groups) - min(groups) >= _MOST_BUCKETS:
        numbers = sorted(groups)
    return tuple(
        _build_bucket(number * width + shift, width, groups.get(number, [])) for number in numbers
    )


def _select_bucket_width(span: float) -> tuple[int, int]:
    """Give the seconds of a bucket, and where the first after 1970 begins."""
    if span <= _HOURLY_UP_TO:
        return _HOUR, 0
    return (_DAY, 0) if span <= _DAILY_UP_TO else (_WEEK, _MONDAY)


def _compute_bucket_number(end: float, width: int, shift: int) -> int:
    return math.floor((end - shift) / width)


def _build_bucket(begin: int, width: int, jobs: Sequence[JudgedJob]) -> Bucket:
    failed = [job for job in jobs if job.has_failed]
    causes: dict[str, int] = defaultdict(int)
    for cause in sorted(job.blamed or "" for job in failed):
        causes[cause] += 1
    lost = sum_hours(job.gpu_hours for job in failed)
    return Bucket(begin, begin + width, len(jobs), dict(causes), lost)


def format_iso_time(seconds: float) -> str:
    """Give UTC seconds as ISO 8601; years that no calendar has are cut to its bounds."""
    bounded = min(max(seconds, _FIRST), _LAST)
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=bounded)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


Value = dict[str, Any]


def compute_scheduler_statistics(found: Joined) -> Value:
    """Give all figures of joined jobs; the order of the jobs does not matter.

    Hours, users, images and the trend are those of the jobs. Nodes are compared, and runs again
    looked for, over all that the scheduler knows: who looks through the logs of failed jobs only
    has the others in its file, and they say how often jobs fail elsewhere.
    """
    jobs = found.jobs
    everything = (*jobs, *map(build_job_without_log, found.without_job))
    pairs = find_retries(everything)
    taken, lost = compute_total_hours(jobs)
    return {
        "joined": {
            "jobs": len(jobs) - len(found.without_allocation),
            "without_allocation": len(found.without_allocation),
            "without_job": len(found.without_job),
        },
        "gpu_hours": normalize_hours(taken.hours),
        "lost_gpu_hours": normalize_hours(lost.hours),
        "gpu_hours_unknown": taken.unknown,
        "lost_gpu_hours_unknown": lost.unknown,
        "lost_by_cause": [
            {
                "cause": cause,
                "jobs": value.jobs,
                "gpu_hours": normalize_hours(value.hours),
                "unknown": value.unknown,
            }
            for cause, value in compute_lost_hours_by_cause(jobs).items()
        ],
        "nodes": _list_node_values(jobs, everything),
        "users": [_build_share_values(share) for share in compute_user_shares(jobs) if share.name],
        "images": [_build_share_values(share) for share in compute_image_shares(jobs)],
        "trend": [_build_bucket_values(bucket) for bucket in compute_trend(jobs)],
        "retried": [_retry(pair) for pair in pairs if pair.has_succeeded],
        "advice": {
            cause: _build_advice_values(value)
            for cause, value in compute_retry_advice(jobs, pairs).items()
        },
    }


def _build_share_values(share: Share) -> Value:
    return {
        "name": share.name,
        "jobs": share.jobs,
        "failed": share.failed,
        "gpu_hours": normalize_hours(share.taken.hours),
        "lost_gpu_hours": normalize_hours(share.lost.hours) if share.failed else 0.0,
        "lost_unknown": share.lost.unknown,
    }


def _list_node_values(jobs: Sequence[JudgedJob], everything: Sequence[JudgedJob]) -> list[Value]:
    shares = {share.name: _build_share_values(share) for share in compute_node_shares(jobs)}
    return [
        _build_node_values(node, shares.get(node.node, {})) for node in compare_nodes(everything)
    ]


def _build_node_values(node: NodeFigures, share: Value) -> Value:
    return {
        "node": node.node,
        "jobs": node.jobs,
        "failed": node.failed,
        "expected": round(node.expected, 4),
        "p": node.p,
        "q": node.q,
        "is_outlier": node.is_outlier,
        "causes": dict(node.causes or {}),
        "alike": list(node.alike),
        "witness": build_translations(node.witness),
        "text": build_translations(node.text),
        "gpu_hours": share.get("gpu_hours"),
        "lost_gpu_hours": share.get("lost_gpu_hours"),
    }


def _build_bucket_values(bucket: Bucket) -> Value:
    return {
        "from": format_iso_time(bucket.begin),
        "to": format_iso_time(bucket.end),
        "jobs": bucket.jobs,
        "causes": dict(bucket.causes),
        "lost_gpu_hours": normalize_hours(bucket.lost.hours) if bucket.lost.jobs else 0.0,
    }


def _retry(pair: Retry) -> Value:
    return {
        "failed": pair.failed.identity,
        "succeeded": pair.again.identity,
        "cause": pair.failed.blamed,
        "changed": pair.changed,
        "hint": build_translations(pair.hint),
    }


def _build_advice_values(advice: Advice) -> Value:
    return {
        "retry": advice.retry,
        "retried": advice.retried,
        "succeeded": advice.succeeded,
        "text": build_translations(advice.text),
    }
