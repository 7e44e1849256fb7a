"""Detect a run that is still at chance level far behind its beginning.

In: the curves of one process. Out: the anomaly `no-progress`. Not here: what many records from the
beginning on prove (`detectors.trend`, `detectors.low_scores`), scores of next to nothing
(`detectors.nothing_scored`).

A late stretch of a sound run is level too, so that a level curve alone says nothing. It is where it
is level that tells: at the accuracy of a coin, at the cross entropy of a guess among thousands, at
one figure that no batch moves.
"""

import itertools
import math
import re
import statistics
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.aligned import Curves, as_share, count_trailing_repeats
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.loss_of_training import WORTH
from postmortem.diagnosis.detectors.objectives import is_policy, is_rise_expected
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.scores import list_score_names
from postmortem.extraction.facts.number_texts import count_digits
from postmortem.extraction.facts.series import Point

_FEW, _SEVERAL, _MANY = 3, 4, 12
_LITTLE: Final = 0.06
"""Share by which a loss falls that learns nothing but how frequent the classes are."""
_LOW, _LOW_RISE = 0.25, 0.1
"""An accuracy of nearly nothing, and by how much it may have risen."""
_EPOCHS, _STEPS = 3, 1000
"""From where on records are far behind the beginning."""
_COIN: Final = (0.42, 0.58)
_NEAR_COIN: Final = (0.36, 0.64)
_OF_TWO: Final = (0.62, 0.8)
"""Cross entropies of a guess between two."""
_LATEST: Final = 20
_ROUND: Final = (2, 10, 100, 1000)
_AT_GUESS: Final = 1e-3
_RISEN: Final = 1.1
_HIGHER: Final = 0.04
_FALLEN: Final = 0.97
_OF_THOUSANDS: Final = (8.5, 13.0)
"""Cross entropies of a guess among five thousand to four hundred thousand."""
_HARDLY: Final = 0.025
_UNMOVED: Final = 2e-4
"""Share of itself by which no batch moves a loss."""
_FINE: Final = 5
"""Digits of a figure that are enough to see it move."""
_MOST: Final = 0.5
"""Share of the whole loss that a part of it must be."""
_OF_TEST: Final = compile_lazily(r"test|eval", re.IGNORECASE)
_NO_ANSWER: Final = compile_lazily(
    r"reg|weight|decay|scale|aux|balance|best|smooth|lambda|coef", re.IGNORECASE
)


def detect_chance_level(observed: Observed) -> Iterable[Anomaly]:
    """Find figures that stand at those of a guess."""
    curves = observed.curves
    for way in (
        _find_coin_flip_accuracy,
        _find_hardly_changed_answers,
        _find_uniform_guess_loss,
        _find_log_class_count_loss,
        _find_unmoved_loss_part,
        _find_identical_evaluations,
        _find_identical_rewards,
    ):
        evidence = way(curves)
        if evidence is not None:
            return [curves.shape("no-progress", *evidence)]
    return []


def _find_coin_flip_accuracy(curves: Curves) -> tuple[Message, int] | None:
    """Find accuracies of 50 % in several late epochs without a falling loss."""
    accuracies = {
        name: points
        for name in curves.of("accuracy")
        if len(points := curves.finite(name)) >= _SEVERAL
    }
    if not accuracies or is_policy(curves) or not _is_far(curves, _SEVERAL):
        return None
    if not _is_of_two(curves):
        return None
    if not all(_is_a_coin([point.value for point in points]) for points in accuracies.values()):
        return None
    name, points = next(iter(accuracies.items()))
    message = say(
        "{name} {first:.3g} at first, {last:.3g} at last, no better than a coin in {count} records",
        "{name} 开始时为 {first:.3g}，最后为 {last:.3g}，{count} 条记录都不比抛硬币好",
        name=name,
        first=points[0].value,
        last=points[-1].value,
        count=len(points),
    )
    return message, points[0].line


