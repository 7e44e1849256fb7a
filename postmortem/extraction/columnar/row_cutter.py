"""Cut a stretch of a source at all lines of its most frequent shapes at once.

In: the fresh region of a block, the shapes that are in use. Out: `Cut`: the rows of each shape with
their figures as columns, and the literals of what lies between. Not here: putting rows into series
(`row_columns`).

One pattern holds all shapes beside each other. `re.split` gives what lies between the rows and, of
each row, the texts of its groups: every (width)th piece is one column. Where the pieces stand is
told by counting line breaks, which is the same for all.
"""

import heapq
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from postmortem.extraction.columnar.line_shapes import LineShape
from postmortem.extraction.columnar.rule_verdicts import RuleVerdict
from postmortem.extraction.columnar.shaped_lines import OpenLiterals, RowPlaces, find_literal_hits
from postmortem.extraction.columnar.units import UnitShape
from postmortem.extraction.formats.records import FormatReader
from postmortem.extraction.literals import LearntLiterals, Matcher
from postmortem.extraction.rule_sieve import RuleSieve
from postmortem.extraction.scanning import Hit
from postmortem.reading.sources import Block

if TYPE_CHECKING:
    import numpy as np

FEWEST_ROWS: Final = 16
_OVERHANG: Final = 512
"""Bytes behind a region into which a literal may reach."""


class ShapeRows(NamedTuple):
    """The rows of one shape, in order."""

    shape: LineShape
    begins: "np.ndarray[Any, Any]"
    """Offsets in the data of the block."""
    ends: "np.ndarray[Any, Any]"
    lines: "np.ndarray[Any, Any]"
    """Raw numbers."""
    groups: list[list[bytes]]
    """By group of the shape, or of the unit that it is a line of."""
    until: "np.ndarray[Any, Any] | None" = None
    """Where the record of each row ends, if it is one of several lines."""


class RowPlace(NamedTuple):
    """A row in which a literal stands that is not accounted for."""

    shape: LineShape
    known: RuleVerdict
    begin: int
    end: int

    @property
    def is_counted_first(self) -> bool:
        """Whether its record is counted before its line is looked at."""
        return isinstance(self.shape.path.reader, FormatReader)


class UnitRows(NamedTuple):
    """The rows of a unit: those of each of its lines, or of the one line of a shape."""

    unit: UnitShape | None
    rows: list[ShapeRows]
    """By line."""
    borders: "np.ndarray[Any, Any]"
    """By row: where the unit before begins, where its own lines begin and end, and where the unit
    behind ends."""


