"""Read plain values out of YAML, JSON, Python assignments and pickles, running none of them.

In: the text of a configuration, cut or whole, as YAML, JSON or Python; the bytes of a pickle. Out:
`Leaf`s, flat names with their values and lines in the order of the file, up to where it stops being
what it is; the value of a pickle. Not here: what the names mean, whose file it is
(`formats.config_files`).

Of YAML only the events of the parser are read. Nothing is constructed: a tag names no class, an
alias is not followed, so that ten lines cannot stand for a billion. JSON goes the same way, since
YAML's flow style is JSON but for tabs, and a file that is cut off gives what stands before the cut.

Of Python, as mmengine dumps it, only the syntax tree is looked at: what is no literal, call of a
name or name is passed over. Source: mmengine/config/config.py, `Config.dump`; `Runner.dump_config`
writes it into the work folder, and the visualiser as `vis_data/config.py`.

A pickle with anything but dictionaries, lists, texts and numbers is refused. The standard library's
unpickler is not used: it can be kept from importing, but not from setting aside memory for places
that a few bytes name. Here each of the few opcodes that are known builds one plain value out of
bytes that are there.
"""

import ast
import re
import struct
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

_MOST_LEAVES: Final = 20_000
_DEEPEST_LEVEL: Final = 40
_LONGEST: Final = 400
_LONGEST_NAME: Final = 200


class Leaf(NamedTuple):
    """A value and where it stands."""

    name: str
    """The names that lead to it, joined by dots; places in lists are numbers."""
    value: str
    line: int


class _Level:
    """A mapping or a list that is open."""

    def __init__(self, name: str, line: int, *, is_list: bool) -> None:
        self.name, self.line, self.is_list = name, line, is_list
        self.key: str | None = None
        self.count = 0
        self.plain: list[str] | None = [] if is_list else None
        """What a list holds, while it holds nothing but values."""

    def place(self) -> str:
        """Give the name of what comes next in it."""
        own = str(self.count) if self.is_list else self.key or ""
        return f"{self.name}.{own}" if self.name else own

    def step(self) -> None:
        """Go on behind what came."""
        self.key = None
        self.count += 1


def parse_leaves(text: str) -> tuple[list[Leaf], int | None]:
    """Flatten a configuration.

    Gives its values, a list of values as one, and the line at which it breaks off; None where it
    is whole. The value before the break is left out: it may be half of one.
    """
    import yaml  # noqa: PLC0415 -- a job without such a file does not pay for it

    found: list[Leaf] = []
    loader: Any = getattr(yaml, "CLoader", yaml.Loader)
    try:
        for leaf in _iter_event_leaves(yaml.parse(text.replace("\t", " "), Loader=loader), yaml):
            found.append(leaf)
            if len(found) >= _MOST_LEAVES:
                return found, leaf.line
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        last = text.rstrip().count("\n") + 1
        return found[:-1], 1 if mark is None else min(mark.line + 1, last)
    except RecursionError:
        return found[:-1], found[-1].line if found else 1
    return found, None


def _iter_event_leaves(events: Any, yaml: Any) -> Iterator[Leaf]:
    """Yield the leaves behind the events of a parser; of several documents, the first."""
    levels: list[_Level] = []
    for event in events:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.DocumentEndEvent):
            return
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            name = levels[-1].place() if levels else ""
            if levels:
                levels[-1].plain = None
            is_list = isinstance(event, yaml.SequenceStartEvent)
            levels.append(_Level(name[:_LONGEST_NAME], line, is_list=is_list))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            yield from _close_level(levels)
        elif isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent)) and levels:
            value = event.value if isinstance(event, yaml.ScalarEvent) else ""
            yield from _handle_scalar(levels, value, line)


def _close_level(levels: list[_Level]) -> Iterator[Leaf]:
    level = levels.pop()
    if level.plain and len(levels) <= _DEEPEST_LEVEL:
        values = ", ".join(level.plain)
        yield Leaf(level.name, f"[{values}]"[:_LONGEST], level.line)
    if levels:
        levels[-1].step()


def _handle_scalar(levels: list[_Level], value: str, line: int) -> Iterator[Leaf]:
    level = levels[-1]
    if not level.is_list and level.key is None:
        level.key = value[:_LONGEST_NAME]
        return
    if level.plain is not None:
        level.plain.append(value[:_LONGEST])
        del level.plain[_LONGEST:]
    elif value and len(levels) <= _DEEPEST_LEVEL:
        yield Leaf(level.place(), value[:_LONGEST], line)
    level.step()


_MOST_SOURCE_BYTES: Final = 256 << 10
_MOST_OPEN: Final = 60
"""Brackets within brackets beyond which no parser is troubled."""
_DEEPEST_EXPRESSION: Final = 20


def parse_assignments(source: str) -> list[Leaf]:
    """Give what the assignments hold; nothing of a source that is no Python, or too deep."""
    if len(source) > _MOST_SOURCE_BYTES or _measure_bracket_depth(source) > _MOST_OPEN:
        return []
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [
        leaf
        for statement in body
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        for leaf in _iter_assigned_leaves(
            statement.targets[0].id, statement.value, _DEEPEST_EXPRESSION
        )
    ]


def _iter_assigned_leaves(name: str, node: ast.expr, left: int) -> Iterator[Leaf]:
    """Yield what an expression holds under a name."""
    entries = _list_entries(node)
    if entries is None:
        value = _get_literal_text(node)
        if value:
            yield Leaf(name, value[:_LONGEST], node.lineno)
        return
    for key, entry in entries if left else ():
        yield from _iter_assigned_leaves(f"{name}.{key}", entry, left - 1)


def _list_entries(node: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """Give the named parts of an expression; None of one that has none."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        return [(word.arg, word.value) for word in node.keywords if word.arg]
    if isinstance(node, ast.Dict):
        return [
            (str(key.value), value)
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant)
        ]
    if isinstance(node, (ast.List, ast.Tuple)) and any(
        _list_entries(element) for element in node.elts
    ):
        return [(str(number), element) for number, element in enumerate(node.elts)]
    return None


def _get_literal_text(node: ast.expr) -> str:
    """Give the text of a value; empty of one that would have to be computed."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _get_literal_text(node.operand)
        return f"-{value}" if value else ""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, (ast.List, ast.Tuple)):
        return f"[{', '.join(_get_literal_text(element) for element in node.elts)}]"
    return ""


def _measure_bracket_depth(source: str) -> int:
    """Give how many brackets stand open at most."""
    deepest = depth = 0
    for mark in re.findall(r"[(\[{]|[)\]}]", source):
        depth += 1 if mark in "([{" else -1
        deepest = max(deepest, depth)
    return deepest


MOST_PICKLE_BYTES: Final = 64 << 20
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
        return _Unpickler(data[:MOST_PICKLE_BYTES]).load()
    except (IndexError, KeyError, TypeError, UnicodeError, RecursionError, struct.error) as error:
        raise ValueError(f"not a pickle of plain values: {error}") from error
