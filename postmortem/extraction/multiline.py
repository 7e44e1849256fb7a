"""What a source prints over many lines: tracebacks, and the lists of figures of a run's history.

In: lines where a traceback begins, or a frame of one whose beginning is cut off; lines with a
metric word, blocks. Out: `Traceback`s in an `Extract`, the first and last of very many; curves for
`extraction.points`, once the source has been read. Not here: reading a traceback
(`extraction.traceback`), reading lists (`formats.arrays`), which of them are curves
(`formats.histories`), files that hold nothing else (`extraction.run_files`).

A list may be longer than a block, and stand on many lines: what belongs to it is kept until its
last bracket is closed. It repeats what was printed line by line, as a rule: then its curves are
none. A list of a step, one figure for each rank or layer, comes again and again and does not grow.
"""

import dataclasses
import functools
import re
from collections import Counter, deque
from collections.abc import Callable
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE, ProcessId, Traceback
from postmortem.core.log_text import compile_lazily
from postmortem.core.names import ASSUMED_LOOP, IN_LISTS
from postmortem.extraction import traceback
from postmortem.extraction.cursor import Cursor
from postmortem.extraction.extract import FIRST, LAST
from postmortem.extraction.formats.arrays import FigureArray, parse_arrays
from postmortem.extraction.formats.figures import FIGURE
from postmortem.extraction.formats.histories import select_curves
from postmortem.extraction.formats.records import Curve, RecordLists
from postmortem.extraction.points import Place, Points
from postmortem.reading.sources import Block
from postmortem.reading.windows import LONG_REACH, View
from postmortem.rules.vocabulary import MetricTable

_MOST_TRACEBACKS: Final = 10 * (FIRST + LAST)
_FIRST_TRACEBACKS: Final = 5 * FIRST
"""Of more tracebacks than are kept so many are the first ones."""
_APART: Final = 4
"""Lines from the end of an exception to the head of one that is chained to it."""
_BYTES_BEFORE: Final = 400
"""Bytes before a traceback that tell something of it."""
_TRACEBACK_HEAD: Final = b"Traceback (most recent call last):"
_PLAIN: Final = compile_lazily(
    _TRACEBACK_HEAD.replace(b"(", rb"\(").replace(b")", rb"\)")
    + rb"\n  File \"[^\n]{1,400}\", line \d{1,9}, in [^\n]{1,200}\n(?:[ ][^\n]{0,1000}\n){0,400}"
    rb"(?P<exception>[A-Za-z_][\w.]{0,200}(?::[^\n]{0,1000})?\n)?"
)
"""The head of a traceback that stands alone on its lines, with a frame behind it."""

KeptTraceback = tuple[Traceback, int]


class TracebackLines:
    """Takes the tracebacks of one source."""

    def __init__(self, points: Points, cursor: Cursor, line_break: bytes) -> None:
        """Take where records are counted, and who knows what has been read of a traceback."""
        self._points, self._cursor, self._line_break = points, cursor, line_break
        self._late: deque[KeptTraceback | Callable[[], KeptTraceback | None]] = deque(
            maxlen=_MOST_TRACEBACKS - _FIRST_TRACEBACKS
        )
        """Once as many were read as are kept: the last ones, or how to read them."""

    def take(self, _: int, view: View, base: int) -> None:
        """Take the traceback that begins on a line."""
        if len(self._points.result.tracebacks) >= _MOST_TRACEBACKS and self._count(view, base):
            return
        found = traceback.read(view, self._points.source, base)
        if found is not None:
            admission = self._cursor.admission
            admission.framed_until = max(admission.framed_until, found.end_offset)
            self._keep(found, view, base)

    def take_frame(self, _: int, view: View, base: int) -> None:
        """Take the traceback of a paste that begins below its first line."""
        admission, source = self._cursor.admission, self._points.source
        if base + view.start < admission.framed_until:
            return
        found, admission.framed_until = traceback.read_headless(view, source, base)
        if found is not None:
            self._keep(found, view, base)

    def settle(self) -> None:
        """Read the last ones of those that were only counted."""
        result, late = self._points.result, list[KeptTraceback]()
        for kept in self._late:
            read = kept if isinstance(kept, tuple) else kept()
            if read is not None:
                late.append(read)
        self._late.clear()
        every = [*result.tracebacks, *late]
        if late:
            result.tracebacks = [
                *every[:_FIRST_TRACEBACKS],
                *every[_FIRST_TRACEBACKS:][_FIRST_TRACEBACKS - _MOST_TRACEBACKS :],
            ]

    def _count(self, view: View, base: int) -> bool:
        """Count a traceback that is read only if it is one of the last; says whether it may be."""
        found = _PLAIN.match(view.data, view.start)
        if found is None or view.cleaned.where != NOWHERE:
            return False
        admission, points = self._cursor.admission, self._points
        self._cursor.sight.stamp(view, base)
        points.result.traceback_count += 1
        admission.framed_until = max(admission.framed_until, base + found.end())
        low = max(0, view.start - _BYTES_BEFORE)
        data = view.data[low : view.start + LONG_REACH + 1]
        place = (view.start - low, view.number, base + low)
        before = points.count_records_of(points.process(NOWHERE))
        self._late.append(functools.partial(self._read_later, data, place, before))
        return True

    def _read_later(
        self, data: bytes, place: tuple[int, int, int], before: int
    ) -> KeptTraceback | None:
        start, number, base = place
        view = self._cursor.sight.view(data, start, number)
        found = traceback.read(view, self._points.source, base)
        if found is None:
            return None
        return dataclasses.replace(found, where=self._points.process(found.where)), before

    def _inherit(self, found: Traceback) -> str:
        """Give who told of the exception to which this one is chained, right above it."""
        if not found.chained or not self._points.result.tracebacks:
            return ""
        before, _ = self._points.result.tracebacks[-1]
        is_above = before.where == self._points.process(found.where)
        return before.aside if is_above and found.line - before.end_line <= _APART else ""

    def _keep(self, found: Traceback, view: View, base: int) -> None:
        result = self._points.result
        self._cursor.sight.stamp(view, base)
        result.traceback_count += 1
        if view.data.find(self._line_break, view.start, found.end_offset - base) < 0:
            # Frames of one line: a notebook that is written on one.
            found = dataclasses.replace(found, end_line=found.line, exception_line=found.line)
        where = self._points.process(found.where)
        found = dataclasses.replace(found, where=where, aside=found.aside or self._inherit(found))
        is_late = len(result.tracebacks) >= _MOST_TRACEBACKS
        kept = self._late if is_late else result.tracebacks
        kept.append((found, self._points.count_records_of(where)))


