"""Read the file of `--jobs`: detect its format from its content and load the allocations.

In: a path. Out: `SchedulerRecords`. Not here: what one record says (`scheduler.slurm_json`,
`scheduler.scheduler_table`), joining it with jobs (`scheduler.joining`).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Any, Final

from postmortem.core.errors import InputError
from postmortem.core.message import Message, say
from postmortem.fleet.scheduler.allocations import Allocation, BadRow, SchedulerRecords
from postmortem.fleet.scheduler.merged_records import fold_records
from postmortem.fleet.scheduler.scheduler_table import (
    Row,
    has_job_columns,
    is_of_slurm,
    iter_allocations,
    iter_table_rows,
    normalize_column,
)
from postmortem.fleet.scheduler.slurm_json import iter_json_allocations

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
