"""Nested configurations, YAML or JSON, as flat names with their values and lines.

In: the text of a file, cut or whole. Out: `Leaf`s in the order of the file, up to where it stops
being what it is. Not here: what the names mean (`formats.setting_keys`), whose file it is
(`formats.config_files`).

Only the events of the parser are read. Nothing is constructed: a tag names no class, an alias is
not followed, so that ten lines cannot stand for a billion. JSON goes the same way, since YAML's
flow style is JSON but for tabs, and a file that is cut off gives what stands before the cut.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

MOST_BYTES: Final = 1 << 20
"""Of a configuration; what stands behind is data."""
_MOST_LEAVES: Final = 20_000
_DEEPEST: Final = 40
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
        for leaf in _iter_leaves(yaml.parse(text.replace("\t", " "), Loader=loader), yaml):
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


def _iter_leaves(events: Any, yaml: Any) -> Iterator[Leaf]:
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
    if level.plain and len(levels) <= _DEEPEST:
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
    elif value and len(levels) <= _DEEPEST:
        yield Leaf(level.place(), value[:_LONGEST], line)
    level.step()
