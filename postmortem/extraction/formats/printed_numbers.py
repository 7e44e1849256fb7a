"""Find the numbers of a line, their spellings, and other numbers of the same spelling.

In: a line. Out: `Number`s; for each the pattern of its spelling, and another number in its place.
Not here: what the numbers mean.

What a number means is found out by changing it (`formats.layouts`, `formats.records`): whoever asks
gives a reader and sees whether its answer is the same.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.formats.templates import Span

_BAD: Final = r"(?<![\w.])[+-]?(?:nan|NaN|NAN|inf|Inf|Infinity)(?!\w)"
_CLOCK: Final = r"\d{1,3}(?=:\d)|(?<=\d:)\d\d(?!\d)"
_POWER: Final = r"[eE][+-]?\d{1,3}"
_DECIMAL: Final = (
    r"(?:(?<=[\s:=,(\[])-)?" rf"(?:\d{{1,7}}\.\d{{1,20}}(?:{_POWER})?|\d{{1,7}}{_POWER})(?![\d.])"
)
_NUMBER: Final = compile_lazily(
    rf"(?P<bad>{_BAD})|(?P<clock>{_CLOCK})|(?P<percent>\d{{1,3}}(?=%))|(?P<decimal>{_DECIMAL})"
    r"|(?P<grouped>\d{1,3}(?:,\d{3})+(?!\d))|(?P<whole>(?:(?<=[\s:=,(\[])-)?\d+)"
)
_DIGITS: Final = str.maketrans("0123456789", "1234567893")
_MOST_DIGITS: Final = 7
_BEFORE_SIGN: Final = frozenset(" \t:=,([")
FIGURE: Final = "figure"
"""The kind of a number that may be whole or not: what prints few digits drops a zero behind the
point."""
MOST: Final = 60
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
        if self.kind == FIGURE:
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
            else self.text.translate(_DIGITS)
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
        if self.kind not in {"decimal", FIGURE}:
            return choice.choice(["", "-"]) + whole if self.text.startswith("-") else whole
        if self.kind == FIGURE and trial % 3 == 0:
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
    for found in _NUMBER.finditer(text):
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
        for number in candidates[:MOST]
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
