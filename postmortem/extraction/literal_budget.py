"""Limit the inspections of a source that names more processes or metrics than are kept.

In: literals that were found, and the places where they stand. Out: whether the line there may be
read. Not here: the bounds themselves (`extraction.points`), reading (`extraction`).

A line with another process or another metric in it is never like those before it: no template
helps, and each is read slowly. Once there are more of them than can be kept, a look at the line of
a literal must be paid for with bytes of the source: the work is linear in its length, with a small
factor. Each literal pays for itself, so that a rare one is seen to the last line.
"""

from typing import Final

_TAKE: Final = 50
"""Bytes of the source that trying the templates on a line costs: less than lines of metrics are
long, so that those that are learnt are read all."""
_LOST: Final = 1000
"""What it costs besides if nothing of the line is kept for its process: a log that has named too
many and goes on as logs do pays none of it."""
_LOOK: Final = 4000
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
        return _may(self._looks, literal, place, _LOOK)


def _may(paid_until: dict[int, int], literal: int, place: int, cost: int) -> bool:
    saved = place - _SAVED * cost
    until = paid_until.get(literal, saved)
    if until > place:
        return False
    paid_until[literal] = max(until, saved) + cost
    return True
