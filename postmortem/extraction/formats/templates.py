"""Lines with their numbers left open: what a log that is made of few kinds of lines is read by.

In: a line that has been read, its parts. Out: `Template`, a bytes pattern of exactly that line with
its numbers left open, and `skeleton`, what lines of one template have in common; `Number`s, for
each the pattern of its spelling, and another number in its place. Not here: what the numbers mean
(`formats.records`, `formats.metric_line_parser`), where they go (`extraction`).

A template either matches a whole line, and then gives what the slow path would, or it does not
match. A number in the prefix that tells the process is a field of the template: what it tells is
found by changing it and cleaning the line again, so that no form of a prefix is known here.

What any other number means is found out by changing it as well (`formats.layouts`,
`formats.records`): whoever asks gives a reader and sees whether its answer is the same.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core.findings import ProcessId
from postmortem.core.log_text import ANSI, compile_lazily
from postmortem.reading.prefixes import clean

LONGEST_LINE: Final = 1000
"""Bytes of a line that may have a template."""
PLACES: Final = {"@rank": "rank", "@local": "local_rank", "@pid": "pid"}
"""Names of groups that tell the process, and the parts of `ProcessId` that they tell."""
GRAPH: Final = compile_lazily(r"(?<=\|)[^|\n]{0,300}(?=\|\s{0,9}\d)")
"""What a bar is drawn with."""
_PADDING: Final = 8
"""Blanks by which a number may be shorter than the one that a template was learnt from."""
_MOST_PROCESS_DIGITS: Final = {"@rank": 5, "@local": 5, "@pid": 7}
_DIGITS: Final = compile_lazily(r"\d+")
_OTHER_DIGITS: Final = str.maketrans("0123456789", "1234567893")
_OPEN: Final = b"0123456789+-. eEnNaAiIfFtTyY#" + bytes(range(128, 256))
"""What numbers, and the words for those that are none, are spelled with and bars are drawn with."""


class Span(NamedTuple):
    """A stretch of a line that a template leaves open."""

    start: int
    end: int
    name: str
    """Of its group; empty if it has none."""
    pattern: bytes


class InLine:
    """Where the characters of a cleaned text stand in its line, colours included."""

    def __init__(self, places: Sequence[int]) -> None:
        """Take the place of each character, and where the last one ends."""
        self._places = places
        self.start = places[0]
        """Characters of the prefix."""

    def span(self, span: Span) -> Span | None:
        """Give a span of the text as one of the line; None if a colour changes within it."""
        if span.start == span.end:
            return span._replace(start=self._places[span.start], end=self._places[span.start])
        start, end = self._places[span.start], self._places[span.end - 1] + 1
        is_whole = end - start == span.end - span.start
        return span._replace(start=start, end=end) if is_whole else None

    def spans(self, spans: Sequence[Span]) -> list[Span] | None:
        """Give all spans of the text as such of the line; None if a colour changes within one."""
        placed = [place for span in spans if (place := self.span(span)) is not None]
        return placed if len(placed) == len(spans) else None


class Template(NamedTuple):
    """A line with its numbers left open."""

    pattern: re.Pattern[bytes]
    names: tuple[str, ...]
    """What each group is.

    A canonical name, one of PLACES, `step`, or what a step is counted from.
    """
    where: ProcessId
    """The process that the literal parts of the line name."""
    raw: str
    """The line that it was made of."""
    length: int
    """Characters of its prefix."""
    spans: tuple[Span, ...]


def locate_in_line(raw: str, text: str) -> InLine | None:
    """Find a cleaned text in its line; None if it is not the end of it but for colours."""
    if raw.endswith(text):
        return InLine(range(len(raw) - len(text), len(raw) + 1))
    places, at = list[int](), 0
    for colour in ANSI.finditer(raw):
        places += range(at, colour.start())
        at = colour.end()
    places += range(at, len(raw))
    own = places[len(places) - len(text) :] if text else []
    if not own or "".join(raw[place] for place in own) != text:
        return None
    return InLine([*own, own[-1] + 1])


def build_skeleton(data: bytes, start: int, end: int) -> bytes:
    """Give what a line has in common with all lines of its template."""
    return data[start:end].translate(None, _OPEN)


def build_template(raw: str, length: int, spans: Sequence[Span], where: ProcessId) -> Template:
    """Make the template of a line with a prefix of so many characters.

    Literal but for these spans, which are in order and apart.
    """
    return Template(
        re.compile(open_line(raw, length, spans) + rb"(?=[\r\n]|\Z)"),
        tuple(span.name for span in spans if span.name),
        where,
        raw,
        length,
        tuple(spans),
    )


def open_line(raw: str, length: int, spans: Sequence[Span]) -> bytes:
    """Give the pattern of a line with a prefix of so many characters, these spans left open."""
    return b"".join(_open_parts(raw, length, spans))


def _open_parts(raw: str, length: int, spans: Sequence[Span]) -> Iterator[bytes]:
    """Yield the same in parts, texts and spans in turn."""
    position = 0
    for start, end, pattern in [
        *((span.start, span.end, span.pattern) for span in spans),
        (len(raw), len(raw), b""),
    ]:
        text = raw[position:start]
        yield re.escape(text.encode()) if start <= length else build_literal_pattern(text)
        yield pattern
        position = end


def build_common_prefix(templates: Iterable[Template]) -> re.Pattern[bytes] | None:
    """Give a pattern of what a line begins with that any of some templates matches.

    It goes as far as they are the same, and to the end of the first text or span in which they are
    not; None if there is none.
    """
    head = list[bytes]()
    parts = [_open_parts(template.raw, template.length, template.spans) for template in templates]
    for some in zip(*parts, strict=False):
        if some.count(some[0]) < len(some):
            others = b"|".join(dict.fromkeys(some))
            return re.compile(b"".join(head) + b"(?:" + others + b")")
        head.append(some[0])
    return None


def build_literal_pattern(text: str) -> bytes:
    """Give the pattern of a text; its blanks may be padding of a number of another width."""
    return re.sub(
        rb"(?:\\ ){2,}",
        lambda blanks: b" {1,%d}" % (len(blanks[0]) // 2 + _PADDING),
        re.escape(text.encode()),
    )


def find_prefix_spans(raw: str, length: int, *, srun: bool) -> list[Span]:
    """Leave open what may change in the prefix of a line.

    Numbers that say nothing, and those that tell the process.
    """
    spans = []
    for found in _DIGITS.finditer(raw, 0, length):
        start, end, other = *found.span(), found[0].translate(_OTHER_DIGITS)
        name = _get_group_name(raw, start, end, other, srun=srun)
        if name == "":
            spans.append(Span(start, end, "", rb"\d{%d}" % len(other)))
        elif name in PLACES and all(
            _get_group_name(raw, start, end, number, srun=srun) == name
            for number in ("7", "6023117"[: _MOST_PROCESS_DIGITS[name]])
        ):
            spans.append(place(start, end, name))
    return spans


def place(start: int, end: int, name: str, *, names_process: bool = True) -> Span:
    """Give the span of a number; it names the process only if `names_process`."""
    return Span(
        start,
        end,
        name if names_process else "",
        (rb"(\d{1,%d})" if names_process else rb"\d{1,%d}") % _MOST_PROCESS_DIGITS[name],
    )


def set_process_part(where: ProcessId, name: str, number: int) -> ProcessId:
    """Set the part of a process that a number in a place of this name gives."""
    part: dict[str, Any] = {PLACES[name]: number}
    return where._replace(**part)


def _get_group_name(raw: str, start: int, end: int, other: str, *, srun: bool) -> str | None:
    """Give the group's name of a number in a prefix by what another in its place changes.

    Empty if it tells nothing, None if it must stay as it is.
    """
    before, after = clean(raw, srun=srun), clean(raw[:start] + other + raw[end:], srun=srun)
    if after.text != before.text:
        return None
    if after.where == before.where:
        return ""
    return next(
        (
            name
            for name in PLACES
            if set_process_part(before.where, name, int(other)) == after.where
        ),
        None,
    )


_BAD_NUMBER: Final = r"(?<![\w.])[+-]?(?:nan|NaN|NAN|inf|Inf|Infinity)(?!\w)"
_CLOCK: Final = r"\d{1,3}(?=:\d)|(?<=\d:)\d\d(?!\d)"
_SHORT_POWER: Final = r"[eE][+-]?\d{1,3}"
_DECIMAL: Final = (
    r"(?:(?<=[\s:=,(\[])-)?"
    rf"(?:\d{{1,7}}\.\d{{1,20}}(?:{_SHORT_POWER})?|\d{{1,7}}{_SHORT_POWER})(?![\d.])"
)
_PRINTED_NUMBER: Final = compile_lazily(
    rf"(?P<bad>{_BAD_NUMBER})|(?P<clock>{_CLOCK})|(?P<percent>\d{{1,3}}(?=%))|(?P<decimal>{_DECIMAL})"
    r"|(?P<grouped>\d{1,3}(?:,\d{3})+(?!\d))|(?P<whole>(?:(?<=[\s:=,(\[])-)?\d+)"
)
_MOST_DIGITS: Final = 7
_BEFORE_SIGN: Final = frozenset(" \t:=,([")
FIGURE_KIND: Final = "figure"
"""The kind of a number that may be whole or not: what prints few digits drops a zero behind the
point."""
MOST_NUMBERS: Final = 60
"""Numbers on a line that may have a template."""
TRIALS: Final = 8
"""Lines with all numbers changed at once that are read both ways before a template is believed."""


class Number(NamedTuple):
    """A number on a line."""

    start: int
    end: int
    kind: str
    text: str
    may_be_negative: bool

    def pattern(self, *, is_plain: bool) -> bytes:
        """Give the pattern of its spelling; the plain one for lines whose meaning hangs on it."""
        if self.kind == "bad":
            return re.escape(self.text.encode())
        if self.kind == "decimal":
            return (
                rb"\d{1,7}\.\d{1,20}"
                if is_plain
                else (rb"-?" if self.may_be_negative else b"")
                + rb"\d{1,7}(?:\.\d{1,20}(?:[eE][+-]?\d{1,3})?|[eE][+-]?\d{1,3})"
            )
        if self.kind == FIGURE_KIND:
            return (
                (b"-?" if self.may_be_negative and not is_plain else b"")
                + rb"\d{1,7}(?:\.\d{1,20})?"
                + (b"" if is_plain else rb"(?:[eE][+-]?\d{1,3})?")
            )
        sign = b"-?" if self.text.startswith("-") else b""
        return sign + {
            "clock": rb"\d{%d}" % len(self.text),
            "percent": rb"\d{1,3}",
            "grouped": rb"\d{1,3}(?:,\d{3})+",
        }.get(self.kind, rb"\d{1,%d}" % self.most())

    def most(self) -> int:
        """Give how many digits it may have before the point."""
        return (
            3
            if self.kind == "percent"
            else max(_MOST_DIGITS, len(self.text))
            if self.kind == "whole"
            else _MOST_DIGITS
        )

    def changed(self) -> str:
        """Give one other number of the same length."""
        return (
            ("inf" if self.text.lower() == "nan" else "nan")
            if self.kind == "bad"
            else self.text.translate(_OTHER_DIGITS)
        )

    def other(self, choice: random.Random, trial: int, *, is_plain: bool) -> str:
        """Give another number of the same spelling; the shortest and a long one first."""
        if self.kind == "bad":
            return self.text
        if self.kind == "clock":
            return _generate_digits(choice, len(self.text))
        if self.kind == "grouped":
            return f"{choice.randint(1, 999)},{_generate_digits(choice, 3)}"
        whole = _generate_digits(
            choice, (1, self.most())[trial] if trial < 2 else choice.randint(1, self.most())
        )
        if self.kind not in {"decimal", FIGURE_KIND}:
            return choice.choice(["", "-"]) + whole if self.text.startswith("-") else whole
        if self.kind == FIGURE_KIND and trial % 3 == 0:
            return whole
        plain, power = (
            f"{whole}.{_generate_digits(choice, choice.randint(1, 20))}",
            f"e-{_generate_digits(choice, 2)}",
        )
        return (
            plain
            if is_plain
            else choice.choice(["", "-"] if self.may_be_negative else [""])
            + choice.choice([plain, plain + power, whole + power])
        )


def _generate_digits(choice: random.Random, count: int) -> str:
    return "".join(choice.choice("0123456789") for _ in range(count))


def find_numbers(text: str) -> Iterator[Number]:
    """Find the numbers of a line."""
    for found in _PRINTED_NUMBER.finditer(text):
        may_be_negative = (
            found[0].startswith("-") or text[found.start() - 1 : found.start()] in _BEFORE_SIGN
        )
        yield Number(found.start(), found.end(), str(found.lastgroup), found[0], may_be_negative)


def replace_numbers(text: str, others: Sequence[tuple[Number, str]]) -> str:
    """Give the line with other numbers in the places of these."""
    parts, position = [], 0
    for number, other in others:
        parts += [text[position : number.start], other]
        position = number.end
    return "".join([*parts, text[position:]])


def open_spans(text: str, taken: Sequence[Span], is_same: Callable[[str], bool]) -> list[Span]:
    """Leave open the numbers beside those that are taken, where they change nothing that is read.

    None if what is read changes once all of them are changed together.
    """
    candidates = [
        number
        for number in find_numbers(text)
        if number.kind != "bad"
        and all(number.end <= span.start or span.end <= number.start for span in taken)
    ]
    idle = [
        number
        for number in candidates[:MOST_NUMBERS]
        if is_same(replace_numbers(text, [(number, number.changed())]))
    ]
    for is_plain in (False, True):
        if _has_only_idle_numbers(text, idle, is_same, is_plain=is_plain):
            return [
                Span(
                    number.start, number.end, "", b"(?:" + number.pattern(is_plain=is_plain) + b")"
                )
                for number in idle
            ]
    return []


def _has_only_idle_numbers(
    text: str, idle: Sequence[Number], is_same: Callable[[str], bool], *, is_plain: bool
) -> bool:
    """Say whether what is read stays the same while all of these numbers change."""
    choice = random.Random(0)  # noqa: S311 -- the same trials each time
    return all(
        is_same(
            replace_numbers(
                text, [(number, number.other(choice, trial, is_plain=is_plain)) for number in idle]
            )
        )
        for trial in range(TRIALS)
    )
