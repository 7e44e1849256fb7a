"""Read the metric records that a format describes, and learn templates of their lines.

In: a `Format` of kind metrics and a line. Out: `Record`: the printed step and (name, value) pairs
under canonical names. Not here: series (`facts.series`), the formats themselves
(`patterns/formats`).

The slow path searches the cleaned line. From a line that it has read, `learn` makes a `Template`
(`formats.templates`).
"""

import itertools
import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.log_text import compile_lazily, parse_whole_number
from postmortem.extraction.formats.figures import parse_value
from postmortem.extraction.formats.record_parts import (
    PairReader,
    PlaceFinder,
    name_cells,
)
from postmortem.extraction.formats.templates import (
    GRAPH,
    LONGEST_LINE,
    Span,
    Template,
    build_template,
    find_prefix_spans,
    locate_in_line,
    open_spans,
    place,
)
from postmortem.reading.windows import View
from postmortem.rules.base import Format
from postmortem.rules.engine import Budget, Match

_VALUE: Final = rb"([+-]?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|nan|NaN|inf|Infinity))"
_PLAIN: Final = r"(\d+(?:\.\d+)?)"
_OTHER: Final = rb"(?:\d+ days?, )?[^\s,'}\]|]{1,60}"
_BEGINNING: Final = compile_lazily(rf"'?{_PLAIN}(?=[^\d.,eE+\w-]|[A-Za-z]{{1,6}}(?:$|\W))")
"""A figure with something else behind it."""
_LITERAL: Final = frozenset({"pairs", "rank", "total", "position"})
"""Groups that a template leaves as they are."""
_LABEL: Final = compile_lazily(
    r"(?i)\b(?:(?:train|eval|val|valid|test)\w{0,8} (?:metrics|scores|results|stats)\b[^{}\n]{0,20}"
    r"|(?:eval|val|valid|test)\w{0,8}[:=] ?)\{$"
)
_RESERVED: Final = frozenset(
    {"pairs", "cells", "step", "rank", "epoch_now", "epoch_index", "total", "per_epoch", "position"}
)
EPOCHS: Final = {"epoch_now": 1.0, "epoch_index": 0.0}
"""Groups that hold the number of an epoch whose steps are counted anew; the number of the first."""
POSITION: Final = ("epoch_index", "epoch_now", "epoch", "step")
"""Groups that tell where a bar stands."""


class Record(NamedTuple):
    """One printed metric record."""

    step: float
    """NaN if none is printed."""
    values: list[tuple[str, float]]
    where: ProcessId
    total: float = math.nan
    """The last step of the run where the line names it."""
    lines: int = 1
    """How many lines the record takes."""
    place: tuple[str | None, ...] = ()
    """Epoch and step as printed: what tells a redraw."""
    units: Mapping[str, str] = MappingProxyType({})
    """The units that are printed behind values, by name."""


class RecordRows(NamedTuple):
    """Records of one process that hold the same figures, on one line after the other."""

    names: Sequence[str]
    steps: Sequence[float]
    values: Sequence[Sequence[float]]
    """By name."""
    first: int
    """Raw line of the first."""

    def iter_records(self) -> Iterator[tuple[Record, int]]:
        """Yield each by itself, with its raw line."""
        rows = zip(self.steps, zip(*self.values, strict=True), strict=True)
        for line, (step, values) in enumerate(rows, start=self.first):
            yield Record(step, list(zip(self.names, values, strict=True)), NOWHERE), line


class Curve(NamedTuple):
    """The figures of one name that a file or a line holds together: a list."""

    name: str
    steps: Sequence[float]
    values: Sequence[float]
    lines: Sequence[int]
    """Raw line of each figure."""

    def columns(self) -> "tuple[array[float], array[float], array[int]]":
        """Give steps, values and lines as a series keeps them."""
        return array("d", self.steps), array("d", self.values), array("q", self.lines)


