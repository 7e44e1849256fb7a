"""Records of schedulers: Slurm's JSON (`sacct --json`), `sacct -P`, and tables of any other one.

In: the parsed file of `sacct --json`, Slurm's REST service or `squeue --json`; rows by column of
CSV, TSV or JSON lines. Out: allocations, and records that could not be used. Not here: which record
is which attempt, what kind of file it is (`scheduler.scheduler_file`).

The shape of the JSON has changed from version to version of its data parser (0.0.37 to 0.0.46): a
number is plain or `{set, infinite, number}`, a state text or a list, an exit code has a signal or
not. All are read alike, by what stands there and not by a version.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any, Final, Literal

from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, quote, say
from postmortem.fleet.scheduler.allocations import COMPLETED, Allocation, BadCell, BadRow
from postmortem.fleet.scheduler.scheduler_cells import (
    convert_cell_to_text,
    count_gpus,
    expand_hostlist,
    extract_image,
    format_exit_code,
    parse_duration,
    parse_number,
    parse_timestamp,
    parse_whole_number,
    state_of,
)

Record = Mapping[str, Any]
_PLACE: Final = compile_lazily(r"%%|%(\d*)([jJAaxu])")


def iter_json_allocations(
    records: Sequence[object], zone: tzinfo | None
) -> Iterator[Allocation | BadRow]:
    """Yield an allocation for each record of `jobs`; the attempt is 0 if there is none."""
    for place, record in enumerate(records):
        where = f"jobs[{place}]"
        if not isinstance(record, Mapping) or not parse_whole_number_or_none(record.get("job_id")):
            yield BadRow(where, say("it has no job_id"))
            continue
        try:
            yield _parse_slurm_record(record, zone)
        except BadCell as error:
            yield BadRow(where, error.why)
        except (TypeError, AttributeError):
            yield BadRow(where, say("its shape is not that of a job"))


def parse_whole_number_or_none(cell: object) -> int | None:
    """Give a count, or None for what is none."""
    try:
        return parse_whole_number(cell)
    except BadCell:
        return None


def _parse_slurm_record(record: Record, zone: tzinfo | None) -> Allocation:
    times = record.get("time") or {}
    start = parse_timestamp(_get_first_known(times.get("start"), record.get("start_time")), zone)
    resources = record.get("tres") or {}
    listed = resources.get("allocated") if isinstance(resources, Mapping) else None
    restarts = parse_whole_number(record.get("restart_cnt"))
    identity, aliases = _parse_ids(record)
    name, user = (
        convert_cell_to_text(record.get("name")),
        convert_cell_to_text(record.get("user") or record.get("user_name")),
    )
    state = record.get("state") or record.get("job_state")
    log = convert_cell_to_text(
        record.get("stdout_expanded") or record.get("stdout") or record.get("standard_output")
    )
    return Allocation(
        identity,
        attempt=0 if restarts is None else restarts + 1,
        aliases=aliases,
        cluster=convert_cell_to_text(record.get("cluster")),
        user=user,
        nodes=expand_hostlist(convert_cell_to_text(record.get("nodes"))),
        gpus=count_gpus(listed or record.get("tres_alloc_str")),
        start=start,
        end=parse_timestamp(
            _get_first_known(times.get("end"), record.get("end_time")), zone, after=start
        ),
        elapsed=parse_duration(times.get("elapsed")) if start else None,
        state=state_of(state.get("current") if isinstance(state, Mapping) else state),
        exit=format_exit_code(record.get("exit_code")),
        image=extract_image(record.get("container"), record.get("submit_line")),
        name=name,
        log=fill_log_path(log, identity, aliases, name, user),
    )


def _get_first_known(first: object, second: object) -> object:
    return second if first is None else first


def _parse_ids(record: Record) -> tuple[str, tuple[str, ...]]:
    """Give the id under which people know the job, and the other ones."""
    raw = str(parse_whole_number(record["job_id"]))
    array, parts = record.get("array") or {}, record.get("het") or {}
    leader = parse_whole_number(array.get("job_id", record.get("array_job_id")))
    task = parse_number(array.get("task_id", record.get("array_task_id")))
    if leader and task is not None:
        return f"{leader}_{int(task)}", (raw,)
    whole_job = parse_whole_number(parts.get("job_id", record.get("het_job_id")))
    part = parse_number(parts.get("job_offset", record.get("het_job_offset")))
    if whole_job and part is not None:
        return f"{whole_job}+{int(part)}", (raw,)
    return raw, ()


def fill_log_path(log: str, identity: str, aliases: Sequence[str], name: str, user: str) -> str:
    """Fill the placeholders of a log's path that are known: %j %J %A %a %x %u."""
    leader, _, task = identity.partition("_")
    known = {
        "j": next((alias for alias in aliases if alias.isdecimal()), leader),
        "A": leader,
        "a": task,
        "x": name,
        "u": user,
    }
    known["J"] = known["j"]

    def value(place: re.Match[str]) -> str:
        if not place[2]:
            return "%"
        text = known[place[2]] or place[0]
        return text.zfill(int(place[1])) if place[1] and text.isdecimal() else text

    return _PLACE.sub(value, log)


