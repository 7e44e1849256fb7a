"""A source literal by literal: which line each stands on, and whether anybody looks at it.

In: the blocks of a source. Out: looks, each a literal and the line around it, and the number of the
line. Not here: finding literals (`gathering.literals`), looking (`gathering.finding_lines` and its
neighbours).

Most literals lead nowhere: they stand on a line that a template reads, or on one that is too many.
So each costs a comparison first, and only what passes them all becomes a `View`.
"""

from collections.abc import Callable, Iterator
from typing import Final

from postmortem.gathering.crowd import Crowd
from postmortem.gathering.literals import FOLLOWED, Machine, Scan
from postmortem.gathering.points import Points
from postmortem.reading.block_reader import Block
from postmortem.reading.windows import LONG, Sight, View

CLAIMED: Final = hash(("claimed",))
"""Marks a line whose figures are read."""
_BY_TEMPLATE: Final = -1
"""Stands for the first literal of a line that a template has taken."""

Look = tuple[int, View, int]
"""The number of a literal, the line around it, and the offset of its block."""
Take = Callable[[int, bytes, int, int, int], int]
"""Reads the line around a literal with a template: `Quick.take`."""


class Cursor:
    """Where the reading of one source stands."""

    def __init__(
        self, machine: Machine, points: Points, line_break: bytes, *, srun: bool = False
    ) -> None:
        """Start at the first line.

        Args:
            machine: what is looked for.
            points: knows whether the source names more than is kept.
            line_break: what ends a raw line.
            srun: the source carries `srun --label` task numbers.
        """
        self.line = 1
        """Raw number of the line that is read."""
        self.opening = _BY_TEMPLATE
        """The first literal of the line that is looked at, by which its template is found."""
        self.framed_until = 0
        """Offset up to which frames belong to a traceback that has been read."""
        self.sight = Sight(srun=srun)
        self._machine, self._points, self._break = machine, points, line_break
        self._crowd = Crowd()
        self._open: tuple[View | None, int] = (None, 0)
        """The line that was looked at last, and the offset of its block."""
        self._covered = -1
        """Offset up to which it reaches."""
        self._refused_until = 0
        """Offset up to which the figures of a line of a crowded source are passed over."""

    def looks(self, block: Block, take: Take, end_line: Callable[[], None]) -> Iterator[Look]:
        """Yield what is to be looked at of the fresh region of a block.

        Args:
            block: the block.
            take: reads a line with a template.
            end_line: is called before the next line is read.
        """
        data, base, count, position = block.data, block.offset, block.data.count, block.lo
        is_more, points = self._machine.is_more_than_metric, self._points
        (view, view_base), covered = self._open, self._covered - base  # it may go on from there
        scan, alike = self._scan(block, view, covered), self._machine.alike
        for found, start in scan:
            number = alike[found]
            if start < covered:  # on the line that was looked at last
                if start < scan.until:
                    continue
                if view is None and is_more[number]:
                    view, view_base = self._claimed(data, start), base
            elif points.is_crowded and not self._may_begin(number, base + start):
                continue
            else:
                self.line += count(self._break, position, start)
                position = max(position, start)
                end_line()
                end = take(number, data, start, base, self.line)
                opened = self._opened(number, data, start, base, end)
                if opened is None:
                    continue
                (view, covered), view_base = opened, base
            if view is not None:
                yield number, view, view_base
                if view.is_spent:
                    scan.until = covered
        self._open, self._covered = (view, view_base), covered + base
        if covered <= block.hi:
            end_line()
        self.line += count(self._break, position, block.hi)

    def is_wanted(self, number: int, view: View, base: int) -> bool:
        """Say whether a literal of a line may be looked at; of a crowded source not each may."""
        if (
            not self._points.is_crowded
            or number == self.opening
            or not self._machine.is_more_than_metric[number]
        ):
            return True
        return self.may_read(number, base + view.start)

    def may_read(self, number: int, place: int) -> bool:
        """Say whether a crowded source has paid for reading a line slowly, and count it if not."""
        may = self._crowd.may_look(number, place)
        self._points.result.crowded_out += not may
        return may

    def may_look(self, kind: str, view: View, base: int) -> bool:
        """Say whether one more rule of a kind may look at a line, and count it if not."""
        follows = kind in FOLLOWED and base + view.start >= self.framed_until
        may = self.sight.may_look(view, base, follows=follows)
        self._points.result.passed_over += not may
        return may

    def _scan(self, block: Block, view: View | None, covered: int) -> Scan:
        """Look for literals where somebody will look at them."""
        scan = self._machine.scan(block.data, block.lo, block.hi)
        if view is not None and view.is_spent:
            scan.until = covered
        return scan

    def _opened(
        self, number: int, data: bytes, start: int, base: int, end: int
    ) -> tuple[View | None, int] | None:
        """Give the line around its first literal, if it is looked at, and where it ends.

        `end` is where a template has found its end, 0 if there is none for it. None: the line is
        passed over.
        """
        if end:
            if self._points.lost:
                self._crowd.lose(number)
                self._points.lost = 0
            self.opening = _BY_TEMPLATE
            is_more = self._machine.is_more_than_metric[number]
            return self._claimed(data, start) if is_more else None, end
        if number in self._machine.only_followed and self._is_too_many(base + start):
            return None
        if self._points.is_crowded and not self.may_read(number, base + start):
            self._refused_until = base + max(start + 1, data.find(b"\n", start, start + LONG))
            return None
        view, self.opening = self.sight.view(data, start, self.line), number
        return view, max(view.end, start + 1)

    def _claimed(self, data: bytes, start: int) -> View:
        """Look at a line whose figures are read already."""
        view = self.sight.view(data, start, self.line)
        view.claimed.add(CLAIMED)
        return view

    def _may_begin(self, number: int, place: int) -> bool:
        """Say whether the line around a literal of a crowded source may be read at all."""
        may = (
            self._crowd.may_take(number, place)
            if place >= self._refused_until
            else self._machine.is_more_than_metric[number] and self._crowd.has_look(number, place)
        )
        self._points.result.crowded_out += not may
        return may

    def _is_too_many(self, place: int) -> bool:
        """Say whether a traceback that begins here is passed over before its line is looked at."""
        if place < self.framed_until or self.sight.may_follow(place):
            return False
        self._points.result.passed_over += 1
        return True
