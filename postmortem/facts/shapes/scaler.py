"""The loss scaler at work: finding its level or falling to the floor, and steps that it skips.

In: the curves of one process. Out: the shapes `scale-collapse`, `scale-settling`,
`rate-standstill`, `steps-skipped`. Not here: the values that make it skip (`shapes.nonfinite`).
"""

import itertools
import math
from collections.abc import Sequence
from typing import Final

from postmortem import names
from postmortem.facts.series import Point
from postmortem.facts.shapes.curves import Curves, Found
from postmortem.model.said import say

_MANY: Final = 0.3
"""Share of skipped steps that no search for a scale explains, once the start of the run is past."""
_FEWEST_STEPS: Final = 20


def scale(curves: Curves) -> Found:
    """The loss scale: finding its level, or falling to the floor."""
    points = curves.points(names.LOSS_SCALE)
    values = [point.value for point in points]
    if len(values) < 2 or max(values) <= 0:
        return []
    top, end = max(values), values[-1]
    drop = math.log2(max(values[0], top) / end) if end > 0 else math.inf
    rises = sum(other > one for one, other in itertools.pairwise(values))
    losses = [
        point
        for point in curves.points(names.LOSS)
        if point.line > points[-1].line and math.isfinite(point.value) and point.value != 0.0
    ]
    said = say(
        "loss scale {first:g} → {end:g} in {count} events",
        "loss scale {first:g} → {end:g}，共 {count} 次变化",
        first=values[0],
        end=end,
        count=len(values),
    )
    if (end <= 1 and drop >= 3) or (drop >= 5 and end <= 64 and not rises and not losses):
        # A record of every step holds quiet ones first; a record of the overflows alone begins with
        # the first.
        start = (
            next(other for one, other in itertools.pairwise(points) if other.value < one.value)
            if values[0] == values[1]
            else points[0]
        )
        return [("scale-collapse", said, start.line)]
    if drop >= 1 and (end >= 128 or len(losses) >= 3):
        return [("scale-settling", said, points[0].line)]
    return []


def standstill(curves: Curves) -> Found:
    """A learning rate that does not move although a schedule is running."""
    rates = curves.points(names.LEARNING_RATE)
    if len(rates) < 2:
        return []
    still = [(one, other) for one, other in itertools.pairwise(rates) if one.value == other.value]
    distinct = len({point.value for point in rates})
    if (
        still
        and (distinct >= 2 or (rates[0].value == 0.0 and len(rates) >= 2))
        and _is_schedule(rates)
    ):
        first = still[0][1]
        said = say(
            "learning rate {rate:g} printed twice or more ({still} of {count} intervals do not"
            " move)",
            "学习率 {rate:g} 连续打印两次以上（{count} 个间隔中有 {still} 个没有变化）",
            rate=first.value,
            still=len(still),
            count=len(rates) - 1,
        )
        return [("rate-standstill", said, first.line)]
    return []


def _is_schedule(rates: Sequence[Point]) -> bool:
    """A rate that is constant by design, flat at its round peak, or printed with too few digits to move, is no standstill."""
    values = [point.value for point in rates]
    top = max(values)
    still = sum(
        one == other and (one < top or _digits(top) >= 6)
        for one, other in itertools.pairwise(values)
    )
    starts_at_zero = len(values) >= 2 and values[0] == values[1] == 0.0
    return starts_at_zero or (still > 0 and max(map(_digits, values)) >= 7)


def _digits(value: float) -> int:
    """Count the significant digits of a figure."""
    return len(repr(value).split("e")[0].replace(".", "").strip("0"))


def skipped(curves: Curves) -> Found:
    """Steps that are counted as skipped, as a share of the later half of the run.

    The first half may be the search for a scale.
    """
    points = [point for point in curves.points(names.SKIPPED_STEPS) if math.isfinite(point.step)]
    if len(points) >= 2:
        middle = points[len(points) // 2 - (len(points) == 2)]
        steps, count = points[-1].step - middle.step, points[-1].value - middle.value
    else:  # Megatron counts anew at every record
        points = [
            point for point in curves.points("skipped_iterations") if math.isfinite(point.step)
        ]
        if len(points) < 4:
            return []
        middle = points[len(points) // 2]
        steps, count = (
            points[-1].step - middle.step,
            sum(point.value for point in points[len(points) // 2 + 1 :]),
        )
    if steps < _FEWEST_STEPS or not _MANY <= count / steps <= 1.0:
        return []
    return [
        (
            "steps-skipped",
            say(
                "{count:g} of the last {steps:g} steps skipped ({share:.0%})",
                "最后 {steps:g} 步中有 {count:g} 步被跳过（{share:.0%}）",
                count=count,
                steps=steps,
                share=count / steps,
            ),
            middle.line,
        )
    ]
