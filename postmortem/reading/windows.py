"""The line around a position of a block, cleaned, and the lines that follow it.

In: a `Block`'s bytes and a position. Out: `View`; `ViewContext`, what the views of a source share.
Not here: line numbers (the caller counts breaks), meaning.

A window is laid around the anchor, never around the block: at most REACH bytes on either side,
wherever the block ends. Windows overlap, and what a log repeats without end may be looked at
without end. So a line that several windows hold is cleaned once, and looking at a long line, or
following a traceback, costs an allowance that each further byte of the log fills up again: the work
is linear in its length.
"""

from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.log_text import ANSI
from postmortem.reading.prefixes import Cleaned, clean

REACH: Final = 8 << 10
_LINES_BACK: Final = 120
LONG_REACH: Final = 60 << 10
"""How far a traceback may be followed; less than `reading.sources.MARGIN`."""
_MOST_STAMPS: Final = 100
_MOST_KNOWN: Final = 4096
"""Lines that the tracebacks of a block share; as many as one may reach over."""
_MOST_CLEANED: Final = 16_384
"""Cleaned lines that the views of a source share: two of each of thousands of processes."""
_KEPT_LENGTH: Final = 1024
"""Bytes of a line above which it is not kept: few of them stand in one window."""
_MOST_BEHIND: Final = 256
"""Lines that are read to find those that follow in the same process."""
LONG: Final = 1024
"""Bytes of a line above which a look at it counts."""
_TEXT, _TEXT_PER_BYTE = 64 << 20, 3
"""Bytes of long lines that rules may look at, each counted for itself.

At once, and for each byte of the log.
"""
_ROWS, _ROWS_PER_BYTE = 1 << 20, 0.05
"""Lines that tracebacks may be followed over.

At once, for a thousand ranks that fail together, and for each byte of the log: a look in twenty.
"""
_HEADER: Final = 10
"""What the first line of a traceback costs, as so many of those that follow."""


class Allowance:
    """An amount that is spent by looking and filled up by reading on."""

    def __init__(self, most: int, per_byte: float) -> None:
        """Start with the most that can be saved up."""
        self._most, self._per_byte = most, per_byte
        self._left: float = most
        self._place = 0

    def is_left(self, place: int) -> bool:
        """Say whether anything is left at an offset of the source."""
        self._left = min(self._most, self._left + (place - self._place) * self._per_byte)
        self._place = place
        return self._left > 0

    def spend(self, amount: int) -> None:
        """Take away."""
        self._left -= amount


class FollowedLine(NamedTuple):
    """A line over which a traceback is followed.

    The many tracebacks of a crowd are followed over the same ones.
    """

    begin: int
    close: int
    """The borders of what it shows at last."""
    end: int
    """Where the line after it is looked for."""
    cleaned: Cleaned


class View:
    """The line (or the frame of it) that holds a position."""

    __slots__ = (
        "_after",
        "_cleaned",
        "_known",
        "_next",
        "_passed",
        "claimed",
        "data",
        "end",
        "is_spent",
        "number",
        "passed",
        "rows",
        "srun",
        "start",
    )

    def __init__(
        self,
        data: bytes,
        position: int,
        number: int,
        *,
        srun: bool,
        known: dict[bytes, Cleaned] | None = None,
        rows: Allowance | None = None,
        passed: dict[int, FollowedLine] | None = None,
    ) -> None:
        """Find the borders: a line break, a carriage return, or REACH.

        Args:
            data: the block.
            position: an offset in it.
            number: the raw line number there.
            srun: the file carries `srun --label` task numbers.
            known: lines that have been cleaned.
            rows: what following a traceback is taken from.
            passed: lines of the same block over which tracebacks have been followed, by the end of
                the line before.
        """
        self.data, self.number, self.srun = data, number, srun
        self._known = {} if known is None else known
        self.rows = Allowance(_ROWS, _ROWS_PER_BYTE) if rows is None else rows
        low, high = max(0, position - REACH), position + REACH
        self.start = (
            max(data.rfind(b"\n", low, position), data.rfind(b"\r", low, position)) + 1 or low
        )
        self.end = _end(data, position, high)
        self.passed = {} if passed is None else passed
        self._cleaned: Cleaned | None = None
        self._after: list[str] = []
        self._next = self.end
        self._passed = 0
        self.claimed: set[int] = set()
        """What has looked at this line already."""
        self.is_spent = False
        """Whether nothing is left for further looks at this line."""

    @property
    def cleaned(self) -> Cleaned:
        """The text without wrappers, the process and the time."""
        if self._cleaned is None:
            self._cleaned = self.clean_at(self.start, self.end)
        return self._cleaned

    def clean_at(self, start: int, end: int) -> Cleaned:
        """Clean another line of the block, or take it from those that are known.

        What a process repeats is cleaned once.
        """
        raw = self.data[start:end]
        cleaned = self._known.get(raw)
        if cleaned is None:
            cleaned = clean(raw.decode("utf-8", "replace"), srun=self.srun)
            if end - start <= _KEPT_LENGTH:
                if len(self._known) >= _MOST_CLEANED:
                    self._known.clear()
                self._known[raw] = cleaned
        return cleaned

    def passed_at(self, position: int, passed: FollowedLine) -> FollowedLine:
        """Keep what the line behind a position was found to be."""
        if passed.end - position <= _KEPT_LENGTH:
            if len(self.passed) >= _MOST_KNOWN:
                self.passed.clear()
            self.passed[position] = passed
        return passed

    def around(self, reach: int, line_break: bytes) -> tuple[int, str]:
        """Give the lines around this one, at most `reach` bytes on either side.

        Returns:
            The raw line number of the first, and their text.
        """
        start = max(0, self.start - reach)
        start = self.data.find(b"\n", start, self.start) + 1 or start
        end = self.data.rfind(b"\n", self.end, self.end + reach)
        text = self.data[start : end if end > 0 else self.end + reach]
        return self.number - self.data.count(line_break, start, self.start), text.decode(
            "utf-8", "replace"
        )

    def raw(self) -> str:
        """Give the line as it stands, colours removed."""
        return ANSI.sub("", self.data[self.start : self.end].decode("utf-8", "replace"))

    def following(self, count: int) -> list[str]:
        """Give this line and up to `count` - 1 lines after it, cleaned.

        Lines of other processes are passed over.
        """
        where, limit, data = self.cleaned.where, min(self.start + REACH, len(self.data)), self.data
        while len(self._after) < count - 1 and self._next < limit and self._passed < _MOST_BEHIND:
            start = self._next + (2 if data.startswith(b"\r\n", self._next) else 1)
            self._next = _end(data, start, limit)
            cleaned = self.clean_at(start, self._next)
            self._passed += 1
            if cleaned.where is where or is_same_process(cleaned.where, where):
                self._after.append(cleaned.text)
        return [self.cleaned.text, *self._after[: count - 1]]


