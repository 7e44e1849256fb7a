"""Binary files of a run: TensorBoard's event files, and the flight recorder of torch.distributed.

In: the path and bytes of a file; a dump of the flight recorder is a pickle of plain values or JSON.
Out: a record for each event with scalars, with its number in the file, which stands for its line,
and how many bytes at the end could not be read; `RankDump`: for each process group how many
collectives the rank had enqueued and completed, and the operations that it had not completed, in
their order. Not here: images, histograms, graphs and texts, which are passed over; comparing ranks
(`detectors.waiting_ranks`).

The framing of events is read here, so that a packed file and a stream serve too, and a file that is
cut off or garbage costs no more than its size. What stands within the frames is read by the package
`tensorboard`, from its generated messages alone: its own loader of files imports TensorFlow where
that is installed.

Source of the dumps: torch/csrc/distributed/c10d/FlightRecorderDetail.hpp. The name of a dump is a
prefix (TORCH_FR_DUMP_TEMP_FILE) and the rank: `nccl_trace_rank_` of older torch,
`comm_lib_trace_rank_` of newer, `hccl_trace_rank_` of torch_npu, `comm_traces/rank_` of torchtitan,
`_dump_` of Megatron and NVRx.
"""

import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePath
from typing import Any, Final

from postmortem.core.errors import install_command
from postmortem.core.findings import NOWHERE, PendingWork, RankDump, RecordedGroup
from postmortem.core.log_text import compile_lazily, parse_whole_number
from postmortem.core.message import Message, say
from postmortem.extraction.formats.plain_values import load_plain_value
from postmortem.extraction.formats.record_parts import normalise_metric_name
from postmortem.extraction.formats.records import Record
from postmortem.reading.sources import Readable, fill

TENSORBOARD: Final = "tensorboard"
_EVENT_FILE_MARK: Final = ".tfevents."
_EVENT_HEAD: Final = struct.Struct("<QI")
_CRC_BYTES: Final = 4
_LARGEST_EVENT: Final = 64 << 20
"""Bytes of one event; images and graphs are some megabytes."""
_SCALARS: Final = "scalars"
EVENTS_UNREADABLE: Final = say(
    "TensorBoard events: to read them, {command} in a checkout of postmortem",
    command=install_command("tensorboard"),
)
EVENTS_NOTE: Final = say("TensorBoard events: lines count its records")
NO_EVENTS: Final = say("named like TensorBoard events, but holds none")

Parse = Callable[[bytes], Any]


def is_event_file(path: str) -> bool:
    """Say whether a file is called as TensorBoard calls its event files."""
    return _EVENT_FILE_MARK in PurePath(path).name


def load_parser() -> Parse | None:
    """Give what reads an event; None where the package for it is not installed."""
    try:
        from tensorboard.compat.proto import event_pb2  # noqa: PLC0415 -- an extra
    except Exception:  # noqa: BLE001 -- a broken installation is none
        return None
    parse: Parse = event_pb2.Event.FromString
    return parse


class EventFile:
    """The events of a file, one after the other."""

    def __init__(self, source: Readable, parse: Parse) -> None:
        """Take what gives its bytes, and who reads an event."""
        self._source, self._parse = source, parse
        self.count = 0
        """Events that were read."""
        self.is_broken = False
        """Whether it breaks off, or goes on with something else."""

    def records(self) -> Iterator[tuple[Record, int]]:
        """Yield the scalars of each event."""
        while (frame := self._read_frame()) is not None:
            try:
                event = self._parse(frame)
            except Exception:  # noqa: BLE001 -- protobuf's own error, which is not imported here
                self.is_broken = True
                return
            self.count += 1
            values = [
                (normalise_metric_name(value.tag), number)
                for value in event.summary.value
                if (number := _get_scalar(value)) is not None
            ]
            if values:
                yield Record(float(event.step), values, NOWHERE), self.count

    def _read_frame(self) -> bytes | None:
        head = fill(self._source, _EVENT_HEAD.size)
        if not head:
            return None
        length = (
            _EVENT_HEAD.unpack(head)[0] if len(head) == _EVENT_HEAD.size else _LARGEST_EVENT + 1
        )
        frame = b"" if length > _LARGEST_EVENT else fill(self._source, length)
        is_whole = length <= _LARGEST_EVENT and len(frame) == length
        if not is_whole or len(fill(self._source, _CRC_BYTES)) < _CRC_BYTES:
            self.is_broken = True
            return None
        return frame


