"""Parse figures in any spelling that programs use.

In: text. Out: the figure, and the pieces of patterns that look for figures of any spelling. Not
here: the numbers of a line that a template leaves open (`formats.printed_numbers`).
"""

import re
from typing import Final

from postmortem.core.lazy_regex import compile_lazily, may_hold
from postmortem.core.printed_words import join_words, list_words

_BAD: Final = r"(?:nan|NaN|NAN|inf|Inf|Infinity)(?:\.0|xxx)?"
_POWER: Final = r"[eE][+-]?\d{1,9}"
FIGURE: Final = rf"[+-]?(?:{_BAD}|\d[\d,]*(?:\.\d*)?(?:{_POWER}|f0)?|\.\d+(?:{_POWER})?)"
"""A figure of any spelling."""
_DIGIT: Final = compile_lazily(r"\d")
_NO_NUMBERS: Final = ("nan", "inf")
DECIMAL: Final = r"[+-]?(?:nan\b|NaN\b|NAN\b|inf\b|Inf\b|\d[\d,]*\.\d|\d+\.?[eE][+-]?\d|\.\d)"
"""The beginning of a figure that is no whole number: needs no colon before it to be one's value."""
_BEGINNING: Final = r"[+-]?(?:\.?\d|[nN][aA][nN]|[iI][nN][fF])"
_QUOTE: Final = r"(?:tensor\(|np\.float\d{1,3}\(|[\[(\"'])?"
MAY_HOLD_VALUE: Final = compile_lazily(
    rf"[:=|\]：＝]\s{{0,40}}{_QUOTE}{_BEGINNING}"
    rf"|[\s\u4e00-\u9fff]{_QUOTE}{DECIMAL}"
    rf"|(?:is|was):?\s{{1,4}}{_BEGINNING}"
    rf"|(?:\s\s|\t){_QUOTE}{_BEGINNING}"
    r"|\d\s?(?:/\s?s|tok|sam|im|ex|seq|fra|ms|[KMGT]i?B)|[it\d] \[|━|ode"
)
"""Stands in every text that holds a figure which is the value of some name: behind a sign, with
decimals behind a blank, before a unit, in a cell, in a bar."""
_NUMBER: Final = compile_lazily(
    r"[+-]?(?:(?:nan|inf(?:inity)?)(?=xxx(?!x)|(?![a-z]))|(?:\d[\d,]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)",
    re.IGNORECASE,
)
_FIRST: Final = compile_lazily(r"(?:tensor\(|np\.float\d+\(|\[|')*\s*")

_IS_CHINESE: Final = compile_lazily(r"[：，；＝（）]|" + join_words("figure-in-line"))
_WIDE: Final = tuple(zip("：，；＝（）", ":,;=()", strict=True))
_CHINESE: Final[tuple[tuple[str, "re.Pattern[str] | None", str], ...]] = tuple(
    (word, compile_lazily(pattern) if pattern else None, english)
    for word, pattern, english in list_words("figures")
)
"""What Chinese programs call the figures that are looked for: a word that must be there, the whole
pattern if it is more than the word, and how it is written."""


def may_hold_figure(text: str) -> bool:
    """Say whether a text may hold a figure: a digit, or what is printed where there is none."""
    return _DIGIT.search(text) is not None or may_hold(text, _NO_NUMBERS)


def convert_to_ascii(text: str) -> str:
    """Write a line with full-width signs or Chinese names as it would be written in English."""
    if text.isascii() or not _IS_CHINESE.search(text):
        return text
    for wide, sign in _WIDE:
        text = text.replace(wide, sign)
    for word, pattern, english in _CHINESE:
        if word in text:
            text = text.replace(word, english) if pattern is None else pattern.sub(english, text)
    return text.replace(" loss loss", " loss").replace(" loss Loss", " loss").replace("  ", " ")


def parse_value(text: str) -> float | None:
    """Read a metric value in any spelling that programs print.

    Nan, 1,234, '1.2', tensor(0.5, device=…), 412GiB; None if it is no number.
    """
    try:
        return float(text)
    except ValueError:
        if not text:
            return None
    start = _FIRST.match(text)
    match = _NUMBER.match(text, start.end() if start else 0)
    if match is None:
        return None
    try:
        return float(match[0].replace(",", ""))
    except ValueError:
        return None
