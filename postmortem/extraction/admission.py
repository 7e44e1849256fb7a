"""Decide whether a line may be inspected, where a source is crowded or full of long lines.

In: a literal and its place. Out: whether its line is read, and a count of those that are not. Not
here: the bounds themselves (`extraction.points`, `reading.windows`).
"""

from postmortem.extraction.literal_budget import LiteralBudget
from postmortem.extraction.literals import FOLLOWED, Matcher
from postmortem.extraction.points import Points
from postmortem.reading.windows import View, ViewContext


class Admission:
    """The limits on what of one source may still be inspected."""

    def __init__(self, machine: Matcher, points: Points, sight: ViewContext) -> None:
        """Take what counts that which is passed over, and what long lines cost."""
        self.framed_until = 0
        """Offset up to which frames belong to a traceback that has been read."""
        self.refused_until = 0
        """Offset up to which the figures of a line of a crowded source are passed over."""
        self._machine, self._points, self._sight, self._crowd = (
            machine,
            points,
            sight,
            LiteralBudget(),
        )

    def is_wanted(self, number: int, opening: int, view: View, base: int) -> bool:
        """Say whether a literal of a line may be looked at; of a crowded source not each may."""
        if (
            not self._points.is_crowded
            or number == opening
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
        may = self._sight.may_look(view, base, follows=follows)
        self._points.result.passed_over += not may
        return may

    def may_begin(self, number: int, place: int) -> bool:
        """Say whether the line around a literal of a crowded source may be read at all."""
        may = (
            self._crowd.may_take(number, place)
            if place >= self.refused_until
            else self._machine.is_more_than_metric[number] and self._crowd.has_look(number, place)
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
