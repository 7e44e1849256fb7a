"""Detect metrics that are stuck where no learning model puts them: constant, 0, one answer only.

In: the curves of one process. Out: the anomalies `stuck-score`, `nothing-moves`, `collapse`. Not
here: a loss that stands still or freezes (`detectors.trend`), a score that is lost
(`detectors.scores`), a game of two that one side has won (`detectors.one_sided`).

One such figure may be chance. It counts beside a loss that does not fall meanwhile, or beside
others that say the same.
"""

import itertools
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves, count_trailing_repeats
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.loss_of_training import (
    CLAMPED,
    TrainingLoss,
    compute_standard_deviation,
)
from postmortem.diagnosis.detectors.objectives import is_policy
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.scores import list_score_names
from postmortem.diagnosis.detectors.trend import is_young
from postmortem.extraction.facts.series import Point

_FEW: Final = 4
_FEWEST: Final = 6
_SEVERAL: Final = 3
_MANY: Final = 8
_LOW: Final = 0.65
"""A share above which one and the same score may be all that can be had."""
_STANDS: Final = 0.88
"""Share of its first half to which a loss that learns nothing comes in the second."""
_MOSTLY: Final = 0.6
"""Share of the records that show what a figure does."""
_DIGITS: Final = 4
"""Digits of a printed figure with which its coming again is no matter of rounding."""
_VERY_MANY: Final = 20
_REACHED: Final = 0.995
"""Share of its best from which on a score that stands has come where it was to come."""
_NEARLY_ALL: Final = 0.8
_OF_MOVES: Final = 0.04
"""Share of the records whose steps fall, from which on they count the moves of episodes."""
_BEGINNING: Final = 0.2
"""Share of the last step up to which a record is of the beginning."""
_GONE: Final = 0.15
"""Share of its first value to which what a policy had has come down."""
_NOTHING: Final = 1e-3
_HALF_A_DIGIT: Final = 1e-4
_OF_A_CLASSIFIER: Final = 0.1
"""Cross entropy below which nine of ten answers are right."""
_GUESSES: Final = 6.0
"""Cross entropy of a guess among some hundred classes."""
_AT_VOCABULARY: Final = 9.5
"""Cross entropy of a guess among some ten thousand words, where no loss stays that is learnt."""
_MANY_STEPS: Final = 2000
_MANY_EPOCHS: Final = 10
_FALLEN: Final = 0.98
_LEVEL: Final = 0.01
"""Share of itself within which a loss stands still."""
_LOWEST: Final = 0.006
_MOST_RATE: Final = 3.0
"""A rate of errors may be more than all, not many times as much: then it is in per cent."""
_ERROR_RATE: Final = compile_lazily(r"(?:^|[_/.-])[wctp]er$", re.IGNORECASE)
_OF_ONE_CLASS: Final = compile_lazily(r"(?:^|[_/])(?:precision|recall)(?:$|[_/])", re.IGNORECASE)
_NO_METRIC: Final = frozenset({names.EPOCH, names.LEARNING_RATE, names.LOSS_SCALE, names.MEMORY})


def detect_stuck_score(observed: Observed) -> Iterable[Anomaly]:
    """Find a low score that is one and the same value while the loss does not fall."""
    curves = observed.curves
    if is_policy(curves) or not _is_loss_flat(curves) or _is_no_classifier(curves):
        return []
    for name in list_score_names(curves):
        points = curves.points(name)
        values = [point.value for point in points]
        count = count_trailing_repeats(values)
        if count < max(_FEWEST, _MOSTLY * len(values)) or is_young(curves, points):
            continue
        if values[-1] == 0.0 or (
            0 < values[-1] < _LOW and _count_significant_digits(values[-1]) >= 1
        ):
            kind = "nothing-moves" if values[-1] == 0.0 else "stuck-score"
            message = say(
                "{name} {value:.4g} in the last {count} records, and the loss does not fall",
                "最后 {count} 条记录的 {name} 都是 {value:.4g}，loss 也没有下降",
                name=name,
                value=values[-1],
                count=count,
            )
            return [curves.shape(kind, message, points[-count].line)]
    return []


