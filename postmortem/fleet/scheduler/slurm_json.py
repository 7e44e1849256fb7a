"""Jobs as Slurm writes them in JSON: `sacct --json`, its REST service, `squeue --json`.

The shape has changed from version to version of its data parser (0.0.37 to 0.0.46): a number is
plain or `{set, infinite, number}`, a state text or a list, an exit code has a signal or not. All
are read alike, by what stands there and not by a version.

In: the parsed file. Out: allocations, and records that could not be used. Not here: which record is
which attempt (`scheduler.merged_records`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any, Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import say
from postmortem.fleet.scheduler.allocations import Allocation, BadCell, BadRow
from postmortem.fleet.scheduler.hostlists import expand_hostlist
from postmortem.fleet.scheduler.scheduler_cells import (
    convert_cell_to_text,
    count_gpus,
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
            yield _parse_allocation(record, zone)
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


def _parse_allocation(record: Record, zone: tzinfo | None) -> Allocation:
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