def note_of(file: EventFile) -> list[Message]:
    """Say what a reader of the report should know of a file that was read."""
    if not file.is_broken:
        return [EVENTS_NOTE]
    return [
        EVENTS_NOTE,
        say("breaks off behind record {count}", count=file.count),
    ]


def _get_scalar(value: Any) -> float | None:
    """Give the figure of a summary: as a number of its own, or as a tensor that holds just one."""
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return float(value.simple_value)
    plugin = value.metadata.plugin_data.plugin_name
    if kind != "tensor" or plugin not in {"", _SCALARS} or value.tensor.tensor_shape.dim:
        return None
    tensor = value.tensor
    for held in (tensor.float_val, tensor.double_val):
        if len(held) == 1:
            return float(held[0])
    formats = {1: "<f", 2: "<d"}  # DT_FLOAT, DT_DOUBLE
    layout = formats.get(tensor.dtype)
    if layout is None or len(tensor.tensor_content) != struct.calcsize(layout):
        return None
    return float(struct.unpack(layout, tensor.tensor_content)[0])


_DUMP_NAME: Final = compile_lazily(
    r"(?:(?:[a-z_]{1,40}_)?trace_rank_?|comm_traces/rank_|/_dump_)(?P<rank>\d{1,6})(?:\.json)?\Z"
)
_MEMBER: Final = compile_lazily(r"\d{1,7}")
_PEERS: Final = compile_lazily(
    r"(?:send (?P<sender>\d{1,7})->(?P<to>\d{1,7})|recv (?P<receiver>\d{1,7})<-(?P<of>\d{1,7}))\Z"
)
"""How a point-to-point operation names both ends, by their place in the group."""
_UNNAMED: Final = "undefined"
_MOST_GROUPS: Final = 512
_MOST_PENDING: Final = 64
_LONGEST: Final = 80
DUMP_REFUSED: Final = say("named like a dump of the flight recorder, but holds none")


def rank_of_dump(path: str) -> int | None:
    """Give the rank in the name of a dump; None for any other file."""
    match = _DUMP_NAME.search("/" + "/".join(PurePath(path).parts[-2:]))
    return int(match["rank"]) if match else None


def read_dump(data: bytes, rank: int, source: int = 0) -> RankDump:
    """Read a dump.

    Args:
        data: the whole file.
        rank: of the process that wrote it.
        source: number of the file among the sources of the job.

    Raises:
        ValueError: it is none.
    """
    try:
        dump = json.loads(data) if data.lstrip()[:1] == b"{" else load_plain_value(data)
    except RecursionError as error:
        raise ValueError("nested without end") from error
    is_dump = isinstance(dump, Mapping) and (
        isinstance(dump.get("pg_status"), Mapping) or isinstance(dump.get("entries"), list)
    )
    if not is_dump:
        raise ValueError("no dump of the flight recorder")
    entries = _select_mappings(dump.get("entries"))
    names = _name_groups(dump, entries)
    standing = {
        names.get(str(key), str(key)[:_LONGEST]): value
        for key, value in islice(_get_mapping(dump, "pg_status").items(), _MOST_GROUPS)
    }
    config = _get_mapping(dump, "pg_config")
    own: dict[str, list[Mapping[Any, Any]]] = {name: [] for name in standing}
    for entry in entries:
        own.setdefault(_get_group(entry)[0], []).append(entry)
    found = (
        _build_group(name, standing.get(name), config.get(name), of_group)
        for name, of_group in own.items()
        if name
    )
    groups = {group.name: group for group in found if group.enqueued >= 0}
    return RankDump(rank, source, groups, tuple(_list_pending(entries, groups)))


def _select_mappings(entries: Any) -> list[Mapping[Any, Any]]:
    """Give the entries in the order in which they were enqueued."""
    found = (
        [one for one in entries if isinstance(one, Mapping)] if isinstance(entries, list) else []
    )
    return sorted(found, key=lambda entry: _count(entry, "record_id"))


def _get_mapping(dump: Mapping[Any, Any], name: str) -> Mapping[Any, Any]:
    value = dump.get(name)
    return value if isinstance(value, Mapping) else {}


def _get_group(entry: Mapping[Any, Any]) -> tuple[str, str]:
    """Give name and description of the group of an entry."""
    group = entry.get("process_group")
    if not isinstance(group, (list, tuple)) or not all(isinstance(text, str) for text in group[:2]):
        return "", ""
    name, description = (*map(str, group), "", "")[:2]
    return name[:_LONGEST], "" if description == _UNNAMED else description[:_LONGEST]


