"""Lines with their numbers left open, variants with other numbers, and columns of such numbers.

In: the template of a line; the texts of one column. Out: the same line with its numbers left open
more narrowly, and lines that it matches; an array, each figure exactly as `float` would give it.
Not here: what the numbers mean, which texts are figures (`line_shapes`).

A template leaves a value open for words such as `nan`, on which rules hang, and for any text where
no value is taken. Here a number stays a number, and a word stays the word that it is.

Programs print a column in one format: texts of one length have their digits and their point in the
same places. Then the digits are a whole number below 2 ** 53 and the scale a power of ten of at
most 22, both exact, and one division rounds as `float` does. Any other text is read by `float`.
"""

import functools
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.extraction.formats.templates import Span, Template, open_line

if TYPE_CHECKING:
    import numpy as np

_TRIALS: Final = 8
"""Lines that differ in one number which are asked whether it matters."""
_STRIDE: Final = 7
"""How far apart neighbouring numbers stand in the list of spellings, in one and the same line."""
_MANY_DIGITS: Final = "1234567"
_FEW_DIGITS: Final = 3
_DAYS: Final = compile_lazily(r"\d+ days?, ")
_WIDE: Final = rb"[+-]?\d{1,18}(?:\.\d{0,25})?(?:[eE][+-]?\d{1,3})?"
_GRAPH: Final = rb"[^|\r\nA-Za-z]{0,300}"
_FILLED: Final = compile_lazily(
    r"(?<=\|)[ #\d\u2588-\u258f]{1,300}"
    r"(?=\|\s{0,9}\d{1,12}(?:\.\d{1,3})?[kMGT]?/(?:\d{1,12}(?:\.\d{1,3})?[kMGT]?|\?)B? \[)"
)
_FILLER: Final = rb"(?:[ #\d\xe2\x96\x88-\x8f]{1,300})"
_WHOLE_NUMBERS: Final = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    12,
    16,
    64,
    99,
    100,
    128,
    137,
    139,
    255,
    512,
)
_SPELLINGS: Final = (
    *map(str, _WHOLE_NUMBERS),
    *("1024", "4096", "65536", "1234567", "00", "07", "42", "59", "000", "007", "123"),
    *("0.0", "1.0", "0.5", "0.001", "0.69", "2.302", "3.25", "12.5", "99.99", "100.0"),
    *("1e-05", "2.5e-4", "1.234E+00", "3.0e+02", "1.0e-08", "7.25e5", "-1", "-0.5", "-2.5e-4"),
    *(" ", " " * 10, "#" * 10, "##3       ", "\u2588\u2588\u258f       ", "\u2588" * 10),
)
"""What stands in the places of numbers, where their pattern allows it."""


class OpenLine(NamedTuple):
    """A line with its numbers left open."""

    raw: str
    length: int
    """Characters of its prefix."""
    spans: tuple[Span, ...]

    def pattern(self) -> bytes:
        """Give the pattern of the whole line, without what stands behind it."""
        return open_line(self.raw, self.length, self.spans)

    def closed(self, places: Iterable[tuple[int, int]]) -> "OpenLine":
        """Close the numbers that stand in one of these places, counted in bytes."""
        spans = []
        for span in self.spans:
            begin, end = (len(self.raw[:at].encode()) for at in (span.start, span.end))
            if any(start < end and begin < stop for start, stop in places):
                shown = re.escape(self.raw[span.start : span.end].encode())
                is_group = re.compile(span.pattern).groups > 0
                spans.append(span._replace(pattern=b"(" + shown + b")" if is_group else shown))
            else:
                spans.append(span)
        return self._replace(spans=tuple(spans))

    def variants(self) -> Iterator[tuple[bytes, tuple[str, ...]]]:
        """Give lines with other numbers, and those, the line itself first.

        Each number is spelled in each way that its pattern allows.
        """
        choice = random.Random(0)  # noqa: S311 -- the same trials each time
        own = [self.raw[span.start : span.end] for span in self.spans]
        yield self.raw.encode(), tuple(own)
        pools = [
            _list_replacements(text, span.pattern, choice)
            for text, span in zip(own, self.spans, strict=True)
        ]
        for trial in range(max(map(len, pools), default=0)):
            yield self.with_others(
                [pool[(trial + number * _STRIDE) % len(pool)] for number, pool in enumerate(pools)]
            )

    def changed(self, index: int) -> Iterator[bytes]:
        """Give lines that differ from this one in one number."""
        choice = random.Random(0)  # noqa: S311 -- the same trials each time
        own = [self.raw[span.start : span.end] for span in self.spans]
        pool = _list_replacements(own[index], self.spans[index].pattern, choice)
        for text in choice.sample(pool, min(len(pool), _TRIALS)):
            yield self.with_others([*own[:index], text, *own[index + 1 :]])[0]

    def with_others(self, texts: Sequence[str]) -> tuple[bytes, tuple[str, ...]]:
        """Give the line with these texts in the places of its numbers, and the texts."""
        parts, position = [], 0
        for span, text in zip(self.spans, texts, strict=True):
            parts += [self.raw[position : span.start], text]
            position = span.end
        return "".join([*parts, self.raw[position:]]).encode(), tuple(texts)


