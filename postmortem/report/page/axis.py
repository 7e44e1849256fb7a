"""Round tick values of an axis, and their labels.

In: the bounds of an axis. Out: places and labels. Not here: the axis of a panel's records
(`page.record_axis`), SVG (`page.chart_axes`).
"""

import math
from collections.abc import Sequence
from typing import Final

_NARROWEST: Final = 1e-300
_LAST_DECADE: Final = 300
_LEAST_TICKS: Final = 3
_BETWEEN: Final = ((1, 3), (1, 2, 5))
"""What stands between two powers of ten."""


def format_axis_labels(values: Sequence[float], *, is_log: bool = False) -> tuple[str, ...]:
    """Format the numbers of an axis in one notation, with as many decimals as they need to differ.

    On a logarithmic axis they are powers of ten.
    """
    largest = max((abs(value) for value in values), default=0.0)
    if is_log and values:
        is_plain = min(values) >= 1e-3 and largest <= 1e4
        return tuple(f"{value:g}" if is_plain else f"1e{math.log10(value):.0f}" for value in values)
    for unit, name, least in ((1e6, "M", 1e6), (1e3, "k", 1e4)):
        if least <= largest < 1e9 and all(_is_tenths(value, unit) for value in values):
            return _format_in_units(values, unit, name)
    return (
        _format_decimals(values)
        if largest == 0 or 1e-3 <= largest < 1e7
        else _format_powers(values)
    )


def _format_in_units(values: Sequence[float], unit: float, name: str) -> tuple[str, ...]:
    texts = _format_decimals([value / unit for value in values])
    return tuple(
        f"{text}{name}" if value else "0" for value, text in zip(values, texts, strict=True)
    )


def _is_tenths(value: float, unit: float) -> bool:
    return math.remainder(value, unit / 10) == 0


def _format_decimals(values: Sequence[float]) -> tuple[str, ...]:
    """Write numbers with the fewest decimals, the same for all, that lose nothing."""
    largest = max((abs(value) for value in values), default=0.0)
    decimals = next(
        (
            count
            for count in range(10)
            if all(abs(round(value, count) - value) <= largest * 1e-9 for value in values)
        ),
        9,
    )
    return tuple(f"{value:.{decimals}f}" for value in values)


def _format_powers(values: Sequence[float]) -> tuple[str, ...]:
    """Write numbers as mantissa and power of ten.

    The mantissas have the fewest decimals, the same for all, that lose nothing.
    """
    texts = [f"{value:.9e}".partition("e") for value in values]
    decimals = max(
        (
            len(text[0].partition(".")[2].rstrip("0"))
            for value, text in zip(values, texts, strict=True)
            if value
        ),
        default=0,
    )
    return tuple(
        (
            f"{value:.{decimals}e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
            if value
            else "0"
        )
        for value in values
    )


def compute_ticks(low: float, high: float, count: int) -> tuple[float, ...]:
    """Give round numbers between two bounds, about `count` of them."""
    span = high - low
    if not math.isfinite(span) or span <= max(abs(low), abs(high)) * 1e-9 or span < _NARROWEST:
        return (low,) if low == high else ()
    rough = span / max(1, count)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    found = (
        index * step
        for index in range(first, first + count + 3)
        if index * step <= high + step * 1e-9
    )
    return tuple(round(value, 12) if step > 1e-9 else value for value in found)


def log_ticks(low: float, high: float, count: int) -> tuple[float, ...]:
    """Give logarithms of round numbers between two: powers of ten.

    Where these are few, some between them; within less than a decade any round numbers.
    """
    powers = range(max(-_LAST_DECADE, math.ceil(low)), min(_LAST_DECADE, math.floor(high)) + 1)
    found = tuple(map(float, powers[:: -(-len(powers) // (count + 1)) or 1]))
    for factors in _BETWEEN if high - low < count and low > -_LAST_DECADE else ():
        if len(found) >= _LEAST_TICKS:
            return found
        found = _compute_log_positions(low, high, factors)
    if len(found) >= _LEAST_TICKS or low <= -_LAST_DECADE or high >= _LAST_DECADE:
        return found
    return tuple(
        math.log10(value) for value in compute_ticks(10.0**low, 10.0**high, count + 2) if value > 0
    )


def _compute_log_positions(low: float, high: float, factors: Sequence[int]) -> tuple[float, ...]:
    """Give logarithms of multiples of powers of ten, as far as they lie between two bounds."""
    places = (
        power + math.log10(factor)
        for power in range(math.floor(low), math.floor(high) + 1)
        for factor in factors
    )
    return tuple(place for place in places if low <= place <= high)
