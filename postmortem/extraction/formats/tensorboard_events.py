"""TensorBoard's event files: the scalars of a run.

In: the bytes of the file. Out: a record for each event with scalars, with its number in the file,
which stands for its line; how many bytes at the end could not be read. Not here: images,
histograms, graphs and texts, which are passed over.

The framing is read here, so that a packed file and a stream serve too, and a file that is cut off
or garbage costs no more than its size. What stands within the frames is read by the package
`tensorboard`, from its generated messages alone: its own loader of files imports TensorFlow where
that is installed.
"""

import struct
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any, Final

from postmortem.core.errors import install_command
from postmortem.core.lines import NOWHERE
from postmortem.core.message import Message, say
from postmortem.extraction.formats.metric_names import normalise_metric_name
from postmortem.extraction.formats.records import Record
from postmortem.reading.byte_streams import fill
from postmortem.reading.sources import Readable

PRODUCER: Final = "tensorboard"
_MARK: Final = ".tfevents."
_HEAD: Final = struct.Struct("<QI")
_CRC_BYTES: Final = 4
_LARGEST: Final = 64 << 20
"""Bytes of one event; images and graphs are some megabytes."""
_SCALARS: Final = "scalars"
MISSING: Final = say(
    "TensorBoard events: to read them, {command} in a checkout of postmortem",
    command=install_command("tensorboard"),
)
NOTE: Final = say("TensorBoard events: lines count its records")
GARBAGE: Final = say("named like TensorBoard events, but holds none")

Parse = Callable[[bytes], Any]


def is_event_file(path: str) -> bool:
    """Say whether a file is called as TensorBoard calls its event files."""
    return _MARK in PurePath(path).name


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
        head = fill(self._source, _HEAD.size)
        if not head:
            return None
        length = _HEAD.unpack(head)[0] if len(head) == _HEAD.size else _LARGEST + 1
        frame = b"" if length > _LARGEST else fill(self._source, length)
        is_whole = length <= _LARGEST and len(frame) == length
        if not is_whole or len(fill(self._source, _CRC_BYTES)) < _CRC_BYTES:
            self.is_broken = True
            return None
        return frame


def note_of(file: EventFile) -> list[Message]:
    """Say what a reader of the report should know of a file that was read."""
    if not file.is_broken:
        return [NOTE]
    return [
        NOTE,
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
