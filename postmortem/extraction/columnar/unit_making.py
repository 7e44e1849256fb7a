"""Make the shape of a unit: lines that come again as a whole, with the records that they hold.

In: a unit with those before and behind it. Out: its `UnitShape`, or None if its numbers do not keep
apart. Not here: which lines are a unit (`record_units`).

The reader of the unit is a black box, as that of a line is in `formats.layouts`: each number of the
unit is changed in turn, and what changes in the answer with it is what the number is. What stands
before and behind a unit must change nothing.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.extraction.columnar.number_variants import OpenLine, exclude_first_sign
from postmortem.extraction.columnar.rule_trials import RuleTrials
from postmortem.extraction.columnar.shape_making import LineShape
from postmortem.extraction.columnar.unit_reading import UnitReader, UnitRecord
from postmortem.extraction.formats.layouts import (
    VALUE,
    NumberRoles,
    collect_values,
    find_roles,
    find_spelling,
)
from postmortem.extraction.formats.learnt_layouts import Layout, read_figure
from postmortem.extraction.formats.printed_numbers import Number, find_numbers
from postmortem.extraction.formats.templates import (
    PLACES,
    Span,
    Template,
    find_prefix_spans,
)
from postmortem.extraction.learnt_paths import build_path
from postmortem.reading.windows import View

_MOST_NUMBERS: Final = 100
_AROUND: Final = (
    (b"", b""),
    (b"Epoch 7\nloss: 0.5\n", b"Epoch 9\n"),
    (b"alpha: 1\n" * 60, b"delta: 2\n" * 60),
    (b"\n\n", b"\n\n"),
)
"""What may stand before the unit before and behind the unit behind."""


class UnitShape(NamedTuple):
    """A unit with its numbers left open."""

    line: bytes
    """The pattern of all its lines."""
    pattern: re.Pattern[bytes]
    shapes: tuple[LineShape, ...]
    """Of each of its lines."""
    ends: tuple[int, ...]
    """By line: which line is the last of its record; -1 if it is no record of several lines."""
    breaks: tuple[int, ...]
    """Line breaks and carriage returns within the unit before each line."""


class _Line(NamedTuple):
    start: int
    """Where it stands in the text of its unit."""
    raw: str
    length: int
    """Characters of its prefix."""
    prefix: tuple[Span, ...]


class UnitMaker:
    """Makes the shapes of one source's units."""

    def __init__(self, reader: UnitReader, trials: RuleTrials, *, srun: bool) -> None:
        """Take who reads units, and who asks the rules."""
        self.reader, self._trials, self._srun = reader, trials, srun

    def make(self, before: bytes, unit: bytes, behind: bytes) -> UnitShape | None:
        """Make the shape of a unit; None if it has none.

        Raises:
            TimeoutError: a search took too long, or the budget is spent.
            UnicodeDecodeError: the unit is no UTF-8.
        """
        text = unit.decode()
        records = self.reader.read(before, unit, behind)
        lines = self._split(text)
        if records is None or lines is None or not _are_apart(records, len(lines)):
            return None
        numbers = _find_numbers(lines)
        if len(numbers) > _MOST_NUMBERS or not text.isascii():
            return None

        back_to = self.reader.back_to

        def read(other: str) -> Mapping[str, str] | None:
            return _collect_answer(
                self.reader.read(before, other.encode(), behind, back_to=back_to)
            )

        answer = _collect_answer(records) or {}
        roles = find_roles(text, answer, numbers, read)
        spelled = find_spelling(text, answer, roles, read)
        if spelled is None or not self._is_alone(before, unit, behind, answer):
            return None
        return self._build(lines, text, records, spelled[0], is_plain=spelled[1])

    @property
    def costs(self) -> int:
        """About how many lines were read or asked about."""
        return self.reader.read_count + self._trials.trial_count

    def is_so(self, shape: UnitShape, before: bytes, unit: bytes, behind: bytes) -> bool:
        """Say whether a unit holds the records that its shape gives."""
        match = shape.pattern.match(unit)
        records = self.reader.read(before, unit, behind)
        if match is None or records is None:
            return False
        expected = [
            (index, end, _list_figures(line, match.groups()))
            for index, (line, end) in enumerate(zip(shape.shapes, shape.ends, strict=True))
            if line.path.reader is not None
        ]
        return expected == [
            (
                line,
                end,
                (
                    repr(float(looked.found.record.step)),
                    [(name, repr(float(value))) for name, value in looked.found.record.values],
                ),
            )
            for line, looked, end in records
        ]

    def _is_alone(
        self, before: bytes, unit: bytes, behind: bytes, answer: Mapping[str, str]
    ) -> bool:
        """Say whether a unit says the same whatever stands around those beside it."""
        return all(
            _collect_answer(self.reader.read(above + before, unit, behind + below)) == answer
            and _collect_answer(self.reader.read(above + behind, unit, before + below)) == answer
            for above, below in _AROUND
        )

    def _split(self, text: str) -> list[_Line] | None:
        """Give the lines of a unit; None if one is not the end of what its prefix leaves of it."""
        lines, start = list[_Line](), 0
        for part in text.removesuffix("\n").split("\n"):
            raw = part.removesuffix("\r")
            cleaned = View(raw.encode(), 0, 0, srun=self._srun).cleaned.text
            if "\r" in raw or not raw.endswith(cleaned):
                return None
            length = len(raw) - len(cleaned)
            before = [
                exclude_first_sign(raw, span)
                for span in find_prefix_spans(raw, length, srun=self._srun)
                if span.name not in PLACES
            ]
            lines.append(_Line(start, raw, length, tuple(before)))
            start += len(part) + 1
        return lines

    def _build(
        self,
        lines: Sequence[_Line],
        text: str,
        records: Sequence[UnitRecord],
        roles: Sequence[NumberRoles],
        *,
        is_plain: bool,
    ) -> UnitShape | None:
        patterns, shapes = list[bytes](), list[LineShape]()
        own = [number for number in roles if number.roles]
        by_line = {record.line: (index, record) for index, record in enumerate(records)}
        for index, line in enumerate(lines):
            spans = _open_spans(line, roles, is_plain=is_plain)
            opened = OpenLine(line.raw, line.length, spans)
            verdict = self._trials.verdict(opened.variants(), is_read=True)
            if not verdict.is_sure or verdict.found or verdict.figures or verdict.behind:
                return None
            layout: Layout | None = None
            taken: tuple[int, ...] = ()
            template = self._build_template(opened)
            if index in by_line:
                layout, taken = _build_layout(template, *by_line[index], own)
                template = template._replace(names=("number",) * len(taken))
            path = build_path(template, layout)
            patterns.append(opened.pattern())
            shapes.append(LineShape(patterns[-1], template.pattern, path, path, verdict, taken, ()))
        break_ = b"\r\n" if "\r\n" in text else b"\n"
        whole = break_.join(patterns)
        ends = [-1] * len(lines)
        for record in records:
            ends[record.line] = record.end
        return UnitShape(
            whole,
            re.compile(whole),
            tuple(shapes),
            tuple(ends),
            tuple(index * len(break_) for index in range(len(lines))),
        )

    def _build_template(self, line: OpenLine) -> Template:
        where = View(line.raw.encode(), 0, 0, srun=self._srun).cleaned.where
        pattern = re.compile(line.pattern() + rb"(?=[\r\n]|\Z)")
        return Template(pattern, (), where, line.raw, line.length, line.spans)


