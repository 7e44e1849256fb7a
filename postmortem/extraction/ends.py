"""The beginning and the end of a source, as text.

In: its blocks. Out: the first and the last few kilobytes as text, and how many lines there are. Not
here: what they mean (`detectors`, `story`).
"""

from typing import Final

from postmortem.extraction.extract import Extract
from postmortem.reading.block_reader import Block

_KEPT: Final = 6000
"""Bytes of either end."""


class Ends:
    """Head and tail of one source."""

    def __init__(self, line_break: bytes) -> None:
        """Start before the first byte."""
        self._break = line_break
        self._head = self._tail = b""
        self._ends_with_break = True

    def feed(self, block: Block) -> None:
        """Keep what the fresh region adds to head and tail."""
        data, lo, hi = block.data, block.lo, block.hi
        if len(self._head) < _KEPT:
            self._head += data[lo : min(hi, lo + _KEPT)]
        self._tail = (self._tail + data[max(lo, hi - _KEPT) : hi])[-_KEPT:]
        if hi > lo:
            self._ends_with_break = data[hi - 1 : hi] == self._break

    def put(self, result: Extract, source: int, line: int) -> None:
        """Write down both ends and the number of lines.

        Args:
            result: where to.
            source: its index.
            line: raw number of the line that the source ends in, or of the one behind its last
                break.
        """
        result.lines[source] = line - (1 if self._ends_with_break else 0)
        result.heads[source] = self._head[:_KEPT].decode("utf-8", "replace")
        begin = line - self._tail.count(self._break)
        result.tails[source] = (begin, self._tail.decode("utf-8", "replace"))
