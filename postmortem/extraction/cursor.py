"""Walk through a source literal by literal: which lines are inspected, and what reads each of them.

In: the blocks of a source. Out: looks, each a literal and the line around it, and the number of the
line; a count of lines that are not read. Not here: finding literals (`extraction.literals`),
looking (`extraction.finding_lines` and its neighbours), the bounds themselves (`extraction.points`,
`reading.windows`).

Most literals lead nowhere: they stand on a line that a template or a shape reads, or on one that is
too many. So each costs a comparison first, and only what passes them all becomes a `View`.

A line with another process or another metric in it is never like those before it: no template
helps, and each is read slowly. Once there are more of them than can be kept, a look at the line of
a literal must be paid for with bytes of the source: the work is linear in its length, with a small
factor. Each literal pays for itself, so that a rare one is seen to the last line.
"""

from collections.abc import Callable, Iterator
from typing import Final

from postmortem.extraction.columnar.cut_regions import Cut, CutRegions
from postmortem.extraction.columnar.row_cutter import RowPlace
from postmortem.extraction.columnar.rule_verdicts import NOTHING_KNOWN
from postmortem.extraction.literals import FOLLOWED, LearntLiterals, Matcher, Scan
from postmortem.extraction.points import Points
from postmortem.extraction.rule_sieve import RuleSieve, SelectedHits
from postmortem.reading.sources import Block
from postmortem.reading.windows import LONG, View, ViewContext

_TAKE: Final = 50
"""Bytes of the source that trying the templates on a line costs: less than lines of metrics are
long, so that those that are learnt are read all."""
_LOST: Final = 1000
"""What it costs besides if nothing of the line is kept for its process: a log that has named too
many and goes on as logs do pays none of it."""
_LOOK_COST: Final = 4000
"""What reading a line slowly costs."""
_SAVED: Final = 1000
"""How many of either can be saved up."""


class LiteralBudget:
    """What the literals of one source have spent."""

    def __init__(self) -> None:
        """Nothing is spent yet."""
        self._takes: dict[int, int] = {}
        self._looks: dict[int, int] = {}

    def may_take(self, literal: int, place: int) -> bool:
        """Say whether the templates may be tried on the line around a literal, and count it."""
        return _may(self._takes, literal, place, _TAKE)

    def lose(self, literal: int) -> None:
        """Let a literal pay for a line of which nothing is kept for its process."""
        self._takes[literal] = self._takes.get(literal, 0) + _LOST

    def has_look(self, literal: int, place: int) -> bool:
        """Say whether the line around a literal might be read slowly."""
        return self._looks.get(literal, place) <= place

    def may_look(self, literal: int, place: int) -> bool:
        """Say whether the line around a literal may be read slowly, and count it."""
        return _may(self._looks, literal, place, _LOOK_COST)


def _may(paid_until: dict[int, int], literal: int, place: int, cost: int) -> bool:
    saved = place - _SAVED * cost
    until = paid_until.get(literal, saved)
    if until > place:
        return False
    paid_until[literal] = max(until, saved) + cost
    return True


