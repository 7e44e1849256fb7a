"""The way of a finite loss: falling, spiking, diverging, standing still, freezing.

In: the curves of one process. Out: the shapes `loss-*`, `huge-spike`, `plateau*`, `collapse`. Not
here: losses that are not finite (`shapes.nonfinite`). Words after common usage: spike (recovered or
not), divergence, plateau.
"""

import itertools
import math
import statistics
from collections.abc import Sequence
from typing import Final

from postmortem import names
from postmortem.facts.series import Point
from postmortem.facts.shapes.curves import Curves, Found, at
from postmortem.model.said import Said, say

_LARGEST: Final = 1e150
"""Figures whose squares can still be added."""
_ABSURD: Final = 1e9
"""A loss that no sound run has, whatever it sums over."""
_SMALLEST: Final = 1e-3
_WORTH: Final = 0.05
_FEWEST: Final = 10
_LASTS: Final = 0.5
"""Share of the records that a rise must take up to be more than a passing spike, once it is on its way back."""
_RESTLESS: Final = 0.25
"""Usual change from one record to the next, as a logarithm, beyond which a curve is all noise."""
_SOME: Final = 0.3
"""The same, above twice the first value: a spike of the warm-up is over sooner."""
_HUGE_SPIKE: Final = 10
"""Times what the loss ever was among the forty records before."""
_HIGH_SPIKE: Final = 5
"""Times the last five records, for a spike above all that the run has shown, its first loss among it: for a moment nothing is left of what was learned."""
_CALM: Final = 3
"""Times the highest rise from one record to the next that there was before: a curve that leaps all the time has no spikes."""
_YOUNG: Final = 100
"""Steps before which a loss need not have moved."""
_LEVEL_FROM: Final = 8
"""Records that show a level."""
_BACK: Final = 1.5
"""Times the level before a spike: lower is back."""
_OVER: Final = 20
"""Records at the old level after which a spike belongs to the past."""
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
        found.append(("loss-falls", _from_to(values[0], min(values)), points[0].line))
    has_bad = any(not math.isfinite(point.value) for point in curves.points(names.LOSS))
    if not has_bad and not _is_policy(curves, values):
        found += _jump_that_recedes(points) or _divergence(points) or _spike(points)
    spread = max(values) - min(values)
    level = abs(statistics.fmean(values))
    noise = 0.05 if len(values) >= 20 else 0.01
    moved = abs(tail - head)
    is_level = (
        len(values) >= 8
        and moved < 0.02 * level
        and statistics.pstdev(values) < noise * level
        and not (moved > 0.008 * level and moved > 3 * _error(values, third))
    )
    if (
        (is_level or spread < _STILL * level)
        and level > 0
        and not has_bad
        and not _is_young(curves, points)
    ):
        found.append(
            (
                "plateau",
                say(
                    "loss stays at {level:.4g} over {count} records",
                    "loss 在 {count} 条记录里一直停在 {level:.4g}",
                    level=level,
                    count=len(values),
                ),
                points[-1].line,
            )
        )
        is_whole = points[0].step <= 0.2 * points[-1].step or (
            math.isnan(points[0].step) and names.EPOCH in curves.by_name
        )
        if len(values) >= 12 and is_whole and abs(values[0] - level) < 0.03 * level and level > 0.3:
            found.append(
                (
                    "plateau-from-start",
                    say(
                        "loss {first:.4g} at first, {last:.4g} at last",
                        "loss 开始时为 {first:.4g}，结束时为 {last:.4g}",
                        first=values[0],
                        last=values[-1],
                    ),
                    points[0].line,
                )
            )
    if (
        len(values) >= 10
        and len(set(values[-5:])) == 1
        and len(set(values)) > 3
        and values[-1] != 0.0
    ):
        found.append(
            (
                "collapse",
                say("loss frozen at {value:g}", "loss 停在 {value:g} 不再变化", value=values[-1]),
                points[-5].line,
            )
        )
    elif not has_bad:
        found += _settled_above(points)
    return found


