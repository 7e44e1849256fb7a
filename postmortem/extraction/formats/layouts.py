"""Templates of lines of unknown layout, learnt by changing their numbers.

In: a line that the generic reader has read, and what it has found there. Out: a `Layout`, or None
if the line's numbers do not keep apart; `LearntFigures`, the figures of another line that the
layout matches. Not here: reading such a line for the first time (`formats.metric_line_parser`),
what becomes of the figures (`formats.generic_reader`).

The reader is a black box here: each number of the line is changed in turn, and what changes in the
answer with it is what the number is. One that changes anything else stays a literal. Before a
layout is believed, lines with all numbers changed at once are read both ways.
"""

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import ProcessId
from postmortem.extraction.formats.metric_line_parser import Found, LineFigures, parse_metric_line
from postmortem.extraction.formats.templates import (
    FIGURE_KIND,
    GRAPH,
    LONGEST_LINE,
    MOST_NUMBERS,
    TRIALS,
    InLine,
    Number,
    Span,
    Template,
    build_template,
    find_numbers,
    find_prefix_spans,
    locate_in_line,
    replace_numbers,
)
from postmortem.reading.windows import View


class Layout(NamedTuple):
    """A learnt line: which of the template's groups is what (`formats.layouts`)."""

    template: Template
    looked: LineFigures
    """What the line held that it was learnt from; any such line differs in figures alone."""
    columns: tuple[tuple[str, int], ...]
    """Each value's name and group."""
    step: int | None
    now: int | None
    """The position of the bar."""
    epoch: int | None
    """The epoch in the label of the bar."""
    counted: int | None
    """Which column is the epoch."""

    @property
    def scale(self) -> int:
        """Steps in one of the unit in which the step is printed."""
        return self.looked.found.scale

    def read_values(self, groups: Sequence[bytes]) -> list[float]:
        """Read the values of a line by the groups of its template."""
        return [read_figure(groups[group]) for _, group in self.columns]

    def has_step(self) -> bool:
        """Say whether its lines print a step, or stand at one of a bar."""
        bar = self.looked.bar
        if bar is None or self.now is None:
            return self.looked.found.has_step
        return bar.counts_steps()


def read_figure(text: bytes) -> float:
    """Read a figure that a template leaves open, whose thousands may be grouped."""
    return float(text.replace(b",", b"")) if b"," in text else float(text)


class LearntFigures(NamedTuple):
    """What a learnt line gives; a record is made of it only where it must be."""

    layout: Layout
    where: ProcessId
    step: float
    values: list[float]
    line: int

    def found(self) -> Found:
        """Make what the slow path would have found, its step settled."""
        found = self.layout.looked.found
        record = found.record._replace(
            step=self.step,
            where=self.where,
            values=[
                (name, value)
                for (name, _), value in zip(self.layout.columns, self.values, strict=True)
            ],
        )
        return found._replace(
            record=record,
            has_step=self.layout.has_step(),
            layout="",
            is_numbered=False,
            line=self.line,
        )


VALUE: Final = "@value "
_OPEN_KINDS: Final = frozenset({"whole", "decimal"})
ReadValues = Callable[[str], Mapping[str, str] | None]
"""Gives all that is found in a text, as `collect_values` does; None if it is none of its kind."""


def infer_layout(view: View) -> Layout | None:
    """Make a layout of a line that has been read as a metric line."""
    try:
        raw = view.data[view.start : view.end].decode()
    except UnicodeDecodeError:
        return None
    text = view.cleaned.text
    looked = parse_metric_line(text)
    if (
        looked is None
        or not looked.has_metrics()
        or (line := locate_in_line(raw, text)) is None
        or view.end - view.start > LONGEST_LINE
    ):
        return None
    answer = collect_values(looked)
    numbers = list(itertools.islice(_find_open_numbers(text, looked), MOST_NUMBERS + 1))
    if len(numbers) > MOST_NUMBERS:
        return None
    roles = find_roles(text, answer, numbers, _read_values)
    spelled = find_spelling(text, answer, roles, _read_values)
    if spelled is None:
        return None
    return _build_layout(view, raw, line, looked, spelled[0], is_plain=spelled[1])


class NumberRoles(NamedTuple):
    """A number of a text and what it is."""

    number: Number
    roles: tuple[str, ...] | None
    """None if it must stay as it is."""


def _read_values(text: str) -> Mapping[str, str] | None:
    looked = parse_metric_line(text)
    return None if looked is None else collect_values(looked)


def _find_open_numbers(text: str, looked: LineFigures) -> Iterator[Number]:
    """Yield each number of a line that its bar is not drawn with."""
    graph = GRAPH.search(text) if looked.bar is not None else None
    for number in find_numbers(text):
        if graph is None or number.start >= graph.end() or number.end <= graph.start():
            yield number


def find_roles(
    text: str, answer: Mapping[str, str], numbers: Iterable[Number], read: ReadValues
) -> list[NumberRoles]:
    """Give what each number of a text is: what changes with it in the answer of a reader."""
    found = []
    for number in numbers:
        other = number.changed()
        after = read(replace_numbers(text, [(number, other)]))
        roles = _compare_answers(answer, after, number.text, other)
        found.append(NumberRoles(number, roles))
    return found


