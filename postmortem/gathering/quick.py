"""The quick path: lines that a learnt template matches are read without being decoded, cleaned or searched.

In: hits of literals in a block, and lines that were read slowly, to learn from. Out: rows for
`Points`, the same as the slow path would have put there. Not here: making templates
(`formats.records`, `formats.layouts`), the slow path (`gathering`).

Templates are found by the first literal of a line and its skeleton, so that any number of them
costs the same; of one skeleton the last that matched comes first. A layout is learnt when it comes
for the second time, and learning must be paid for: what it costs is a fixed part of what was read
slowly, so that lines which are never the same again cost no more than reading them.
"""

import math
import re
from typing import Final, NamedTuple

from postmortem.facts.columns import Columns
from postmortem.formats import layouts
from postmortem.formats.bars import RunBar, is_training
from postmortem.formats.records import EPOCHS, MetricReader, Record
from postmortem.formats.templates import LONGEST, PLACES, Template, skeleton, told
from postmortem.formats.unknown import GenericReader, Late, Layout
from postmortem.gathering.points import MOST_PROCESSES, Points
from postmortem.knowledge.engine import Budget
from postmortem.model.lines import Where
from postmortem.reading.windows import View

PYTORCH: Final = "pytorch"
CREDIT: Final = 64.0
"""What learning may cost in advance; a template costs 1, and each line that was read slowly pays a part."""
_PAID: Final = 1 / 16
_LAYOUT_COSTS: Final = 4
_MOST_SKELETONS: Final = 512
_MOST_TEMPLATES: Final = 8
"""Of one skeleton."""
_MOST_SEEN: Final = 4096
_NO_SERIES: Final = frozenset({"step", "per_epoch", *EPOCHS, *PLACES})


class _Path(NamedTuple):
    """A template and what is done with its figures."""

    template: Template
    reader: MetricReader | Layout
    places: tuple[tuple[int, str], ...]
    """Groups that tell the process, and which part of it."""
    wheres: dict[tuple[bytes, ...], Where]
    """The processes that were told so far."""
    rows: dict[Where, Columns]
    step: int | None
    epochs: tuple[int, int, float] | None
    """Groups of the epoch and of its length, and the number of the first epoch, where the step is counted anew in each."""
    needs_bar: bool
    is_training: bool

    def where(self, groups: tuple[bytes, ...], points: Points) -> Where:
        """Give the process that a line tells, as far as processes are told apart."""
        numbers = tuple([groups[index] for index, _ in self.places])
        where = self.wheres.get(numbers)
        if where is None:
            if len(self.wheres) >= MOST_PROCESSES:
                return points.stranger()
            where = self.template.where
            for index, name in self.places:
                where = told(where, name, int(groups[index]))
            where = self.wheres[numbers] = points.process(where)
        return where


