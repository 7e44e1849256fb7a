"""One pass over the blocks of a source.

What is printed becomes findings, tracebacks, series and facts, in bounded memory.

In: `Block`s of one source. Out: `Gathered`. `feed`, `snapshot` and `merge` make it a mergeable
state: a growing file, many files and block borders are all the same to it. Not here: reading files
(`reading`), weighing what was found (`inference`).

Only lines with a literal of some rule in them are looked at. Of each (signature, process) the first
FIRST and last LAST findings are kept.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from postmortem.formats import table
from postmortem.formats.bars import Redraws, RunBar, is_training
from postmortem.formats.records import MetricReader, Record
from postmortem.formats.unknown import GenericReader
from postmortem.gathered import FIRST, LAST, Gathered, Seen
from postmortem.knowledge.base import Format, Signature
from postmortem.knowledge.engine import A_SOURCE, Budget, Match
from postmortem.literals import FOLLOWED, Machine
from postmortem.metrics.crowd import Crowd
from postmortem.metrics.points import Points
from postmortem.metrics.quick import Quick
from postmortem.model.findings import Finding, Traceback
from postmortem.model.lines import NOWHERE, Where
from postmortem.model.said import cut
from postmortem.reading.block_reader import Block
from postmortem.reading.prefixes import Cleaned
from postmortem.reading.windows import LONG, Sight, View
from postmortem.signatures import traceback

_MOST_TEXT: Final = 1000
_MOST_LONG: Final = 1000
"""Findings on long lines of a source whose text is kept at this length; that of later ones is cut shorter."""
_LEAST_TEXT: Final = 200
_CONTEXT: Final = 3000
_MOST_SEARCHED: Final = 1024
"""Lines that are known not to need another search: a thousand processes print the same one."""
_MOST_CONTEXTS: Final = 4_000_000
"""Characters of surroundings that are kept of a source; those of later findings are read again from the file."""


class _Drawn(NamedTuple):
    """A record of a format that is drawn again at the same position."""

    record: Record
    reader: MetricReader
    line: int
    offset: int


class Gathering:
    """Gathers from one source."""

    def __init__(
        self,
        machine: Machine,
        source: int,
        where: Where = NOWHERE,
        *,
        srun: bool = False,
        breaks_by_return: bool = False,
        budget: Budget | None = None,
    ) -> None:
        """Start at the first line.

        `where` is the process that the file's name tells, for lines that say nothing; `budget` is
        the whole job's.
        """
        self.machine, self.source = machine, source
        self.result = Gathered()
        self._points = Points(self.result, source, where)
        self._break = b"\r" if breaks_by_return else b"\n"
        self._budget = Budget(A_SOURCE, budget)
        self.line = 1
        self._generic = GenericReader()
        self._table = table.TableReader()
        self._redraws: Redraws[_Drawn] = Redraws()
        self._bar = RunBar()
        self._quick = Quick(self._points, self._generic, self._bar, self._budget)
        self._waiting: tuple[View, int, int] | None = None
        """The last line with a metric word that no format has claimed, the offset of its block and its first literal."""
        self._open: tuple[View | None, int] = (None, 0)
        """The last window that was looked at, and the offset of its block."""
        self._covered = -1
        """Offset up to which it reaches."""
        self._read_until = 0
        """Offset up to which records of several lines have been read."""
        self._framed_until = 0
        """Offset up to which frames belong to a traceback that has been read."""
        self._opening = -1
        """The first literal of the line being looked at: what a template is found by; -1 on a line that a template has taken."""
        self._sight = Sight(srun=srun)
        self._crowd = Crowd()
        self._refused_until = 0
        """Offset up to which the figures of a line of a crowded source are passed over."""
        self._contexts = self._long = 0
        self._searched: dict[tuple[str, str], tuple[Match, ...]] = {}
        self.result.stamps[source] = self._sight.stamps
        self._takers: dict[str, Callable[[int, View, int], None]] = {
            "signature": lambda index, view, base: self._signature(
                machine.signatures[index], view, base
            ),
            "metric": lambda index, view, base: self._metric(machine.metrics[index], view, base),
            "fact": lambda index, view, _: self._fact(machine.facts[index], view),
            "traceback": lambda _, view, base: self._traceback(view, base),
            "frame": lambda _, view, base: self._frame(view, base),
            "table": lambda _, view, base: self._table_line(view, base),
            "generic": lambda _, view, base: self._keep_waiting(view, base),
        }
        self._head = self._tail = b""
        self._ends_with_break = True

    def feed(self, block: Block) -> None:
        """Look at the fresh region of a block."""
        data, position, base = block.data, block.lo, block.offset
        count, is_more, followed, take = (
            data.count,
            self.machine.is_more_than_metric,
            self.machine.only_followed,
            self._quick.take,
        )
        points = self._points
        (view, view_base), covered = (
            self._open,
            self._covered - base,
        )  # a line may go on behind a block's border
        scan = self.machine.scan(data, block.lo, block.hi)
        if view is not None and view.is_spent:
            scan.until = covered
        for number, start in scan:
            if start < covered:
                if start < scan.until:
                    continue
                if view is None and is_more[number]:
                    view, view_base = self._claimed_view(data, start), base
                if view is not None:
                    self._dispatch(number, view, view_base)
                    if view.is_spent:
                        scan.until = covered
                continue
            if points.is_crowded and not self._may_begin(number, base + start):
                continue
            self.line += count(self._break, position, start)
            position = max(position, start)
            self._generic_line()
            if end := take(number, data, start, base, self.line):
                if points.left_out:
                    self._crowd.leave_out(number)
                    points.left_out = 0
                view, covered, self._opening = (
                    self._claimed_view(data, start) if is_more[number] else None,
                    end,
                    -1,
                )
            elif number in followed and self._is_too_many(base + start):
                continue
            else:
                slow = self._slow_view(number, data, start, base)
                if slow is None:
                    continue
                view, covered = slow
            view_base = base
            if view is not None:
                self._dispatch(number, view, base)
                if view.is_spent:
                    scan.until = covered
        self._open, self._covered = (view, view_base), covered + base
        if covered <= block.hi:
            self._generic_line()
        self._points.flush()
        self.line += count(self._break, position, block.hi)
        self._keep_ends(block)

    def _keep_ends(self, block: Block) -> None:
        """Keep what the source begins and ends with."""
        data = block.data
        if len(self._head) < _CONTEXT * 2:
            self._head += data[block.lo : min(block.hi, block.lo + _CONTEXT * 2)]
        self._tail = (self._tail + data[max(block.lo, block.hi - _CONTEXT * 2) : block.hi])[
            -_CONTEXT * 2 :
        ]
        if block.hi > block.lo:
            self._ends_with_break = data[block.hi - 1 : block.hi] == self._break

    def take_state(
        self, records: Iterable[tuple[Record, int]], producer: str = "transformers-trainer"
    ) -> None:
        """Take the records of a metrics file that has been read by a reader of its own."""
        for record, line in records:
            self._points.record(record, producer, producer, (line, line), math.nan, record.units)

    def snapshot(self) -> Gathered:
        """Give what was gathered so far."""
        result = self.result
        for drawn in self._redraws.rest():
            self._record(drawn)
        for found in self._generic.rest():
            self._quick.put(found, result.last_record.get(self.source, (0, 0))[1])
        for series in result.series.values():
            series.settle()
        for kept in result.findings.values():
            kept.settle()
        result.lines[self.source] = self.line - (1 if self._ends_with_break else 0)
        tail = self._tail
        result.heads[self.source] = self._head[: _CONTEXT * 2].decode("utf-8", "replace")
        result.tails[self.source] = (
            self.line - tail.count(self._break),
            tail.decode("utf-8", "replace"),
        )
        return result

    def _is_too_many(self, place: int) -> bool:
        """Say whether a traceback that begins here is passed over before its line is looked at."""
        if place < self._framed_until or self._sight.may_follow(place):
            return False
        self.result.passed_over += 1
        return True

    def _claimed_view(self, data: bytes, start: int) -> View:
        """Look at a line whose figures are read already."""
        view = self._sight.view(data, start, self.line)
        view.claimed.add(_CLAIMED)
        return view

    # -- one line
    # ---------------------------------------------------------------------------------------------------

    def _may_begin(self, number: int, place: int) -> bool:
        """Say whether the line around a literal may be looked at, of a source that names more than is kept."""
        may = (
            self._crowd.may_take(number, place)
            if place >= self._refused_until
            else self.machine.is_more_than_metric[number] and self._crowd.has_look(number, place)
        )
        self.result.crowded_out += not may
        return may

    def _slow_view(
        self, number: int, data: bytes, start: int, base: int
    ) -> tuple[View, int] | None:
        """Look at the line around a literal that no template takes, and give where it ends.

        Of a crowded source it may be passed over: None.
        """
        if self._points.is_crowded and not self._crowd.may_look(number, base + start):
            self.result.crowded_out += 1
            self._refused_until = base + max(start + 1, data.find(b"\n", start, start + LONG))
            return None
        view, self._opening = self._sight.view(data, start, self.line), number
        return view, max(view.end, start + 1)

    def _dispatch(self, number: int, view: View, base: int) -> None:
        """Let all who want lines with a literal look at this one."""
        wanted = self.machine.consumers[number]
        if (
            self._points.is_crowded
            and number != self._opening
            and self.machine.is_more_than_metric[number]
            and not self._crowd.may_look(number, base + view.start)
        ):
            self.result.crowded_out += 1
            return
        for kind, index in wanted:
            key = hash((kind, index))
            if key in view.claimed:
                continue
            view.claimed.add(key)
            if not self._sight.may_look(
                view, base, follows=kind in FOLLOWED and base + view.start >= self._framed_until
            ):
                self.result.passed_over += 1
                if view.is_spent:
                    return
                continue
            try:
                self._takers[kind](index, view, base)
            except TimeoutError:
                self.result.timeouts += 1

    def _keep_waiting(self, view: View, base: int) -> None:
        if _CLAIMED not in view.claimed:
            self._waiting = (view, base, self._opening)

    def _signature(self, rule: Signature, view: View, base: int) -> None:
        cleaned = view.cleaned
        text = cleaned.text if rule.lines == 1 else "\n".join(view.following(rule.lines))
        match = next(iter(self._search(rule, text)), None)
        if match is None:
            return
        where = self._points.process(cleaned.where)
        kept = self.result.kept(rule.id, self.source, where)
        if kept.count > FIRST + LAST and kept.last_line == view.number:
            kept.count += 1
            return
        is_new = rule.fatal and kept.count < 2  # a crowd's too, whose first is one
        context = (0, "")
        if is_new:
            self._sight.stamp(view, base)
            context = (
                view.around(_CONTEXT, self._break) if self._contexts < _MOST_CONTEXTS else context
            )
            self._contexts += len(context[1])
        before = self._points.beside(where)
        make = functools.partial(
            _seen,
            rule,
            self.source,
            where,
            view.number,
            base + view.start,
            text,
            match,
            cleaned,
            before,
            context,
        )
        if len(text) > LONG:
            self._long += 1
            kept.add(make(_MOST_TEXT if self._long <= _MOST_LONG else _LEAST_TEXT))
            # what waits would hold all of the line
        else:
            kept.add_later(make, view.number)

    def _search(self, rule: Signature | Format, text: str) -> tuple[Match, ...]:
        """Search a text for a rule, once for all processes that print it."""
        known, key = self._searched, (rule.id, text)
        found = known.get(key)
        if found is None:
            found = tuple(
                rule.finditer(text, self._budget)
                if rule.raw.get("each")
                else filter(None, [rule.search(text, self._budget)])
            )
            if len(text) <= LONG:
                if len(known) >= _MOST_SEARCHED:
                    known.clear()
                known[key] = found
        return found

    def _traceback(self, view: View, base: int) -> None:
        found = traceback.read(view, self.source, base)
        if found is not None:
            self._framed_until = max(self._framed_until, found.end_offset)
            self._keep(found, view, base)

    def _frame(self, view: View, base: int) -> None:
        """Read the traceback of a paste that begins below its first line."""
        if base + view.start < self._framed_until:
            return
        found, self._framed_until = traceback.read_headless(view, self.source, base)
        if found is not None:
            self._keep(found, view, base)

    def _keep(self, found: Traceback, view: View, base: int) -> None:
        self._sight.stamp(view, base)
        self.result.traceback_count += 1
        if len(self.result.tracebacks) >= 10 * (FIRST + LAST):
            del self.result.tracebacks[5 * FIRST]
        where = self._points.process(found.where)
        if where != found.where:
            found = dataclasses.replace(found, where=where)
        self.result.tracebacks.append((found, self._points.beside(where)))

    def _fact(self, rule: Format, view: View) -> None:
        text = "\n".join(view.following(int(rule.raw.get("lines", 1))))
        strength = int(rule.raw.get("strength", 1))
        for match in self._search(rule, text):
            groups = {name: value for name, value in match.groupdict().items() if value is not None}
            if "package" in groups and "version" in groups:
                groups[f"package_{groups.pop('package').lower().replace('-', '_')}"] = groups.pop(
                    "version"
                )
            for name, value in (*groups.items(), *(rule.raw.get("set") or {}).items()):
                if name == "total_steps" and value.replace(",", "").isdigit():
                    self.result.total_steps = float(value.replace(",", ""))
                self.result.facts.add(
                    name, value, strength, self.source, view.number, view.cleaned.time
                )
            if rule.framework:
                self._points.recognise(rule.framework)

    # -- metrics
    # ----------------------------------------------------------------------------------------------------

    def _metric(self, reader: MetricReader, view: View, base: int) -> None:
        if _CLAIMED in view.claimed:
            return
        record = reader.read(view, self._budget)
        if record is None:
            return
        view.claimed.add(_CLAIMED)
        self._read_until = max(self._read_until, base + _end_of(view, record.lines))
        drawn = _Drawn(record, reader, view.number, base + view.start)
        if reader.redraws:
            before = (
                None
                if record.place[-1] == "0"
                else self._redraws.take((reader.format.id, record.where), record.place, drawn)
            )
            if before is not None:  # a bar at 0 still shows what came before it
                self._record(before)
            return
        needs_bar = math.isnan(record.step) and reader.framework == "transformers-trainer"
        self._record(
            drawn,
            (
                self._bar.step(
                    view.data,
                    view.end,
                    self.result.total_steps,
                    is_training=is_training(dict(record.values)),
                )
                if needs_bar
                else math.nan
            ),
        )
        self._quick.learn(self._opening, view, reader, needs_bar=needs_bar)

    def _record(self, drawn: _Drawn, bar_step: float = math.nan) -> None:
        reader = drawn.reader
        self._points.record(
            drawn.record,
            reader.producer,
            reader.framework or reader.producer,
            (drawn.line, drawn.offset),
            bar_step,
            reader.units,
        )

    def _generic_line(self) -> None:
        """Read the last line with a metric word, now that every format has had its chance to claim it."""
        self._quick.settle(self._read_until)
        (view, base, opening), self._waiting = self._waiting or (None, 0, 0), None
        if view is None or _CLAIMED in view.claimed or base + view.start < self._read_until:
            return
        found = self._generic.read(
            view.cleaned.text, self._points.process(view.cleaned.where), view.number
        )
        for one in found:
            self._quick.put(one, base + view.start)
        if self._generic.has_read:
            self._quick.learn(opening, view, None)

    def _table_line(self, view: View, base: int) -> None:
        for record in self._table.read(view.cleaned.text, view.cleaned.where):
            self._points.record(
                record,
                table.PRODUCER,
                table.PRODUCER,
                (view.number, base + view.start),
                math.nan,
                record.units,
            )


def _end_of(view: View, lines: int) -> int:
    """Find where a record of several lines ends."""
    end = view.end
    for _ in range(lines - 1):
        end = view.data.find(b"\n", end + 1)
        if end < 0:
            return len(view.data)
    return end


_CLAIMED: Final = hash(("claimed",))


def _seen(
    rule: Signature,
    source: int,
    where: Where,
    line: int,
    offset: int,
    text: str,
    match: Match,
    cleaned: Cleaned,
    before: int,
    context: tuple[int, str],
    most: int = _MOST_TEXT,
) -> Seen:
    """Make the finding of a match; holds no part of a block."""
    end_line = line + text.count("\n", 0, match.end()) if rule.lines > 1 else line
    captures = tuple(
        (name, value) for name, value in match.groupdict().items() if value is not None
    )
    shown = cut(text if len(text) <= most else text[max(0, match.start() - most // 5) :], most)
    return Seen(
        Finding(
            rule.id,
            rule.role,
            source,
            where,
            line,
            end_line,
            offset,
            shown.strip(),
            captures,
            cleaned.time,
            level=cleaned.level,
        ),
        before,
        context,
    )
