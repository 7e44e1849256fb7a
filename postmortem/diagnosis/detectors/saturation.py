"""Detect a loss at the floor of a logarithm: the model is certain, and wrong, for ever.

In: the curves of one process. Out: the anomaly `collapse`. Not here: a loss that freezes at any
other value (`detectors.trend`).

A loss that takes the logarithm of a probability bounds it from below, by the smallest float, by a
small constant, or cuts the logarithm itself. The mean over a batch is exactly that bound only if
every sample is at it, which happens after the weights have exploded.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import count_trailing_repeats
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Point

_FLOORS: Final = (
    -math.log(2.0**-126),
    -math.log(2.0**-149),
    *(exponent * math.log(10.0) for exponent in (6, 7, 8, 9, 10, 12, 15, 16, 20, 30)),
    -math.log(2.0**-23),
    -math.log(2.0**-52),
    100.0,
)
"""The smallest normal and subnormal float32, the usual epsilons, the bound of torch's BCELoss."""
_CLOSE: Final = 1e-5
_FEWEST: Final = 2
_DIGITS: Final = 5
"""Digits of a printed figure below which its being a floor may be chance."""
_SEVERAL: Final = 4
"""Records that make up for fewer digits."""


def detect_loss_at_log_floor(observed: Observed) -> Iterable[Anomaly]:
    """Find a loss, or a part of it, whose last records are all the floor of a logarithm."""
    curves = observed.curves
    for name in curves.of("loss", "entropy"):
        points = curves.points(name)
        value = points[-1].value if points else 0.0
        if not _is_floor(value):
            continue
        count = count_trailing_repeats([point.value for point in points])
        is_exact = len(f"{value:.7g}".replace(".", "")) >= _DIGITS
        is_last = count >= (_FEWEST if is_exact else _SEVERAL) or (
            is_exact and _is_last_above_first(points)
        )
        if not is_last:
            continue
        message = say(
            "{name} {value:g} in the last records ({count}): the logarithm of the smallest"
            " probability",
            "最后的记录（{count} 条）的 {name} 都是 {value:g}：即最小概率的对数",
            name=name,
            value=value,
            count=count,
        )
        return [curves.shape("collapse", message, points[-count].line)]
    return []


def _is_last_above_first(points: Sequence[Point]) -> bool:
    """Say whether the last record alone is another value, which is no first one."""
    return len(points) > 1 and points[-1].value > points[0].value > 0


def _is_floor(value: float) -> bool:
    return any(abs(value - floor) < _CLOSE * floor for floor in _FLOORS)
