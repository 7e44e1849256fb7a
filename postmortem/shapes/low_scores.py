"""A share of right answers that is low and does not move: the answer is always the same.

In: the curves of one process. Out: the shape `stuck-score`. Not here: scores that are lost
(`shapes.scores`), that are exactly 0 or stand beside a loss that does not fall
(`shapes.degenerate`).

The share of one class among the samples comes out to the last digit each time, whatever the loss
does: it may well fall, by its regulariser alone.
"""

import re
import statistics
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem import names
from postmortem.facts.series import Point
from postmortem.lazy_regex import lazy_compile
from postmortem.model.said import say
from postmortem.shapes.aligned import Curves
from postmortem.shapes.observed import Observed
from postmortem.shapes.shape import Shape

_ACCURACY: Final = lazy_compile(
    r"(?:^|[_/ .-])(?:acc(?:u(?:racy)?)?(?:_?top)?_?1?|top_?1)(?:$|[_/ .-])", re.IGNORECASE
)
_BOUND: Final = lazy_compile(r"best|min|max|loss", re.IGNORECASE)
_LOW: Final = 0.65
_VERY_LOW: Final = 0.1
_EXACT: Final = 6
"""Digits that no count of right answers gives twice by chance."""
_FINE: Final = 4
_MANY: Final = 8
_SEVERAL: Final = 4
_TWICE: Final = 2
_LEVEL: Final = 0.03
_EPOCHS: Final = 2
_STEPS: Final = 1000


def always_one_answer(observed: Observed) -> Iterable[Shape]:
    """Find an accuracy that is low and the same, or nearly so, in all records."""
    curves = observed.curves
    for name in curves.by_name:
        points = curves.finite(name)
        if not _ACCURACY.search(name) or _BOUND.search(name) or len(points) < _TWICE:
            continue
        values = [point.value for point in points]
        if _never_moves(values) or (_is_late(curves, points) and _is_low_and_level(values)):
            said = say(
                "{name} {value:.6g} in all {count} records, or nearly so",
                "全部 {count} 条记录的 {name} 都是或几乎都是 {value:.6g}",
                name=name,
                value=values[-1],
                count=len(values),
            )
            return [curves.shape("stuck-score", said, points[0].line)]
    return []


def _never_moves(values: Sequence[float]) -> bool:
    """Say whether many records give the same low figure to many digits."""
    is_same = len(set(values)) == 1 and len(values) >= _MANY
    return is_same and 0 < values[0] < _LOW and _digits(values[0]) >= _EXACT


def _is_low_and_level(values: Sequence[float]) -> bool:
    """Say whether a few records are very low, and equal or within little of each other."""
    level = statistics.median(values)
    if not 0 < level < _VERY_LOW:
        return False
    if len(set(values)) == 1 and _digits(level) >= _FINE:
        return True
    return len(values) >= _SEVERAL and max(values) - min(values) < _LEVEL * level


def _is_late(curves: Curves, points: Sequence[Point]) -> bool:
    """Say whether the records are from behind the first passes over the data."""
    epochs = [point.value for point in curves.finite(names.EPOCH)]
    return bool(epochs and epochs[0] >= _EPOCHS) or points[0].step >= _STEPS


def _digits(value: float) -> int:
    """Count the digits of a figure but leading zeros."""
    return len(f"{value:.12g}".replace(".", "").lstrip("0"))