def _name_groups(
    dump: Mapping[Any, Any], entries: Sequence[Mapping[Any, Any]]
) -> Mapping[str, str]:
    """Give the names of the groups by their numbers, under which their counts may stand.

    An entry gives both. Of groups without entries only the order is known: numbers and names rise
    together, as groups are made.
    """
    known = {
        str(entry["pg_id"]): _get_group(entry)[0]
        for entry in entries
        if _count(entry, "pg_id") >= 0
    }
    numbers = [str(key) for key in _get_mapping(dump, "pg_status")]
    names = [str(name)[:_LONGEST] for name in _get_mapping(dump, "pg_config")]
    is_numbered = len(numbers) == len(names) and all(map(str.isdecimal, [*numbers, *names]))
    if is_numbered:
        ordered = dict(zip(sorted(numbers, key=int), sorted(names, key=int), strict=True))
        if all(ordered.get(number, name) == name for number, name in known.items()):
            return ordered
    return known


def _build_group(
    name: str, standing: Any, config: Any, own: Sequence[Mapping[Any, Any]]
) -> RecordedGroup:
    """Put together what a dump says of a group, from its counts, its members and its entries."""
    enqueued, completed = _count_works(standing, own)
    config = config if isinstance(config, Mapping) else {}
    described = [*filter(None, (_get_group(entry)[1] for entry in own)), config.get("desc"), ""]
    last = next((entry for entry in reversed(own) if _get_number(entry) == enqueued), None)
    return RecordedGroup(
        name,
        str(described[0] or "")[:_LONGEST],
        _parse_members(config.get("ranks")),
        enqueued,
        completed,
        "" if last is None else f"{_get_operation(last)} {_format_sizes(last)}".rstrip(),
    )


def _count_works(standing: Any, own: Sequence[Mapping[Any, Any]]) -> tuple[int, int]:
    """Give the numbers of the last collective that was enqueued, and that was completed."""
    if isinstance(standing, Mapping):
        counts = ("last_enqueued_collective", "last_completed_collective")
        enqueued, completed = (_count(standing, name) for name in counts)
        return enqueued, completed
    numbers = [_get_number(entry) for entry in own if not entry.get("is_p2p")]
    done = [_get_number(entry) for entry in own if entry.get("state") == "completed"]
    return max(numbers, default=-1), max(done, default=-1)


def _parse_members(ranks: Any) -> tuple[int, ...]:
    """Give the members of a group, which are written as a text."""
    if isinstance(ranks, str):
        return tuple(int(match[0]) for match in _MEMBER.finditer(ranks))
    return tuple(ranks) if _is_int_list(ranks) else ()


def _list_pending(
    entries: Sequence[Mapping[Any, Any]], groups: Mapping[str, RecordedGroup]
) -> list[PendingWork]:
    """List what is not completed; a group that only counts tells the number of its next work."""
    found = [*islice(_iter_pending_entries(entries, groups), _MOST_PENDING)]
    recorded = {_get_group(entry)[0] for entry in entries}
    counted = (
        PendingWork(group.name, group.completed + 1, "", "")
        for group in groups.values()
        if group.name not in recorded and group.completed < group.enqueued
    )
    return [*found, *counted][:_MOST_PENDING]


def _iter_pending_entries(
    entries: Sequence[Mapping[Any, Any]], groups: Mapping[str, RecordedGroup]
) -> Iterator[PendingWork]:
    # Where both are printed, a group's count is of its point-to-point operations.
    mixed = {_get_group(entry)[0] for entry in entries if entry.get("is_p2p")}
    for entry in entries:
        group, number = groups.get(_get_group(entry)[0]), _get_number(entry)
        if group is None or entry.get("state") == "completed":
            continue
        peer = _find_peer(entry)
        if group.name not in mixed:
            is_done = not group.completed < number <= group.enqueued
        else:
            is_done = entry.get("retired") is True or (bool(entry.get("is_p2p")) and peer is None)
        if not is_done:
            yield PendingWork(
                group.name,
                number,
                _get_operation(entry),
                _format_sizes(entry),
                peer,
                is_let_go=entry.get("retired") is True,
            )


def _find_peer(entry: Mapping[Any, Any]) -> int | None:
    match = _PEERS.search(_get_operation(entry)) if entry.get("is_p2p") else None
    return None if match is None else int(match["to"] or match["of"])


def _get_number(entry: Mapping[Any, Any]) -> int:
    """Give the place among the collectives of a group; torch 2.3 and older call it otherwise."""
    return _count(entry, "collective_seq_id" if "collective_seq_id" in entry else "seq_id")


def _get_operation(entry: Mapping[Any, Any]) -> str:
    name = entry.get("profiling_name")
    return name[:60] if isinstance(name, str) else ""


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
