"""The units of one source: lines that come again as a whole, from one record's end to the next.

In: where records of unknown layout end that are looked at in their turn; a unit with those before
and behind it. Out: `UnitShape`s in use; none of a unit whose numbers do not keep apart. Not here:
reading a unit (`trials`), cutting a region at units (`row_cutter`).

What a line with one name and one figure says hangs on the lines around it, so it has no shape of
its own. The reader of the unit is a black box, as that of a line is in `formats.layouts`: each
number of the unit is changed in turn, and what changes in the answer with it is what the number is.
What stands before and behind a unit must change nothing. Learning must be paid for, as that of
lines is (`line_shapes`).
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.extraction.columnar.line_shapes import LineShape
from postmortem.extraction.columnar.number_columns import OpenLine, exclude_first_sign
from postmortem.extraction.columnar.trials import RuleTrials, UnitReader, UnitRecord
from postmortem.extraction.formats.layouts import (
    VALUE,
    Layout,
    NumberRoles,
    collect_values,
    find_roles,
    find_spelling,
    read_figure,
)
from postmortem.extraction.formats.templates import (
    PLACES,
    Number,
    Span,
    Template,
    build_skeleton,
    find_numbers,
    find_prefix_spans,
)
from postmortem.extraction.template_reader import build_path
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
        if (
            records is None
            or lines is None
            or not all(record.end < len(lines) for record in records)
        ):
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


FIRST_TRY, NEXT_TRY = 8, 4
"""Times that a unit comes behind one like it at which its shape is looked for, and how many times
more at which it is looked for again."""
_MOST_RECORDS: Final = 4
"""Records of a unit."""
_MOST_IDLE: Final = 16
_LONGEST_UNIT: Final = 2000
_MOST_SEEN: Final = 512
CREDIT: Final = 4000.0
"""Lines that may be read in advance to learn."""
_PAID: Final = 1 / 4
"""What each line that is read in its turn pays for learning, in such lines."""


class RecordUnits:
    """The units of one source."""

    def __init__(self, maker: UnitMaker) -> None:
        """Know none."""
        self._maker = maker
        self._ends: list[int] = []
        """The offsets behind the last records."""
        self._known: dict[bytes, UnitShape] = {}
        self._seen: dict[bytes, tuple[int, int]] = {}
        """How often a unit came, by what it has in common with others, and when it is tried."""
        self._credit = CREDIT
        self._idle = _MOST_IDLE
        """Lines that might be records since the last that is one."""
        self.used: dict[int, tuple[UnitShape, int]] = {}
        """By identity: shapes and how many units of them were read since somebody last asked."""

    def note(self, data: bytes, base: int, end: int, *, is_record: bool) -> None:
        """Note the end of a record, or of a line that might be one, where there are no records."""
        end = data.find(b"\n", end) + 1 + base
        if end <= base or (self._ends and end <= self._ends[-1]):
            return
        self._credit = min(CREDIT, self._credit + _PAID)
        self._idle = 0 if is_record else self._idle + 1
        if 0 < self._idle < _MOST_IDLE:
            return
        self._ends = [*self._ends[-3 * _MOST_RECORDS :], end]
        for count in range(1, _MOST_RECORDS + 1):
            if len(self._ends) <= 3 * count:
                return
            first, second, third, last = (at - base for at in self._ends[-1 - 3 * count :: count])
            if first < 0 or last - third > _LONGEST_UNIT:
                return
            common = build_skeleton(data, third, last)
            if build_skeleton(data, second, third) == common:
                if build_skeleton(data, first, second) == common:
                    self._meet(common, data[first:second], data[second:third], data[third:last])
                return

    def _meet(self, common: bytes, before: bytes, unit: bytes, behind: bytes) -> None:
        known = self._known.get(common)
        if known is not None and known.pattern.fullmatch(unit.rstrip(b"\r\n")):
            self.used[id(known)] = (known, self.used.get(id(known), (known, 0))[1] + 1)
            return
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        count, tried = self._seen.get(common, (0, FIRST_TRY))
        is_due = count + 1 >= tried
        self._seen[common] = (count + 1, NEXT_TRY * tried if is_due else tried)
        if is_due and self._credit >= 0:
            spent = self._maker.costs
            try:
                shape = self._maker.make(before, unit, behind)
            except (TimeoutError, UnicodeDecodeError):
                shape = None
            self._credit -= self._maker.costs - spent
            if shape is not None:
                if len(self._known) >= _MOST_SEEN:
                    self._known.clear()
                self._known[common] = shape

    def clear(self) -> None:
        """Drop all shapes."""
        self._known.clear()
        self._seen.clear()
        self.used.clear()

    def forget(self, shape: UnitShape) -> None:
        """Drop a shape to which some unit did not keep."""
        self._known = {common: known for common, known in self._known.items() if known is not shape}

    def is_so(self, shape: UnitShape, before: bytes, unit: bytes, behind: bytes) -> bool:
        """Say whether a unit keeps to what its shape states."""
        try:
            return self._maker.is_so(shape, before, unit, behind)
        except (TimeoutError, UnicodeDecodeError):
            return False
