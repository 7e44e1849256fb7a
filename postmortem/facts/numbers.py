"""Numbers as programs print them. In: text. Out: a finite number or None."""

import math
import re


def number(text: str) -> float | None:
    """Read a finite number as programs print them (thousands commas, exponents), or None."""
    if not re.fullmatch(r"[+-]?(?:\d[\d,_]*)?\.?\d*(?:[eE][+-]?\d+)?", text) or not any(char.isdigit() for char in text):
        return None
    try:
        value = float(text.replace(",", "").replace("_", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None
