"""Read single lines of known shapes, and find the literals that the shapes do not account for.

In: a line around a literal; the rows of a region. Out: the line's figures, findings and facts, the
same as the slow way gives; which literals of the rows must be looked at, where, in which row. Not
here: the shapes (`line_shapes`), many lines at once (`row_cutter`), looking (`extraction.cursor`).

Literals that a shape does not account for hang on figures, and are rare; those that it does may
stand in every row. Where they do, a scan that finds each literal once tells first which shapes are
in doubt.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from postmortem.extraction.columnar.line_shapes import LineShape, LineShapes
from postmortem.extraction.columnar.rule_verdicts import RuleVerdict
from postmortem.extraction.finding_lines import FindingLines, KnownLine
from postmortem.extraction.formats.layouts import Layout, LearntFigures
from postmortem.extraction.formats.records import FormatReader
from postmortem.extraction.formats.templates import LONGEST_LINE
from postmortem.extraction.literals import LiteralSubset, Matcher
from postmortem.extraction.points import Columns, Points
from postmortem.extraction.scanning import Prefilter
from postmortem.extraction.template_reader import TemplateReader, TemplateUse, end_of_line

if TYPE_CHECKING:
    import numpy as np


class ShapedLines:
    """Takes the lines of one source whose shape is known."""

    def __init__(
        self,
        shapes: LineShapes,
        quick: TemplateReader,
        findings: FindingLines,
        points: Points,
    ) -> None:
        """Store the known shapes, and the readers of figures, findings and facts."""
        self.shapes, self.quick, self.findings, self._points = shapes, quick, findings, points
        self.end = 0
        """Where the line ends that was taken last."""

    def take(self, data: bytes, start: int, base: int, line: int) -> RuleVerdict | None:
        """Take the line around a literal; gives what is known of it, or None if it is not taken."""
        low = max(0, start - LONGEST_LINE)
        begin = max(data.rfind(b"\n", low, start), data.rfind(b"\r", low, start)) + 1
        if begin == 0 and low > 0:
            return None
        end = end_of_line(data, start)
        found = self.shapes.find(data, begin, end)
        if found is None:
            return None
        shape, match = found
        if not self._take_line(shape, match, KnownLine(data, begin, end, line, base)):
            return None
        self.end = end
        return shape.known_at(data, begin, end)

    def columns(
        self,
        path: TemplateUse,
        groups: tuple[bytes, ...],
        steps: "np.ndarray[Any, Any]",
        values: "Sequence[np.ndarray[Any, Any]]",
    ) -> "tuple[Columns | None, np.ndarray[Any, Any]]":
        """Give the rows of the process of such a line, and the steps that count."""
        where, reader = path.where(groups, self._points), path.reader
        if not isinstance(reader, Layout):
            return None if reader is None else self.quick.rows_of(path, reader, where), steps
        rows = self.quick.late_rows(LearntFigures(reader, where, math.nan, [], 0))
        if rows is None:
            return None, steps
        self._points.total(reader.looked.found.record.total)
        epochs = None if reader.counted is None else values[reader.counted]
        return rows, self.quick.generic.compute_run_steps(reader, where, steps, epochs)

    def read_serial(
        self, path: TemplateUse, groups: tuple[bytes, ...], line: int, offsets: tuple[int, int]
    ) -> None:
        """Read a line whose step hangs on those before it, or the last of several draws of a bar.

        `offsets` are those of the first draw and of the last.
        """
        reader = path.reader
        if isinstance(reader, FormatReader):
            self.quick.redraw(path, reader, groups, (line, offsets[1]))
        elif reader is not None:
            where = path.where(groups, self._points)
            for found in self.quick.generic.read_learnt(reader, where, groups, line):
                self.quick.put(found, offsets[0])

    def read_rows(
        self,
        rows: Iterable[tuple[int, TemplateUse, tuple[bytes, ...], int, int]],
        data: bytes,
        base: int,
    ) -> None:
        """Read a few lines one by one: where each begins and ends, and its raw number."""
        for begin, path, groups, end, line in rows:
            self.quick.taken(path, groups, data, end, (line, begin + base))
            self.quick.settle()

    def learn(self, opening: int, data: bytes, start: int) -> None:
        """Learn from the line around its first literal, which was read otherwise."""
        low = max(0, start - LONGEST_LINE)
        begin = max(data.rfind(b"\n", low, start), data.rfind(b"\r", low, start)) + 1
        if begin or not low:
            self.shapes.learn(opening, data, begin, end_of_line(data, start))

    def _take_line(self, shape: LineShape, match: "re.Match[bytes]", line: KnownLine) -> bool:
        """Take a line of a shape; says whether all that it holds is taken."""
        groups = match.groups()
        own = tuple([groups[index] for index in shape.taken])
        verdict, path = shape.verdict, shape.path
        is_read = path.reader is not None
        if verdict.found:
            where = shape.reader.where(own, self._points)
            if not all(self.findings.may_count(index, where) for index in verdict.found):
                return False
        place = (line.number, line.begin + line.base)
        if is_read and not self.quick.taken(path, own, line.data, line.end, place):
            return False
        for index in verdict.found:
            self.findings.count(index, line, where)
        self.state(shape, groups, line.number)
        return True

    def state(self, shape: LineShape, groups: tuple[bytes, ...], line: int) -> None:
        """Take the figures of the machine that a line of a shape states."""
        for figure, group in zip(shape.verdict.figures, shape.groups, strict=True):
            number = groups[group].decode() if group >= 0 else ""
            self._points.result.facts.add(
                figure.name,
                f"{figure.before}{number}{figure.behind}",
                figure.strength,
                self._points.source,
                line,
            )


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

    def __init__(self, matcher: Matcher) -> None:
        """Take the literals."""
        self._matcher = matcher
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
        loose = self._matcher.loose(is_more_than_metric=not is_idle)
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

        matcher = self._matcher
        is_open = np.zeros((len(shapes), len(loose.numbers)), dtype=bool)
        for index in np.unique(found).tolist():
            number = matcher.alike[loose.numbers[index]]
            for owner, shape in enumerate(shapes):
                verdict = shape.verdict
                is_open[owner, index] = number not in verdict.literals and (
                    verdict.is_idle or matcher.is_more_than_metric[number]
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
