"""Passages of logs: consecutive raw lines of a source, cut and joined.

In: passages. Out: passages. Not here: which of them are worth showing (`share`), their text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

_LEAST_HALVED: Final = 8
"""Lines of the shortest passage that is halved."""
_NEAR: Final = 2
"""Two passages with so many lines from the last to the first are joined."""


class Passage(NamedTuple):
    """Consecutive raw lines."""

    source: int
    first: int
    last: int

    @property
    def lines(self) -> int:
        """How many there are."""
        return self.last - self.first + 1

    def without(self, others: Sequence["Passage"]) -> list["Passage"]:
        """Cut other passages out; gives what is left of this one, in order."""
        for other in others:
            if (
                other.source == self.source
                and other.first <= self.last
                and other.last >= self.first
            ):
                pieces = (
                    self._replace(last=other.first - 1),
                    self._replace(first=other.last + 1),
                )
                return [
                    part for piece in pieces if piece.lines > 0 for part in piece.without(others)
                ]
        return [self]

    def halves(self) -> Iterator["Passage"]:
        """Yield its halves, the later one first; none if it is short."""
        if self.lines >= _LEAST_HALVED:
            middle = (self.first + self.last) // 2
            yield self._replace(first=middle + 1)
            yield self._replace(last=middle)


def merge_passages(passages: Iterable[Passage], counts: Mapping[int, int]) -> list[Passage]:
    """Bring passages into order, within their sources, without overlaps.

    Args:
        passages: in any order; they may reach beyond the ends of their sources.
        counts: lines by source; passages of other sources are left out.
    """
    found: list[Passage] = []
    for source, first, last in sorted(passage for passage in passages if passage.source in counts):
        begin, end = max(1, first), min(last, counts[source])
        if begin > end:
            continue
        before = found[-1] if found else None
        if before is not None and before.source == source and begin <= before.last + _NEAR:
            found[-1] = before._replace(last=max(before.last, end))
        else:
            found.append(Passage(source, begin, end))
    return found