class Quick:
    """The templates of one source."""

    def __init__(self, points: Points, generic: GenericReader, bar: RunBar, budget: Budget) -> None:
        """Know none."""
        self._points, self._generic, self._bar, self._budget = points, generic, bar, budget
        self._paths: dict[int, dict[bytes, list[_Path]]] = {}
        self._last: dict[int, _Path] = {}
        """The template that has matched last, by first literal."""
        self._seen: set[int] = set()
        self._credit = CREDIT
        self._late: dict[tuple[int, Where, int], tuple[Layout, Columns | None]] = {}
        """Rows of a layout and a process, as long as the names of the process stay."""
        self._waiting: tuple[Layout, Where, tuple[bytes, ...], int, int] | None = None
        """A line of unknown layout that a template has matched: its process, figures, raw line and offset."""

    def take(self, opening: int, data: bytes, start: int, base: int, line: int) -> int:
        """Take the line around a literal with a template.

        Gives where it ends, or 0 if there is none for it.
        """
        known = self._paths.get(opening)
        if not known:
            return 0
        low, high = max(0, start - LONGEST), start + LONGEST
        begin = max(data.rfind(b"\n", low, start), data.rfind(b"\r", low, start)) + 1
        if begin == 0 and low > 0:
            return 0
        path = self._last.get(
            opening
        )  # a line is most often like the one before it, and a template finds its end
        match = path.template.pattern.match(data, begin) if path is not None else None
        if path is not None and match is not None:
            return self._taken(path, match, data, line, begin + base)
        end = data.find(b"\n", start, high)
        returned = data.find(b"\r", start, end if end >= 0 else high)
        end = returned if returned >= 0 else end if end >= 0 else min(high, len(data))
        paths = known.get(skeleton(data, begin, end), [])
        for index, path in enumerate(paths):
            match = path.template.pattern.match(data, begin)
            if match is not None and match.end() == end:
                if index:
                    paths.insert(0, paths.pop(index))
                self._last[opening] = path
                return self._taken(path, match, data, line, begin + base)
        return 0

    def _taken(
        self, path: _Path, match: re.Match[bytes], data: bytes, line: int, offset: int
    ) -> int:
        """Take the figures of a line that a template matches.

        Gives where it ends, or 0 if it may be no metric line.
        """
        groups, end = match.groups(), match.end()
        where = path.where(groups, self._points)
        if isinstance(path.reader, MetricReader):
            self._add(
                path,
                path.reader,
                where,
                list(map(float, groups)),
                self._bar_step(path, data, end) if path.needs_bar else math.nan,
                (line, offset),
            )
        elif self._generic.is_known(path.reader, where):
            self._waiting = (path.reader, where, groups, line, offset)
        else:
            return 0
        return end

    def learn(
        self, opening: int, view: View, reader: MetricReader | None, *, needs_bar: bool = False
    ) -> None:
        """Learn from a line that was read slowly.

        Without a format's reader it is one of unknown layout.
        """
        self._credit = min(CREDIT, self._credit + _PAID)
        common = skeleton(view.data, view.start, view.end)
        key = hash((opening, common))
        if key not in self._seen:
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()
            self._seen.add(key)
            return
        known, costs = (
            self._paths.setdefault(opening, {}),
            (1 if reader is not None else _LAYOUT_COSTS),
        )
        is_known = any(
            (match := path.template.pattern.match(view.data, view.start))
            and match.end() == view.end
            for path in known.get(common, ())
        )
        if is_known or self._credit < costs:
            return
        self._credit -= costs
        learnt = layouts.learn(view) if reader is None else reader
        template = (
            learnt.template
            if isinstance(learnt, Layout)
            else learnt.learn(view, self._budget)
            if learnt is not None
            else None
        )
        if learnt is None or template is None:
            return
        if common not in known and len(known) >= _MOST_SKELETONS:
            del known[next(iter(known))]
        paths = known.setdefault(common, [])
        paths.insert(0, _path(template, learnt, needs_bar=needs_bar))
        del paths[_MOST_TEMPLATES:]

    def settle(self, read_until: int) -> None:
        """Read the line of unknown layout that waits, unless it belongs to a record of several lines."""
        if self._waiting is None:
            return
        (layout, where, groups, line, offset), self._waiting = self._waiting, None
        if offset >= read_until:
            for one in self._generic.read_learnt(layout, where, groups, line):
                self.put(one, offset)

    def put(self, found: "tuple[Record, int] | Late", offset: int) -> None:
        """Put what the generic reader gives into the series."""
        if isinstance(found, Late):
            rows = self._late_rows(found)
            if rows is not None:
                self._points.total(found.layout.looked.found.record.total)
                self._points.add(rows, found.step, found.values, found.line, offset)
                return
            found = self._generic.settled(found)
        record, line = found
        self._points.record(record, PYTORCH, PYTORCH, (line, offset), math.nan, record.units)

    def _add(
        self,
        path: _Path,
        reader: MetricReader,
        where: Where,
        values: list[float],
        bar_step: float,
        place: tuple[int, int],
    ) -> None:
        """Put the figures of a line of a known format into its rows."""
        rows = path.rows.get(where)
        if rows is None:
            names = [None if name in _NO_SERIES else name for name in path.template.names]
            rows = self._points.columns(
                names, reader.producer, reader.framework or reader.producer, where, reader.units
            )
            path.rows[where] = rows
        step = values[path.step] if path.step is not None else bar_step
        if path.epochs is not None:
            epoch, length, first = path.epochs
            step += (values[epoch] - first) * values[length]
        self._points.add(rows, step, values, *place)

    def _bar_step(self, path: _Path, data: bytes, end: int) -> float:
        return self._bar.step(
            data, end, self._points.result.total_steps, is_training=path.is_training
        )

    def _late_rows(self, late: Late) -> Columns | None:
        """Give the rows for a line of a layout; None if two of its values have one name."""
        key = (id(late.layout), late.where, self._generic.owners)
        known = self._late.get(key)
        if known is None:
            names = self._generic.names(late.layout, late.where)
            is_apart = len(set(names)) == len(names)
            known = (
                late.layout,
                (
                    self._points.columns(
                        names, PYTORCH, PYTORCH, late.where, late.layout.looked.found.record.units
                    )
                    if is_apart
                    else None
                ),
            )
            if len(self._late) >= MOST_PROCESSES:
                self._late.clear()
            self._late[id(late.layout), late.where, self._generic.owners] = known
        return known[1]


def _path(template: Template, reader: MetricReader | Layout, *, needs_bar: bool) -> _Path:
    names = template.names
    epochs = next(
        (
            (names.index(name), names.index("per_epoch"), first)
            for name, first in EPOCHS.items()
            if name in names and "per_epoch" in names
        ),
        None,
    )
    places = tuple((index, name) for index, name in enumerate(names) if name in PLACES)
    step = names.index("step") if "step" in names else None
    return _Path(template, reader, places, {}, {}, step, epochs, needs_bar, is_training(names))