def open_template_numbers(template: Template, line: bytes, *, is_plain: bool) -> OpenLine | None:
    """Leave open the numbers alone of a line that a template matches.

    Those that are spelled as in this line if `is_plain`.
    """
    own = _build_narrow_line(template.raw, template.length, template.spans, is_plain=is_plain)
    if re.fullmatch(own.pattern(), line):  # blanks may be wider where it was learnt
        return own
    spans = [add_capture_group(span) for span in template.spans]
    match = re.fullmatch(open_line(template.raw, template.length, spans), line)
    if match is None or not line.isascii():
        return None
    placed = [
        span._replace(start=match.start(number), end=match.end(number))
        for number, span in enumerate(template.spans, 1)
    ]
    return _build_narrow_line(
        line.decode(), _measure_prefix(template, match), placed, is_plain=is_plain
    )


def restrict_to_digits(line: OpenLine) -> OpenLine:
    """Leave open the digits alone of numbers that might be spelled otherwise."""
    return _build_narrow_line(line.raw, line.length, line.spans, is_plain=True)


def restrict_digit_count(span: Span) -> Span:
    """Close a number of many digits to longer ones, one of few digits to those of many.

    How full a bar is is no number.
    """
    if span.name or span.pattern == _FILLER or not _is_full_match(span.pattern, _MANY_DIGITS):
        return span
    most = max(_FEW_DIGITS, span.end - span.start)
    return span._replace(pattern=rb"(?:\d{1,%d})" % most)


def _measure_prefix(template: Template, match: "re.Match[bytes]") -> int:
    """Give the length of the prefix in another line of a template."""
    last = max(
        (n for n, span in enumerate(template.spans, 1) if span.end <= template.length), default=0
    )
    if not last:
        return template.length
    return match.end(last) + template.length - template.spans[last - 1].end


def fill(text: str) -> Span | None:
    """Give what shows how full a bar is on a line, left open."""
    found = _FILLED.search(text)
    return None if found is None else Span(found.start(), found.end(), "", _FILLER)


def add_capture_group(span: Span) -> Span:
    """Give the same with a group for what stands in its place."""
    if re.compile(span.pattern).groups:
        return span
    return span._replace(pattern=b"(" + span.pattern + b")")


def _build_narrow_line(raw: str, length: int, spans: Sequence[Span], *, is_plain: bool) -> OpenLine:
    narrow = [
        span._replace(
            pattern=_restrict_pattern(raw[span.start : span.end], span.pattern, is_plain=is_plain)
        )
        for span in spans
    ]
    return OpenLine(raw, length, tuple(exclude_first_sign(raw, span) for span in narrow))


@functools.lru_cache(maxsize=1024)
def _restrict_pattern(text: str, pattern: bytes, *, is_plain: bool) -> bytes:
    """Narrow the pattern of a span that holds a text in this line."""
    if pattern == _FILLER:
        return pattern
    begin = b"(" if re.compile(pattern).groups else b"(?:"
    is_any_figure, is_any_text = _is_full_match(pattern, "nan"), _is_full_match(pattern, "x:y")
    if _is_full_match(pattern, " ##"):
        inside = _GRAPH
    elif is_any_figure and not is_any_text and not is_plain and re.search(r"\d", text):
        inside = _WIDE
    elif is_any_figure or (is_plain and _is_full_match(pattern, "1.5e-05")):
        days = _DAYS.match(text)
        shown = re.escape(text[days.end() if days else 0 :].encode())
        inside = (rb"(?:\d+ days?, )?" if is_any_text else b"") + re.sub(
            rb"\d+", rb"\\d{1,18}", shown
        )
    else:
        return pattern
    return begin + inside + b")"


def exclude_first_sign(raw: str, span: Span) -> Span:
    """Close the first sign of a number that begins a line: what its prefix is hangs on it."""
    if span.start or span.name:
        return span
    return span._replace(pattern=re.escape(raw[0].encode()) + rb"\d{%d}" % (span.end - 1))


def _is_full_match(pattern: bytes, text: str) -> bool:
    return re.fullmatch(pattern, text.encode()) is not None


