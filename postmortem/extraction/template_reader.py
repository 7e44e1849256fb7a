"""Read lines that a learnt template matches, without decoding or searching them.

In: hits of literals in a block, and lines that were read slowly, to learn from. Out: rows for
`Points`, the same as the slow path would have put there; `TemplateUse`s, found by the first
literal of a line and its skeleton. Not here: making templates (`formats.records`,
`formats.layouts`), the slow path (`extraction.metric_lines`).

Templates are found by literal and skeleton, so that any number of them costs the same; of one
skeleton the last that matched comes first. One is learnt when its like comes for the second time,
and learning must be paid for: what it costs is a fixed part of what was read slowly, so that lines
which are never the same again cost no more than reading them.
"""

import math
import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core.findings import MOST_PROCESSES, ProcessId
from postmortem.core.names import ASSUMED_LOOP
from postmortem.extraction.formats import layouts
from postmortem.extraction.formats.bars import Redraws, RunBar, is_training
from postmortem.extraction.formats.generic_reader import GenericReader
from postmortem.extraction.formats.layouts import Layout, LearntFigures
from postmortem.extraction.formats.records import EPOCHS, POSITION, FormatReader, Record
from postmortem.extraction.formats.templates import (
    LONGEST_LINE,
    PLACES,
    Template,
    build_common_prefix,
    build_skeleton,
    set_process_part,
)
from postmortem.extraction.points import Columns, Points
from postmortem.reading.windows import View
from postmortem.rules.engine import Budget

CREDIT: Final = 64.0
"""What learning may cost in advance; each line that was read slowly pays a part. A template costs
1, and behind others of its skeleton, which did not help, as much for each of them."""
_PAID: Final = 1 / 16
_LAYOUT_COSTS: Final = 4
_MOST_SKELETONS: Final = 512
_MOST_TEMPLATES: Final = 8
"""Of one skeleton."""
_MISSED, _FEWEST, _MOST_JOINED = 8, 3, 64
"""Lines that none of the templates of a literal has taken, and how many of these, for which it is
worth while to compile what they begin with."""
_MOST_SEEN: Final = 4096


class TemplateUse(NamedTuple):
    """A template and what is done with its figures."""

    template: Template
    reader: FormatReader | Layout | None
    """Nobody takes a figure of such a line if there is none."""
    places: tuple[tuple[int, str], ...]
    """Groups that tell the process, and which part of it."""
    wheres: dict[tuple[bytes, ...], ProcessId]
    """The processes that were told so far."""
    rows: dict[ProcessId, Columns]
    step: int | None
    epochs: tuple[int, int, float] | None
    """Groups of the epoch and of its length, and the number of the first epoch, where the step is
    counted anew in each."""
    needs_bar: bool
    is_training: bool
    position: tuple[int | None, ...]
    """Groups that tell where a bar stands."""

    def where(self, groups: tuple[bytes, ...], points: Points) -> ProcessId:
        """Give the process that a line names, as far as processes are kept apart."""
        numbers = tuple([groups[index] for index, _ in self.places])
        where = self.wheres.get(numbers)
        if where is None:
            if len(self.wheres) >= MOST_PROCESSES:
                return points.stranger()
            where = self.template.where
            for index, name in self.places:
                where = set_process_part(where, name, int(groups[index]))
            where = self.wheres[numbers] = points.process(where)
        return where