def _is_lost(values: Sequence[float], count: int) -> bool:
    """Say whether a score, the same in so many last records, is as low as it ever was."""
    return count < len(values) and values[-1] == min(values)


def _is_reached(values: Sequence[float], count: int) -> bool:
    """Say whether such a score is about as high as it ever was."""
    return count < len(values) and values[-1] >= _REACHED * max(values) > 0


def detect_constant_score(observed: Observed) -> Iterable[Anomaly]:
    """Find a score that has been one and the same from the first of many records on, or is lost.

    A task is not solved before anything is learnt, and what it has lost it does not know any more.
    A reward whose steps begin anew again and again is that of the moves of single episodes.
    """
    curves = observed.curves
    if _is_loss_falling(curves) and not is_policy(curves):
        return []
    for name in _list_whole_scores(curves):
        points = curves.finite(name)
        values = [point.value for point in points]
        count = count_trailing_repeats(values)
        if count < max(_VERY_MANY, _NEARLY_ALL * len(values)) or _is_whole(values[-1]):
            continue
        is_stuck = count >= 2 * _VERY_MANY and _is_begun(points) and not _is_reached(values, count)
        if is_stuck or _is_lost(values, count):
            message = say(
                "{name} {value:.4g} in the last {count} of {records} records",
                "{records} 条记录中最后 {count} 条的 {name} 都是 {value:.4g}",
                name=name,
                value=values[-1],
                count=count,
                records=len(values),
            )
            kind = "nothing-moves" if count == len(values) else "collapse"
            return [curves.shape(kind, message, points[-count].line)]
    return []


def _list_whole_scores(curves: Curves) -> list[str]:
    """List the scores but the rewards of single moves."""
    moves = {
        name
        for name in curves.of("reward")
        if _count_falling_steps(points := curves.finite(name)) > _OF_MOVES * len(points)
    }
    return [name for name in list_score_names(curves) if name not in moves]


def _count_falling_steps(points: Sequence[Point]) -> int:
    """Count the records whose step is lower than that of the one before."""
    return sum(after.step < before.step for before, after in itertools.pairwise(points))


def _is_whole(score: float) -> bool:
    """Say whether a score is all that can be had."""
    return score in {1.0, 100.0}


def _is_begun(points: Sequence[Point]) -> bool:
    """Say whether the first record is from the beginning of the run, as far as steps show."""
    return not points[0].step > _BEGINNING * points[-1].step


def _is_no_classifier(curves: Curves) -> bool:
    """Say whether a loss so small contradicts any low accuracy: it measures something else."""
    values = [abs(point.value) for point in curves.finite(names.LOSS)]
    return bool(values) and max(values) < _OF_A_CLASSIFIER


def detect_saturated_cross_entropy(observed: Observed) -> Iterable[Anomaly]:
    """Find a cross entropy of exactly the logarithm of the smallest float: the answer is certain.

    And wrong: that is where Caffe and others clamp a probability of 0.
    """
    curves = observed.curves
    points = [*curves.finite(names.LOSS)[1:], *curves.finite(names.EVAL_LOSS)[1:]]
    for point in points:
        if abs(point.value - CLAMPED) < _HALF_A_DIGIT:
            message = say(
                "loss {value:.6g} = -ln of the smallest float32: a probability of 0",
                "loss {value:.6g} = 最小 float32 的负对数：概率为 0",
                value=point.value,
            )
            return [curves.shape("collapse", message, point.line)]
    return []


def detect_near_total_error(observed: Observed) -> Iterable[Anomaly]:
    """Find a rate of errors near the whole, or an accuracy near 0, late in the run."""
    curves = observed.curves
    answers = _list_answer_metrics(curves)
    if not answers or _is_no_classifier(curves):
        return []
    is_level = observed.loss is not None and _is_level_at_last(observed.loss)
    if _is_loss_falling(curves) and not is_level:
        return []
    for name in answers:
        points = curves.finite(name)
        values = [point.value for point in points]
        if len(points) < _SEVERAL or not _is_hopeless(name, values):
            continue
        if is_level or _is_at_its_end(curves, points):
            message = say(
                "{name} {value:.4g} at last, no better in {count} records",
                "{name} 最后为 {value:.4g}，{count} 条记录里都没有好转",
                name=name,
                value=values[-1],
                count=len(values),
            )
            return [curves.shape("nothing-moves", message, points[0].line)]
    return []


