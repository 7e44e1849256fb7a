"""Parse a column of printed figures exactly as `float` would.

In: the texts of one column. Out: an array. Not here: which texts are figures (`line_shapes`).

Programs print a column in one format: texts of one length have their digits and their point in the
same places. Then the digits are a whole number below 2 ** 53 and the scale a power of ten of at
most 22, both exact, and one division rounds as `float` does. Any other text is read by `float`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from postmortem.core.lazy_regex import compile_lazily

if TYPE_CHECKING:
    import numpy as np

_FEW: Final = 64
"""Texts of one length that are read by `float`, which costs less."""
_LONGEST: Final = 32
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
    if len(texts) < _FEW or not _is_exact(texts[0]):
        return _parse_one_by_one(texts)
    signs = np.frombuffer(b"\n".join(texts) + b"\n", dtype=np.uint8)
    ends = np.flatnonzero(signs == ord("\n"))
    lengths = np.diff(ends, prepend=-1) - 1
    if len(ends) != len(texts) or int(lengths.max()) > _LONGEST:
        return _parse_one_by_one(texts)
    values = np.empty(len(texts))
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        rows = np.flatnonzero(lengths == length)
        first = texts[int(rows[0])]
        alike = None
        if len(rows) >= _FEW and _is_exact(first):
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
