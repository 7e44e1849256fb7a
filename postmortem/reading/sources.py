"""What a log is read from: a path, bytes, or a stream that the caller holds open.

In: what a caller of the library names. Out: `Origin`s: paths as text, and `Stream`s, each with a
name to be shown. Not here: opening them (`reading.opener`), what a folder holds
(`reading.discover`).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, TypeAlias, runtime_checkable

STDIN: Final = "-"


@runtime_checkable
class Readable(Protocol):
    """Whatever gives bytes."""

    def read(self, size: int, /) -> bytes:
        """Give up to `size` bytes, b"" at the end."""


@runtime_checkable
class Renewable(Readable, Protocol):
    """Gives bytes, and can give the same ones again."""

    def reopen(self) -> Readable:
        """Give another that reads from the beginning."""


@dataclass(eq=False, slots=True)
class Unpacking:
    """To how much packed sources may unpack: all of a job together, and each for its size."""

    most: int = 64 << 30
    """Bytes."""
    times: int = 1000
    """Times its size: the lines of a log differ by counters and times."""
    free: int = 64 << 20
    """Bytes up to which a source may be as dense as it likes."""
    spent: int = 0
    is_exceeded: bool = False
    """Less was read than there is."""

    def takes(self, size: int, per_source: int, packed: int) -> bool:
        """Count bytes that were unpacked, and say whether more may be.

        Args:
            size: how many.
            per_source: how many of the same source, with these.
            packed: how many it is made of.
        """
        self.spent += size
        is_too_dense = per_source > max(self.free, self.times * packed)
        self.is_exceeded = self.is_exceeded or is_too_dense or self.spent > self.most
        return not self.is_exceeded


@dataclass(frozen=True, slots=True)
class Stream:
    """A log that is no file.

    What its name tells of the process counts as it does for a file (`node0/rank3.log`); nothing is
    ever opened by it.
    """

    name: str
    """Under which reports show it."""
    content: bytes | Readable = field(repr=False)
    """The log, packed or not, or what gives it.

    A stream is binary and blocking; it is read once, from where it stands to its end, and closed by
    nobody but its owner. Bytes can be read again, and so can what is `Renewable`.
    """


Origin: TypeAlias = str | Stream
"""Where a log comes from, under a name: a path (or `-`, standard input), or a stream."""
LogSource: TypeAlias = str | Path | bytes | Readable | Stream
"""What a caller may name as a log. Text is a path, never the log itself."""


def list_origins(logs: LogSource | Sequence[LogSource]) -> list[Origin]:
    """List what a caller names, in its order.

    Bytes have no name, and a stream may have none: such a log is called `log`, of several sources
    the third `log-3`.

    Raises:
        TypeError: something is none of what a log can be read from.
    """
    is_single = isinstance(logs, (str, Path, bytes, Readable, Stream))
    sources: Sequence[LogSource] = [logs] if is_single else logs  # type: ignore[assignment,list-item]  # told apart in the line before
    return [
        _build_origin(source, f"log-{place}" if len(sources) > 1 else "log")
        for place, source in enumerate(sources, 1)
    ]


def _build_origin(source: LogSource, nameless: str) -> Origin:
    if isinstance(source, Stream):
        return source
    if isinstance(source, bytes):
        return Stream(nameless, source)
    if isinstance(source, Readable):
        name = getattr(source, "name", None)  # of a file; a number for a bare descriptor
        return Stream(name if name and isinstance(name, str) else nameless, source)
    return os.fspath(source)


def name_of(origin: Origin) -> str:
    """Give the name to be shown."""
    return origin if isinstance(origin, str) else origin.name


def is_file(origin: Origin) -> bool:
    """Say whether a path leads to a log, by which others find it too."""
    return isinstance(origin, str) and origin != STDIN
