"""Detect spikes of a finite training loss, and whether it recovers.

In: a training loss. Out: the anomalies `loss-spike`, `huge-spike`, `spike-recovers`, `spike-over`,
`spike-stays`. Not here: a loss that stays high (`detectors.divergence`).
"""

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.aligned import Curves, format_position
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.loss_of_training import (
    WORTH,
    TrainingLoss,
    compute_typical_log_change,
    from_to,
    iter_jump_indexes,
)
from postmortem.extraction.facts.series import Point

_SMALLEST: Final = 1e-3
_HUGE: Final = 10
"""Times what the loss ever was among the forty records before."""
_HIGH: Final = 5
"""Times the last five records, for a spike above all that the run has shown, its first loss among
it: for a moment nothing is left of what was learned."""
_HIGH_OF_CALM: Final = 2.5
"""The same for a spike half as high again as anything of a run that is known well."""
_BEYOND_CALM: Final = 8
"""Times the highest rise that there was before, in powers: ten times 3 % is 34 %."""
_KNOWN: Final = 50
"""Records after which the usual course of a curve is known."""
_SHIFT: Final = 1.5
"""Times its level at which a calm curve has leapt to another one, and stays above its own."""
_BEYOND_NOISE: Final = 30
"""Times the usual change from one record to the next that such a leap is."""
_CALM: Final = 3
"""Times the highest rise from one record to the next that there was before: a curve that leaps all
the time has no spikes."""
_BACK: Final = 1.5
"""Times the level before a spike: lower is back."""
_LASTING: Final = ("loss-spike", "spike-stays")
_OVER: Final = 20
"""Records at the old level after which a spike belongs to the past."""


def detect_receding_jump(curves: Curves, loss: TrainingLoss) -> list[Anomaly]:
    """Find a steady curve that leaps within one record or two and then falls again.

    Back to its level or not.
    """
    values = loss.values
    for index in iter_jump_indexes(values, 3, len(values) - 1):
        before = values[max(0, index - 10) : index]
        if values[index] <= 1.8 * min(before):  # nor is it above the median, which takes longer
            continue
        level, peak = statistics.median(before), max(values[index : index + 2])
        is_steady = level > WORTH and max(before) - min(before) < 0.15 * level
        if (
            is_steady
            and values[index] > 1.8 * level
            and peak > 2.5 * level
            and peak - level > 0.5
            and values[-1] < 0.85 * peak
            and max(values[index + 2 :], default=0.0) < peak
        ):
            return list(_detect_jump(curves, loss.points, index, level, peak))
    return []


def detect_late_spike(curves: Curves, loss: TrainingLoss) -> list[Anomaly]:
    """Find the first record that stands far above the ones before, by more than their noise."""
    values = loss.values
    times = 0.0
    for index in iter_jump_indexes(values, 5, len(values)):
        times = times or max(3.0, math.exp(min(3 * compute_typical_log_change(values), 30.0)))
        before = values[max(0, index - 10) : index]
        if values[index] <= times * min(before):
            continue
        level = statistics.median(before)
        if (
            level > _SMALLEST
            and values[index] > times * level
            and values[index] - level > 0.5
            and values[index] > 1.5 * max(values[max(0, index - 40) : index])
        ):
            return list(_detect_jump(curves, loss.points, index, level, values[index]))
    return []


def detect_lasting_jump(curves: Curves, loss: TrainingLoss) -> list[Anomaly]:
    """Find a calm, long curve that leaps at once to another level and does not come back."""
    values, points = loss.values, loss.points
    for index in iter_jump_indexes(values, _KNOWN, len(values) - 3):
        before = values[index - _KNOWN : index]
        if values[index] <= _SHIFT * max(before[-_KNOWN + 10 :]):
            continue
        level, peak = statistics.median(before[-10:]), max(values[index : index + 2])
        if level <= WORTH or values[-1] > peak:
            continue
        usual = statistics.median(abs(b - a) for a, b in itertools.pairwise(before))
        stays = [value > 0.8 * _SHIFT * level for value in values[index:]]
        if values[index] - level > _BEYOND_NOISE * usual and sum(stays) > 0.9 * len(stays):
            message = say(
                "{rise} at {place}, and not back at the end",
                rise=from_to(level, peak),
                place=format_position(points[index]),
            )
            return [curves.shape(name, message, points[index].line) for name in _LASTING]
    return []


def _detect_jump(
    curves: Curves, points: Sequence[Point], index: int, level: float, peak: float
) -> Iterator[Anomaly]:
    """Detect a jump at a record: how high it is, and whether it is over."""
    line = points[index].line
    message = say(
        "{rise} at {place}",
        rise=from_to(level, peak),
        place=format_position(points[index]),
    )
    yield curves.shape("loss-spike", message, line)
    if _is_huge([point.value for point in points[:index]], level, peak):
        yield curves.shape("huge-spike", message, line)
    back = _find_recovery(points, index, level)
    if back is not None:
        recovered = _format_recovery(message, points[back])
        yield curves.shape("spike-recovers", recovered, line)
        if _is_over(points[back:], peak):
            yield curves.shape("spike-over", recovered, line)


def _is_huge(before: Sequence[float], level: float, peak: float) -> bool:
    """Say whether a peak stands far above what the curve, restless as it is, has shown before."""
    wildest = max(
        (current / previous for previous, current in itertools.pairwise(before) if previous > 0),
        default=1.0,
    )
    is_above_all = (
        peak > 1.2 * max(before)
        and peak > _HIGH * max(before[-5:])
        and peak > _CALM * wildest * before[-1]
    ) or (
        len(before) >= _KNOWN
        and peak > _SHIFT * max(before)
        and peak > _HIGH_OF_CALM * max(before[-5:])
        and math.log(peak / before[-1]) > _BEYOND_CALM * math.log(wildest)
    )
    return level > WORTH and (is_above_all or peak > _HUGE * max(before[-40:]))


def _find_recovery(points: Sequence[Point], index: int, level: float) -> int | None:
    """Give the index of the first record near the old level behind a leap.

    None unless the curve ends there too.
    """
    if statistics.median(point.value for point in points[-3:]) >= _BACK * level:
        return None
    behind = range(index + 1, len(points))
    return next((later for later in behind if points[later].value < _BACK * level), None)


def _format_recovery(spike: Message, back: Point) -> Message:
    return say(
        "{rise}, {value:.4g} at {place}",
        rise=spike,
        value=back.value,
        place=format_position(back),
    )


def _is_over(after: Sequence[Point], peak: float) -> bool:
    """Say whether many records have come since a spike, the last of them far below its peak."""
    return len(after) > _OVER and max(point.value for point in after[-_OVER:]) < peak / 2
