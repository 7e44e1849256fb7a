"""Detect a finite training loss that leaves its level: a spike, recovered or not, or divergence.

In: the curves of one process. Out: the anomalies `loss-spike`, `huge-spike`, `spike-recovers`,
`spike-over`, `spike-stays`, `loss-divergence`. Not here: losses that are not finite
(`detectors.nonfinite`), leaps by orders of magnitude (`detectors.jumps`).
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.curve_roles import is_policy, is_rise_expected
from postmortem.diagnosis.detectors.jumps import loss_explosion
from postmortem.diagnosis.detectors.observed import (
    WORTH,
    Anomaly,
    Curves,
    Observed,
    TrainingLoss,
    compute_typical_log_change,
    format_position,
    from_to,
    iter_jump_indexes,
)
from postmortem.diagnosis.detectors.scores import has_risen_reward
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


_ABSURD: Final = 1e9
"""A loss that no sound run has, whatever it sums over."""
_LEARNT: Final = 1e-3
"""A loss below which nothing is left to lose: what it does there is noise."""
_FEWEST: Final = 10
_RISE: Final = 2
"""Times its lowest level at which a loss has left it."""
_BEYOND_DESIGN: Final = 30
"""The same for a loss that may rise in a sound run."""
_LASTS: Final = 0.5
"""Share of the records that a rise must take up to be more than a passing spike, once it is on its
way back."""
_RESTLESS: Final = 0.25
"""Usual change from one record to the next, as a logarithm, beyond which a curve is all noise."""
_STEEP: Final = 1e-2
"""Rate at which a loss that is several times its first record is no matter of its kind."""
_STAGES: Final = 2
"""Leaps, each with a descent behind it, that show a task which is made harder step by step."""
_LEAP: Final = 1.5
_WIDTH: Final = 5
"""Records that show a level."""
_SOME: Final = 0.3
"""Share of the records, above twice the first value: a spike of the warm-up is over sooner."""


def detect_divergence(observed: Observed) -> Iterable[Anomaly]:
    """Find the way in which a loss leaves its level, if it does."""
    curves, loss = observed.curves, observed.loss
    if loss is None or loss.is_broken or (is_policy(curves) and max(loss.values) < 1.0):
        return []
    if loss_explosion(curves) is not None or has_risen_reward(curves):
        return []  # `detectors.jumps` tells of the one, and the other is what is learnt for
    if is_rise_expected(curves):
        return _detect_sustained_divergence(curves, loss, _BEYOND_DESIGN)
    return (
        detect_receding_jump(curves, loss)
        or _detect_sustained_divergence(curves, loss, _RISE)
        or detect_late_spike(curves, loss)
        or detect_lasting_jump(curves, loss)
    )


def _detect_sustained_divergence(curves: Curves, loss: TrainingLoss, times: float) -> list[Anomaly]:
    """Find a loss that ends, or stays, so many times above its level."""
    found = (
        _find_implausible_loss(loss)
        or _find_risen_loss(loss, times)
        or _find_early_rise(curves, loss, times)
    )
    if found is not None and _is_below_mean(curves, loss):
        return []
    return [] if found is None else [curves.shape("loss-divergence", *found)]


def _is_below_mean(curves: Curves, loss: TrainingLoss) -> bool:
    """Say whether the mean of the epoch so far falls, and was above the last records all along.

    They are what the epoch had before: samples in the order of their length, of their kind.
    """
    means = [point.value for point in curves.so_far(names.LOSS)]
    late = loss.values[-_count_edge_records(loss.values) :]
    return len(means) > _FEWEST // 2 and means[-1] < means[0] and max(late) < means[-1]


def _find_implausible_loss(loss: TrainingLoss) -> tuple[Message, int] | None:
    """Find a loss that ends at figures no sound run has."""
    values = loss.values
    late = values[-_count_edge_records(values) :]
    if not (statistics.median(late) > _ABSURD and min(late) > 0.1 * values[0]):
        return None
    return from_to(values[0], values[-1]), next(
        point.line for point in loss.points if point.value > _ABSURD
    )


def _count_edge_records(values: Sequence[float]) -> int:
    """Give the number of records at either end that represent that end."""
    return max(2, len(values) // 4)


def _find_risen_loss(loss: TrainingLoss, times: float) -> tuple[Message, int] | None:
    """Find a loss that ends far above the lowest level that it kept, by more than its noise."""
    values = loss.values
    quarter = _count_edge_records(values)
    late = statistics.median(values[-quarter:])
    if late <= 1.2 * statistics.median(values[:quarter]) or max(values) <= _LEARNT:
        return None
    best, start = _find_lowest_level(values, quarter)
    is_up = best > 0 and late > times * best and min(values[-quarter:]) > 1.3 * best
    if (
        not is_up
        or math.log(late / best) <= 2 * compute_typical_log_change(values)
        or _is_receding(values, start, quarter)
        or _is_in_stages(values)
        or _is_wandering(values, late, quarter)
    ):
        return None
    rise = next(point for point in loss.points[start:] if point.value > 1.5 * best)
    return from_to(best, late), rise.line


def _find_lowest_level(values: Sequence[float], quarter: int) -> tuple[float, int]:
    """Give the lowest level that the loss kept before its last quarter, not its luckiest record.

    With the index of the first record at which it had that level.
    """
    width = 5 if len(values) >= 2 * _FEWEST else 3
    levels = [
        sorted(values[index : index + width])[width // 2]
        for index in range(len(values) - quarter - width + 1)
    ] or [min(values)]
    best = min(levels)
    return best, levels.index(best)


def _is_receding(values: Sequence[float], best: int, quarter: int) -> bool:
    """Say whether a rise within the later half is on its way back already."""
    top = max(range(best, len(values)), key=values.__getitem__)
    half = max(1, quarter // 2)
    is_late = len(values) - best < _LASTS * len(values)
    is_falling = statistics.median(values[-half:]) < 0.85 * statistics.median(
        values[-2 * half : -half]
    )
    return is_late and is_falling and values[-1] < 0.7 * values[top] and top < len(values) - quarter


def _is_wandering(values: Sequence[float], late: float, quarter: int) -> bool:
    """Say whether a curve that is all noise stood higher before than at last."""
    if compute_typical_log_change(values) <= _RESTLESS:
        return False
    levels = (
        sorted(values[index : index + _WIDTH])[_WIDTH // 2]
        for index in range(len(values) - quarter - _WIDTH + 1)
    )
    return late < 0.85 * max(levels, default=late)


def _is_in_stages(values: Sequence[float]) -> bool:
    """Say whether a loss leaps from one record to the next and comes down behind each leap.

    Never above its beginning: so does a task that is made harder, or another one after the first.
    """
    if max(values[_FEWEST // 2 :], default=0.0) > 1.25 * max(values[: _FEWEST // 2]):
        return False
    width = 3
    leaps = [
        index
        for index in range(width, len(values) - width)
        if min(values[index : index + width]) > _LEAP * max(values[index - width : index]) > 0
    ]
    starts = [
        leap for leap, before in zip(leaps, [-width, *leaps], strict=False) if leap > before + 1
    ]
    ends = [*starts[1:], len(values)]
    return len(starts) >= _STAGES and all(
        statistics.median(values[max(start, end - width) : end])
        < 0.85 * statistics.median(values[start : start + width])
        for start, end in zip(starts, ends, strict=True)
    )


def _find_early_rise(
    curves: Curves, loss: TrainingLoss, times: float
) -> tuple[Message, int] | None:
    """Find a loss that leaves the level of its first records within the run's beginning.

    It stays far above it, without leaping to and fro.
    """
    values, first = loss.values, loss.values[0]
    if max(values) <= 2 * first:
        return None
    # A first record that stands alone may be of another kind.
    is_steep = max(curves.by_line(names.LEARNING_RATE).values(), default=0.0) >= _STEEP
    is_start_known = is_steep or sum(value < 1.5 * first for value in values) >= 2
    if len(values) < _FEWEST or first <= WORTH or not is_start_known:
        return None
    high = _find_longest_stretch_above(loss.points, 2 * first)
    if (
        len(high) < max(_FEWEST, _SOME * len(values))
        or statistics.median(point.value for point in high) < 1.5 * times * first
        or compute_typical_log_change([point.value for point in high]) > _RESTLESS
    ):
        return None
    message = say(
        "{rise}, above twice its first value at {high} of {count} records on end",
        rise=from_to(first, max(values)),
        high=len(high),
        count=len(values),
    )
    return message, high[0].line


def _find_longest_stretch_above(points: Iterable[Point], limit: float) -> list[Point]:
    """Give the longest stretch of records above a limit."""
    runs = [
        list(run)
        for is_high, run in itertools.groupby(points, key=lambda point: point.value > limit)
        if is_high
    ]
    return max(runs, key=len, default=[])
