"""How programs spell figures.

In: text. Out: the figure, and the pieces of patterns that look for figures of any spelling. Not
here: the numbers of a line that a template leaves open (`formats.printed_numbers`).
"""

import re
from typing import Final

_BAD: Final = r"(?:nan|NaN|NAN|inf|Inf|Infinity)(?:\.0)?"
_POWER: Final = r"[eE][+-]?\d{1,9}"
FIGURE: Final = rf"[+-]?(?:{_BAD}|\d[\d,]*(?:\.\d*)?(?:{_POWER})?|\.\d+(?:{_POWER})?)"
"""A figure of any spelling."""
DECIMAL: Final = r"[+-]?(?:nan\b|NaN\b|NAN\b|inf\b|Inf\b|\d[\d,]*\.\d|\d+\.?[eE][+-]?\d|\.\d)"
"""The beginning of a figure that is no whole number: needs no colon before it to be one's value."""
_NUMBER: Final = re.compile(
    r"[+-]?(?:(?:nan|inf(?:inity)?)(?![a-z])|(?:\d[\d,]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)", re.IGNORECASE
)
_FIRST: Final = re.compile(r"(?:tensor\(|np\.float\d+\(|\[|')*\s*")


def value_of(text: str) -> float | None:
    """Read a metric value in any spelling that programs print.

    Nan, 1,234, '1.2', tensor(0.5, device=…), 412GiB; None if it is no number.
    """
    try:
        return float(text)
    except ValueError:
        pass
    start = _FIRST.match(text)
    match = _NUMBER.match(text, start.end() if start else 0)
    if match is None:
        return None
    try:
        return float(match[0].replace(",", ""))
    except ValueError:
        return None