class ViewContext:
    """What the views of one source share."""

    def __init__(self, *, srun: bool) -> None:
        """Know nothing yet."""
        self.srun = srun
        self._known: dict[bytes, Cleaned] = {}
        self._passed: dict[int, FollowedLine] = {}
        self._data = b""
        self._times = _TimeFinder()
        self.stamps: list[tuple[int, str]] = []
        """Printed times beside what may be a failure: (byte offset, time)."""
        self._text, self._rows = Allowance(_TEXT, _TEXT_PER_BYTE), Allowance(_ROWS, _ROWS_PER_BYTE)

    def view(self, data: bytes, position: int, number: int) -> View:
        """Look at the line that holds a position of the current block."""
        if data is not self._data:
            self._data, self._passed = data, {}
        return View(
            data,
            position,
            number,
            srun=self.srun,
            known=self._known,
            rows=self._rows,
            passed=self._passed,
        )

    def stamp(self, view: View, base: int) -> None:
        """Keep the printed time nearest to a failure: over files, failures are ordered by it."""
        if len(self.stamps) < _MOST_STAMPS and (found := self._times.nearest(view, base)):
            self.stamps.append(found)

    def may_follow(self, place: int) -> bool:
        """Say whether a traceback may be followed from an offset of the source."""
        return self._rows.is_left(place)

    def may_look(self, view: View, base: int, *, follows: bool) -> bool:
        """Say whether one more rule may look at a line.

        It is counted if the line is long, or it `follows` a traceback from there.
        """
        allowance, cost = (self._rows, _HEADER) if follows else (self._text, view.end - view.start)
        if cost <= LONG and not follows:
            return True
        if not allowance.is_left(base + view.end):
            view.is_spent = not follows
            return False
        allowance.spend(cost)
        return True


class _TimeFinder:
    """Finds the printed time nearest before a line of a source.

    Asked for rising places, it looks at each line once.
    """

    def __init__(self) -> None:
        """Know of no line."""
        self._place = -1
        self._found: tuple[int, str, int] | None = None
        """What was found from the last place backwards.

        The offset of its line, the time, and how many lines lie between.
        """

    def nearest(self, view: View, base: int) -> tuple[int, str] | None:
        """Give the time in this line, or in one before it, and the offset of its line."""
        start, low, passed, cleaned = view.start, max(0, view.start - REACH), 0, view.cleaned
        found = None
        while found is None:
            if cleaned.time is not None:
                found = (base + start, cleaned.time, passed)
            elif base + start <= self._place:
                found = self._get_earlier(base + low, passed)
                break
            elif passed + 1 == _LINES_BACK or start - 1 <= low:
                break
            else:
                passed, end = passed + 1, start - 1
                start = view.data.rfind(b"\n", low, end) + 1 or low
                cleaned = view.clean_at(start, end)
        self._place, self._found = base + view.start, found
        return found and found[:2]

    def _get_earlier(self, low: int, passed: int) -> tuple[int, str, int] | None:
        """Take what was found from the last place backwards, if that is within reach."""
        if self._found is None or self._found[0] < low or self._found[2] + passed >= _LINES_BACK:
            return None
        return self._found[0], self._found[1], self._found[2] + passed


def end_of_lines_behind(data: bytes, start: int, end: int, count: int | None) -> int:
    """Find an end behind all lines that `View.following` may give behind one.

    Args:
        data: the block.
        start: where the line begins.
        end: where it ends.
        count: how many lines are wanted; None if those of other processes may stand between.
    """
    limit, stop = start + REACH, end - 1
    for _ in range((_MOST_BEHIND if count is None else count) + 1):
        stop = data.find(b"\n", stop + 1, limit)
        if stop < 0:
            return limit
    return stop


def is_same_process(first: ProcessId, second: ProcessId) -> bool:
    """Say whether two labels can be of one process; a missing part says nothing."""
    if first is second or first is NOWHERE or second is NOWHERE:
        return True
    for part, its in zip(first, second, strict=True):
        if part is not None and its is not None and part != its:
            return False
    return True


def _end(data: bytes, position: int, limit: int) -> int:
    newline = data.find(b"\n", position, limit)
    end = newline if newline >= 0 else min(limit, len(data))
    returned = data.find(b"\r", position, end)
    return returned if returned >= 0 else end
