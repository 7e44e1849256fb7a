"""Find where a metric grows by orders of magnitude and does not come back.

In: the values of a series. Out: the index of the record with which the growth begins. Not here:
shapes (`detectors.leaps`, `detectors.divergence`, `detectors.gradients`), figures that are not
finite.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Final

_TIMES: Final = 1e3
"""Times its lowest value at which a figure has exploded, if it is far above all before as well."""
_TIMES_OF_ONE: Final = 1e5
"""The same behind a single record, which may be of another kind."""
_TIMES_OF_RUN: Final = 1e2
"""The same of a growth that the records show step by step."""
_STEP: Final = 10.0
"""Times from one record to the next in such a growth."""
_LEFT: Final = 10.0
"""Times its lowest value up to which a figure is still at its level."""
_ABOVE_ALL: Final = 100.0
"""Times all figures before the growth that its end must reach."""
_LARGE: Final = 10.0
"""A size up to which a figure may be one of what was near 0 to begin with."""
_BELOW_ZERO: Final = 1e9
"""Size from which a figure below 0 has exploded: a likelihood may fall far."""


def explosion_start(values: Sequence[float], by_design: float = 1.0) -> int | None:
    """Give the index of the first record of a growth without return; None where there is none.

    Args:
        values: the records in their order.
        by_design: times by which more than usual is asked of a figure that may rise.
    """
    sizes = [abs(value) for value in values]
    lowest = min((size for size in sizes if size > 0), default=0.0)
    if len(sizes) < 2 or not all(map(math.isfinite, sizes)) or lowest == 0:
        return None
    start = next(
        (index + 1 for index in reversed(range(len(sizes))) if sizes[index] <= _LEFT * lowest), 0
    )
    if not 0 < start < len(sizes):
        return None
    last, before = values[-1], max(sizes[:start])
    limit = max(
        _LARGE, by_design * max(_compute_required_rise(sizes, start) * lowest, _ABOVE_ALL * before)
    )
    return start if last > limit or -last > max(limit, _BELOW_ZERO) else None


def _compute_required_rise(sizes: Sequence[float], start: int) -> float:
    """Give the times by which the lowest value must have grown."""
    grows = [
        current > _STEP * previous for previous, current in itertools.pairwise(sizes[start - 1 :])
    ]
    if len(grows) > 1 and all(grows):
        return _TIMES_OF_RUN
    return _TIMES_OF_ONE if start == 1 else _TIMES
