"""Detect a finite training loss that leaves its level, for a moment or for good.

In: the curves of one process. Out: the anomalies `loss-divergence`, and those of
`detectors.spikes`. Not here: losses that are not finite (`detectors.nonfinite`). Words after common
usage: spike (recovered or not), divergence.
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.leaps import loss_explosion
from postmortem.diagnosis.detectors.loss_of_training import (
    WORTH,
    TrainingLoss,
    compute_typical_log_change,
    from_to,
)
from postmortem.diagnosis.detectors.objectives import is_policy, is_rise_expected
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.rising_scores import has_risen_reward
from postmortem.diagnosis.detectors.spikes import (
    detect_lasting_jump,
    detect_late_spike,
    detect_receding_jump,
)
from postmortem.extraction.facts.series import Point

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
        return []  # `detectors.leaps` tells of the one, and the other is what is learnt for
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
