"""A run that becomes slow half way through.

In: the points of a throughput or of a time a step. Out: the shape `slow-down`, if it is one.
Not here: waiting for data (`shapes.resources`), a run that stands still (`facts.silence`).
"""

import itertools
import math
import statistics
from collections.abc import Sequence
from typing import Final

from postmortem.facts.series import Point
from postmortem.model.said import Said, say

_FEWEST: Final = 20
_SLOWED: Final = 0.5
_USUAL: Final = 0.7
_NEARLY_ALL: Final = 0.9
_PARTS: Final = 5
_DWINDLED: Final = 0.4


def slowed(
    name: str, printed: Sequence[Point], unit: str = "", *, is_time: bool = False
) -> list[tuple[str, Said, int]]:
    """Find a speed that falls to less than half and stays there.

    The first tenth of the records holds compilation, caches and warm-up.

    Args:
        name: of the series, for the text.
        printed: the points; those that are not finite and positive do not count.
        unit: of the values, for the text.
        is_time: the values are times a step, not speeds.
    """
    points = [point for point in printed if math.isfinite(point.value) and point.value > 0]
    if len(points) < _FEWEST:
        return []
    rates = [1 / point.value if is_time else point.value for point in points]
    # Time since the start, printed beside each record, grows at every one of them and is no time a
    # step.
    is_clock = all(other < one for one, other in itertools.pairwise(rates))
    return (
        []
        if is_clock
        else _breaks((name, unit), points, rates) or _dwindles((name, unit), points, rates)
    )


def _breaks(
    named: tuple[str, str], points: Sequence[Point], rates: Sequence[float]
) -> list[tuple[str, Said, int]]:
    """Find a steady speed that falls at some record and stays low."""
    tenth, third, quarter = len(rates) // 10, len(rates) // 3, len(rates) // 4
    early, late = rates[tenth:third], rates[-quarter:]
    usual = statistics.median(early)
    is_steady = sum(rate > _USUAL * usual for rate in early) >= _NEARLY_ALL * len(early)
    stays = sum(rate < _USUAL * usual for rate in late) >= _NEARLY_ALL * len(late)
    if not (is_steady and stays and statistics.median(late) < _SLOWED * usual):
        return []
    start = next(index for index in range(tenth, len(rates)) if rates[index] < _USUAL * usual)
    before, now = (
        statistics.median(point.value for point in part)
        for part in (points[tenth:third], points[-quarter:])
    )
    return [("slow-down", _from_to(*named, before, now), points[start].line)]


def _dwindles(
    named: tuple[str, str], points: Sequence[Point], rates: Sequence[float]
) -> list[tuple[str, Said, int]]:
    """Find a speed that becomes ever lower from part to part of the run."""
    size = len(rates) // _PARTS
    parts = [statistics.median(rates[index * size : (index + 1) * size]) for index in range(_PARTS)]
    if (
        not all(other < one for one, other in itertools.pairwise(parts))
        or parts[-1] > _DWINDLED * parts[0]
    ):
        return []
    first, last = (
        statistics.median(point.value for point in part) for part in (points[:size], points[-size:])
    )
    said = say(
        "{fall}, lower speed in each of {count} parts of the run",
        "{fall}，把训练分成 {count} 段，速度逐段下降",
        fall=_from_to(*named, first, last),
        count=_PARTS,
    )
    return [("slow-down", said, points[size].line)]


def _from_to(name: str, unit: str, first: float, last: float) -> Said:
    return say(
        "{name} {first:.4g} → {last:.4g}{unit}",
        "{name} {first:.4g} → {last:.4g}{unit}",
        name=name,
        first=first,
        last=last,
        unit=behind(unit),
    )


def behind(unit: str) -> str:
    """Write a unit behind a number; nothing where none is known."""
    return f" {unit}" if unit else ""
