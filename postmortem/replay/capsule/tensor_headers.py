"""Read and check the header of a safetensors file, without torch.

In: an open file and its size. Out: the tensors' types and shapes. Not here: loading them.

Eight bytes with the header's length, the header in JSON, then the tensors, one behind the other
without a gap. Each of these is checked before anything else reads the file: the figures in it are
the file's own claims.
"""

import math
from typing import Any, BinaryIO, Final, NamedTuple

from postmortem.replay.capsule.json_limits import MOST_BYTES, parse_json

_MOST_DIMENSIONS: Final = 16
_MOST_NUMBERS: Final = 1 << 48
_BITS: Final = {
    "BOOL": 8,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "F64": 64,
    "I64": 64,
    "U64": 64,
    "C64": 64,
}
_OTHERS: Final = ((b"PK\x03\x04", "a zip archive, as torch.save writes"), (b"\x80", "a pickle"))


class TensorHeader(NamedTuple):
    """One tensor as described in the header."""

    dtype: str
    shape: tuple[int, ...]


class NoTensorFile(ValueError):  # noqa: N818 -- it names what it is not
    """The file is no whole safetensors file."""


def read_tensor_headers(file: BinaryIO, size: int) -> dict[str, TensorHeader]:
    """Read the header of a file of so many bytes.

    Raises:
        NoTensorFile: it is something else, or not all of it is there.
    """
    start = file.read(8)
    for magic, name in _OTHERS:
        if start.startswith(magic) and not _is_length(start, size):
            raise NoTensorFile(f"no safetensors file, but {name}")
    if not _is_length(start, size):
        raise NoTensorFile("no safetensors file: its header is longer than it, or than 16 MiB")
    length = int.from_bytes(start, "little")
    try:
        header_values = parse_json(file.read(length))
    except ValueError as error:
        raise NoTensorFile(f"no safetensors file: its header is no JSON: {error}") from error
    if not isinstance(header_values, dict):
        raise NoTensorFile("no safetensors file: its header is no object")
    header_values.pop("__metadata__", None)
    found = [(name, *_parse_entry(name, entry)) for name, entry in header_values.items()]
    _check_without_gap(sorted((begin, end) for _, _, begin, end in found), size - 8 - length)
    return {name: header for name, header, _, _ in found}


def _is_length(start: bytes, size: int) -> bool:
    length = int.from_bytes(start, "little")
    return len(start) == 8 and length <= min(MOST_BYTES, size - 8)


def _parse_entry(name: str, entry: Any) -> tuple[TensorHeader, int, int]:
    wrong = NoTensorFile(f"the header does not tell what the tensor {name[:80]!r} is")
    if not isinstance(entry, dict) or entry.get("dtype") not in _BITS:
        raise wrong
    shape: Any = entry.get("shape")
    offsets: Any = entry.get("data_offsets")
    if not _is_counts(shape) or not _is_counts(offsets):
        raise wrong
    if len(shape) > _MOST_DIMENSIONS or len(offsets) != 2:
        raise wrong
    if math.prod(max(side, 1) for side in shape) > _MOST_NUMBERS:
        raise wrong  # also where one side is 0: torch computes strides of the others
    numbers = math.prod(shape)
    begin, end = offsets
    if numbers * _BITS[entry["dtype"]] != (end - begin) * 8:
        raise NoTensorFile(f"the tensor {name[:80]!r} has another size than its shape says")
    return TensorHeader(entry["dtype"], tuple(shape)), begin, end


def _is_counts(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)


def _check_without_gap(places: list[tuple[int, int]], data: int) -> None:
    position = 0
    for begin, end in places:
        if begin != position:
            raise NoTensorFile("its tensors overlap or leave gaps")
        position = end
    if position > data:
        raise NoTensorFile(f"cut short: {position - data} bytes of tensors are missing")
    if position < data:
        raise NoTensorFile(f"{data - position} bytes behind its last tensor")
