"""The flight recorder of torch.distributed: the last collectives of a rank.

In: the path and bytes of a dump, a pickle of plain values or JSON. Out: `RecordedCollectives`: for
each group how many collectives the rank had enqueued, and where its last one stands. Not here:
comparing ranks (`detectors.collectives`). Source:
torch/csrc/distributed/c10d/FlightRecorderDetail.hpp. The name of a dump is a prefix
(TORCH_FR_DUMP_TEMP_FILE) and the rank: `nccl_trace_rank_` of older torch, `comm_lib_trace_rank_` of
newer, `hccl_trace_rank_` of torch_npu, `comm_traces/rank_` of torchtitan.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import Message, join_list, say
from postmortem.core.numerals import parse_whole_number
from postmortem.extraction.formats.plain_pickle import load_plain_value

_NAME: Final = compile_lazily(
    r"(?:(?:[a-z_]{1,40}_)?trace_rank_?|comm_traces/rank_)(?P<rank>\d{1,6})(?:\.json)?\Z"
)
_ENQUEUED: Final = "last_enqueued_collective"
_MOST_GROUPS: Final = 64
_MOST_SHOWN: Final = 3
REFUSED: Final = say(
    "named like a dump of the flight recorder, but holds none",
    "文件名像 flight recorder 转储，但内容不是",
)


class RecordedCollectives(NamedTuple):
    """The state of one process group in a dump."""

    group: str
    rank: int
    enqueued: int
    completed: int
    last: str
    """The operation that was enqueued last; empty where no entry of it is kept."""

    def describe(self) -> Message:
        """Say it in a few words."""
        return say(
            "group {group}: last enqueued {number}{last}, last completed {completed}",
            "进程组 {group}：最后入队第 {number} 个{last}，最后完成第 {completed} 个",
            group=self.group,
            number=self.enqueued,
            last=f" ({self.last})" if self.last else "",
            completed=self.completed,
        )


def rank_of_dump(path: str) -> int | None:
    """Give the rank in the name of a dump; None for any other file."""
    match = _NAME.search("/".join(PurePath(path).parts[-2:]))
    return int(match["rank"]) if match else None


def read_dump(data: bytes, rank: int) -> list[RecordedCollectives]:
    """Read a dump.

    Raises:
        ValueError: it is none.
    """
    try:
        dump = json.loads(data) if data.lstrip()[:1] == b"{" else load_plain_value(data)
    except RecursionError as error:
        raise ValueError("nested without end") from error
    groups = dump.get("pg_status") if isinstance(dump, Mapping) else None
    if not isinstance(groups, Mapping):
        raise ValueError("no dump of the flight recorder")  # noqa: TRY004 -- of the data
    entries = dump.get("entries")
    return [
        RecordedCollectives(
            name[:80],
            rank,
            enqueued,
            _count(standing, "last_completed_collective"),
            _get_operation(entries, name, enqueued),
        )
        for name, standing in list(groups.items())[:_MOST_GROUPS]
        if isinstance(name, str) and (enqueued := _count(standing, _ENQUEUED)) >= 0
    ]


def note_of_dump(found: Sequence[RecordedCollectives]) -> Message:
    """Say what a dump holds."""
    head = say("NCCL flight recorder", "NCCL flight recorder")
    shown = sorted(found, key=lambda group: -group.enqueued)[:_MOST_SHOWN]
    return join_list([head, *(group.describe() for group in shown)], "; ", "；")


def _get_operation(entries: Any, group: str, number: int) -> str:
    """Give the operation of a group's collective of this number."""
    for entry in reversed(entries if isinstance(entries, list) else []):
        if isinstance(entry, Mapping) and entry.get("collective_seq_id") == number:
            of, name = entry.get("process_group"), entry.get("profiling_name")
            if isinstance(of, (list, tuple)) and of[:1] in ([group], (group,)):
                return (
                    f"{name[:60]} {_format_sizes(entry)}".rstrip() if isinstance(name, str) else ""
                )
    return ""


def _format_sizes(entry: Mapping[Any, Any]) -> str:
    """Give the sizes of its inputs; nothing of a list that holds anything else."""
    sizes = entry.get("input_sizes")
    rows = sizes if isinstance(sizes, list) and all(map(_is_int_list, sizes)) else []
    return str(rows)[:60] if rows else ""


def _is_int_list(row: Any) -> bool:
    return isinstance(row, list) and len(row) <= _MOST_GROUPS and all(type(n) is int for n in row)


def _count(standing: Any, name: str) -> int:
    """Give a count; -1 where there is none. The JSON form writes it as text."""
    value = standing.get(name) if isinstance(standing, Mapping) else None
    known = parse_whole_number(value) if isinstance(value, str) else value
    return known if type(known) is int else -1