def _is_level_at_last(loss: TrainingLoss) -> bool:
    """Say whether the later half of the loss stands still, whatever it came down from."""
    late = loss.values[len(loss.values) // 2 :]
    if len(late) < _MANY or min(late) <= 0:
        return False
    level = statistics.fmean(late)
    moved = statistics.fmean(late[len(late) // 2 :]) - statistics.fmean(late[: len(late) // 2])
    return compute_standard_deviation(late) < _LEVEL * level and abs(moved) < _LEVEL / 2 * level


def _list_answer_metrics(curves: Curves) -> list[str]:
    """List the metrics that count wrong or right answers."""
    return curves.of("error-rate", "accuracy")


def _is_hopeless(name: str, values: Sequence[float]) -> bool:
    """Say whether such a value of this metric means that all answers are wrong."""
    least, most = min(values), max(values)
    if _ERROR_RATE.search(name):
        return least >= 90 or 0.9 <= least <= most <= _MOST_RATE
    return 0 <= least <= most < _LOWEST


def _is_at_its_end(curves: Curves, points: Sequence[Point]) -> bool:
    """Say whether a figure has gone to 0, is of a late part of the run, or gets no better."""
    values = [point.value for point in points]
    is_gone = values[0] > 0 and _has_zero_tail(points)
    return is_gone or _is_late(curves, points) or _has_no_late_gain(curves, values)


def _has_no_late_gain(curves: Curves, values: Sequence[float]) -> bool:
    """Say whether many figures get no better behind the first pass over the data."""
    epochs = [point.value for point in curves.finite(names.EPOCH)]
    return len(values) >= _MANY and values[-1] < 1.5 * values[0] and bool(epochs and epochs[0] >= 1)


def _is_late(curves: Curves, points: Sequence[Point]) -> bool:
    """Say whether records are from far behind the beginning of the run.

    Or end there, beside a training loss that has not fallen meanwhile.
    """
    epochs = [point.value for point in curves.finite(names.EPOCH)]
    begins = points[0].step >= _MANY_STEPS or bool(epochs and epochs[0] >= _MANY_EPOCHS)
    has_loss = len(curves.finite(names.LOSS)) >= _SEVERAL
    return begins or (has_loss and points[-1].step >= _MANY_STEPS / 2)


def _is_loss_falling(curves: Curves) -> bool:
    """Say whether the loss falls, and is below that of a guess among many at last."""
    values = [point.value for point in curves.finite(names.LOSS)]
    return len(values) > 1 and values[-1] < min(_FALLEN * values[0], _GUESSES)


def detect_repeated_loss(observed: Observed) -> Iterable[Anomaly]:
    """Find a loss that has not fallen and comes again to the last of several digits.

    In most of the records with other figures, or by itself in all of many.
    """
    curves = observed.curves
    points = curves.points(names.LOSS)
    values = [point.value for point in points]
    count = count_trailing_repeats(values)
    if count < max(_SEVERAL, _MOSTLY * len(points)) or not _is_no_chance(values[-1], count):
        return []
    is_lasting = _count_equally_lasting(curves, count)
    is_all = count == len(points) >= (_FEW if _is_one_record_per_epoch(curves, points) else _FEWEST)
    if not (is_lasting or is_all) or values[-1] <= max(_NOTHING, _STANDS * values[0]):
        return []
    message = say(
        "loss {value:g} and {count} more figures are the same in the last {records} records",
        "最后 {records} 条记录的 loss 都是 {value:g}，另有 {count} 项指标也完全相同",
        value=values[-1],
        count=is_lasting,
        records=count,
    )
    return [curves.shape("nothing-moves", message, points[-count].line)]


def _count_equally_lasting(curves: Curves, count: int) -> int:
    """Count the other figures that are the same in so many records at the end."""
    return sum(
        count_trailing_repeats([point.value for point in curves.points(name)]) >= count
        for name in curves.by_name
        if name not in _NO_METRIC and name != names.LOSS and curves.finite(name)
    )


def _is_one_record_per_epoch(curves: Curves, points: Sequence[Point]) -> bool:
    """Say whether each record is of another pass over the data: no such mean comes again."""
    epochs = curves.by_line(names.EPOCH)
    epochs_of_points = [epochs[point.line] for point in points if point.line in epochs]
    return (
        len(set(epochs_of_points)) == len(points)
        and _count_significant_digits(points[-1].value) > _DIGITS
    )


def _is_no_chance(value: float, count: int) -> bool:
    """Say whether a figure has too many digits to come again by chance, or no loss stays there."""
    return _count_significant_digits(value) >= _DIGITS or (
        value > _AT_VOCABULARY and count >= _FEWEST
    )


def detect_single_answer(observed: Observed) -> Iterator[Anomaly]:
    """Find a classifier that knows one class only, a policy that gave up."""
    curves = observed.curves
    for found in (_detect_single_class(curves), _detect_collapsed_policy(curves)):
        if found is not None:
            yield found


def _detect_single_class(curves: Curves) -> Anomaly | None:
    """Find precision and recall that end at exactly 0 while the accuracy looks good."""
    zeros = [
        points
        for name in curves.called(_OF_ONE_CLASS)
        if _has_zero_tail(points := curves.points(name))
    ]
    high = any(
        point.value > 1 - _LOW
        for name in curves.of("accuracy")
        for point in curves.points(name)[-1:]
    )
    if len(zeros) < len(("precision", "recall")) or not high:
        return None
    message = say(
        "precision and recall are exactly 0 in the last {count} records",
        "最后 {count} 条记录的精确率和召回率恰好为 0",
        count=count_trailing_repeats([point.value for point in zeros[0]]),
    )
    return curves.shape("collapse", message, zeros[0][-_SEVERAL].line)


def _has_zero_tail(points: Sequence[Point]) -> bool:
    last = points[-_SEVERAL:]
    return len(last) == _SEVERAL and all(point.value == 0.0 for point in last)


def _detect_collapsed_policy(curves: Curves) -> Anomaly | None:
    """Find a policy whose entropy and whose score have both come down to a fraction, for good."""
    entropies = [*map(curves.finite, curves.of("entropy"))]
    scores = [*map(curves.finite, list_score_names(curves))]
    lost = next((points for points in entropies if _is_gone(points)), None)
    if lost is None or not scores or not all(map(_is_gone, scores)):
        return None
    message = say(
        "entropy {first:.3g} at first, {last:.3g} at last, and the score is lost with it",
        "熵开始时为 {first:.3g}，最后为 {last:.3g}，得分随之丢失",
        first=lost[0].value,
        last=lost[-1].value,
    )
    return curves.shape("collapse", message, lost[len(lost) // 2].line)


def _is_gone(points: Sequence[Point]) -> bool:
    """Say whether the later half has come down to a fraction of the first record."""
    late = [point.value for point in points[len(points) // 2 :]]
    return (
        len(points) >= _FEWEST
        and points[0].value > 0
        and statistics.median(late) < _GONE * points[0].value
    )


def _is_loss_flat(curves: Curves) -> bool:
    """Say whether there is a loss, and the later half of it is about as high as the earlier."""
    name = names.LOSS if names.LOSS in curves.by_name else names.EVAL_LOSS
    values = [point.value for point in curves.finite(name)]
    if len(values) < _FEWEST:
        return False
    half = len(values) // 2
    early, late = statistics.median(values[:half]), statistics.median(values[half:])
    if early == 0.0:
        return False
    return late >= (_STANDS * early if early > 0 else early)


def _count_significant_digits(value: float) -> int:
    """Count the digits of a figure but leading zeros."""
    return len(f"{abs(value):.12g}".replace(".", "").lstrip("0"))