def _list_figures(line: LineShape, groups: Sequence[bytes]) -> tuple[str, list[tuple[str, str]]]:
    """Give the step and the values of a record as printed by Python, by the groups of its unit."""
    layout = line.path.reader
    if not isinstance(layout, Layout):
        return "nan", []
    own = [read_figure(groups[index]) for index in line.taken]
    step = math.nan if layout.step is None else own[layout.step] * layout.scale
    return repr(step), [(name, repr(own[index])) for name, index in layout.columns]


def _are_apart(records: Sequence[UnitRecord], count: int) -> bool:
    """Say whether each record ends within its unit of so many lines."""
    return all(record.end < count for record in records)


def _collect_answer(records: Sequence[UnitRecord] | None) -> dict[str, str] | None:
    """Give all that the records of a unit say."""
    if records is None:
        return None
    answer = {"records": repr([(record.line, record.end) for record in records])}
    for index, record in enumerate(records):
        values = collect_values(record.looked)
        answer |= {f"{name} {index}": shown for name, shown in values.items()}
        answer[f"where {index}"] = repr(record.looked.found.record.where)
        answer[f"names {index}"] = repr([name for name, _ in record.looked.found.record.values])
    return answer


def _find_numbers(lines: Sequence[_Line]) -> list[Number]:
    """Give the numbers in the texts of lines."""
    return [
        number._replace(
            start=number.start + line.start + line.length,
            end=number.end + line.start + line.length,
        )
        for line in lines
        for number in find_numbers(line.raw[line.length :])
    ]


def _open_spans(line: _Line, roles: Sequence[NumberRoles], *, is_plain: bool) -> tuple[Span, ...]:
    """Give what is left open of a line."""
    stop = line.start + len(line.raw)
    spans = [
        Span(
            number.start - line.start,
            number.end - line.start,
            "number" if named else "",
            (b"(" if named else b"(?:") + number.pattern(is_plain=is_plain) + b")",
        )
        for number, named in roles
        if named is not None and line.start <= number.start < stop
    ]
    return (*line.prefix, *spans)


def _build_layout(
    template: Template, index: int, record: UnitRecord, own: Sequence[NumberRoles]
) -> tuple[Layout, tuple[int, ...]]:
    """Make the layout of a record of a unit, and name the groups of the unit that it takes."""
    groups = {
        role.removesuffix(f" {index}"): group
        for group, number in enumerate(own)
        for role in number.roles or ()
        if role.endswith(f" {index}")
    }
    taken = tuple(sorted(set(groups.values())))
    names = [name for name, _ in record.looked.found.record.values]
    layout = Layout(
        template,
        record.looked,
        tuple((name, taken.index(groups[VALUE + name])) for name in names),
        taken.index(groups["@step"]) if "@step" in groups else None,
        None,
        None,
        names.index("epoch") if "epoch" in names else None,
    )
    return layout, taken
