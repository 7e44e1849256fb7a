"""Walk through a source literal by literal, and choose the lines that are inspected.

In: the blocks of a source. Out: looks, each a literal and the line around it, and the number of the
line. Not here: finding literals (`extraction.literals`), looking (`extraction.finding_lines` and
its neighbours).

Most literals lead nowhere: they stand on a line that a template reads, or on one that is too many.
So each costs a comparison first, and only what passes them all becomes a `View`.
"""

from collections.abc import Callable, Iterator

from postmortem.extraction.columnar.cut_regions import Cut
from postmortem.extraction.line_beginnings import LineBeginnings, Look, Take
from postmortem.extraction.literals import Scan
from postmortem.extraction.rule_sieve import SelectedHits
from postmortem.reading.block_reader import Block


class Cursor(LineBeginnings):
    """Where the reading of one source stands."""

    def looks(self, block: Block, take: Take, end_line: Callable[[], None]) -> Iterator[Look]:
        """Yield what is to be looked at of the fresh region of a block.

        Args:
            block: the block.
            take: reads a line with a template.
            end_line: is called before the next line is read.
        """
        data, base, count, position = block.data, block.offset, block.data.count, block.lo
        alike, points = self.machine.alike, self.points
        self.covered -= base  # the line that was looked at last may go on from there
        cut = self._cut(block)
        scan = cut or self._scan(block)
        for found, start in scan:
            number = alike[found]
            if start < self.covered:
                if start < scan.until or number in self.known.literals:
                    continue
                self.look_again(number, data, start, base)
            elif points.is_crowded and not self.admission.may_begin(number, base + start):
                continue
            else:
                self.line += count(self.line_break, position, start)
                position = max(position, start)
                self._leave(end_line)
                if cut is not None and not self._follow(cut, block, start):
                    yield from self._go_on(block, start, take, end_line)
                    return
                if not self.begin(number, data, start, base, take):
                    continue
            if self.view is not None:
                yield number, self.view, self.view_base
                if self.view.is_spent:
                    scan.until = self.covered
        self._end(block, position, cut, end_line)

    def _end(
        self, block: Block, position: int, cut: Cut | None, end_line: Callable[[], None]
    ) -> None:
        """End a region of which lines have been counted up to a position."""
        if self.covered <= block.hi:
            self._leave(end_line)
        if cut is not None:
            cut.reach(block.hi)
        self.covered += block.offset
        self.line += block.data.count(self.line_break, position, block.hi)

    def _cut(self, block: Block) -> Cut | None:
        """Cut a region at lines of known shapes, if it begins with a line."""
        if self.covered > block.lo or self.points.is_crowded:
            return None
        return self.shaped.cut(block, self.line, self.line_break)

    def _scan(self, block: Block) -> "Scan | SelectedHits":
        """Scan for literals where their lines may be inspected."""
        if self.sieve.is_of_use and self.covered <= block.lo:
            found = self.learnt.hits(block.data, block.lo, block.hi)
            return SelectedHits(self.sieve.select(block, found))
        scan = Scan(self.learnt, block.data, block.lo, block.hi)
        if self.view is not None and self.view.is_spent:
            scan.until = self.covered
        return scan

    def _leave(self, end_line: Callable[[], None]) -> None:
        """Leave the line that was read last, and learn from it."""
        end_line()
        if self.lesson is not None:
            self.shaped.lines.learn(*self.lesson)
            self.lesson = None

    def _follow(self, cut: Cut, block: Block, start: int) -> bool:
        """Put the rows there that stand before a literal.

        Says whether those behind it are still to be read as such.
        """
        self.place = cut.inside.get(start)
        if self.place is None:
            cut.reach(start)
            if cut.may_end and self.shaped.is_outgrown(block, start):
                return False
        else:
            cut.look_at(self.place)
        return not self.points.is_crowded

    def _go_on(
        self, block: Block, start: int, take: Take, end_line: Callable[[], None]
    ) -> Iterator[Look]:
        """Read a region on from the line of a literal, as if it began there.

        Its source has become crowded, or its lines are of other shapes than those it was cut at.
        """
        data = block.data
        begin = max(data.rfind(b"\n", 0, start), data.rfind(b"\r", 0, start)) + 1
        self.place = None
        self.covered += block.offset
        rest = Block(data, max(begin, block.lo), block.hi, block.offset)
        return self.looks(rest, take, end_line)
