"""Tables of jobs: `sacct -P`, and CSV, TSV or JSON lines of any other scheduler.

In: rows by column. Out: allocations, and rows that could not be used. Not here: which row is which
attempt (`scheduler.merged_records`), what kind of file it is (`scheduler.scheduler_file`).
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Final, Literal

from postmortem.core.message import Message, quote, say
from postmortem.fleet.scheduler.allocations import COMPLETED, Allocation, BadCell, BadRow
from postmortem.fleet.scheduler.hostlists import expand_hostlist
from postmortem.fleet.scheduler.scheduler_cells import (
    convert_cell_to_text,
    count_gpus,
    extract_image,
    format_exit_code,
    parse_duration,
    parse_timestamp,
    parse_whole_number,
    state_of,
)
from postmortem.fleet.scheduler.slurm_json import fill_log_path

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
            yield _parse_allocation(row, zone)
        except BadCell as error:
            yield BadRow(where, error.why)


def _parse_allocation(row: Row, zone: tzinfo | None) -> Allocation:
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