def _from_to(first: float, last: float) -> Said:
    return say(
        "loss {first:.4g} → {last:.4g}", "loss {first:.4g} → {last:.4g}", first=first, last=last
    )


def _error(values: Sequence[float], third: int) -> float:
    """Estimate by how much the means of the first and the last third differ by chance, from the differences of neighbours."""
    noise = math.sqrt(
        statistics.fmean((other - one) ** 2 for one, other in itertools.pairwise(values)) / 2
    )
    return noise * math.sqrt(2 / third)


def _is_young(curves: Curves, points: Sequence[Point]) -> bool:
    """Say whether all records, one a step, are from the first steps of the first pass over the data: too early to expect anything."""
    epochs = [point.value for point in curves.points(names.EPOCH) if math.isfinite(point.value)]
    is_counted = bool(epochs) and all(
        epoch.is_integer() for epoch in epochs
    )  # `Epoch: [0][12/60]`; a Trainer's 0.12 stands for many steps
    is_each_step = (
        is_counted if math.isnan(points[0].step) else points[-1].step - points[0].step < len(points)
    )
    return len(points) < _YOUNG and len(set(map(math.floor, epochs))) <= 1 and is_each_step


def _is_policy(curves: Curves, values: Sequence[float]) -> bool:
    """Say whether this is the surrogate loss of a policy: it begins near 0 and may go anywhere."""
    return "reward" in curves.by_name and max(values) < 1.0


def _settled_above(points: Sequence[Point]) -> Found:
    """Find a loss that was lower at first and then stands still at a higher level to the end.

    What had been learned is lost.
    """
    values = [point.value for point in points]
    last = max(_LEVEL_FROM, int(0.4 * len(values)))
    tail = values[-last:]
    level, best = statistics.fmean(tail), min(values[:-last], default=math.inf)
    if not (
        best > _WORTH
        and level > 1.25 * best
        and level > 1.1 * values[0]
        and statistics.pstdev(tail) < 0.02 * level
    ):
        return []
    said = say(
        "loss {best:.4g} at best, then level at {level:.4g} for {count} records",
        "loss 最低曾到 {best:.4g}，此后 {count} 条记录一直停在 {level:.4g}",
        best=best,
        level=level,
        count=last,
    )
    return [("collapse", said, points[-last].line)]


