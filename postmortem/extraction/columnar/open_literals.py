"""Find the literals in rows that the shapes of the rows do not account for.

In: the rows of a region. Out: which literals must be looked at, where, in which row. Not here:
looking (`row_cutter`, `extraction.cursor`).

Such literals hang on figures, and are rare; those that a shape does account for may stand in every
row. Where they do, a scan that finds each literal once tells first which shapes are in doubt.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from postmortem.extraction.columnar.shape_making import LineShape
from postmortem.extraction.literal_filters import Prefilter
from postmortem.extraction.literals import LiteralSubset, Matcher

if TYPE_CHECKING:
    import numpy as np

_ABUNDANT: Final = 1 << 10
"""Bytes of a region; where more literals than one in so many are found in vain, it is asked first
whether there is any other."""


class RowPlaces(NamedTuple):
    """Where the rows of a region stand, in order."""

    begins: "np.ndarray[Any, Any]"
    """Offsets in the data of the block."""
    ends: "np.ndarray[Any, Any]"
    owner: "np.ndarray[Any, Any]"
    """The number of the shape of each."""

    def row(self, number: int) -> tuple[int, int, int]:
        """Give where a row begins and ends, and the number of its shape."""
        return int(self.begins[number]), int(self.ends[number]), int(self.owner[number])

    def stretches(
        self, rows: "np.ndarray[Any, Any]"
    ) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
        """Give where some rows begin and end, those with no other row between them as one."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        first = np.flatnonzero(np.diff(rows, prepend=-2) > 1)
        return self.begins[rows[first]], self.ends[rows[np.append(first[1:] - 1, -1)]]


class OpenLiterals:
    """Finds the literals of one source that its shapes do not account for."""

    def __init__(self, machine: Matcher) -> None:
        """Take the literals."""
        self._machine = machine
        self._are_abundant = False
        """Whether the region before was full of literals that are accounted for."""

    def hits(
        self, data: bytes, rows: RowPlaces, shapes: Sequence[LineShape]
    ) -> Iterator[tuple[int, int, int]]:
        """Yield literals, each with where it begins and the number of its row.

        It may be only the end of the row before that makes one of them, or what stands behind.
        """
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        is_idle = any(shape.verdict.is_idle for shape in shapes)
        loose = self._machine.loose(is_more_than_metric=not is_idle)
        whole = np.arange(len(rows.begins))
        if self._are_abundant:
            whole = self._select_doubtful_rows(loose, data, rows, shapes)
        if not len(whole):
            return
        starts, stops = rows.stretches(whole)
        found, places = find_literal_hits(loose.filter, data, starts, stops)
        is_open = self._open_to(loose, shapes, found)
        at = np.searchsorted(rows.begins, places, side="right") - 1
        kept = np.flatnonzero((places < rows.ends[at]) & is_open[rows.owner[at], found])
        if len(whole) == len(rows.begins):
            in_vain = len(found) - len(kept)
            self._are_abundant = in_vain * _ABUNDANT > int((stops - starts).sum())
        for index, start, row in zip(
            found[kept].tolist(), places[kept].tolist(), at[kept].tolist(), strict=True
        ):
            yield loose.numbers[index], start, row

    def _select_doubtful_rows(
        self, loose: LiteralSubset, data: bytes, rows: RowPlaces, shapes: Sequence[LineShape]
    ) -> "np.ndarray[Any, Any]":
        """Give the rows of shapes in whose rows some literal stands that must be looked at."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        starts, stops = rows.begins[:1], rows.ends[-1:]
        found, _ = find_literal_hits(loose.once, data, starts, stops)
        self._are_abundant &= len(found) > 0
        is_open = self._open_to(loose, shapes, found)
        doubtful = np.zeros(len(shapes), dtype=bool)
        for owner in np.flatnonzero(is_open.any(axis=1)).tolist():
            own = rows.stretches(np.flatnonzero(rows.owner == owner))
            doubtful[owner] = is_open[owner, find_literal_hits(loose.once, data, *own)[0]].any()
        return np.flatnonzero(doubtful[rows.owner])

    def _open_to(
        self, loose: LiteralSubset, shapes: Sequence[LineShape], found: "np.ndarray[Any, Any]"
    ) -> "np.ndarray[Any, Any]":
        """Say of each shape which of some literals must be looked at in its rows."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        machine = self._machine
        is_open = np.zeros((len(shapes), len(loose.numbers)), dtype=bool)
        for index in np.unique(found).tolist():
            number = machine.alike[loose.numbers[index]]
            for owner, shape in enumerate(shapes):
                verdict = shape.verdict
                is_open[owner, index] = number not in verdict.literals and (
                    verdict.is_idle or machine.is_more_than_metric[number]
                )
        return is_open


def find_literal_hits(
    literals: Prefilter,
    data: bytes,
    starts: "np.ndarray[Any, Any]",
    stops: "np.ndarray[Any, Any]",
    *,
    behind: bytes = b"",
) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    """Find the literals that begin in stretches of a block: their numbers, and where they begin.

    One may seem to stand where one stretch ends and the next begins. One that reaches over the last
    is found if it goes on in what is `behind`.
    """
    import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

    spans = zip(starts.tolist(), stops.tolist(), strict=True)
    joined = b"".join([data[start:stop] for start, stop in spans])
    hits = np.array(literals.hits(joined + behind, 0, len(joined)), dtype=np.int64).reshape(-1, 2)
    at = np.cumsum(stops - starts)
    span = np.searchsorted(at, hits[:, 1], side="right")
    return hits[:, 0], hits[:, 1] + (stops - at)[span]
