"""Lines with their numbers left open, and variants of them with other numbers.

In: the template of a line. Out: the same line with its numbers left open more narrowly, and lines
that it matches. Not here: what the numbers mean.

A template leaves a value open for words such as `nan`, on which rules hang, and for any text where
no value is taken. Here a number stays a number, and a word stays the word that it is.
"""

import functools
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.formats.templates import Span, Template, open_line

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
_FILL: Final = rb"(?:[ #\d\xe2\x96\x88-\x8f]{1,300})"
_WHOLE: Final = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 64, 99, 100, 128, 137, 139, 255, 512)
_SPELLINGS: Final = (
    *map(str, _WHOLE),
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
    if span.name or span.pattern == _FILL or not _is_full_match(span.pattern, _MANY_DIGITS):
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
    return None if found is None else Span(found.start(), found.end(), "", _FILL)


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
    if pattern == _FILL:
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