class RecordLists(NamedTuple):
    """Records of one process whose figures are held in lists, one for each name."""

    curves: Sequence[Curve]
    where: ProcessId = NOWHERE
    ends: tuple[tuple[int, int], tuple[int, int]] | None = None
    """Raw line and byte offset at which they begin and end, within a log."""

    def count_records(self) -> int:
        """Count the records."""
        return max(len(curve.values) for curve in self.curves)

    def find_ends(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Give where they begin and end; in a file of them lines stand for offsets."""
        first = min(curve.lines[0] for curve in self.curves)
        last = max(curve.lines[-1] for curve in self.curves)
        return self.ends or ((first, first), (last, last))


class FormatReader:
    """Reads the records of one format."""

    def __init__(self, format_: Format) -> None:
        """Take a format of kind metrics."""
        raw: Mapping[str, Any] = format_.raw
        self.format = format_
        self.framework = format_.framework
        self.producer: str = raw.get("producer") or format_.framework or format_.id
        self.redraws = bool(raw.get("redraws"))
        self.units: Mapping[str, str] = raw.get("units") or {}
        self._lines = int(raw.get("lines") or 1)
        self._is_bare = bool(raw.get("is_bare"))
        self._cells: Mapping[str, Any] = raw.get("cells") or {}
        self._pairs = PairReader(raw)
        self._places = PlaceFinder(format_, self._pairs)

    @property
    def is_of_one_line(self) -> bool:
        """Whether a record is complete on its own line."""
        return self._lines == 1 and not self._cells

    @property
    def is_named_above(self) -> bool:
        """Whether a heading above a record names its figures."""
        return bool(self._cells)

    def read(
        self, view: View, budget: Budget | None = None, columns: Sequence[str] = ()
    ) -> Record | None:
        """Read the record on a line, or None if there is none.

        Args:
            view: the line.
            budget: what searching is taken from.
            columns: of the heading above, for a format whose figures it names.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        return self._record(
            view.cleaned.text if self._lines == 1 else self._get_window(view),
            view.cleaned.where,
            budget,
            columns,
        )

    def _record(
        self, text: str, where: ProcessId, budget: Budget | None, columns: Sequence[str] = ()
    ) -> Record | None:
        found = self._places.find(text, budget)
        if found is None or (
            self._is_bare and _LABEL.search(text, 0, found.groups["pairs"][0]) is not None
        ):
            return None
        groups = {name: text[start:end] for name, (start, end) in found.groups.items()}
        if "rank" in groups:
            where = where._replace(rank=parse_whole_number(groups["rank"]))
        step, total = _parse_step(groups), _parse_group_number(groups, "total")
        values = _parse_values(groups)
        if "cells" in groups:
            values += name_cells(self._cells, groups["cells"], columns)
        for name, printed in self._pairs.read(text, found.pairs, budget):
            value = parse_value(printed)
            if name == "step":
                step = _replace_none_with_nan(value)
            elif name and value is not None:
                values.append((name, value))
        place = tuple([groups.get(name) for name in POSITION])
        return (
            Record(step, _keep_first_values(values), where, total, found.lines, place)
            if values
            else None
        )

    def _get_window(self, view: View) -> str:
        """Give the line and the indented lines behind it, and a few more."""
        count, window = 1, [view.cleaned.text]
        while (
            count < self._lines
            and len(window) == count
            and all(line.startswith((" ", "\t")) for line in window[1:])
        ):
            count = min(4 * count, self._lines)
            window = view.following(count)
        return "\n".join(window)

    def learn(self, view: View, budget: Budget | None = None) -> Template | None:
        """Make a template of a line that `read` has read, or None if it is not regular enough.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        text, raw = view.cleaned.text, view.data[view.start : view.end]
        shown = raw.decode("utf-8", "replace")
        line = locate_in_line(shown, text) if shown.encode() == raw and self._is_fit(raw) else None
        match = self.format.search(text, budget) if line is not None else None
        values = self._find_spans(match, budget) if match is not None else None
        if line is None or match is None or values is None:
            return None
        where, names_process = view.cleaned.where, match.groupdict().get("rank") is None
        spans = _drop_duplicate_rank(
            find_prefix_spans(shown, line.start, srun=view.srun), names_process=names_process
        )
        if self.redraws and not _is_drawn_alike(match):
            return None
        values += _find_bar_spans(text, values) if self.redraws else []
        before = repr(self._record(text, where, budget))
        values += open_spans(
            text, values, lambda other: repr(self._record(other, where, budget)) == before
        )
        own = line.spans(sorted(values))
        return None if own is None else build_template(shown, line.start, spans + own, where)

    def _is_fit(self, raw: bytes) -> bool:
        """Say whether a line may have a template."""
        return self._lines == 1 and len(raw) <= LONGEST_LINE and (raw.isascii() or self.redraws)

    def _find_spans(self, match: Match, budget: Budget | None) -> list[Span] | None:
        """Give the rank and every value in the line, in order.

        None if they overlap or one is of an odd spelling.
        """
        spans = _group_spans(match)
        spans += [Span(start, end, "", _OTHER) for start, end in self._pairs.rests(match, budget)]
        # A word where other lines print a number (`"eval_loss": null`) stays a literal.
        places = self._pairs.places(match, budget)
        spans += [
            _build_value_span(text, at[0], name) if name else Span(*at, name, _OTHER)
            for at, (name, text) in zip(
                places.values, self._pairs.read(match.string, places, budget), strict=True
            )
            if not name or parse_value(text) is not None
        ]
        if not _has_plain_values(match.string, spans):
            return None
        if match.groupdict().get("rank") is not None:
            spans.append(place(match.start("rank"), match.end("rank"), "@rank"))
        spans.sort()
        is_apart = all(span.end <= behind.start for span, behind in itertools.pairwise(spans))
        return spans if is_apart else None


def _group_spans(match: Match) -> list[Span]:
    """Give the values that stand in groups of their own."""
    return [
        Span(
            match.start(name),
            match.end(name),
            name,
            b"(" + re.sub(rb"\d+", rb"\\d+", re.escape(text.encode())) + b")",
        )
        for name, text in match.groupdict().items()
        if text is not None and name not in _LITERAL
    ]


def _drop_duplicate_rank(spans: Sequence[Span], *, names_process: bool) -> list[Span]:
    """Ignore the rank in a prefix where the line itself names it."""
    return [
        place(span.start, span.end, span.name, names_process=names_process)
        if span.name == "@rank"
        else span
        for span in spans
    ]


def _build_value_span(text: str, start: int, name: str) -> Span:
    """Leave the figure of a value open: all of it, or what it begins with (`'6/2353'`, `2m 3s`).

    Before a unit it stays plain: a format may take no sign or exponent there.
    """
    found = _BEGINNING.match(text)
    if re.fullmatch(_VALUE, text.encode()) or found is None or float(found[1]) != parse_value(text):
        return Span(start, start + len(text), name, _VALUE)
    return Span(start + found.start(1), start + found.end(1), name, _PLAIN.encode())


def _is_drawn_alike(match: Match) -> bool:
    """Say whether each draw of a bar has its step on its own line, or none has a position at all.

    What a backspace parts are several draws.
    """
    groups = {name for name, text in match.groupdict().items() if text is not None}
    if groups.isdisjoint(POSITION):
        return "total" not in groups and "\b" not in match.string
    is_counted = "per_epoch" in groups or groups.isdisjoint(EPOCHS)
    return "step" in groups and "total" not in groups and is_counted


def _find_bar_spans(text: str, taken: Sequence[Span]) -> list[Span]:
    """Leave open what a bar is drawn with."""
    found = GRAPH.search(text)
    if found is None or any(
        found.start() < span.end and span.start < found.end() for span in taken
    ):
        return []
    return [Span(found.start(), found.end(), "", rb"[^|\r\n]{0,300}")]


def _has_plain_values(text: str, spans: Sequence[Span]) -> bool:
    """Say whether each value is spelled as most are and has a name of its own."""
    named = [span for span in spans if span.name]
    return len({span.name for span in named}) == len(named) and all(
        re.fullmatch(_VALUE, text[span.start : span.end].encode()) for span in named
    )


def _parse_values(groups: Mapping[str, str]) -> list[tuple[str, float]]:
    """Read the values that stand in groups of their own."""
    return [
        (name, value)
        for name, text in groups.items()
        if name not in _RESERVED and (value := parse_value(text)) is not None
    ]


def _parse_step(groups: Mapping[str, str]) -> float:
    """Read the step of a record, counted over the run where its line names the epoch's length."""
    step = _parse_group_number(groups, "step")
    is_of_epoch = "epoch_now" in groups or "epoch_index" in groups
    return step + _count_previous_steps(groups) if is_of_epoch else step


def _count_previous_steps(groups: Mapping[str, str]) -> float:
    """Count the steps of the epochs before the printed one; NaN if their length is not printed."""
    length = parse_value(groups.get("per_epoch", ""))
    for name, first in EPOCHS.items():
        epoch = parse_value(groups.get(name, ""))
        if epoch is not None:
            return (
                0.0 if epoch == first else math.nan if length is None else (epoch - first) * length
            )
    return 0.0


def _keep_first_values(values: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Keep the first value of each name."""
    if len(dict(values)) == len(values):
        return values
    return list({name: (name, value) for name, value in reversed(values)}.values())[::-1]


def _parse_group_number(groups: Mapping[str, str], name: str) -> float:
    """Read the number of a group; NaN if there is none."""
    return _replace_none_with_nan(parse_value(groups[name])) if name in groups else math.nan


def _replace_none_with_nan(value: float | None) -> float:
    return math.nan if value is None else value
