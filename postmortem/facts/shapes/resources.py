"""Memory and time: what a run uses, and what it waits for.

In: the curves of one process. Out: the shapes `memory-*`, `input-bound`, `input-starved`,
`slow-down`. Not here: the arithmetic of an out-of-memory line (`facts.memory`), a run that stands
still (`facts.silence`).
"""

import itertools
import math
import statistics
from collections.abc import Sequence
from typing import Final

from postmortem import names
from postmortem.facts.series import Point
from postmortem.facts.shapes.curves import Curves, Found
from postmortem.facts.shapes.speed import behind, slowed
from postmortem.model.said import Said, quote, say

_LARGEST: Final = 1e150
"""Figures beyond are no memory, in whatever unit, and their sums are no numbers."""
_MOSTLY: Final = 0.5
"""Share of a step beyond which waiting for data is most of it."""
_NEARLY_ALL: Final = 0.8
_NOT_SHORT: Final = 0.05
"""Seconds below which a step is a toy's, and waiting says nothing."""
_SEVERAL: Final = 8
_WHOLE: Final = 1.2
"""A share beyond which the two figures are of different units."""
_PER_GIB: Final = {"MiB": 1024.0, "MB": 1024.0, "M": 1024.0, "GiB": 1.0, "GB": 1.0}
"""Programs divide by 1024 whatever they call it."""


def memory(curves: Curves, capacity: float | None = None) -> Found:
    """Memory that rises over the run, with its slope and the step at which it would fill the device.

    Args:
        curves: of one process.
        capacity: memory of the device in GiB, or None if it is not known.
    """
    points = [point for point in curves.points(names.MEMORY) if 0 <= point.value < _LARGEST]
    values = [point.value for point in points]
    if len(values) < 5:
        return []
    unit = curves.by_name[names.MEMORY].unit
    rising = sum(other > one for one, other in itertools.pairwise(values))
    falling = sum(other < one for one, other in itertools.pairwise(values))
    if (
        values[-1] > 1.2 * values[0]
        and rising >= 4
        and falling <= 0.2 * rising
        and rising >= 0.3 * len(values)
    ):
        said = say(
            "memory {first:g} → {last:g}{unit} over {count} records{slope}",
            "显存/内存 {first:g} → {last:g}{unit}（{count} 条记录）{slope}",
            first=values[0],
            last=values[-1],
            unit=behind(unit),
            count=len(values),
            slope=_slope(points, unit, capacity),
        )
        return [("memory-rising", said, points[0].line)]
    late = values[len(values) // 2 :]
    middle = len(late) // 2
    is_level = len(late) >= 8 and statistics.fmean(late[middle:]) < 1.08 * statistics.fmean(
        late[:middle]
    )
    if is_level and 0 < max(late) < 1.5 * min(late) and late[-1] < 1.1 * statistics.median(late):
        said = say(
            "memory {low:g} to {high:g}{unit} over {count} records",
            "显存/内存在 {count} 条记录里保持在 {low:g} 到 {high:g}{unit}",
            low=min(late),
            high=max(late),
            unit=behind(unit),
            count=len(late),
        )
        return [("memory-flat", said, points[-1].line)]
    return []


def _slope(points: Sequence[Point], unit: str, capacity: float | None) -> Said:
    """Say how much is added a step, and where that leads."""
    steps = points[-1].step - points[0].step
    if not 0 < steps < math.inf:
        return quote("")
    slope = (points[-1].value - points[0].value) / steps
    said = say(", {slope:.3g} a step", "，每步增加 {slope:.3g}", slope=slope)
    if capacity is None or unit not in _PER_GIB:
        return said
    full = points[-1].step + (capacity * _PER_GIB[unit] - points[-1].value) / slope
    if full <= points[-1].step:
        return said
    return say(
        "{slope}: {capacity:g} GiB are full at step {step:.0f}",
        "{slope}：按此速度，{capacity:g} GiB 将在第 {step:.0f} 步用尽",
        slope=said,
        capacity=capacity,
        step=full,
    )


def speed(curves: Curves) -> Found:
    """Steps that take twice as long, or more, from some record on, as throughput or as time a step."""
    unit = {
        name: curves.by_name[name].unit
        for name in (names.THROUGHPUT, names.STEP_TIME)
        if name in curves.by_name
    }
    return slowed(
        names.THROUGHPUT, curves.points(names.THROUGHPUT), unit.get(names.THROUGHPUT, "")
    ) or slowed(
        names.STEP_TIME, curves.points(names.STEP_TIME), unit.get(names.STEP_TIME, ""), is_time=True
    )


def waiting(curves: Curves) -> Found:
    """Steps that consist mostly of waiting for data."""
    steps, waits = (
        curves.points(names.STEP_TIME),
        {point.line: point.value for point in curves.points(names.DATA_TIME)},
    )
    pairs = [
        (point, waits[point.line]) for point in steps if point.value > 0 and point.line in waits
    ]
    late = pairs[1:] or pairs
    if (
        len(pairs) < 3
        or not _MOSTLY <= statistics.median(wait / point.value for point, wait in late) < _WHOLE
    ):
        return []
    whole, part = (
        statistics.median(point.value for point, _ in late),
        statistics.median(wait for _, wait in late),
    )
    said = say(
        "data time {part:.4g} of {whole:.4g}{unit} a step ({share:.0%}), medians of {count}"
        " records",
        "每步 {whole:.4g}{unit} 中取数据占 {part:.4g}（{share:.0%}），为 {count} 条记录的中位数",
        part=part,
        whole=whole,
        unit=behind(curves.by_name[names.STEP_TIME].unit),
        share=part / whole,
        count=len(late),
    )
    found = [("input-bound", said, late[0][0].line)]
    seconds = whole / 1000 if curves.by_name[names.STEP_TIME].unit == "ms" else whole
    if part >= _NEARLY_ALL * whole and seconds >= _NOT_SHORT and len(late) >= _SEVERAL:
        found.append(("input-starved", said, late[0][0].line))
    return found