class LearntTemplates:
    """The templates of one source."""

    def __init__(self, budget: Budget) -> None:
        """Know none; learning searches with this budget."""
        self._budget = budget
        self.by_literal: dict[int, dict[bytes, list[TemplateUse]]] = {}
        """By first literal and skeleton."""
        self.latest: dict[int, TemplateUse] = {}
        """The one that has matched last, by first literal: a line is most often like another."""
        self._heads: dict[int, re.Pattern[bytes]] = {}
        """What every line begins with that one of them takes, by first literal."""
        self._missed: dict[int, int] = {}
        """Lines that none has taken since the last was learnt, likewise."""
        self._seen: set[int] = set()
        self._credit = CREDIT

    def find(
        self, opening: int, data: bytes, begin: int, end: int, tried: TemplateUse | None = None
    ) -> tuple[TemplateUse, "re.Match[bytes]"] | None:
        """Find the template of the line from `begin` to `end`, which is not the one tried."""
        paths = self.by_literal[opening].get(build_skeleton(data, begin, end), [])
        for index, path in enumerate(paths):
            match = path.template.pattern.match(data, begin)
            if match is not None and match.end() == end:
                if index:
                    paths.insert(0, paths.pop(index))
                self.latest[opening] = path
                return path, match
        self._miss(opening)
        latest = self.latest.get(opening)  # may take what its own skeleton does not: a bar's graph
        if latest is None or latest is tried:
            return None
        match = latest.template.pattern.match(data, begin)
        if match is None or match.end() != end:
            return None
        return latest, match

    def knows(self, opening: int) -> bool:
        """Say whether a template begins with a literal."""
        return opening in self.by_literal

    def count(self) -> int:
        """Count the templates."""
        return sum(len(paths) for known in self.by_literal.values() for paths in known.values())

    def takes_none(self, opening: int, data: bytes, begin: int) -> bool:
        """Say whether the beginning of a line rules out every template.

        So it is where a log has ever other names, in one look in the place of one for each.
        """
        head = self._heads.get(opening)
        return head is not None and head.match(data, begin) is None

    def _miss(self, opening: int) -> None:
        """Count a line that no template took; after a few a check of the beginning pays."""
        missed = self._missed[opening] = self._missed.get(opening, 0) + 1
        if missed != _MISSED:
            return
        paths = [path for like in self.by_literal[opening].values() for path in like]
        latest = self.latest.get(opening)  # is among them, or was
        templates = [path.template for path in (*paths, *([latest] if latest is not None else []))]
        head = build_common_prefix(templates) if _FEWEST <= len(templates) <= _MOST_JOINED else None
        if head is not None:
            self._heads[opening] = head

    def learn(
        self, opening: int, view: View, reader: FormatReader | None, *, needs_bar: bool = False
    ) -> None:
        """Learn from a line that was read slowly.

        Without a format's reader it is one of unknown layout.
        """
        self._credit = min(CREDIT, self._credit + _PAID)
        common = build_skeleton(view.data, view.start, view.end)
        if not self._comes_again(opening, common):
            return
        known = self.by_literal.setdefault(opening, {})
        like = known.get(common, ())
        costs = (1 if reader is not None else _LAYOUT_COSTS) * max(1, len(like))
        if self._credit < costs or any(_is_match(path, view) for path in like):
            return
        self._credit -= costs
        learnt = layouts.infer_layout(view) if reader is None else reader
        template = self._learn_template(learnt, view)
        if learnt is None or template is None:
            return
        if common not in known and len(known) >= _MOST_SKELETONS:
            del known[next(iter(known))]
        paths = known.setdefault(common, [])
        paths.insert(0, build_path(template, learnt, needs_bar=needs_bar))
        del paths[_MOST_TEMPLATES:]
        self._heads.pop(opening, None)
        self._missed.pop(opening, None)

    def _comes_again(self, opening: int, common: bytes) -> bool:
        """Say whether a line of the same skeleton was read slowly before."""
        key = hash((opening, common))
        if key in self._seen:
            return True
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        self._seen.add(key)
        return False

    def _learn_template(self, learnt: FormatReader | Layout | None, view: View) -> Template | None:
        if isinstance(learnt, FormatReader):
            return learnt.learn(view, self._budget)
        return None if learnt is None else learnt.template


def _is_match(path: TemplateUse, view: View) -> bool:
    match = path.template.pattern.match(view.data, view.start)
    return match is not None and match.end() == view.end


def build_path(
    template: Template, reader: FormatReader | Layout | None, *, needs_bar: bool = False
) -> TemplateUse:
    """Give what is done with the figures of a template."""
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
    position = tuple(names.index(name) if name in names else None for name in POSITION)
    known = is_training(names)
    return TemplateUse(template, reader, places, {}, {}, step, epochs, needs_bar, known, position)