def _divergence(points: Sequence[Point]) -> Found:
    values = [point.value for point in points]
    quarter = max(2, len(values) // 4)
    if statistics.median(values[-quarter:]) > _ABSURD and min(values[-quarter:]) > 0.1 * values[0]:
        return [
            (
                "loss-divergence",
                _from_to(values[0], values[-1]),
                next(point.line for point in points if point.value > _ABSURD),
            )
        ]
    # The lowest level that the loss kept, not its luckiest record.
    width = 5 if len(values) >= 2 * _FEWEST else 3
    levels = [
        statistics.median(values[max(0, index - width + 1) : index + 1])
        for index in range(width - 1, len(values) - quarter)
    ] or [min(values)]
    best = min(levels)
    start = levels.index(best)
    late = statistics.median(values[-quarter:])
    is_up = (
        best > 0
        and late > 2 * best
        and late > 1.2 * statistics.median(values[:quarter])
        and min(values[-quarter:]) > 1.3 * best
    )
    if (
        is_up
        and math.log(late / best) > 2 * _restless(values)
        and not _recedes(values, start, quarter)
    ):
        rise = next(point for point in points[start:] if point.value > 1.5 * best)
        return [("loss-divergence", _from_to(best, late), rise.line)]
    return _high_from_start(points)


def _restless(values: Sequence[float]) -> float:
    """Give the usual change from one record to the next, as a logarithm.

    0 where the loss is not positive.
    """
    return (
        statistics.median(
            abs(math.log(other) - math.log(one)) for one, other in itertools.pairwise(values)
        )
        if min(values) > 0
        else 0.0
    )


def _high_from_start(points: Sequence[Point]) -> Found:
    """Find a loss that leaves the level of its first records within the run's beginning and stays far above it, without leaping to and fro."""
    values = [point.value for point in points]
    first = values[0]
    is_start_known = (
        sum(value < 1.5 * first for value in values) >= 2
    )  # else its first record may be of another kind
    if len(values) < _FEWEST or first <= _WORTH or not is_start_known:
        return []
    runs = [
        list(run)
        for is_high, run in itertools.groupby(points, key=lambda point: point.value > 2 * first)
        if is_high
    ]
    high = max(runs, key=len, default=[])
    if (
        len(high) < max(_FEWEST, _SOME * len(values))
        or statistics.median(point.value for point in high) < 3 * first
    ):
        return []
    if _restless([point.value for point in high]) > _RESTLESS:
        return []
    said = say(
        "{rise}, above twice its first value at {high} of {count} records on end",
        "{rise}，{count} 条记录中连续 {high} 条高于初始值的两倍",
        rise=_from_to(first, max(values)),
        high=len(high),
        count=len(values),
    )
    return [("loss-divergence", said, high[0].line)]


def _recedes(values: Sequence[float], best: int, quarter: int) -> bool:
    """Say whether a rise within the later half is on its way back already."""
    top = max(range(best, len(values)), key=values.__getitem__)
    half = max(1, quarter // 2)
    is_late = len(values) - best < _LASTS * len(values)
    is_falling = statistics.median(values[-half:]) < 0.85 * statistics.median(
        values[-2 * half : -half]
    )
    return is_late and is_falling and values[-1] < 0.7 * values[top] and top < len(values) - quarter


def _jump_that_recedes(points: Sequence[Point]) -> Found:
    """Find a steady curve that leaps within one record or two and then falls again, back to its level or not."""
    values = [point.value for point in points]
    for index in range(3, len(values) - 1):
        before = values[max(0, index - 10) : index]
        level, peak = statistics.median(before), max(values[index : index + 2])
        is_steady = level > 0.05 and max(before) - min(before) < 0.15 * level
        if (
            is_steady
            and values[index] > 1.8 * level
            and peak > 2.5 * level
            and peak - level > 0.5
            and values[-1] < 0.85 * peak
            and max(values[index + 2 :], default=0.0) < peak
        ):
            return _leap(points, index, level, peak)
    return []


def _leap(points: Sequence[Point], index: int, level: float, peak: float) -> Found:
    said, line = (
        say(
            "{rise} at {place}",
            "{rise}（{place}）",
            rise=_from_to(level, peak),
            place=at(points[index]),
        ),
        points[index].line,
    )
    before = [point.value for point in points[:index]]
    wildest = max(
        (other / one for one, other in itertools.pairwise(before) if one > 0), default=1.0
    )
    is_above_all = (
        peak > 1.2 * max(before)
        and peak > _HIGH_SPIKE * max(before[-5:])
        and peak > _CALM * wildest * before[-1]
    )
    is_huge = level > _WORTH and (is_above_all or peak > _HUGE_SPIKE * max(before[-40:]))
    back = next((point for point in points[index + 1 :] if point.value < _BACK * level), None)
    found = [("loss-spike", said, line), *([("huge-spike", said, line)] if is_huge else [])]
    if back is not None and statistics.median(point.value for point in points[-3:]) < _BACK * level:
        recovered = say(
            "{rise}, {value:.4g} at {place}",
            "{rise}，{place}回到 {value:.4g}",
            rise=said,
            value=back.value,
            place=at(back),
        )
        after = points[points.index(back) :]
        found += [
            ("spike-recovers", recovered, line),
            *(
                [("spike-over", recovered, line)]
                if len(after) > _OVER and max(point.value for point in after[-_OVER:]) < peak / 2
                else []
            ),
        ]
    return found


def _spike(points: Sequence[Point]) -> Found:
    values = [point.value for point in points]
    times = max(3.0, math.exp(min(3 * _restless(values), 30.0)))
    for index in range(5, len(values)):
        level = statistics.median(values[max(0, index - 10) : index])
        if (
            level > _SMALLEST
            and values[index] > times * level
            and values[index] - level > 0.5
            and values[index] > 1.5 * max(values[max(0, index - 40) : index])
        ):
            return _leap(points, index, level, values[index])
    return []
