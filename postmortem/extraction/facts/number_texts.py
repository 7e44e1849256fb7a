"""Numbers as programs print them and as reports show them.

In: text, a figure or a step. Out: a finite number, how many digits it has, a step as it is counted.
Not here: units.
"""

import math
import re
from typing import Final

_LAST_STEP: Final = 1e15
"""No run takes so many steps; below it a float tells neighbours apart."""


def parse_number(text: str) -> float | None:
    """Read a finite number as programs print them (thousands commas, exponents), or None."""
    if not re.fullmatch(r"[+-]?(?:\d[\d,_]*)?\.?\d*(?:[eE][+-]?\d+)?", text) or not any(
        char.isdigit() for char in text
    ):
        return None
    try:
        value = float(text.replace(",", "").replace("_", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def count_digits(value: float) -> int:
    """Count the significant digits of a figure: those that Python needs to print it in full."""
    return len(repr(value).split("e")[0].lstrip("-").replace(".", "").strip("0"))


def normalise_step(step: float | None) -> float | None:
    """Give a step as it is counted, an integer if it is one.

    None if it is not known (NaN) or cannot be one (infinite, too large to count to).
    """
    if step is None or not abs(step) < _LAST_STEP:
        return None
    return int(step) if float(step).is_integer() else step
