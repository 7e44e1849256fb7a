"""Decide at the first literal of a line what reads it: a template, a shape or a full inspection.

In: a literal that stands on no line that was begun. Out: the line, begun. Not here: the order of
literals (`extraction.cursor`), the looks themselves.
"""

from collections.abc import Callable
from typing import Final

from postmortem.extraction.admission import Admission
from postmortem.extraction.columnar.cut_regions import CutRegions
from postmortem.extraction.columnar.row_cutter import RowPlace
from postmortem.extraction.columnar.rule_verdicts import NOTHING_KNOWN
from postmortem.extraction.learnt_literals import LearntLiterals
from postmortem.extraction.literals import Matcher
from postmortem.extraction.points import Points
from postmortem.extraction.rule_sieve import RuleSieve
from postmortem.reading.windows import LONG, View, ViewContext

CLAIMED: Final = hash(("claimed",))
"""Marks a line whose figures are read."""
_BY_TEMPLATE: Final = -1
"""Stands for the first literal of a line that a template has taken."""

Look = tuple[int, View, int]
"""The number of a literal, the line around it, and the offset of its block."""
Take = Callable[[int, bytes, int, int, int], int]
"""Reads the line around a literal with a template: `TemplateReader.take`."""


class LineBeginnings:
    """Begins with lines at their first literal."""

    shaped: CutRegions
    """Takes lines of known shapes, alone and many at once; given before anything is read."""

    def __init__(
        self, machine: Matcher, points: Points, line_break: bytes, *, srun: bool = False
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
        self.sight = ViewContext(srun=srun)
        self.admission = Admission(machine, points, self.sight)
        """Says which lines may be looked at."""
        self.sieve = RuleSieve(machine, self.sight)
        """Chooses the literals whose lines are worth a look."""
        self.machine, self.points, self.line_break = machine, points, line_break
        self.learnt = LearntLiterals(machine)
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
            if self.machine.is_more_than_metric[number]:
                self._claim(data, start, base)
            return True
        if number in self.machine.only_followed and self.admission.is_too_many(base + start):
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
        if self.view is None and (self.known.is_idle or self.machine.is_more_than_metric[number]):
            self._claim(data, start, base)

    def _claim(self, data: bytes, start: int, base: int) -> None:
        """Look at a line whose figures are read already, and of which some rules are known."""
        self.view, self.view_base = self.sight.view(data, start, self.line), base
        if not self.known.is_idle:
            self.view.claimed.add(CLAIMED)
        self.view.claimed |= self.known.known_rules