def _open_figures(numbers: Sequence[NumberRoles], *, with_idle: bool) -> list[NumberRoles]:
    """Let values be whole or not, however they are spelled here, and what is nothing likewise."""
    return [
        NumberRoles(number._replace(kind=FIGURE_KIND), roles)
        if (roles or (with_idle and roles is not None))
        and number.kind in _OPEN_KINDS
        and all(map(_is_value, roles))
        else NumberRoles(number, roles)
        for number, roles in numbers
    ]


def _compare_answers(
    before: Mapping[str, str], after: Mapping[str, str] | None, number: str, other: str
) -> tuple[str, ...] | None:
    if after is None:
        return None
    roles = tuple(name for name, shown in before.items() if after.get(name) != shown)
    is_fit = "," not in number or all(map(_is_value, roles))
    is_so = after.keys() == before.keys() and all(
        name.startswith("@")
        and before[name] == _normalise_number(number)
        and after[name] == _normalise_number(other)
        for name in roles
    )
    return roles if is_so and is_fit else None


def _normalise_number(number: str) -> str:
    return repr(float(number.replace(",", "")))


def collect_values(looked: LineFigures) -> dict[str, str]:
    """Give all that was found, figures under a name that begins with @."""
    found, bar = looked.found, looked.bar
    answer = {VALUE + name: repr(value) for name, value in found.record.values}
    answer |= {
        "@step": repr(found.record.step / found.scale),
        "@now": repr(float(bar.now)) if bar else "",
        "@epoch": repr(float(looked.epoch)) if looked.epoch else "",
    }
    constant = (
        found.record.total,
        dict(found.record.units),
        found.printed,
        found.has_step,
        found.has_place,
        found.layout,
        found.length,
        found.is_numbered,
        found.scale,
        found.passed,
    )
    return answer | {
        "constant": repr(constant),
        "bar": repr((bar and bar.total, looked.stream, bool(bar and bar.behind.strip()))),
    }


def _is_value(role: str) -> bool:
    """Say whether a role is that of a value, which an epoch is not."""
    return role.startswith(VALUE) and not role.startswith(f"{VALUE}epoch")


def find_spelling(
    text: str, answer: Mapping[str, str], numbers: Sequence[NumberRoles], read: ReadValues
) -> tuple[list[NumberRoles], bool] | None:
    """Give how numbers may be spelled, and whether plainly alone; None if a reader disagrees."""
    if not _is_open(answer, numbers):
        return None
    return next(
        (
            (spelled, is_plain)
            for spelled, is_plain in (
                (_open_figures(numbers, with_idle=True), False),
                (_open_figures(numbers, with_idle=False), False),
                (list(numbers), False),
                (list(numbers), True),
            )
            if _is_consistent(text, answer, spelled, read, is_plain=is_plain)
        ),
        None,
    )


def _is_consistent(
    text: str,
    answer: Mapping[str, str],
    numbers: Sequence[NumberRoles],
    read: ReadValues,
    *,
    is_plain: bool,
) -> bool:
    """Say whether texts with all open numbers changed at once give what is expected of them."""
    choice = random.Random(0)  # noqa: S311 -- the same trials each time
    for trial in range(TRIALS):
        others = [
            (number, roles, number.other(choice, trial, is_plain=is_plain))
            for number, roles in numbers
            if roles is not None
        ]
        after = read(replace_numbers(text, [(number, other) for number, _, other in others]))
        expected = {
            **answer,
            **{role: _normalise_number(other) for _, roles, other in others for role in roles},
        }
        if after is None or after != expected:
            return False
    return True


def _is_open(answer: Mapping[str, str], numbers: Sequence[NumberRoles]) -> bool:
    """Say whether each figure that was found is one of the numbers that are left open."""
    named = {role for _, roles in numbers for role in roles or ()}
    return all(
        name in named or not (name.startswith(VALUE) or shown not in {"", "nan"})
        for name, shown in answer.items()
        if name.startswith("@")
    )


def _find_open_spans(
    text: str, looked: LineFigures, numbers: Sequence[NumberRoles], *, is_plain: bool
) -> Iterator[Span]:
    """Yield what is left open of a text: its numbers, and what its bar is drawn with."""
    for number, named in numbers:
        if named is not None:
            pattern = (b"(" if named else b"(?:") + number.pattern(is_plain=is_plain) + b")"
            yield Span(number.start, number.end, "number" if named else "", pattern)
    if looked.bar is not None and (graph := GRAPH.search(text)):
        yield Span(graph.start(), graph.end(), "", rb"[^|\r\n]{0,300}")


def _build_layout(
    view: View,
    raw: str,
    line: InLine,
    looked: LineFigures,
    numbers: Sequence[NumberRoles],
    *,
    is_plain: bool,
) -> Layout | None:
    """Make the layout of a line whose numbers are known; None if a colour changes within one."""
    before, roles = find_prefix_spans(raw, line.start, srun=view.srun), dict[str, int]()
    places = sum(bool(span.name) for span in before)
    for _, named in numbers:
        if named:
            roles |= dict.fromkeys(named, places)
            places += 1
    spans = line.spans(
        list(_find_open_spans(view.cleaned.text, looked, numbers, is_plain=is_plain))
    )
    if spans is None:
        return None
    columns = tuple((name, roles[VALUE + name]) for name, _ in looked.found.record.values)
    counted = next((index for index, (name, _) in enumerate(columns) if name == "epoch"), None)
    return Layout(
        build_template(raw, line.start, sorted(before + spans), view.cleaned.where),
        looked,
        columns,
        roles.get("@step"),
        roles.get("@now") if looked.bar else None,
        roles.get("@epoch"),
        counted,
    )
