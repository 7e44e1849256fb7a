"""Read a unit of lines, from the end of one record to the end of the next, as the slow way does.

In: the bytes of a unit, and of those before and behind it. Out: what each of its lines says. Not
here: which lines are a unit (`record_units`), what is kept from line to line
(`extraction.metric_lines`).
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from postmortem.extraction.columnar.line_literals import LineLiterals
from postmortem.extraction.formats import grids
from postmortem.extraction.formats.blocks import parse_entry, read_block
from postmortem.extraction.formats.generic import LineFigures, parse_metric_line
from postmortem.extraction.formats.unfinished import UnfinishedBars
from postmortem.extraction.literals import Matcher, Wanted
from postmortem.reading.windows import View
from postmortem.rules.engine import Budget

_OF_FIGURES: Final = frozenset({"generic", "metric"})
_OF_RULES: Final = frozenset({"signature", "fact"})


class UnitRecord(NamedTuple):
    """A record that a unit holds."""

    line: int
    """Which of its lines is read as the record, counted from 0."""
    looked: LineFigures
    end: int
    """Which of its lines is the last of the record; -1 if the record is one line."""


class UnitReader:
    """Reads units of one source without keeping anything."""

    def __init__(
        self, machine: Matcher, literals: LineLiterals, budget: Budget, *, srun: bool
    ) -> None:
        """Take the rules, the literals of the source, and what searching is taken from."""
        self._machine, self._budget, self._srun = machine, budget, srun
        self._literals = literals
        self.back_to = 0
        """Where the last record of several lines ended before the unit that was read last."""
        self.read_count = 0
        """About how many lines were read."""

    def read(
        self, before: bytes, unit: bytes, behind: bytes, *, back_to: int | None = None
    ) -> list[UnitRecord] | None:
        """Give the records of a unit; None if anything but the figures of its lines counts there.

        Args:
            before: whole lines, with their breaks, as are the others.
            unit: to be read.
            behind: whole lines behind it.
            back_to: where the last record before ends that is one of several lines, if that is
                known (`back_to`).
        """
        data, found, read_until = before + unit + behind, list[UnitRecord](), back_to or 0
        begin = 0 if back_to is None else len(before)
        lines = list(_iter_lines(data, begin, len(before) + len(unit)))
        literals = self._literals.of_each([data[start:end] for start, end in lines])
        first = sum(start < len(before) for start, _ in lines)
        self.read_count += len(lines)
        for number, ((start, _), own) in enumerate(zip(lines, literals, strict=True)):
            if number == first:
                self.back_to = read_until
            view = View(data, start, number, srun=self._srun)
            line = self._read_line(view, own, read_until)
            if line is None:
                return None
            read_until = max(read_until, line.end)
            if number >= first and line.looked is not None:
                last = -1 if not line.end else sum(end < line.end for _, end in lines) - first
                found.append(UnitRecord(number - first, line.looked, last))
        return found

    def _read_line(self, view: View, literals: set[int], read_until: int) -> "_ReadLine | None":
        """Read a line; None if anything but its figures counts there."""
        consumers = {one for literal in literals for one in self._machine.consumers[literal]}
        kinds = {kind for kind, _ in consumers}
        if not kinds <= _OF_FIGURES | _OF_RULES or self._is_of_known_format(view, consumers):
            return None
        if "generic" not in kinds or view.start < read_until:
            return _NOTHING
        line = _read_unknown_line(view, read_until)
        is_bar = line is not None and line.looked is not None and line.looked.bar is not None
        return None if is_bar else line

    def _is_of_known_format(self, view: View, consumers: Iterable[Wanted]) -> bool:
        return any(
            self._machine.metrics[index].read(view, self._budget) is not None
            for kind, index in consumers
            if kind == "metric"
        )


class _ReadLine(NamedTuple):
    looked: LineFigures | None
    end: int
    """Where a record of several lines ends; 0 if there is none."""


_NOTHING: Final = _ReadLine(None, 0)


def _read_unknown_line(view: View, back_to: int) -> _ReadLine | None:
    """Read a line of no known format; None if it begins what is more than a record."""
    text, where = view.cleaned.text, view.cleaned.where
    own = parse_entry(text)
    whole = read_block(view, own, back_to) if own is not None else None
    if whole is not None:
        looked = parse_metric_line(whole.text, where)
        if looked is not None:
            looked = looked._replace(found=looked.found._replace(layout=whole.kind))
        return _ReadLine(looked, whole.end)
    looked = parse_metric_line(text, where)
    if own is None and looked is None and _begins_more(text):
        return None
    return _ReadLine(looked, 0)


def _begins_more(text: str) -> bool:
    """Say whether a line may be the heading of a table, or a bar that has not ended."""
    bars = UnfinishedBars()
    bars.take(text, View(b"", 0, 0, srun=False).cleaned.where, 0, 0)
    return "|" in text or bool(grids.split_columns(text)) or bool(bars.rest(alone=True))


def _iter_lines(data: bytes, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield where each line begins and ends, from one up to the one that begins at `stop`."""
    while start < stop:
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield start, end - (data[start:end].endswith(b"\r"))
        start = end + 1
