"""Numbers as programs print them and as reports show them.

In: text, or a step. Out: a finite number, a step as it is counted, or None. Not here: units.
"""

import math
import re
from typing import Final

_LAST_STEP: Final = 1e15
"""No run takes so many steps; below it a float tells neighbours apart."""


def number(text: str) -> float | None:
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


def whole(step: float | None) -> float | None:
    """Give a step as it is counted, an integer if it is one.

    None if it is not known (NaN) or cannot be one (infinite, too large to count to).
    """
    if step is None or not abs(step) < _LAST_STEP:
        return None
    return int(step) if float(step).is_integer() else step
