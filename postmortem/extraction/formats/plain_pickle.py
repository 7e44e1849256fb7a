"""Pickles of plain values: dictionaries, lists, texts, numbers.

In: bytes. Out: the value. Not here: classes, functions and whatever else a pickle can name or call:
a pickle with any of it is refused.

The standard library's unpickler is not used. It can be kept from importing, but not from setting
aside memory for places that a few bytes name. Here each of the few opcodes that are known builds
one plain value out of bytes that are there.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

MOST_BYTES: Final = 64 << 20
_MOST_MEMO: Final = 1 << 20
_STOP, _BINGET, _BINPUT, _LONG_BINGET = b".hqj"
_UNSIGNED: Final = struct.Struct("<I").unpack_from


class _Unpickler:
    """The stack on which values are built."""

    __slots__ = ("at", "data", "marks", "memo", "stack")

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def load(self) -> Any:
        """Carry out all opcodes up to the end.

        Raises:
            ValueError: one is none of those that build plain values.
        """
        data, stack, memo, at = self.data, self.stack, self.memo, 0
        while (code := data[at]) != _STOP:
            if code == _BINGET:
                stack.append(memo[data[at + 1]])
                at += 2
            elif code == _BINPUT:
                memo[data[at + 1]] = stack[-1]
                at += 2
            elif code == _LONG_BINGET:
                stack.append(memo[_UNSIGNED(data, at + 1)[0]])
                at += 5
            else:
                self.at = at + 1
                _OPCODES[code](self)
                at = self.at
        return stack.pop()

    def take(self, size: int) -> bytes:
        """Take as many bytes, all of which must be there."""
        end = self.at + size
        if end > len(self.data):
            raise ValueError("the pickle does not end")
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def take_marked(self) -> list[Any]:
        """Take all values above the last mark."""
        mark = self.marks.pop()
        values = self.stack[mark:]
        del self.stack[mark:]
        return values

    def remember(self, place: int) -> None:
        """Remember the value on top."""
        if len(self.memo) >= _MOST_MEMO:
            raise ValueError("too many values are remembered")
        self.memo[place] = self.stack[-1]


def _text(width: int) -> Callable[[_Unpickler], None]:
    """Give what reads a text behind a length of so many bytes."""

    def load(machine: _Unpickler) -> None:
        size = int.from_bytes(machine.take(width), "little")
        machine.stack.append(machine.take(size).decode("utf-8", "surrogatepass"))

    return load


def _number(form: str) -> Callable[[_Unpickler], None]:
    """Give what reads a number of a fixed form."""
    unpack, size = struct.Struct(form).unpack_from, struct.calcsize(form)

    def load(machine: _Unpickler) -> None:
        machine.stack += unpack(machine.data, machine.at)
        machine.at += size

    return load


def _value(make: Callable[[], Any]) -> Callable[[_Unpickler], None]:
    return lambda machine: machine.stack.append(make())


def _tuple(size: int) -> Callable[[_Unpickler], None]:
    """Give what makes a tuple of the last values."""

    def load(machine: _Unpickler) -> None:
        if len(machine.stack) < size:
            raise IndexError(size)
        machine.stack[-size:] = [tuple(machine.stack[-size:])]

    return load


def _load_long(machine: _Unpickler) -> None:
    size = machine.take(1)[0]
    machine.stack.append(int.from_bytes(machine.take(size), "little", signed=True))


def _fill(machine: _Unpickler, values: list[Any]) -> None:
    """Put values into the list or dictionary on top."""
    target = machine.stack[-1]
    if type(target) is dict:
        target.update(zip(values[::2], values[1::2], strict=True))
    elif type(target) is list:
        target += values
    else:
        raise ValueError("values are put into something that holds none")


def _fill_with_last(size: int) -> Callable[[_Unpickler], None]:
    def load(machine: _Unpickler) -> None:
        values = machine.stack[-size:]
        del machine.stack[-size:]
        _fill(machine, values)

    return load


def _refuse(machine: _Unpickler) -> None:
    code = machine.data[machine.at - 1]
    raise ValueError(f"the opcode {code:#04x} builds no plain value")


_KNOWN: Final[dict[bytes, Callable[[_Unpickler], None]]] = {
    b"X": _text(4),
    b"\x8c": _text(1),
    b"\x8d": _text(8),
    b"J": _number("<i"),
    b"K": _number("<B"),
    b"M": _number("<H"),
    b"G": _number(">d"),
    b"\x8a": _load_long,
    b"N": _value(lambda: None),
    b"\x88": _value(lambda: True),
    b"\x89": _value(lambda: False),
    b"}": _value(dict),
    b"]": _value(list),
    b")": _value(tuple),
    b"(": lambda machine: machine.marks.append(len(machine.stack)),
    b"t": lambda machine: machine.stack.append(tuple(machine.take_marked())),
    b"\x85": _tuple(1),
    b"\x86": _tuple(2),
    b"\x87": _tuple(3),
    b"s": _fill_with_last(2),
    b"a": _fill_with_last(1),
    b"u": lambda machine: _fill(machine, machine.take_marked()),
    b"e": lambda machine: _fill(machine, machine.take_marked()),
    b"r": lambda machine: machine.remember(int.from_bytes(machine.take(4), "little")),
    b"\x94": lambda machine: machine.remember(len(machine.memo)),
    b"\x80": lambda machine: _skip(machine, 1),
    b"\x95": lambda machine: _skip(machine, 8),
}
"""By their codes, but the few that `_Unpickler.load` carries out itself for speed."""


def _skip(machine: _Unpickler, size: int) -> None:
    machine.at += size


_OPCODES: Final = [_KNOWN.get(bytes([code]), _refuse) for code in range(256)]


def load_plain_value(data: bytes) -> Any:
    """Read a pickle of plain values.

    Raises:
        ValueError: it holds something else, is cut off, or no pickle at all.
    """
    try:
        return _Unpickler(data[:MOST_BYTES]).load()
    except (IndexError, KeyError, TypeError, UnicodeError, RecursionError, struct.error) as error:
        raise ValueError(f"not a pickle of plain values: {error}") from error