def _find_hardly_changed_answers(curves: Curves) -> tuple[Message, int] | None:
    """Find that many records leave the loss near its first level, and all accuracies low."""
    accuracies = _select_long(curves, curves.of("accuracy"))
    losses = [*_select_long(curves, (names.LOSS, names.EVAL_LOSS)).values()]
    if not (accuracies and losses and _is_from_start(curves)) or is_rise_expected(curves):
        return None
    if not (all(map(_has_hardly_fallen, losses)) and all(map(_is_low_still, accuracies.values()))):
        return None
    name, points = next(iter(accuracies.items()))
    message = say(
        "loss {first:.4g} at first, {last:.4g} after {count} records, {name} {accuracy:.3g}",
        "loss 开始时为 {first:.4g}，{count} 条记录后为 {last:.4g}，{name} 为 {accuracy:.3g}",
        first=losses[0][0].value,
        last=losses[0][-1].value,
        count=len(losses[0]),
        name=name,
        accuracy=points[-1].value,
    )
    return message, losses[0][0].line


def _has_hardly_fallen(points: Sequence[Point]) -> bool:
    """Say whether a loss ends within little of its first level."""
    values = [point.value for point in points]
    first = statistics.median(values[:_FEW])
    return 0 < (1 - _LITTLE) * first <= statistics.median(values[-max(_FEW, len(values) // 5) :])


def _select_long(curves: Curves, called: Iterable[str]) -> dict[str, Sequence[Point]]:
    """Select the curves of these names that have many finite points."""
    found = {name: curves.finite(name) for name in called}
    return {name: points for name, points in found.items() if len(points) >= _MANY}


def _is_low_still(points: Sequence[Point]) -> bool:
    """Say whether an accuracy is low from the first to the last record."""
    shares = [as_share(point.value) for point in points]
    return max(shares) <= _LOW and statistics.median(shares[-_FEW:]) - shares[0] < _LOW_RISE


def _is_from_start(curves: Curves) -> bool:
    """Say whether the records go from the first epochs on through many of them."""
    epochs = [point.value for point in curves.finite(names.EPOCH)]
    if epochs:
        return min(epochs) <= 1 and len(set(epochs)) >= _MANY
    points = curves.finite(names.LOSS)
    return len(points) >= _LATEST and not points[0].step > points[-1].step / _MANY


def _is_of_two(curves: Curves) -> bool:
    """Say whether the loss is that of a guess between two, or rises.

    Among more classes half of the answers right is much, and a late stretch of it level.
    """
    epochs = [point.value for point in curves.finite(names.EPOCH)]
    losses = [curves.finite(names.LOSS), curves.finite(names.EVAL_LOSS)]
    values = next(([point.value for point in points] for points in losses if points), [])
    if not values or (epochs and epochs[0] > _LATEST):
        return False
    third = max(1, len(values) // 3)
    head, tail = statistics.fmean(values[:third]), statistics.fmean(values[-third:])
    return (_OF_TWO[0] < head < _OF_TWO[1] and tail > _FALLEN * head) or tail > _RISEN * head > 0


def _is_a_coin(values: Sequence[float]) -> bool:
    """Say whether shares, maybe in per cent, are about a half throughout, and do not rise."""
    shares = [value / 100 for value in values] if max(values) > 1 else values
    third = max(1, len(shares) // 3)
    is_near = _NEAR_COIN[0] <= min(shares) <= max(shares) <= _NEAR_COIN[1]
    risen = statistics.fmean(shares[-third:]) - statistics.fmean(shares[:third])
    return is_near and _COIN[0] <= statistics.median(shares) <= _COIN[1] and risen < _HIGHER


def _find_uniform_guess_loss(curves: Curves) -> tuple[Message, int] | None:
    """Find a loss that stays, late in the run, at the cross entropy of a guess among thousands."""
    if is_rise_expected(curves) or not _is_far(curves, _FEW):
        return None
    for name in (names.LOSS, names.EVAL_LOSS):
        points = curves.finite(name)
        values = [point.value for point in points]
        if len(values) < _FEW or not _OF_THOUSANDS[0] < min(values) <= max(values):
            continue
        is_level = max(values) < min(_OF_THOUSANDS[1], (1 + _HARDLY) * min(values))
        if is_level and values[-1] > _FALLEN * values[0]:
            message = say(
                "{name} {first:.4g} at first, {last:.4g} at last: a guess among thousands",
                "{name} 开始时为 {first:.4g}，最后为 {last:.4g}：相当于在数千类中猜测",
                name=name,
                first=values[0],
                last=values[-1],
            )
            return message, points[0].line
    return None


def _find_log_class_count_loss(curves: Curves) -> tuple[Message, int] | None:
    """Find a loss that is, record after record, the logarithm of a round number of classes."""
    if is_rise_expected(curves) or not _is_far(curves, _SEVERAL):
        return None
    points = curves.finite(names.LOSS)
    for classes in _ROUND:
        guess = math.log(classes)
        if len(points) >= _SEVERAL and all(
            abs(point.value - guess) < _AT_GUESS * guess for point in points
        ):
            message = say(
                "loss {first:.5g} to {last:.5g} in {count} records: ln({classes})",
                "{count} 条记录的 loss 从 {first:.5g} 到 {last:.5g}：即 ln({classes})",
                first=points[0].value,
                last=points[-1].value,
                count=len(points),
                classes=classes,
            )
            return message, points[0].line
    return None


def _find_unmoved_loss_part(curves: Curves) -> tuple[Message, int] | None:
    """Find the greater part of a loss unmoved from batch to batch, far into the run."""
    whole = [point.value for point in curves.finite(names.LOSS)]
    if len(whole) <= _SEVERAL or is_rise_expected(curves) or not _is_far(curves, _FEW):
        return None
    for name in itertools.filterfalse(_NO_ANSWER.search, curves.of("loss", "entropy")):
        points = curves.finite(name)
        values = [point.value for point in points]
        is_part = name not in {names.LOSS, names.EVAL_LOSS} and len(values) > _SEVERAL
        if is_part and min(values) > _MOST * min(whole) and _is_unmoved(values):
            message = say(
                "{name} stays between {least:.6g} and {most:.6g}: no batch moves it",
                "{name} 一直在 {least:.6g} 与 {most:.6g} 之间：换 batch 也不变",
                name=name,
                least=min(values),
                most=max(values),
            )
            return message, points[0].line
    return None


def _is_unmoved(values: Sequence[float]) -> bool:
    """Say whether a figure of many digits moves in its last ones alone, and does move."""
    is_close = 0 < max(values) - min(values) < _UNMOVED * min(values)
    return is_close and min(map(count_digits, values)) >= _FINE


def _find_identical_evaluations(curves: Curves) -> tuple[Message, int] | None:
    """Find evaluations that give one loss to many digits, with training between them."""
    points = curves.finite(names.EVAL_LOSS)
    count = count_trailing_repeats([point.value for point in points])
    last = points[-count:] if count >= _FEW else []
    if not last or count_digits(last[0].value) <= _FINE or last[0].value < WORTH:
        return None
    lines = [point.line for point in curves.finite(names.LOSS)]
    apart = (
        any(previous.line < line <= current.line for line in lines)
        for previous, current in itertools.pairwise(last)
    )
    if not all(apart):
        return None
    message = say(
        "evaluation loss {value:.8g} in each of the last {count} evaluations",
        "最后 {count} 次评估的 loss 都是 {value:.8g}",
        value=last[0].value,
        count=count,
    )
    return message, last[0].line


def _find_identical_rewards(curves: Curves) -> tuple[Message, int] | None:
    """Find episode after episode with one and the same reward, which is no round figure."""
    for name in list_score_names(curves) if is_policy(curves) else ():
        points = curves.finite(name)
        values = [point.value for point in points]
        if not values or count_trailing_repeats(values) < len(values) or values[0].is_integer():
            continue
        is_late = len(values) >= _MANY and points[0].step >= _MANY
        if is_late or (_is_far(curves, _SEVERAL) and _is_evaluation_reward(name, values)):
            message = say(
                "{name} {value:.4g} in each of {count} records: the policy always does the same",
                "{count} 条记录的 {name} 都是 {value:.4g}：策略总是做同样的事",
                name=name,
                value=values[0],
                count=len(values),
            )
            return message, points[0].line
    return None


def _is_evaluation_reward(name: str, values: Sequence[float]) -> bool:
    """Say whether rewards are of evaluations, each of them the same to several digits."""
    return (
        bool(_OF_TEST.search(name))
        and len(values) >= _SEVERAL
        and count_digits(values[0]) >= _SEVERAL
    )


def _is_far(curves: Curves, epochs: int) -> bool:
    """Say whether the records reach, or begin, far behind the beginning of the run."""
    epochs_printed = [point.value for point in curves.finite(names.EPOCH)]
    if (
        epochs_printed
        and max(epochs_printed) >= _EPOCHS
        and (len(set(epochs_printed)) >= epochs or epochs_printed[0] >= _EPOCHS)
    ):
        return True
    points: Sequence[Point] = curves.finite(names.LOSS) or curves.finite(names.EVAL_LOSS)
    return bool(points) and points[0].step >= _STEPS
