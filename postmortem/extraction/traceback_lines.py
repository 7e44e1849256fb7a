"""Find the lines where a traceback begins, or a frame of one whose beginning is cut off.

In: such lines. Out: `Traceback`s in an `Extract`, the first and last of very many. Not here:
reading a traceback (`extraction.traceback`).
"""

import dataclasses
import functools
from collections import deque
from collections.abc import Callable
from typing import Final

from postmortem.core.findings import Traceback
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.extraction import traceback
from postmortem.extraction.cursor import Cursor
from postmortem.extraction.extract import FIRST, LAST
from postmortem.extraction.points import Points
from postmortem.reading.windows import LONG_REACH, View

_MOST: Final = 10 * (FIRST + LAST)
_FIRST: Final = 5 * FIRST
"""Of more tracebacks than are kept so many are the first ones."""
_APART: Final = 4
"""Lines from the end of an exception to the head of one that is chained to it."""
_BEFORE: Final = 400
"""Bytes before a traceback that tell something of it."""
_HEAD: Final = b"Traceback (most recent call last):"
_PLAIN: Final = compile_lazily(
    _HEAD.replace(b"(", rb"\(").replace(b")", rb"\)")
    + rb"\n  File \"[^\n]{1,400}\", line \d{1,9}, in [^\n]{1,200}\n(?:[ ][^\n]{0,1000}\n){0,400}"
    rb"(?P<exception>[A-Za-z_][\w.]{0,200}(?::[^\n]{0,1000})?\n)?"
)
"""The head of a traceback that stands alone on its lines, with a frame behind it."""

Kept = tuple[Traceback, int]


class TracebackLines:
    """Takes the tracebacks of one source."""

    def __init__(self, points: Points, cursor: Cursor, line_break: bytes) -> None:
        """Take where records are counted, and who knows what has been read of a traceback."""
        self._points, self._cursor, self._line_break = points, cursor, line_break
        self._late: deque[Kept | Callable[[], Kept | None]] = deque(maxlen=_MOST - _FIRST)
        """Once as many were read as are kept: the last ones, or how to read them."""

    def take(self, _: int, view: View, base: int) -> None:
        """Take the traceback that begins on a line."""
        if len(self._points.result.tracebacks) >= _MOST and self._count(view, base):
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
        result, late = self._points.result, list[Kept]()
        for kept in self._late:
            read = kept if isinstance(kept, tuple) else kept()
            if read is not None:
                late.append(read)
        self._late.clear()
        every = [*result.tracebacks, *late]
        if late:
            result.tracebacks = [*every[:_FIRST], *every[_FIRST:][_FIRST - _MOST :]]

    def _count(self, view: View, base: int) -> bool:
        """Count a traceback that is read only if it is one of the last; says whether it may be."""
        found = _PLAIN.match(view.data, view.start)
        if found is None or view.cleaned.where != NOWHERE:
            return False
        admission, points = self._cursor.admission, self._points
        self._cursor.sight.stamp(view, base)
        points.result.traceback_count += 1
        admission.framed_until = max(admission.framed_until, base + found.end())
        low = max(0, view.start - _BEFORE)
        data = view.data[low : view.start + LONG_REACH + 1]
        place = (view.start - low, view.number, base + low)
        before = points.count_records_of(points.process(NOWHERE))
        self._late.append(functools.partial(self._read_later, data, place, before))
        return True

    def _read_later(self, data: bytes, place: tuple[int, int, int], before: int) -> Kept | None:
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
        is_late = len(result.tracebacks) >= _MOST
        kept = self._late if is_late else result.tracebacks
        kept.append((found, self._points.count_records_of(where)))
