"""Pickles of plain values: dictionaries, lists, texts, numbers.

In: bytes. Out: the value. Not here: classes, functions and whatever else a pickle can name or call:
a pickle with any of it is refused.

The standard library's unpickler is not used. It can be kept from importing, but not from setting
aside memory for places that a few bytes name. Here the opcodes are read by `pickletools`, which
executes nothing, and each of the few that are known builds one plain value.
"""

from collections.abc import Callable
from typing import Any, Final

MOST_BYTES: Final = 64 << 20
_MOST_MEMO: Final = 1 << 20
_MARK: Final = object()
_VALUES: Final = frozenset(
    {
        "BINUNICODE",
        "SHORT_BINUNICODE",
        "BINUNICODE8",
        "BININT",
        "BININT1",
        "BININT2",
        "LONG1",
        "BINFLOAT",
    }
)
_NEW: Final[dict[str, Callable[[], Any]]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
}
_TUPLES: Final = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED: Final = frozenset({"PROTO", "FRAME"})


class _PickleStack:
    """The stack on which values are built."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def do(self, name: str, argument: Any) -> None:
        """Carry out one opcode.

        Raises:
            ValueError: it is none of those that build plain values.
        """
        if name in _VALUES:
            self.stack.append(argument)
        elif name in _NEW:
            self.stack.append(_NEW[name]())
        elif name == "MARK":
            self.stack.append(_MARK)
        elif name in _TUPLES:
            parts = [self.stack.pop() for _ in range(_TUPLES[name])]
            self.stack.append(tuple(reversed(parts)))
        elif name == "TUPLE":
            self.stack.append(tuple(self._marked()))
        elif not self._fill(name) and not self._recall(name, argument) and name not in _IGNORED:
            raise ValueError(f"the opcode {name} builds no plain value")

    def _fill(self, name: str) -> bool:
        """Put values into the list or dictionary below them."""
        if name in {"SETITEM", "APPEND"}:
            last = [self.stack.pop() for _ in range(2 if name == "SETITEM" else 1)][::-1]
        elif name in {"SETITEMS", "APPENDS"}:
            last = self._marked()
        else:
            return False
        target = self.stack[-1]
        if isinstance(target, list):
            target.extend(last)
        elif isinstance(target, dict):
            target.update(zip(last[::2], last[1::2], strict=True))
        else:
            raise ValueError("values are put into something that holds none")  # noqa: TRY004 -- of the data
        return True

    def _recall(self, name: str, argument: Any) -> bool:
        """Remember the value on top, or put one that is remembered there."""
        if name in {"BINPUT", "LONG_BINPUT", "MEMOIZE"}:
            if len(self._memo) >= _MOST_MEMO:
                raise ValueError("too many values are remembered")
            self._memo[len(self._memo) if argument is None else argument] = self.stack[-1]
        elif name in {"BINGET", "LONG_BINGET"}:
            self.stack.append(self._memo[argument])
        else:
            return False
        return True

    def _marked(self) -> list[Any]:
        """Take all values above the last mark."""
        values: list[Any] = []
        while (value := self.stack.pop()) is not _MARK:
            values.append(value)
        return values[::-1]


def load_plain_value(data: bytes) -> Any:
    """Read a pickle of plain values.

    Raises:
        ValueError: it holds something else, is cut off, or no pickle at all.
    """
    import pickletools  # noqa: PLC0415 -- rare input: its import is not paid by every start

    machine = _PickleStack()
    try:
        for opcode, argument, _ in pickletools.genops(data[:MOST_BYTES]):
            if opcode.name == "STOP":
                return machine.stack.pop()
            machine.do(opcode.name, argument)
    except (IndexError, KeyError, TypeError, UnicodeError, RecursionError) as error:
        raise ValueError(f"not a pickle of plain values: {error}") from error
    raise ValueError("the pickle does not end")
