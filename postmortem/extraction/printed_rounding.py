"""Compare printed figures at the precision of the coarser of two curves.

In: values. Out: answers. Not here: which curves are compared (`extraction.copies`).
"""

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

_AGREEING: Final = 0.9
_CLOSE: Final = 1e-4
_NEAR: Final = 20
"""Values, times how much denser the other curve is, within which the next of one must stand."""
_MOST_DECIMALS: Final = 12


def is_within(short: Sequence[float], long: Sequence[float], coarse: float, denser: int) -> bool:
    """Say whether the values of one curve occur in a denser one, in their order."""
    reach = _NEAR * (1 + denser)
    place = 0

    def is_next(value: float) -> bool:
        nonlocal place
        near = range(place, min(place + reach, len(long)))
        found = next(
            (index for index in near if is_approximately_equal(value, long[index], coarse)), None
        )
        place = place if found is None else found + 1
        return found is not None

    return is_mostly_true(map(is_next, short), len(short))


def is_mostly_true(answers: Iterable[bool], count: int) -> bool:
    """Say whether nearly all of so many answers are yes, without asking more than that takes."""
    missed = 0
    for is_yes in answers:
        missed += not is_yes
        if missed > (1 - _AGREEING) * count:
            return False
    return True


def is_approximately_equal(first: float, second: float, coarse: float) -> bool:
    """Say whether two figures are one, as far as the coarser of their curves is printed."""
    if not (math.isfinite(first) and math.isfinite(second)):
        return first == second or (math.isnan(first) and math.isnan(second))
    apart = abs(first - second)
    return apart <= coarse or apart <= _CLOSE * max(abs(first), abs(second))


def estimate_rounding(values: Sequence[float]) -> float:
    """Estimate the rounding error of the printed figures of a curve."""
    decimals = max((_count_decimals(value) for value in values if math.isfinite(value)), default=0)
    return 0.6 * 10.0**-decimals if decimals else 0.0


def _count_decimals(value: float) -> int:
    """Count the decimals that a figure is printed with."""
    exponent = Decimal(repr(value)).as_tuple().exponent
    return min(-exponent, _MOST_DECIMALS) if isinstance(exponent, int) else 0
