"""Merge a scheduler's records into attempts: steps and parts are joined, requeues numbered.

In: an allocation for each record. Out: one for each attempt of each job. Not here: reading
the records.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.fleet.scheduler.allocations import COMPLETED, Allocation

_STEP: Final = compile_lazily(
    r"(?P<job>\d+(?:[_+]\d+)?)\.(?:batch|extern|interactive|\d+(?:\+\d+)?)\Z", re.ASCII
)
_PART: Final = compile_lazily(r"(?P<job>\d+)\+\d+\Z", re.ASCII)


def fold_records(records: Iterable[Allocation], *, has_steps: bool) -> tuple[Allocation, ...]:
    """Give one allocation for each attempt of each job, sorted by id and attempt.

    A record that stands twice counts once. Records of one id are its attempts, in the order of
    their starts, unless each tells its own. Parts of a heterogeneous job are one allocation.

    Args:
        records: the attempt is 0 where none is told.
        has_steps: rows `4711.batch` are steps of 4711; one whose job has a row of its own is left.
    """
    kept = list(_iter_without_steps({*records})) if has_steps else list({*records})
    attempts = [
        numbered
        for each in _group_by_id(kept).values()
        for numbered in _iter_numbered_attempts(each)
    ]
    return tuple(sorted(_iter_whole_jobs(attempts), key=_order))


def _order(allocation: Allocation) -> tuple[object, ...]:
    """Give a key that is the same whatever the order of the records was."""
    return (
        allocation.scheduler_id,
        allocation.cluster,
        allocation.attempt,
        *_get_sort_key(allocation),
    )


def _get_sort_key(allocation: Allocation) -> tuple[object, ...]:
    start, end = allocation.start, allocation.end
    return (
        math.inf if start is None else start,
        math.inf if end is None else end,
        repr(allocation),
    )


def _group_by_id(records: Iterable[Allocation]) -> dict[tuple[str, str], list[Allocation]]:
    found: dict[tuple[str, str], list[Allocation]] = defaultdict(list)
    for record in records:
        found[record.cluster, record.scheduler_id].append(record)
    return found


def _iter_numbered_attempts(records: list[Allocation]) -> Iterator[Allocation]:
    """Yield the attempts of one job with their numbers."""
    numbers = {record.attempt for record in records}
    if 0 not in numbers and len(numbers) == len(records):
        yield from records
        return
    for number, record in enumerate(sorted(records, key=_get_sort_key), 1):
        yield replace(record, attempt=number)


def _iter_without_steps(records: set[Allocation]) -> Iterator[Allocation]:
    """Yield the rows of jobs; of a job that has none, its steps as one."""
    steps: dict[tuple[str, str], list[Allocation]] = defaultdict(list)
    jobs: set[tuple[str, str]] = set()
    for record in records:
        found = _STEP.match(record.scheduler_id)
        if found:
            steps[record.cluster, found["job"]].append(record)
        else:
            jobs.add((record.cluster, record.scheduler_id))
            yield record
    for (cluster, job), rows in steps.items():
        if (cluster, job) not in jobs:
            aliases = {alias.partition(".")[0] for row in rows for alias in row.aliases} - {job}
            as_one = _merge_records(job, rows)
            yield replace(as_one, aliases=tuple(sorted(aliases)), name="", attempt=0)


def _iter_whole_jobs(attempts: Iterable[Allocation]) -> Iterator[Allocation]:
    """Yield the attempts, those of the parts of a heterogeneous job as one with the sum of GPUs."""
    parts: dict[tuple[str, str, int], list[Allocation]] = defaultdict(list)
    for attempt in attempts:
        found = _PART.match(attempt.scheduler_id)
        if found:
            parts[attempt.cluster, found["job"], attempt.attempt].append(attempt)
        else:
            yield attempt
    for (_, job, _), rows in parts.items():
        counts = _collect_known_values("gpus", rows)
        gpus = sum(counts) if len(counts) == len(rows) else None
        yield replace(_merge_records(job, rows), gpus=gpus)


def _merge_records(job: str, rows: list[Allocation]) -> Allocation:
    """Take records of the same run as one: from the first start to the last end, on all nodes."""
    rows = sorted(rows, key=lambda row: (row.scheduler_id, repr(row)))
    first = next((row for row in rows if row.state not in {"", COMPLETED}), rows[0])
    starts, ends = _collect_known_values("start", rows), _collect_known_values("end", rows)
    names = {alias for row in rows for alias in (row.scheduler_id, *row.aliases)}
    return replace(
        first,
        scheduler_id=job,
        aliases=tuple(sorted(names - {job})),
        nodes=tuple(dict.fromkeys(node for row in rows for node in row.nodes)),
        gpus=max(_collect_known_values("gpus", rows), default=None),
        start=min(starts, default=None),
        end=max(ends, default=None) if len(ends) == len(rows) else None,
        elapsed=max(_collect_known_values("elapsed", rows), default=None),
        name=rows[0].name,
    )


def _collect_known_values(field: str, rows: Iterable[Allocation]) -> list[Any]:
    """Collect a field from all rows that have it."""
    return [value for value in map(attrgetter(field), rows) if value is not None]
