"""Lines around a position of a block: the raw line (or frame), cleaned, and the lines that follow it.

In: a `Block`'s bytes and a position. Out: `View`. Not here: line numbers (the caller counts breaks), meaning.

A window is laid around the anchor, never around the block: at most REACH bytes on either side, wherever the block ends.
"""

from typing import Final

from postmortem.model.lines import Where
from postmortem.reading.prefixes import ANSI, Cleaned, clean

REACH: Final = 8 << 10
_LINES_BACK: Final = 120
LONG_REACH: Final = 60 << 10
"""How far a traceback may be followed; less than `blocks.MARGIN`."""


class View:
    """The line (or the frame of it) that holds a position."""

    __slots__ = ("_after", "_cleaned", "_next", "claimed", "data", "end", "number", "srun", "start")

    def __init__(self, data: bytes, position: int, number: int, *, srun: bool) -> None:
        """Find the borders: a line break, a carriage return, or REACH."""
        self.data, self.number, self.srun = data, number, srun
        low, high = max(0, position - REACH), position + REACH
        self.start = max(data.rfind(b"\n", low, position), data.rfind(b"\r", low, position)) + 1 or low
        self.end = _end(data, position, high)
        self._cleaned: Cleaned | None = None
        self._after: list[str] = []
        self._next = self.end
        self.claimed: set[int] = set()
        """What has looked at this line already."""

    @property
    def cleaned(self) -> Cleaned:
        """The text without wrappers, the process and the time."""
        if self._cleaned is None:
            self._cleaned = clean(self.data[self.start:self.end].decode("utf-8", "replace"), srun=self.srun)
        return self._cleaned

    def stamp(self) -> tuple[int, str] | None:
        """Give the printed time that stands nearest: in this line, or in one of the lines before it; with the offset of its line in the block."""
        end, low, one = self.start, max(0, self.start - REACH), self.cleaned
        for _ in range(_LINES_BACK):
            if one.time is not None:
                return end, one.time
            if end - 1 <= low:
                break
            start = self.data.rfind(b"\n", low, end - 1) + 1 or low
            one, end = clean(self.data[start:end - 1].decode("utf-8", "replace"), srun=self.srun), start
        return None

    def around(self, reach: int, line_break: bytes) -> tuple[int, str]:
        """Give the raw line number of the first of the lines around this one, and their text, at most `reach` bytes on either side."""
        start = max(0, self.start - reach)
        start = self.data.find(b"\n", start, self.start) + 1 or start
        end = self.data.rfind(b"\n", self.end, self.end + reach)
        text = self.data[start:end if end > 0 else self.end + reach]
        return self.number - self.data.count(line_break, start, self.start), text.decode("utf-8", "replace")

    def raw(self) -> str:
        """Give the line as it stands, colours removed."""
        return ANSI.sub("", self.data[self.start:self.end].decode("utf-8", "replace"))

    def following(self, count: int) -> list[str]:
        """Give this line and up to `count` - 1 lines after it, cleaned; lines of other processes are passed over."""
        where, limit = self.cleaned.where, min(self.start + REACH, len(self.data))
        while len(self._after) < count - 1 and self._next < limit:
            start = self._next + (2 if self.data[self._next:self._next + 2] == b"\r\n" else 1)
            self._next = _end(self.data, start, limit)
            one = clean(self.data[start:self._next].decode("utf-8", "replace"), srun=self.srun)
            if same_process(one.where, where):
                self._after.append(one.text)
        return [self.cleaned.text, *self._after[:count - 1]]


def same_process(one: Where, other: Where) -> bool:
    """Say whether two labels can be of one process; a missing part says nothing."""
    return one is other or all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def _end(data: bytes, position: int, limit: int) -> int:
    newline = data.find(b"\n", position, limit)
    end = newline if newline >= 0 else min(limit, len(data))
    returned = data.find(b"\r", position, end)
    return returned if returned >= 0 else end