@functools.lru_cache(maxsize=256)
def _list_spellings(pattern: bytes) -> tuple[str, ...]:
    """Give the spellings that a pattern allows."""
    fits = re.compile(pattern).fullmatch
    return tuple(spelling for spelling in _SPELLINGS if fits(spelling.encode()))


def _list_replacements(text: str, pattern: bytes, choice: random.Random) -> list[str]:
    """Give what may stand in the place of a number: other digits, and other spellings of it."""
    own = [re.sub(r"\d", lambda _: choice.choice("0123456789"), text) for _ in range(4)]
    return [
        text,
        *(text for text in own if _is_full_match(pattern, text)),
        *_list_spellings(pattern),
    ]


_FEW_TEXTS: Final = 64
"""Texts of one length that are read by `float`, which costs less."""
_LONGEST_TEXT: Final = 32
_MOST_DIGITS: Final = 15
_LARGEST_POWER: Final = 22
_NINE: Final = 9
_DECIMAL: Final = compile_lazily(rb"([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?)(\d{1,3}))?")


def parse_floats(texts: Sequence[bytes]) -> "np.ndarray[Any, Any]":
    """Give the numbers that these texts spell, whose thousands are grouped in each or in none.

    Raises:
        ValueError: a text is no number.
    """
    import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

    if texts and b"," in texts[0]:
        texts = [text.replace(b",", b"") for text in texts]
    if len(texts) < _FEW_TEXTS or not _is_exact(texts[0]):
        return _parse_one_by_one(texts)
    signs = np.frombuffer(b"\n".join(texts) + b"\n", dtype=np.uint8)
    ends = np.flatnonzero(signs == ord("\n"))
    lengths = np.diff(ends, prepend=-1) - 1
    if len(ends) != len(texts) or int(lengths.max()) > _LONGEST_TEXT:
        return _parse_one_by_one(texts)
    values = np.empty(len(texts))
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        rows = np.flatnonzero(lengths == length)
        first = texts[int(rows[0])]
        alike = None
        if len(rows) >= _FEW_TEXTS and _is_exact(first):
            alike = _parse_equal_length(
                first, signs[(ends[rows] - length)[:, None] + np.arange(length)]
            )
        values[rows] = (
            _parse_one_by_one([texts[n] for n in rows.tolist()]) if alike is None else alike
        )
    return values


def _parse_one_by_one(texts: Sequence[bytes]) -> "np.ndarray[Any, Any]":
    import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

    return np.fromiter(map(float, texts), dtype=float, count=len(texts))


def _is_exact(text: bytes) -> bool:
    """Say whether texts that are spelled like this one are read without `float`."""
    decimal = _DECIMAL.fullmatch(text)
    return decimal is not None and len(decimal[2]) + len(decimal[3] or b"") <= _MOST_DIGITS


def _parse_equal_length(
    text: bytes, table: "np.ndarray[Any, Any]"
) -> "np.ndarray[Any, Any] | None":
    """Read texts of the length of this one, a row each; None if they are not spelled alike."""
    import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

    decimal = _DECIMAL.fullmatch(text)
    first, digits = table[0], table - ord("0")  # signs below 0 wrap around
    is_digit = digits[0] <= _NINE
    is_same = ~is_digit
    if decimal is None:
        return None
    if decimal[4]:
        sign = decimal.start(4)
        is_same[sign] = False
        is_below = table[:, sign] == ord("-")
        if not (is_below | (table[:, sign] == ord("+"))).all():
            return None
    if (table[:, is_same] != first[is_same]).any() or int(digits[:, is_digit].max()) > _NINE:
        return None
    mantissa, decimals = _parse_whole_number(digits, decimal.span(2)), len(decimal[3] or b"")
    if decimals:
        mantissa = mantissa * 10**decimals + _parse_whole_number(digits, decimal.span(3))
    powers: Any = np.full(1, -decimals)
    if decimal[5]:
        exponents = _parse_whole_number(digits, decimal.span(5))
        powers = powers + (np.where(is_below, -exponents, exponents) if decimal[4] else exponents)
    if int(abs(powers).max()) > _LARGEST_POWER:
        return None
    scale = np.array([float(f"1e{power}") for power in range(_LARGEST_POWER + 1)])[abs(powers)]
    values: np.ndarray[Any, Any] = np.where(powers < 0, mantissa / scale, mantissa * scale)
    return -values if decimal[1] == b"-" else values


def _parse_whole_number(
    digits: "np.ndarray[Any, Any]", span: tuple[int, int]
) -> "np.ndarray[Any, Any]":
    """Read the whole number that stands in these columns of digits."""
    import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

    value = np.zeros(len(digits), dtype=np.int64)
    for column in range(*span):
        value *= 10
        value += digits[:, column]
    return value
