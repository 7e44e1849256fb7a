"""Read the file of `--jobs`: detect its format from its content, load its allocations by attempt.

In: a path. Out: `SchedulerRecords`: steps and parts of a job are joined, requeues numbered. Not
here: what one record says (`scheduler.scheduler_records`), joining it with jobs
(`scheduler.allocations`).
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import tzinfo
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from postmortem.core.errors import InputError
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, say
from postmortem.fleet.scheduler.allocations import COMPLETED, Allocation, BadRow, SchedulerRecords
from postmortem.fleet.scheduler.scheduler_records import (
    Row,
    has_job_columns,
    is_of_slurm,
    iter_allocations,
    iter_json_allocations,
    iter_table_rows,
    normalize_column,
)

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


_DELIMITERS: Final = ("|", "\t", ",", ";")
_ABOVE_HEADER: Final = 20
"""Lines of notes that may stand above a header."""
_MEND: Final = (
    "give what `sacct --json` or `sacct -P --duplicates` writes, or a CSV or JSON lines with `job`"
    " and any of user, nodes, gpus, start, end, state, exit, image, attempt, name, log"
)


def read_allocations(path: str | Path, *, zone: tzinfo | None = None) -> SchedulerRecords:
    """Read what a scheduler says of its jobs.

    Args:
        path: `sacct --json`, `sacct -P`, or CSV, TSV, JSON or JSON lines of another scheduler.
        zone: of times without one; None is this machine's.

    Raises:
        InputError: it cannot be read, or is of none of these kinds.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig", errors="replace").replace("\0", "")
    except OSError as error:
        raise InputError(
            say("the scheduler's file cannot be read"),
            str(path),
            error.strerror or str(error),
        ) from error
    if text.lstrip()[:1] in {"{", "["}:
        return _parse_json(text, str(path), zone)
    lines = text.splitlines()
    for place, line in enumerate(lines[:_ABOVE_HEADER]):
        for delimiter in _DELIMITERS:
            columns = [normalize_column(name) for name in line.split(delimiter)]
            if has_job_columns(columns):
                rows = iter_table_rows(lines[place:], delimiter, place)
                kind = "slurm-table" if is_of_slurm(columns) else "table"
                return _build_records(kind, iter_allocations(rows, zone))
    raise _build_unknown_file_error(str(path))


def _parse_json(text: str, where: str, zone: tzinfo | None) -> SchedulerRecords:
    rows = _parse_json_lines(text)
    if rows is not None:
        return _build_records("json-lines", iter_allocations(rows, zone))
    value = _load_json(text, where)
    jobs = value.get("jobs") if isinstance(value, dict) else value
    if not isinstance(jobs, list):
        raise _build_unknown_file_error(where)
    if isinstance(value, dict) or any(isinstance(job, dict) and "time" in job for job in jobs):
        return _build_records("slurm-json", iter_json_allocations(jobs, zone))
    listed = [(f"jobs[{place}]", job) for place, job in enumerate(jobs)]
    if listed and not any(_is_job_record(job) for _, job in listed):
        raise _build_unknown_file_error(where)
    return _build_records("json-lines", iter_allocations(map(_normalize_row, listed), zone))


def _load_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        what = say("the scheduler's JSON breaks off or is broken")
        raise InputError(what, f"{where}: {error}", f"write it again, whole; {_MEND}") from error
    except RecursionError as error:
        raise _build_unknown_file_error(where) from error


def _build_unknown_file_error(where: str) -> InputError:
    return InputError(say("this is no file of a scheduler's jobs"), where, _MEND)


def _parse_json_lines(text: str) -> Iterator[tuple[str, Row | BadRow]] | None:
    """Give the rows of JSON lines; None if the first line is no row of a job by itself."""
    lines = [(place, line) for place, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not _is_job_record(_parse_json_line(lines[0][1])):
        return None
    return (_normalize_row((f"line {place}", _parse_json_line(line))) for place, line in lines)


def _parse_json_line(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_job_record(value: object) -> bool:
    return isinstance(value, dict) and has_job_columns([normalize_column(name) for name in value])


def _normalize_row(placed: tuple[str, object]) -> tuple[str, Row | BadRow]:
    where, value = placed
    if not isinstance(value, dict):
        return where, BadRow(where, _describe_no_record())
    return where, {normalize_column(name): cell for name, cell in value.items()}


def _describe_no_record() -> Message:
    return say("it is no JSON object")


def _build_records(kind: str, read: Iterable[Allocation | BadRow]) -> SchedulerRecords:
    found: Sequence[Allocation | BadRow] = list(read)
    kept = (record for record in found if isinstance(record, Allocation))
    bad = tuple(record for record in found if isinstance(record, BadRow))
    return SchedulerRecords(kind, fold_records(kept, has_steps=kind == "slurm-table"), bad)