Row = Mapping[str, object]
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "job": ("jobid", "job", "id"),
    "raw": ("jobidraw",),
    "cluster": ("cluster",),
    "user": ("user", "username", "owner"),
    "nodes": ("nodelist", "nodes", "node", "hosts", "host", "hostnames", "hostname", "exechost"),
    "gpus": ("gpus", "gpu", "ngpus", "numgpus", "gpucount", "gpusallocated"),
    "resources": ("alloctres",),
    "start": ("start", "starttime", "started", "startedat", "begin"),
    "end": ("end", "endtime", "ended", "endedat", "finish", "finished", "finishedat"),
    "elapsed": ("elapsedraw", "elapsed", "elapsedseconds", "durationseconds"),
    "state": ("state", "status", "jobstate"),
    "exit": ("exitcode", "exit", "exitstatus"),
    "image": ("image", "containerimage", "dockerimage", "container"),
    "command": ("submitline", "command"),
    "attempt": ("attempt",),
    "restarts": ("restarts", "restartcnt", "restartcount"),
    "name": ("jobname", "name"),
    "log": ("stdout", "log", "logfile", "logpath", "output"),
}
"""What a row may tell, and the columns that tell it, without case and signs."""
_SLURM_ONLY: Final = frozenset(
    {"jobidraw", "alloctres", "nodelist", "elapsedraw", "ncpus", "alloccpus"}
)


_FREE: Final = frozenset({"submitline", "command", "comment", "jobname", "name", "workdir"})
"""Columns of free text: where one is the last, what is too many belongs to it."""


def normalize_column(name: object) -> str:
    """Give a column's name without case and signs: `Job ID` is `jobid`."""
    return re.sub(r"[\W_]+", "", str(name).lower())


def has_job_columns(columns: Sequence[str]) -> bool:
    """Say whether columns name a job and anything about it."""
    known = {what for what, names in COLUMNS.items() if set(names) & {*columns}}
    return "job" in known and bool(known & {"nodes", "start", "end", "state", "user", "gpus"})


def is_of_slurm(columns: Sequence[str]) -> bool:
    """Say whether columns are those of sacct, whose rows hold steps."""
    return "jobid" in columns and bool(_SLURM_ONLY & {*columns})


def iter_table_rows(
    lines: Sequence[str], delimiter: str, skipped: int = 0
) -> Iterator[tuple[str, Row | BadRow]]:
    """Yield where each row of a table stands, and its cells by plain column.

    Args:
        lines: the header and all below it.
        delimiter: between cells; only between others than `|` may a cell be quoted.
        skipped: lines above the header.
    """
    quoting: Literal[0, 3] = csv.QUOTE_NONE if delimiter == "|" else csv.QUOTE_MINIMAL
    reader = csv.reader(lines, delimiter=delimiter, quoting=quoting)
    header = next(reader)
    columns = [normalize_column(name) for name in header]
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            where = f"line {skipped + reader.line_num}"
            yield where, BadRow(where, quote(str(error)))
            continue
        where = f"line {skipped + reader.line_num}"
        if not any(row) or row == header:
            continue
        if columns[-1] in _FREE and len(row) > len(columns):
            row[len(columns) - 1 :] = [delimiter.join(row[len(columns) - 1 :])]
        if len(row) != len(columns):
            yield where, BadRow(where, _describe_cell_count_mismatch(len(row), len(columns)))
        else:
            yield where, dict(zip(columns, row, strict=True))


