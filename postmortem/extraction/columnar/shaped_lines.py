"""Read single lines of known shapes.

In: a line around a literal. Out: its figures, findings and facts, the same as the slow way gives.
Not here: the shapes (`line_shapes`), many lines at once (`row_cutter`).
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from postmortem.extraction.columnar.line_shapes import LineShapes
from postmortem.extraction.columnar.rule_verdicts import RuleVerdict
from postmortem.extraction.columnar.shape_making import LineShape
from postmortem.extraction.facts.columns import Columns
from postmortem.extraction.finding_lines import FindingLines, KnownLine
from postmortem.extraction.formats.learnt_layouts import Layout, LearntFigures
from postmortem.extraction.formats.records import MetricReader
from postmortem.extraction.formats.templates import LONGEST
from postmortem.extraction.learnt_paths import TemplatePath
from postmortem.extraction.points import Points
from postmortem.extraction.template_reader import TemplateReader, end_of_line

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
        low = max(0, start - LONGEST)
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
        path: TemplatePath,
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
        self, path: TemplatePath, groups: tuple[bytes, ...], line: int, offsets: tuple[int, int]
    ) -> None:
        """Read a line whose step hangs on those before it, or the last of several draws of a bar.

        `offsets` are those of the first draw and of the last.
        """
        reader = path.reader
        if isinstance(reader, MetricReader):
            self.quick.redraw(path, reader, groups, (line, offsets[1]))
        elif reader is not None:
            where = path.where(groups, self._points)
            for found in self.quick.generic.read_learnt(reader, where, groups, line):
                self.quick.put(found, offsets[0])

    def read_rows(
        self,
        rows: Iterable[tuple[int, TemplatePath, tuple[bytes, ...], int, int]],
        data: bytes,
        base: int,
    ) -> None:
        """Read a few lines one by one: where each begins and ends, and its raw number."""
        for begin, path, groups, end, line in rows:
            self.quick.taken(path, groups, data, end, (line, begin + base))
            self.quick.settle()

    def learn(self, opening: int, data: bytes, start: int) -> None:
        """Learn from the line around its first literal, which was read otherwise."""
        low = max(0, start - LONGEST)
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
