"""TensorBoard's event files: both forms of a scalar, what is passed over, what breaks off."""

import io
import math
import struct
from collections.abc import Callable
from typing import Any

import pytest

from postmortem.extraction.formats.binary_files import (
    EventFile,
    is_event_file,
    load_parser,
    note_of,
)

pytest.importorskip("tensorboard")
PARSE = load_parser()


def frame(data: bytes) -> bytes:
    """A record as it is stored; nobody looks at its sums."""
    return struct.pack("<QI", len(data), 0) + data + b"\0\0\0\0"


def event(step: int, fill: Callable[[Any], None]) -> bytes:
    """An event with one summary value."""
    from tensorboard.compat.proto import event_pb2

    one = event_pb2.Event(step=step)
    value = one.summary.value.add(tag="train/loss")
    fill(value)
    return frame(one.SerializeToString())


def simple(value: Any) -> None:
    """As torch and tensorboardX write a scalar."""
    value.simple_value = 0.5


def listed(value: Any) -> None:
    """As TensorFlow 2 writes it, in a list."""
    value.tensor.dtype = 1
    value.tensor.float_val.append(0.5)
    value.metadata.plugin_data.plugin_name = "scalars"


def packed(value: Any) -> None:
    """As TensorFlow 2 writes it, in bytes."""
    value.tensor.dtype = 1
    value.tensor.tensor_content = struct.pack("<f", math.nan)
    value.metadata.plugin_data.plugin_name = "scalars"


def histogram(value: Any) -> None:
    """What is no scalar."""
    value.histo.num = 3


def text(value: Any) -> None:
    """A tensor of another plugin."""
    value.tensor.string_val.append(b"hello")
    value.metadata.plugin_data.plugin_name = "text"


@pytest.mark.parametrize(
    ("fill", "expected"),
    [
        pytest.param(simple, [("loss", 0.5)], id="a number"),
        pytest.param(listed, [("loss", 0.5)], id="a tensor with a list"),
        pytest.param(packed, [("loss", math.nan)], id="a tensor with bytes"),
        pytest.param(histogram, [], id="a histogram"),
        pytest.param(text, [], id="a text"),
    ],
)
def test_scalars_of_either_form(
    fill: Callable[[Any], None], expected: list[tuple[str, float]]
) -> None:
    """Under the report's own names; whatever else is passed over."""
    assert PARSE is not None
    file = EventFile(io.BytesIO(event(7, fill)), PARSE)
    found = [(record.step, line, record.values) for record, line in file.records()]
    assert str(found) == str([(7.0, 1, expected)] if expected else [])
    assert (file.count, file.is_broken) == (1, False)


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(b"\1\2\3", id="half a head"),
        pytest.param(event(2, simple)[:-6], id="half a record"),
        pytest.param(b"\xff" * 4000, id="garbage"),
        pytest.param(frame(b"\xff" * 30), id="a record that is no event"),
    ],
)
def test_what_stands_before_the_break_is_told(tail: bytes) -> None:
    """A length that is not there costs nothing."""
    assert PARSE is not None
    file = EventFile(io.BytesIO(event(1, simple) + tail), PARSE)
    assert len(list(file.records())) == 1
    assert "breaks off behind record 1" in str(note_of(file)[1])


def test_names_of_event_files() -> None:
    """As TensorBoard looks for them."""
    assert is_event_file("a/events.out.tfevents.1700000000.host.1.0")
    assert not is_event_file("a.tfevents.d/train.log")
