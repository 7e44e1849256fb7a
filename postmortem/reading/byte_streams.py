"""Read from anything that gives bytes: so many at once, line by line, counted.

In: a `Readable`. Out: bytes, lines, a count. Not here: where the bytes come from
(`reading.opener`), blocks (`reading.block_reader`).
"""

from collections.abc import Iterator
from typing import Final

from postmortem.reading.sources import Readable

_AT_ONCE: Final = 8 << 20
"""Bytes asked for at once: a reader may set aside all that it is asked for."""


def fill(source: Readable, size: int) -> bytes:
    """Read `size` bytes, in as many steps as it takes; fewer only at the end."""
    chunks = []
    missing = size
    while missing > 0 and (chunk := source.read(min(missing, _AT_ONCE))):
        chunks.append(chunk)
        missing -= len(chunk)
    return b"".join(chunks)


def iter_lines(source: Readable, longest: int) -> Iterator[str]:
    """Yield the lines of UTF-8 text without their breaks, each cut behind `longest` bytes."""
    rest = b""
    while chunk := source.read(_AT_ONCE):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line[:longest].decode("utf-8", "replace") for line in whole)
        rest = rest[:longest]
    if rest:
        yield rest.decode("utf-8", "replace")


class LineCounter:
    """Counts the lines of what is read through it."""

    def __init__(self, source: Readable) -> None:
        """Take what is to be read."""
        self._source, self._breaks, self._is_open = source, 0, True

    @property
    def lines(self) -> int:
        """Give the lines read so far; one without a break at its end counts."""
        return self._breaks + self._is_open

    def read(self, size: int, /) -> bytes:
        """Give up to `size` bytes, b"" at the end."""
        data = self._source.read(size)
        if data:
            self._breaks += data.count(b"\n")
            self._is_open = not data.endswith(b"\n")
        return data