_NAME: Final = r"[\"']?[^\W\d_][\w./@%-]{0,40}(?: [^\W\d_][\w./@%-]{0,40}){0,3}[\"']?"
_OPENS: Final = rf"{_NAME}\s{{0,4}}[:=]\s{{0,4}}(?:[\w.]{{1,20}}\(\s{{0,4}})?\[\s{{0,4}}"
_BETWEEN: Final = r"(?:\s{0,4},\s{0,8}|\s{1,8})"
_OPENING: Final = compile_lazily(
    rf"\{{\s{{0,4}}{_OPENS}{FIGURE}(?:{_BETWEEN}{FIGURE}|\s{{0,4}}\])"
    rf"|(?<![\w\"']){_OPENS}(?:{FIGURE}(?:{_BETWEEN}{FIGURE}){{4}}"
    rf"|(?:{FIGURE}(?:{_BETWEEN}{FIGURE}){{0,3}}\s{{0,4}},?\s{{0,4}})?$)"
)
"""How a list of several figures begins, or a mapping whose first value is a list."""
_LIST: Final = compile_lazily(r"[:=(] {0,4}\[")
_SCALAR: Final = compile_lazily(
    r"(?:loss|acc\w{0,6}|rewards?|returns?|norm|lr|rate|ppl|score|f1|iou)[\"']? ?[:=] ?[+-]?\.?\d",
    re.IGNORECASE,
)
"""A figure under the name of a metric: the line is the record of a step, its lists are details."""
_FURTHER: Final = compile_lazily(
    rb"[\s\[\]{}(),]*(?:[\"'][^\"'\n]{1,80}[\"']\s?:\s?)?(?:[\w.]{1,20}\()?"
    rb"[\s\[\]{}(),\d.eE+naifNItyul-]*(?:dtype=[\w.]{1,20}\)?[\s\]}),]*)?$"
)
"""A further line of a list, or of a mapping of lists."""
_BRACKETS: Final = compile_lazily(rb"[\[\]{}]")
_MOST_BYTES: Final = 16 << 20
_MOST_LISTS: Final = 500
_MOST_ALIKE: Final = 2
"""Times that a list comes again as long as before and with other figures: more are of steps."""


class _Printed(NamedTuple):
    """A list as printed."""

    found: FigureArray
    where: ProcessId
    begin: Place
    end: Place


