"""The lists of figures that a source prints: the history of a run, once it is over.

In: lines with a metric word, blocks. Out: curves for `extraction.points`, once the source has been
read. Not here: reading lists (`formats.arrays`), which of them are curves (`formats.histories`),
files that hold nothing else (`extraction.run_files`).

A list may be longer than a block, and stand on many lines: what belongs to it is kept until its
last bracket is closed. It repeats what was printed line by line, as a rule: then its curves are
none. A list of a step, one figure for each rank or layer, comes again and again and does not grow.
"""

import re
from collections import Counter
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import ProcessId
from postmortem.core.names import ASSUMED_LOOP, IN_LISTS
from postmortem.extraction.formats.arrays import FigureArray, parse_arrays
from postmortem.extraction.formats.histories import select_curves
from postmortem.extraction.formats.records import Curve, RecordLists
from postmortem.extraction.formats.spelling import FIGURE
from postmortem.extraction.points import Place, Points
from postmortem.reading.block_reader import Block
from postmortem.reading.windows import View
from postmortem.rules.metrics import MetricTable

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
                self._points.result.count_earlier(
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