PYTORCH: Final = "pytorch"
_NO_SERIES: Final = frozenset({"step", "per_epoch", *EPOCHS, *PLACES})


class DrawnRecord(NamedTuple):
    """A record of a format that is drawn again at the same position."""

    reader: FormatReader
    where: ProcessId
    place: tuple[str | None, ...]
    """Epoch and step as printed."""
    line: int
    offset: int
    path: TemplateUse | None
    """Of a line that a template has matched, with its figures."""
    groups: tuple[bytes, ...] = ()
    record: Record | None = None
    """Of any other."""

    def names(self) -> set[str]:
        """Give the names of its figures."""
        if self.record is not None:
            return {name for name, _ in self.record.values}
        names = () if self.path is None else self.path.template.names
        return {name for name in names if name and name not in _NO_SERIES}


class TemplateReader:
    """Reads the lines of one source that are like others before them."""

    def __init__(self, points: Points, generic: GenericReader, bar: RunBar, budget: Budget) -> None:
        """Know no template."""
        self._points, self.generic, self._bar = points, generic, bar
        self.redrawn: Callable[[DrawnRecord], None] = lambda _: None
        """Takes draws of bars of known formats."""
        self.redraws: Redraws[DrawnRecord] = Redraws()
        self.paths = LearntTemplates(budget)
        self._late: dict[tuple[int, ProcessId, int], tuple[Layout, Columns | None]] = {}
        """Rows of a layout and a process, as long as the names of the process stay."""
        self._waiting: tuple[Layout, ProcessId, tuple[bytes, ...], int, int] | None = None
        """A line of unknown layout that a template has matched: its process, figures, raw line and
        offset."""
        self.read_until = 0
        """Offset up to which records of several lines have been read."""

    def take(self, opening: int, data: bytes, start: int, base: int, line: int) -> int:
        """Take the line around a literal with a template.

        Gives where it ends, or 0 if there is none for it.
        """
        paths = self.paths
        if not paths.by_literal.get(opening):
            return 0
        low = max(0, start - LONGEST_LINE)
        begin = max(data.rfind(b"\n", low, start), data.rfind(b"\r", low, start)) + 1
        if (begin == 0 and low > 0) or paths.takes_none(opening, data, begin):
            return 0
        path = paths.latest.get(opening)  # its template finds the end of the line by itself
        match = path.template.pattern.match(data, begin) if path is not None else None
        if path is None or match is None:
            found = paths.find(opening, data, begin, end_of_line(data, start), path)
            if found is None:
                return 0
            path, match = found
        end = match.end()
        return end if self.taken(path, match.groups(), data, end, (line, begin + base)) else 0

    def taken(
        self,
        path: TemplateUse,
        groups: tuple[bytes, ...],
        data: bytes,
        end: int,
        place: tuple[int, int],
    ) -> bool:
        """Take the figures of a line that a template matches, if it is a metric line."""
        where = path.where(groups, self._points)
        if isinstance(path.reader, FormatReader) and path.reader.redraws:
            self.redraw(path, path.reader, groups, place)
            return True
        if isinstance(path.reader, FormatReader):
            self._add(
                path,
                path.reader,
                where,
                list(map(float, groups)),
                self.bar_step(path, data, end) if path.needs_bar else math.nan,
                place,
            )
            return True
        if path.reader is None or not self.generic.is_known(path.reader, where):
            return False
        self._waiting = (path.reader, where, groups, *place)
        return True

    def settle(self) -> None:
        """Read the line of unknown layout that waits, unless it is part of a longer record."""
        if self._waiting is None:
            return
        (layout, where, groups, line, offset), self._waiting = self._waiting, None
        if offset >= self.read_until:
            for record in self.generic.read_learnt(layout, where, groups, line):
                self.put(record, offset)

    def put(self, found: "tuple[Record, int] | LearntFigures", offset: int) -> None:
        """Put what the generic reader gives into the series."""
        if isinstance(found, LearntFigures):
            rows = self.late_rows(found)
            if rows is not None:
                self._points.total(found.layout.looked.found.record.total)
                self._points.add(rows, found.step, found.values, found.line, offset)
                return
            found = self.generic.settled(found)
        record, line = found
        self._points.record(record, PYTORCH, ASSUMED_LOOP, (line, offset), math.nan, record.units)

    def _add(
        self,
        path: TemplateUse,
        reader: FormatReader,
        where: ProcessId,
        values: list[float],
        bar_step: float,
        place: tuple[int, int],
    ) -> None:
        """Put the figures of a line of a known format into its rows."""
        rows = self.rows_of(path, reader, where)
        self._points.add(rows, select_step(path, values, bar_step), values, *place)

    def redraw(
        self,
        path: TemplateUse,
        reader: FormatReader,
        groups: tuple[bytes, ...],
        place: tuple[int, int],
    ) -> None:
        """Take a draw of a bar of a known format."""
        where = path.where(groups, self._points)
        self.redrawn(build_draw(path, reader, where, groups, place))

    def put_drawn(self, drawn: DrawnRecord, path: TemplateUse) -> None:
        """Put the last draw at a position into its series."""
        values, place = list(map(float, drawn.groups)), (drawn.line, drawn.offset)
        self._add(path, drawn.reader, drawn.where, values, math.nan, place)

    def rows_of(self, path: TemplateUse, reader: FormatReader, where: ProcessId) -> Columns:
        """Give the rows of a process for lines of a known format."""
        rows = path.rows.get(where)
        if rows is None:
            names = [None if name in _NO_SERIES else name for name in path.template.names]
            rows = self._points.columns(
                names, reader.producer, reader.framework or reader.producer, where, reader.units
            )
            path.rows[where] = rows
        return rows

    def bar_step(self, path: TemplateUse, data: bytes, end: int) -> float:
        """Give the step of the bar behind a line."""
        return self._bar.step(
            data, end, self._points.result.total_steps, is_training=path.is_training
        )

    def late_rows(self, late: LearntFigures) -> Columns | None:
        """Give the rows for a line of a layout; None if two of its values have one name."""
        key = (id(late.layout), late.where, self.generic.owners)
        known = self._late.get(key)
        if known is None:
            names = self.generic.names(late.layout, late.where)
            is_apart = len(set(names)) == len(names)
            known = (
                late.layout,
                (
                    self._points.columns(
                        names,
                        PYTORCH,
                        ASSUMED_LOOP,
                        late.where,
                        late.layout.looked.found.record.units,
                    )
                    if is_apart
                    else None
                ),
            )
            if len(self._late) >= MOST_PROCESSES:
                self._late.clear()
            self._late[id(late.layout), late.where, self.generic.owners] = known
        return known[1]