class RowCutter:
    """Cuts the regions of one source at these shapes."""

    def __init__(self, shapes: Sequence[LineShape | UnitShape]) -> None:
        """Take the shapes, of which those of units are tried first."""
        self._units = [shape for shape in shapes if isinstance(shape, UnitShape)]
        self.every: list[LineShape | UnitShape] = [
            *self._units,
            *(shape for shape in shapes if isinstance(shape, LineShape)),
        ]
        self._row = b"(?:%b)" % b"|".join(shape.line + rb"(?=([\r\n]))" for shape in self.every)
        """What stands behind a line break."""
        self._widths = [shape.pattern.groups + 1 for shape in self.every]

    def cut(self, block: Block, line: int, line_break: bytes) -> list[UnitRows]:
        """Give the rows of the fresh region of a block, which begins in this raw line."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        data, first = block.data, _find_first_break(block)
        chunk = data[first : block.hi]
        before = rb"[\r\n]" if b"\r" in chunk else b"\n"
        pieces: list[bytes] = re.split(before + self._row, chunk)
        width = 1 + sum(self._widths)
        between = pieces[:-1:width]
        if len(between) < FEWEST_ROWS:
            return []
        signs = np.frombuffer(chunk, dtype=np.uint8)
        breaks = np.flatnonzero((signs == 10) | (signs == 13))
        counted = np.cumsum(signs[breaks] == line_break[0])
        if first < block.lo:
            counted = counted - counted[0]
        passed = np.ones(len(between), dtype=np.int64)
        for number in itertools.compress(range(len(between)), between):
            passed[number] += between[number].count(b"\n") + between[number].count(b"\r")
        every, column = [], 1
        for groups in self._widths:
            every.append(_match_columns(pieces, width, column, groups))
            column += groups
        for shape, (chosen, _) in zip(self._units, every, strict=False):
            behind = np.array(chosen, dtype=np.int64) + 1
            passed[behind[behind < len(passed)]] += shape.breaks[-1]
        borders = _Borders(breaks + first, line + counted, np.cumsum(passed) - 1)
        is_touching = np.array([not text.strip(b"\r") for text in between])
        return [
            _build_unit_rows(shape, *found, borders, is_touching)
            if isinstance(shape, UnitShape)
            else _build_rows(shape, *found, borders)
            for shape, found in zip(self.every, every, strict=True)
            if found[0]
        ]


class _Borders(NamedTuple):
    """Where the lines of a region stand."""

    breaks: "np.ndarray[Any, Any]"
    """Offsets of its line breaks and carriage returns."""
    lines: "np.ndarray[Any, Any]"
    """The raw number of the line behind each."""
    places: "np.ndarray[Any, Any]"
    """By row: which of them stands before it."""


def _build_rows(
    shape: LineShape, chosen: list[int], columns: list[list[bytes]], borders: _Borders
) -> UnitRows:
    """Give the rows of a shape."""
    at = borders.places[chosen]
    begins, ends = borders.breaks[at] + 1, borders.breaks[at + 1]
    return UnitRows(None, [ShapeRows(shape, begins, ends, borders.lines[at], columns)], begins)


def _build_unit_rows(
    unit: UnitShape,
    chosen: list[int],
    columns: list[list[bytes]],
    borders: _Borders,
    is_touching: "np.ndarray[Any, Any]",
) -> UnitRows:
    """Give the rows of each line of a unit, where others of its kind stand before and behind it."""
    import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

    own = np.array(chosen)
    follows = (np.diff(own) == 1) & is_touching[own[1:]]
    kept = np.flatnonzero(follows[:-1] & follows[1:]) + 1
    texts = [list(map(column.__getitem__, kept.tolist())) for column in columns]
    breaks, places = borders.breaks, borders.places[own]
    at, rows = places[kept], list[ShapeRows]()
    for shape, passed, end in zip(unit.shapes, unit.breaks, unit.ends, strict=False):
        begins, ends = breaks[at + passed] + 1, breaks[at + passed + 1]
        until = breaks[at + unit.breaks[end] + 1] if end >= 0 else None
        rows.append(ShapeRows(shape, begins, ends, borders.lines[at + passed], texts, until))
    stops = breaks[places + unit.breaks[-1] + 1]
    begins = breaks[places] + 1
    whole = np.stack([begins[kept - 1], begins[kept], begins[kept + 1], stops[kept + 1]], axis=1)
    return UnitRows(unit, rows, whole)


def _match_columns(
    pieces: Sequence[bytes], width: int, column: int, groups: int
) -> tuple[list[int], list[list[bytes]]]:
    """Give which rows are of a shape, and the texts of their groups."""
    marks = pieces[column + groups - 1 :: width]  # the break behind the row, if it is of the shape
    chosen = list(itertools.compress(range(len(marks)), marks))
    columns = [
        list(itertools.compress(pieces[column + number :: width], marks))
        for number in range(groups - 1)
    ]
    return chosen, columns


def _find_first_break(block: Block) -> int:
    """Find the first break from which a line of the region may begin."""
    data, start = block.data, max(0, block.lo - 1)
    ends = [end for sign in (b"\n", b"\r") if (end := data.find(sign, start, block.hi)) >= 0]
    return min(ends, default=block.hi)


class RowGaps:
    """What lies between the rows of a region, and the literals that are to be looked at there."""

    def __init__(
        self,
        matcher: Matcher,
        learnt: LearntLiterals,
        block: Block,
        rows: Sequence[ShapeRows],
        open_literals: OpenLiterals,
        sieve: RuleSieve,
        is_vain: Callable[[LineShape, int, bytes], bool],
    ) -> None:
        """Find the literals; `is_vain` says whether one in a row has no effect."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        self._matcher, self._learnt = matcher, learnt
        self._block, self._is_vain = block, is_vain
        self._open, self._sieve = open_literals, sieve
        self.rows = rows
        """By shape."""
        begins = np.concatenate([shape_rows.begins for shape_rows in rows])
        order = np.argsort(begins, kind="stable")
        owner = np.repeat(np.arange(len(rows)), [len(shape_rows.begins) for shape_rows in rows])
        ends = np.concatenate([shape_rows.ends for shape_rows in rows])
        self._places = RowPlaces(begins[order], ends[order], owner[order])
        self._shapes = [shape_rows.shape for shape_rows in rows]
        self.inside: dict[int, RowPlace] = {}
        """By where a literal begins that stands in a row."""
        self.is_of_others: set[int] = set()
        """Where rows begin that others than signatures look at."""
        self._known: dict[int, RuleVerdict] = {}
        """By where a row begins: what is known of it, if that is less than its shape tells."""

    def hits(self) -> Iterator[Hit]:
        """Give the literals in the order in which they are read."""
        of_several_lines = self._find_for_several_lines()
        of_rows = self._find_in_rows()
        alike, is_of_signatures = self._matcher.alike, self._matcher.is_of_signatures
        self.is_of_others |= {
            self.inside[start].begin
            for number, start in [*of_several_lines, *of_rows]
            if not is_of_signatures[alike[number]]
        }
        return heapq.merge(self._find_in_gaps(), of_several_lines, of_rows, key=lambda hit: hit[1])

    def _find_for_several_lines(self) -> list[Hit]:
        """Find the literals in rows behind which stands what a rule of several lines may go by."""
        data, alike, hits = self._block.data, self._matcher.alike, list[Hit]()
        for rows in self.rows:
            shape, verdict = rows.shape, rows.shape.verdict
            if verdict.behind is None:
                continue
            known_until = self._build_end_finder(verdict.behind.rules)
            for begin, end in zip(rows.begins.tolist(), rows.ends.tolist(), strict=True):
                known = shape.known_at(data, begin, end, known_until)
                if known is verdict:
                    continue
                self._known[begin] = known
                for number, start in self._matcher.filter.hits(data, begin, end):
                    if alike[number] in verdict.literals and alike[number] not in known.literals:
                        self.inside[start] = RowPlace(shape, known, begin, end)
                        hits.append((number, start))
        return sorted(hits, key=lambda hit: hit[1])

    def _build_end_finder(self, rules: frozenset[int]) -> Callable[[int], int]:
        """Give what finds the end of a row in which no match of these rules begins."""
        places = self._places
        is_without = [
            behind is not None and rules <= behind.rules
            for behind in (shape.verdict.behind for shape in self._shapes)
        ]

        def until(place: int) -> int:
            number = int(places.begins.searchsorted(place, side="right")) - 1
            _, end, owner = places.row(number)
            return end if number >= 0 and is_without[owner] else 0

        return until

    def _find_in_gaps(self) -> Sequence[Hit]:
        """Find the literals between rows."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        data, hi, learnt = self._block.data, self._block.hi, self._learnt
        rows = self._places
        starts, stops = np.append(self._block.lo, rows.ends), np.append(rows.begins, hi)
        wide = stops - starts > 1
        behind = data[hi : hi + _OVERHANG] if wide[-1] else b""
        numbers, places = find_literal_hits(learnt, data, starts[wide], stops[wide], behind=behind)
        hits = [
            (number, start)
            for number, start in zip(numbers.tolist(), places.tolist(), strict=True)
            if data.startswith(learnt.texts(number), start)
        ]
        return self._sieve.select(self._block, hits)

    def _find_in_rows(self) -> list[Hit]:
        """Find the literals in rows that their shapes do not account for."""
        matcher, data, hits = self._matcher, self._block.data, []
        telling: set[tuple[int, int]] = set()
        for literal, start, row in self._open.hits(data, self._places, self._shapes):
            if not data.startswith(matcher.literals[literal], start):
                continue
            begin, end, owner = self._places.row(row)
            number, shape = matcher.alike[literal], self._shapes[owner]
            if (owner, number) not in telling:  # what told something once is looked at
                if self._is_vain(shape, number, data[begin:end]):
                    continue
                telling.add((owner, number))
            known = self._known.get(begin, shape.verdict)
            self.inside[start] = RowPlace(shape, known, begin, end)
            hits.append((literal, start))
        return hits