class Admission:
    """The limits on what of one source may still be inspected."""

    def __init__(self, matcher: Matcher, points: Points, sight: ViewContext) -> None:
        """Take what counts that which is passed over, and what long lines cost."""
        self.framed_until = 0
        """Offset up to which frames belong to a traceback that has been read."""
        self.refused_until = 0
        """Offset up to which the figures of a line of a crowded source are passed over."""
        self._matcher, self._points, self._sight, self._crowd = (
            matcher,
            points,
            sight,
            LiteralBudget(),
        )

    def is_wanted(self, number: int, opening: int, view: View, base: int) -> bool:
        """Say whether a literal of a line may be looked at; of a crowded source not each may."""
        if (
            not self._points.is_crowded
            or number == opening
            or not self._matcher.is_more_than_metric[number]
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
        may = self._sight.may_look(view, base, follows=follows)
        self._points.result.passed_over += not may
        return may

    def may_begin(self, number: int, place: int) -> bool:
        """Say whether the line around a literal of a crowded source may be read at all."""
        may = (
            self._crowd.may_take(number, place)
            if place >= self.refused_until
            else self._matcher.is_more_than_metric[number] and self._crowd.has_look(number, place)
        )
        self._points.result.crowded_out += not may
        return may

    def is_too_many(self, place: int) -> bool:
        """Say whether a traceback that begins here is passed over before its line is looked at."""
        if place < self.framed_until or self._sight.may_follow(place):
            return False
        self._points.result.passed_over += 1
        return True

    def lose(self, number: int) -> None:
        """Let a literal pay for lines of which nothing is kept for their process."""
        if self._points.lost:
            self._crowd.lose(number)
            self._points.lost = 0


CLAIMED: Final = hash(("claimed",))
"""Marks a line whose figures are read."""
_BY_TEMPLATE: Final = -1
"""Stands for the first literal of a line that a template has taken."""

Look = tuple[int, View, int]
"""The number of a literal, the line around it, and the offset of its block."""
Take = Callable[[int, bytes, int, int, int], int]
"""Reads the line around a literal with a template: `TemplateReader.take`."""


class LineOpener:
    """Begins with lines at their first literal."""

    shaped: CutRegions
    """Takes lines of known shapes, alone and many at once; given before anything is read."""

    def __init__(
        self, matcher: Matcher, points: Points, line_break: bytes, *, srun: bool = False
    ) -> None:
        """Start at the first line.

        Args:
            matcher: what is looked for.
            points: knows whether the source names more than is kept.
            line_break: what ends a raw line.
            srun: the source carries `srun --label` task numbers.
        """
        self.line = 1
        """Raw number of the line that is read."""
        self.opening = _BY_TEMPLATE
        """The first literal of the line that is looked at, by which its template is found."""
        self.sight = ViewContext(srun=srun)
        self.admission = Admission(matcher, points, self.sight)
        """Says which lines may be looked at."""
        self.sieve = RuleSieve(matcher, self.sight)
        """Chooses the literals whose lines are worth a look."""
        self.matcher, self.points, self.line_break = matcher, points, line_break
        self.learnt = LearntLiterals(matcher)
        """Names that the source teaches."""
        self.view: View | None = None
        """The line that was looked at last."""
        self.view_base = 0
        """The offset of its block."""
        self.covered = -1
        """Offset up to which it reaches; in the block, while one is read."""
        self.known = NOTHING_KNOWN
        """What is known of the rules on it."""
        self.place: RowPlace | None = None
        """The row in which the literal stands that is read, if that is one."""
        self.lesson: tuple[int, bytes, int] | None = None
        """The line that is learnt from once it has been read: its first literal, and where."""

    def begin(self, number: int, data: bytes, start: int, base: int, take: Take) -> bool:
        """Begin with the line around its first literal; says whether it is looked at, or may be."""
        place, self.place, self.known = self.place, None, NOTHING_KNOWN
        if place is not None:
            self.known, self.covered = place.known, place.end
        elif not self.points.is_crowded:
            known = self.shaped.lines.take(data, start, base, self.line)
            if known is not None:
                self.known, self.covered = known, self.shaped.lines.end
        if self.known is not NOTHING_KNOWN:
            self.view, self.opening = None, _BY_TEMPLATE
            if number not in self.known.literals:
                self._claim(data, start, base)
            return True
        end = take(number, data, start, base, self.line)
        if not self._open_line(number, data, start, base, end):
            return False
        self.lesson = (number, data, start)
        return True

    def _open_line(self, number: int, data: bytes, start: int, base: int, end: int) -> bool:
        """Begin a line of no known shape; says whether it is inspected.

        `end` is where a template has found its end, 0 if there is none for it.
        """
        if end:
            self.admission.lose(number)
            self.view, self.covered, self.opening = None, end, _BY_TEMPLATE
            if self.matcher.is_more_than_metric[number]:
                self._claim(data, start, base)
            return True
        if number in self.matcher.only_followed and self.admission.is_too_many(base + start):
            return False
        if self.points.is_crowded and not self.admission.may_read(number, base + start):
            self.admission.refused_until = base + max(
                start + 1, data.find(b"\n", start, start + LONG)
            )
            return False
        self.view, self.opening = self.sight.view(data, start, self.line), number
        self.view_base, self.covered = base, max(self.view.end, start + 1)
        return True

    def look_again(self, number: int, data: bytes, start: int, base: int) -> None:
        """Look at a line all the same whose first literals led nowhere."""
        if self.view is None and (self.known.is_idle or self.matcher.is_more_than_metric[number]):
            self._claim(data, start, base)

    def _claim(self, data: bytes, start: int, base: int) -> None:
        """Look at a line whose figures are read already, and of which some rules are known."""
        self.view, self.view_base = self.sight.view(data, start, self.line), base
        if not self.known.is_idle:
            self.view.claimed.add(CLAIMED)
        self.view.claimed |= self.known.known_rules


class Cursor(LineOpener):
    """Where the reading of one source stands."""

    def looks(self, block: Block, take: Take, end_line: Callable[[], None]) -> Iterator[Look]:
        """Yield what is to be looked at of the fresh region of a block.

        Args:
            block: the block.
            take: reads a line with a template.
            end_line: is called before the next line is read.
        """
        data, base, count, position = block.data, block.offset, block.data.count, block.lo
        alike, points = self.matcher.alike, self.points
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