def select_step(path: TemplateUse, values: Sequence[Any], bar_step: Any) -> Any:
    """Give the step of a line of a known format, or those of many from columns of figures."""
    step = values[path.step] if path.step is not None else bar_step
    if path.epochs is not None:
        epoch, length, first = path.epochs
        step = step + (values[epoch] - first) * values[length]
    return step


def build_stream_key(reader: FormatReader, where: ProcessId, points: Points) -> Hashable:
    """Build the key that identifies a bar of a known format."""
    return reader.format.id, points.process(where)


def build_draw(
    path: TemplateUse,
    reader: FormatReader,
    where: ProcessId,
    groups: tuple[bytes, ...],
    place: tuple[int, int],
) -> DrawnRecord:
    """Give a draw of a bar of a known format: its raw line and offset are its place."""
    printed = tuple([None if at is None else groups[at].decode() for at in path.position])
    return DrawnRecord(reader, where, printed, *place, path, groups)


def end_of_line(data: bytes, start: int) -> int:
    """Find where a line or a frame of it ends that is no longer than one with a template."""
    high = start + LONGEST_LINE
    end = data.find(b"\n", start, high)
    returned = data.find(b"\r", start, end if end >= 0 else high)
    return returned if returned >= 0 else end if end >= 0 else min(high, len(data))
