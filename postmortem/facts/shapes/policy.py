"""A policy that no longer learns, or unlearns.

Rewards without a spread, an entropy that has gone to nothing, preferred answers that have become
unlikely.

In: the curves of one process. Out: the shapes `flat-rewards`, `collapse`.
Not here: the loss (`shapes.course`).
"""

import math
import re
import statistics
from collections.abc import Sequence
from typing import Final

from postmortem import names
from postmortem.facts.series import Point
from postmortem.facts.shapes.curves import Curves, Found
from postmortem.model.said import say

_FEWEST: Final = 10
_LASTING: Final = 5
_NOTHING: Final = 1e-3
"""Share of its first height below which an entropy is gone."""
_UNLIKELY: Final = -2.0
"""Implicit reward below which the preferred answers have lost most of their likelihood: exp(-2 / beta), with beta at most 0.5."""
_SPREAD: Final = re.compile(r"^(?:train/)?rewards?[_/]std(?:/mean)?$")


def rewards(curves: Curves) -> Found:
    """Rewards whose spread within a group is 0: from the start, or after they had differed."""
    series = next(
        (one for name, one in curves.by_name.items() if _SPREAD.search(name) and one.points >= 3),
        None,
    )
    if series is None:
        return []
    points = curves.points(series.name)
    differing = [index for index, point in enumerate(points) if point.value != 0.0]
    if not differing:
        return [
            (
                "flat-rewards",
                say(
                    "{name} is 0 at all {count} records",
                    "全部 {count} 条记录的 {name} 都是 0",
                    name=series.name,
                    count=len(points),
                ),
                points[0].line,
            )
        ]
    last = differing[-1]
    if len(points) - last > max(3, len(points) // 3):
        return [
            (
                "collapse",
                say(
                    "{name} {value:g}, then 0 for {count} records",
                    "{name} 由 {value:g} 变为 0，持续 {count} 条记录",
                    name=series.name,
                    value=points[last].value,
                    count=len(points) - last - 1,
                ),
                points[last + 1].line,
            )
        ]
    return []


def entropy(curves: Curves) -> Found:
    """The entropy of a policy that has gone to nothing and stays there."""
    return _vanished("entropy", curves.points("entropy"))


def preferences(curves: Curves) -> Found:
    """A preference loss that has gone to nothing while the preferred answers, too, have become far less likely than at the start."""
    losses, chosen = curves.points(names.LOSS), curves.points("rewards/chosen")
    late = max(3, len(chosen) // 4)
    if len(losses) < _FEWEST or len(chosen) < _FEWEST:
        return []
    loss, reward = (
        statistics.median(point.value for point in points[-late:]) for points in (losses, chosen)
    )
    if not (0 <= loss < _NOTHING and reward < _UNLIKELY):
        return []
    said = say(
        "loss {loss:.2g} and rewards/chosen {reward:.4g}, medians of the last {count} records",
        "最后 {count} 条记录的中位数：loss 为 {loss:.2g}，rewards/chosen 为 {reward:.4g}",
        loss=loss,
        reward=reward,
        count=late,
    )
    return [("collapse", said, chosen[-late].line)]


def _vanished(name: str, printed: Sequence[Point]) -> Found:
    """Find a positive figure that falls to nothing and stays there for the last records."""
    points = [point for point in printed if math.isfinite(point.value)]
    if len(points) < _FEWEST or points[0].value <= 0:
        return []
    top = max(point.value for point in points[:_LASTING])
    last = next(
        (
            index
            for index in range(len(points) - 1, -1, -1)
            if abs(points[index].value) >= _NOTHING * top
        ),
        -1,
    )
    if len(points) - last - 1 < _LASTING:
        return []
    return [
        (
            "collapse",
            say(
                "{name} {top:.3g}, then 0 for {count} records",
                "{name} 由 {top:.3g} 降为 0，持续 {count} 条记录",
                name=name,
                top=top,
                count=len(points) - last - 1,
            ),
            points[last + 1].line,
        )
    ]