def _describe_cell_count_mismatch(cells: int, columns: int) -> Message:
    return say(
        "{cells} cells under {columns} columns",
        cells=cells,
        columns=columns,
    )


def iter_allocations(
    rows: Iterable[tuple[str, Row | BadRow]], zone: tzinfo | None
) -> Iterator[Allocation | BadRow]:
    """Yield an allocation for each row; the attempt is 0 if there is none.

    Args:
        rows: where each stands, and its cells by plain column, or why it has none.
        zone: of times without one; None is this machine's.
    """
    for where, row in rows:
        if isinstance(row, BadRow):
            yield row
            continue
        try:
            yield _parse_table_row(row, zone)
        except BadCell as error:
            yield BadRow(where, error.why)


def _parse_table_row(row: Row, zone: tzinfo | None) -> Allocation:
    cells = {what: _get_cell(row, names) for what, names in COLUMNS.items()}
    identity, raw = convert_cell_to_text(cells["job"]), convert_cell_to_text(cells["raw"])
    if not identity:
        raise BadCell(say("it names no job"))
    aliases = (raw,) if raw and raw != identity else ()
    name, user = convert_cell_to_text(cells["name"]), convert_cell_to_text(cells["user"])
    start = parse_timestamp(cells["start"], zone)
    state, ended = state_of(cells["state"]), format_exit_code(cells["exit"])
    gpus = _parse_gpu_count(cells["gpus"])
    return Allocation(
        identity,
        attempt=_parse_attempt(cells["attempt"], cells["restarts"]),
        aliases=aliases,
        cluster=convert_cell_to_text(cells["cluster"]),
        user=user,
        nodes=_parse_nodes(cells["nodes"]),
        gpus=count_gpus(cells["resources"]) if gpus is None else gpus,
        start=start,
        end=parse_timestamp(cells["end"], zone, after=start),
        elapsed=parse_duration(cells["elapsed"])
        if start is not None or not cells["start"]
        else None,
        state=state or _state_by(ended),
        exit=ended,
        image=extract_image(cells["image"], cells["command"]),
        name=name,
        log=fill_log_path(convert_cell_to_text(cells["log"]), identity, aliases, name, user),
    )


def _get_cell(row: Row, names: Iterable[str]) -> object:
    """Give the first cell under one of the names that is not empty."""
    return next((row[name] for name in names if row.get(name) or row.get(name) == 0), None)


def _parse_nodes(cell: object) -> tuple[str, ...]:
    """Give the names of hosts; a bare number counts them and names none."""
    text = (
        ",".join(convert_cell_to_text(entry) for entry in cell)
        if isinstance(cell, list)
        else convert_cell_to_text(cell)
    )
    return () if text.isdecimal() else expand_hostlist(text)


def _parse_gpu_count(cell: object) -> int | None:
    """Parse a count of GPUs written as `8`, `a100:8` or `gpu=8`."""
    text = convert_cell_to_text(cell)
    return parse_whole_number(re.split(r"[:=]", text)[-1]) if text else None


def _parse_attempt(attempt: object, restarts: object) -> int:
    """Give the attempt, 1-based; 0 if it is unknown."""
    number, again = parse_whole_number(attempt), parse_whole_number(restarts)
    return number or (0 if again is None else again + 1)


def _state_by(ended: str) -> str:
    """Derive the state from the exit code if there is no state."""
    if not ended:
        return ""
    return COMPLETED if ended in {"0", "0:0"} else "FAILED"
