"""Find the lines where a traceback begins, or a frame of one whose beginning is cut off.

In: such lines. Out: `Traceback`s in an `Extract`, the first and last of very many. Not here:
reading a traceback (`extraction.traceback`).
"""

import dataclasses
from typing import Final

from postmortem.core.findings import Traceback
from postmortem.extraction import traceback
from postmortem.extraction.cursor import Cursor
from postmortem.extraction.extract import FIRST, LAST
from postmortem.extraction.points import Points
from postmortem.reading.windows import View

_MOST: Final = 10 * (FIRST + LAST)
_THINNED: Final = 5 * FIRST
"""Of more tracebacks than are kept the one at this place goes."""


class TracebackLines:
    """Takes the tracebacks of one source."""

    def __init__(self, points: Points, cursor: Cursor, line_break: bytes) -> None:
        """Take where records are counted, and who knows what has been read of a traceback."""
        self._points, self._cursor, self._line_break = points, cursor, line_break

    def take(self, _: int, view: View, base: int) -> None:
        """Take the traceback that begins on a line."""
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

    def _keep(self, found: Traceback, view: View, base: int) -> None:
        result = self._points.result
        self._cursor.sight.stamp(view, base)
        result.traceback_count += 1
        if len(result.tracebacks) >= _MOST:
            del result.tracebacks[_THINNED]
        if view.data.find(self._line_break, view.start, found.end_offset - base) < 0:
            # Frames of one line: a notebook that is written on one.
            found = dataclasses.replace(found, end_line=found.line, exception_line=found.line)
        where = self._points.process(found.where)
        if where != found.where:
            found = dataclasses.replace(found, where=where)
        result.tracebacks.append((found, self._points.count_records_of(where)))
