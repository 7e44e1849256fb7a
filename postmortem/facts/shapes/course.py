"""The way of a finite loss: falling, spiking, diverging, standing still, freezing.

In: the curves of one process. Out: the shapes `loss-*`, `huge-spike`, `plateau*`, `collapse`.
Not here: losses that are not finite (`shapes.nonfinite`). Words after common usage: spike (recovered or not), divergence, plateau.
"""

import math
import statistics
from collections.abc import Sequence
from typing import Final

from postmortem import names
from postmortem.facts.series import Point
from postmortem.facts.shapes.curves import Curves, Found, at

_LARGEST: Final = 1e150
"""Figures whose squares can still be added."""
_ABSURD: Final = 1e9
"""A loss that no sound run has, whatever it sums over."""
_SMALLEST: Final = 1e-3
_WORTH: Final = 0.05
_HUGE_SPIKE: Final = 10
"""Times what the loss ever was among the forty records before."""
_STILL: Final = 1e-3
"""Share of its level within which a loss stands still, however few its records."""


def course(curves: Curves) -> Found:
    """The way of a finite loss: falling, spiking, diverging, standing still, freezing."""
    points = [point for point in curves.points(names.LOSS) if abs(point.value) < _LARGEST]
    values = [point.value for point in points]
    if len(values) < 5:
        return []
    found: Found = []
    third = max(1, len(values) // 3)
    head, tail = statistics.fmean(values[:third]), statistics.fmean(values[-third:])
    if 0 < tail < 0.85 * head or (values[0] > 0 and min(values) < 0.6 * values[0]):
        found.append(("loss-falls", f"loss {values[0]:.4g} → {min(values):.4g}", points[0].line))
    has_bad = any(not math.isfinite(point.value) for point in curves.points(names.LOSS))
    if not has_bad:
        found += _jump_that_recedes(points) or _divergence(points) or _spike(points)
    spread = max(values) - min(values)
    level = abs(statistics.fmean(values))
    noise = 0.05 if len(values) >= 20 else 0.01
    is_level = len(values) >= 8 and abs(tail - head) < 0.02 * level and statistics.pstdev(values) < noise * level
    if (is_level or spread < _STILL * level) and level > 0 and not has_bad:
        found.append(("plateau", f"loss stays at {level:.4g} over {len(values)} records", points[-1].line))
        is_whole = math.isnan(points[0].step) or points[0].step <= 0.2 * points[-1].step
        if len(values) >= 12 and is_whole and abs(values[0] - level) < 0.03 * level and level > 0.3:
            found.append(("plateau-from-start", f"loss {values[0]:.4g} at first, {values[-1]:.4g} at last", points[0].line))
    if len(values) >= 10 and len(set(values[-5:])) == 1 and len(set(values)) > 3 and values[-1] != 0.0:
        found.append(("collapse", f"loss frozen at {values[-1]:g}", points[-5].line))
    return found


def _divergence(points: Sequence[Point]) -> Found:
    values = [point.value for point in points]
    quarter = max(2, len(values) // 4)
    if statistics.median(values[-quarter:]) > _ABSURD and min(values[-quarter:]) > 0.1 * values[0]:
        return [("loss-divergence", f"loss {values[0]:.4g} → {values[-1]:.4g}", next(point.line for point in points if point.value > _ABSURD))]
    best = min(values[:-quarter] or values)
    late = statistics.median(values[-quarter:])
    is_up = best > 0 and late > 2 * best and late > 1.2 * statistics.median(values[:quarter]) and min(values[-quarter:]) > 1.3 * best
    if not is_up:
        return []
    rise = next(point for point in points[values.index(best):] if point.value > 1.5 * best)
    return [("loss-divergence", f"loss {best:.4g} → {late:.4g}", rise.line)]


def _jump_that_recedes(points: Sequence[Point]) -> Found:
    """Find a steady curve that leaps within one record or two and then falls again, back to its level or not."""
    values = [point.value for point in points]
    for index in range(3, len(values) - 1):
        before = values[max(0, index - 10):index]
        level, peak = statistics.median(before), max(values[index:index + 2])
        is_steady = level > 0.05 and max(before) - min(before) < 0.15 * level
        if is_steady and values[index] > 1.8 * level and peak > 2.5 * level and peak - level > 0.5 and values[-1] < 0.85 * peak and max(values[index + 2:], default=0.0) < peak:
            return _leap(points, index, level, peak)
    return []


def _leap(points: Sequence[Point], index: int, level: float, peak: float) -> Found:
    text, line = f"loss {level:.4g} → {peak:.4g} at {at(points[index])}", points[index].line
    is_huge = level > _WORTH and peak > _HUGE_SPIKE * max(point.value for point in points[max(0, index - 40):index])
    return [("loss-spike", text, line), *([("huge-spike", text, line)] if is_huge else [])]


def _spike(points: Sequence[Point]) -> Found:
    values = [point.value for point in points]
    for index in range(5, len(values)):
        level = statistics.median(values[max(0, index - 10):index])
        if level > _SMALLEST and values[index] > 3 * level and values[index] - level > 0.5 and values[index] > 1.5 * max(values[max(0, index - 40):index]):
            return _leap(points, index, level, values[index])
    return []
