"""Detect the trend of a finite training loss: falling, standing still, freezing, repeating itself.

In: the curves of one process. Out: the anomalies `loss-falls`, `plateau*`, `collapse`, and
`nothing-moves` of an epoch that repeats the losses of the one before. Not here: losses that are not
finite (`detectors.nonfinite`), that leave their level (`detectors.divergence`).

Only a run whose samples come in the same order each time shows that no weight has moved; then
nothing shows it sooner.
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.log_text import count_digits
from postmortem.core.message import say
from postmortem.diagnosis.detectors.curve_roles import is_rise_expected
from postmortem.diagnosis.detectors.observed import (
    WORTH,
    Anomaly,
    Curves,
    Observed,
    TrainingLoss,
    compute_standard_deviation,
    from_to,
)
from postmortem.diagnosis.detectors.scores import find_risen_score
from postmortem.extraction.facts.series import Point

_YOUNG: Final = 100
"""Steps before which a loss need not have moved."""
_LEVEL_FROM: Final = 8
"""Records that show a level."""
_STILL: Final = 1e-3
"""Share of its level within which a loss stands still, however few its records."""
_RESUMED: Final = 0.5
"""Share of the last step beyond which the first record is none of the beginning."""
_COARSE: Final = 4
"""Units of the last printed digit by which a loss must have moved to be more than rounded."""
_DECAYED: Final = 0.01
"""Share of its highest below which a rate moves nothing any more."""
_HARDLY: Final = 0.98
_LAST: Final = 5
_GOOD: Final = 0.75
"""A share of right answers that no guess has, but for classes of very uneven size."""
"""Records of one value with which a frozen curve ends."""


def detect_falling_loss(observed: Observed) -> Iterable[Anomaly]:
    """Find a loss that falls clearly."""
    loss = observed.loss
    if loss is None or observed.curves.of("policy-change"):
        return []  # a clipped objective is near 0 from the first update on
    first, best = loss.values[0], min(loss.values)
    if not (0 < loss.tail < 0.85 * loss.head or (first > 0 and best < 0.6 * first)):
        return []
    if _is_running_mean_flat([point.value for point in observed.curves.so_far(names.LOSS)]):
        return []
    return [observed.curves.shape("loss-falls", from_to(first, best), loss.points[0].line)]


def _is_running_mean_flat(means: Sequence[float]) -> bool:
    """Say whether the running means that are printed with batch losses do not fall."""
    third = len(means) // 3
    # The first of them is that of one batch.
    head, tail = means[1 : third + 1], means[-third:]
    return third > 1 and statistics.fmean(tail) >= _HARDLY * statistics.fmean(head)


def detect_loss_plateau(observed: Observed) -> Iterator[Anomaly]:
    """Find a loss that stays at one level, and one that never left its first."""
    curves, loss = observed.curves, observed.loss
    if loss is None or not _is_flat(loss) or loss.is_broken or is_young(curves, loss.points):
        return
    if is_rise_expected(curves) or not _may_be_from_the_beginning(curves, loss.points):
        return
    if _has_learnt(curves) or find_risen_score(curves) is not None:
        return
    level = _compute_level(loss)
    message = say(
        "loss stays at {level:.4g} over {count} records",
        level=level,
        count=len(loss.values),
    )
    yield curves.shape("plateau", message, loss.points[-1].line)
    if _has_started_at_level(loss, level) and (
        loss.points[0].step <= 0.2 * loss.points[-1].step
        or (math.isnan(loss.points[0].step) and names.EPOCH in curves.by_name)
    ):
        message = say(
            "loss {first:.4g} at first, {last:.4g} at last",
            first=loss.values[0],
            last=loss.values[-1],
        )
        yield curves.shape("plateau-from-start", message, loss.points[0].line)


def _has_learnt(curves: Curves) -> bool:
    """Say whether an accuracy is good and moves: what it shows was learnt before the records."""
    for name in curves.of("accuracy"):
        values = [point.value for point in curves.finite(name)]
        late = statistics.median(values[len(values) // 2 :]) if len(values) >= _LEVEL_FROM else 0.0
        if late >= (_GOOD if max(values, default=0.0) <= 1 else 100 * _GOOD):
            return len(set(values)) > len(values) // 4 and late > values[0]
    return False


def detect_frozen_loss(observed: Observed) -> Iterable[Anomaly]:
    """Find a loss that freezes at one value, or that settles above what it had reached."""
    loss = observed.loss
    if loss is None:
        return []
    if _is_frozen(loss.values) and not _is_at_rest(observed.curves, loss):
        value = loss.values[-1]
        message = say("loss frozen at {value:g}", value=value)
        return [observed.curves.shape("collapse", message, loss.points[-_LAST].line)]
    if loss.is_broken or is_rise_expected(observed.curves):
        return []
    return _detect_loss_settled_higher(observed.curves, loss)


def _compute_level(loss: TrainingLoss) -> float:
    return abs(statistics.fmean(loss.values))


def _is_flat(loss: TrainingLoss) -> bool:
    """Say whether a loss stays at a level other than 0: by its noise, or to the last digits."""
    level = _compute_level(loss)
    spread = max(loss.values) - min(loss.values)
    return (_is_level(loss, level) or spread < _STILL * level) and level > 0


def _is_level(loss: TrainingLoss, level: float) -> bool:
    """Say whether a loss has little noise and moves by no more than its noise explains."""
    moved = abs(loss.tail - loss.head)
    noise = 0.05 if len(loss.values) >= 20 else 0.01
    return (
        len(loss.values) >= _LEVEL_FROM
        and moved < 0.02 * level
        and compute_standard_deviation(loss.values) < noise * level
        and not (
            moved > 0.008 * level
            and moved > 3 * _estimate_chance_difference(loss.values, loss.third)
        )
    )


def _estimate_chance_difference(values: Sequence[float], third: int) -> float:
    """Estimate by how much the means of the first and the last third differ by chance.

    It is taken from the differences of neighbours.
    """
    noise = math.sqrt(
        statistics.fmean(
            (current - previous) ** 2 for previous, current in itertools.pairwise(values)
        )
        / 2
    )
    return noise * math.sqrt(2 / third)


def _has_started_at_level(loss: TrainingLoss, level: float) -> bool:
    """Say whether the first of many records stood at the level already, and it is worth leaving."""
    return len(loss.values) >= 12 and abs(loss.values[0] - level) < 0.03 * level and level > 0.3


def _may_be_from_the_beginning(curves: Curves, points: Sequence[Point]) -> bool:
    """Say whether nothing shows that the records are of a late stretch, which is flat by nature.

    A resumed run begins at a step, or in an epoch, that many went before.
    """
    epochs = [point.value for point in curves.finite(names.EPOCH)]
    is_late = points[0].step > _RESUMED * points[-1].step and points[0].step > 2 * len(points)
    return not is_late and not (epochs and epochs[0] > max(2.0, _RESUMED * epochs[-1]))


def is_young(curves: Curves, points: Sequence[Point]) -> bool:
    """Say whether all records, about one a step, are from the first steps of the first pass.

    That is too early to expect anything.
    """
    epochs = [point.value for point in curves.finite(names.EPOCH)]
    # `Epoch: [0][12/60]` is counted; a Trainer's 0.12 stands for many steps.
    is_counted = bool(epochs) and all(epoch.is_integer() for epoch in epochs)
    is_each_step = (
        is_counted
        if math.isnan(points[0].step)
        else points[-1].step - points[0].step < 2 * len(points)
    )
    is_first = math.isnan(points[0].step) or points[0].step < _YOUNG
    return (
        is_first
        and len(points) < _YOUNG
        and len(set(map(math.floor, epochs))) <= 1
        and is_each_step
    )


def _is_frozen(values: Sequence[float]) -> bool:
    """Say whether a loss that has moved ends in one value, other than 0."""
    return (
        len(values) >= 10
        and len(set(values[-_LAST:])) == 1
        and len(set(values)) > 3
        and values[-1] != 0.0
    )


def _is_at_rest(curves: Curves, loss: TrainingLoss) -> bool:
    """Say whether a loss had hardly moved any more in its last digit, or its rate has decayed."""
    rates = curves.by_line(names.LEARNING_RATE)
    own = rates.get(loss.points[-_LAST].line, math.nan)
    if rates and own <= _DECAYED * max(rates.values(), default=0.0):
        return True
    unit = 10.0 ** -max(_count_decimals(value) for value in loss.values)
    frozen = next(
        index
        for index in range(len(loss.values), 0, -1)
        if loss.values[index - 1] != loss.values[-1]
    )
    before = loss.values[max(0, frozen - 6) : frozen]
    moves = [abs(current - previous) for previous, current in itertools.pairwise(before)]
    return bool(moves) and statistics.median(moves) <= _COARSE * unit


def _count_decimals(value: float) -> int:
    """Count the decimals of a printed figure."""
    text = f"{value:.12g}"
    return len(text.partition(".")[2]) if "e" not in text else 12


def _detect_loss_settled_higher(curves: Curves, loss: TrainingLoss) -> list[Anomaly]:
    """Find a loss that was lower at first and then stands still at a higher level to the end.

    What had been learned is lost.
    """
    values = loss.values
    last = max(_LEVEL_FROM, int(0.4 * len(values)))
    tail = values[-last:]
    level, best = statistics.fmean(tail), min(values[:-last], default=math.inf)
    if not (
        (best > WORTH or best < 0)
        and level - best > 0.25 * abs(best)
        and level - values[0] > 0.1 * abs(values[0])
        and compute_standard_deviation(tail) < 0.02 * abs(level)
    ):
        return []
    message = say(
        "loss {best:.4g} at best, then level at {level:.4g} for {count} records",
        best=best,
        level=level,
        count=last,
    )
    return [curves.shape("collapse", message, loss.points[-last].line)]


_FEWEST: Final = 4
"""Losses that come again one after the other."""
_DIGITS: Final = 3


def detect_repeated_epoch(observed: Observed) -> Iterable[Anomaly]:
    """Find such an epoch."""
    curves = observed.curves
    epochs = curves.by_line(names.EPOCH)
    by_epoch: dict[float, list[float]] = {}
    for point in curves.finite(names.LOSS):
        if point.line in epochs:
            by_epoch.setdefault(epochs[point.line] // 1, []).append(point.value)
    numbers = sorted(by_epoch)
    for number in numbers[1:]:
        before, values = by_epoch.get(number - 1, []), by_epoch[number]
        if (
            len(values) >= _FEWEST
            and values == before[: len(values)]
            and (len(set(values)) >= _FEWEST - 1 and max(map(count_digits, values)) >= _DIGITS)
        ):
            message = say(
                "epoch {number:g} has the {count} losses of epoch {before:g}, to the last digit",
                number=number,
                count=len(values),
                before=number - 1,
            )
            line = next(line for line, epoch in epochs.items() if epoch // 1 == number)
            return [curves.shape("nothing-moves", message, line)]
    return []
