"""A figure of a policy that vanishes: its entropy.

In: the points of one series. Out: the shape `collapse`, if it is one.
Not here: the spread of rewards (`facts.shapes.rewards`).
"""

import math
from collections.abc import Sequence
from typing import Final

from postmortem.facts.series import Point

_FEWEST: Final = 10
_LASTING: Final = 5
_NOTHING: Final = 1e-3
"""Share of its first height below which an entropy is gone."""


def vanished(name: str, printed: Sequence[Point]) -> list[tuple[str, str, int]]:
    """Find a positive figure that falls to nothing and stays there for the last records."""
    points = [point for point in printed if math.isfinite(point.value)]
    if len(points) < _FEWEST or points[0].value <= 0:
        return []
    top = max(point.value for point in points[:_LASTING])
    last = next((index for index in range(len(points) - 1, -1, -1) if abs(points[index].value) >= _NOTHING * top), -1)
    if len(points) - last - 1 < _LASTING:
        return []
    return [("collapse", f"{name} {top:.3g}, then 0 for {len(points) - last - 1} records", points[last + 1].line)]