class ArrayLines:
    """Takes the lists of one source."""

    def __init__(self, points: Points, metrics: MetricTable) -> None:
        """Know no list."""
        self._points, self._metrics = points, metrics
        self._printed: list[_Printed] = []
        self._count = 0
        """Lists that were printed."""
        self._alike = Counter[tuple[str, ...]]()
        """How often a list has come again with other figures."""
        self._given = Counter[tuple[ProcessId, str]]()
        """How many figures of each name have been given."""
        self._text = bytearray()
        """What has been read of a list that is open."""
        self._begin: Place | None = None
        self._where = ProcessId()
        self._depth = 0
        self._until = 0
        """Offset up to which the source belongs to lists that have been read."""

    def takes(self, view: View, base: int) -> bool:
        """Say whether a line belongs to a list, and take what begins there."""
        place = base + view.start
        if place < self._until:
            return True
        text = view.cleaned.text
        if not _LIST.search(text) or self._begin is not None or self._count >= _MOST_LISTS:
            return False
        opening = _OPENING.search(text)
        if opening is None or _SCALAR.search(text):
            return False
        start = max(view.start, view.data.find(opening[0].encode(), view.start, view.end))
        self._begin, self._where, self._depth = (view.number, base + start), view.cleaned.where, 0
        return self._extends(view.data, base, start)

    def feed(self, block: Block) -> None:
        """Read on in a list that is open."""
        if self._begin is not None:
            self._extends(block.data, block.offset, self._until - block.offset)

    def _extends(self, data: bytes, base: int, start: int) -> bool:
        """Read a list on up to its last bracket, or as far as the data go; says if it is one."""
        end = self._find_end(data, start)
        if end is None:
            self._begin = None
            self._text.clear()
            return False
        self._text += data[start:end]
        self._until = base + end
        if self._depth == 0 or len(self._text) > _MOST_BYTES:
            self.close()
        return True

    def _find_end(self, data: bytes, start: int) -> int | None:
        """Find where a list ends, or the data; None where a line is no part of it."""
        position = start
        is_known = not self._text.endswith(b"\n")  # of a line that has been looked at
        while position < len(data):
            close = data.find(b"\n", position)
            line_end = len(data) if close < 0 else close
            if not is_known and not _FURTHER.match(data[position:line_end]):
                return None if close >= 0 else len(data)
            for bracket in _BRACKETS.finditer(data, position, line_end):
                self._depth += 1 if bracket[0] in b"[{" else -1
                if self._depth == 0:
                    return bracket.end()
            is_known = False
            position = line_end + 1
        return len(data)

    def close(self) -> None:
        """Take the lists of what has been read; nothing is read on in them."""
        if self._begin is None:
            return
        line, offset = self._begin
        text, self._begin = self._text.decode("utf-8", "replace"), None
        self._text.clear()
        end = (line + text.count("\n"), self._until)
        for found in parse_arrays(text, line).arrays:
            self._add(_Printed(found, self._where, (line, offset), end))

    def _add(self, printed: _Printed) -> None:
        """Keep a list; one that goes on from a former one of its name takes its place."""
        self._count += 1
        path, values = printed.found.path, printed.found.values
        same = [one for one in self._printed if one.found.path == path]
        known = next((one for one in reversed(same) if one.where == printed.where), None)
        if known is not None and values[: len(known.found.values)] == known.found.values:
            self._printed.remove(known)
        elif known is not None and known.found.length == printed.found.length:
            self._alike[path] += 1
        if self._alike[path] > _MOST_ALIKE:
            self._printed = [one for one in self._printed if one.found.path != path]
        else:
            self._printed.append(printed)

    def settle(self) -> None:
        """Give the curves among the lists that have ended, where nothing else tells them.

        Of one that was given before, what has come since.
        """
        for where in dict.fromkeys(one.where for one in self._printed):
            own = [one for one in self._printed if one.where == where]
            curves = select_curves([one.found for one in own], self._metrics)
            known = self._count_points(where)
            curves = [curve for curve in curves if len(curve.values) > known.get(curve.name, 0)]
            if self._is_repeated(curves, known):
                continue
            if curves := self._select_new(curves, where):
                begin, end = own[0].begin, own[-1].end
                lists = RecordLists(curves, where, (begin, end))
                self._points.record_lists(lists, ASSUMED_LOOP)
                self._points.result.add_late_records(
                    self._points.source, lists.count_records(), begin[1]
                )

    def _select_new(self, curves: list[Curve], where: ProcessId) -> list[Curve]:
        """Select the figures that have not been given yet."""
        new, seen = list[Curve](), Counter[str]()
        for curve in curves:
            start = max(0, self._given[where, curve.name] - seen[curve.name])
            seen[curve.name] += len(curve.values)
            if start < len(curve.values):
                steps, values, lines = curve.steps, curve.values, curve.lines
                new.append(Curve(curve.name, steps[start:], values[start:], lines[start:]))
        for name, count in seen.items():
            self._given[where, name] = max(self._given[where, name], count)
        return new

    def _count_points(self, where: ProcessId) -> dict[str, int]:
        """Count the points that the source has printed of each name, line by line."""
        process = self._points.process(where)
        return {
            name: len(series.values)
            for (name, _, _, of), series in self._points.result.series.items()
            if of == process and series.producer != IN_LISTS
        }

    def _is_repeated(self, curves: list[Curve], known: dict[str, int]) -> bool:
        """Say whether lists repeat what the source has printed line by line."""
        longest = max((len(curve.values) for curve in curves), default=0)
        return longest <= max(known.values(), default=0)
