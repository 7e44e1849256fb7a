"""Detect what validation tells beside training: overfitting, and a validation that learns nothing.

In: the curves of one process. Out: the anomalies `overfits`, `validation-at-chance`. Not here:
curves that are judged by themselves (`detectors.trend`, `detectors.scores`).

The limits are set so that sound runs stay silent: their validation loss rises by up to 17 % above
its best while the score still improves.
"""

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves, as_share
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.objectives import is_rise_expected
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.scores import SHARES
from postmortem.extraction.facts.series import Point

_FEWEST: Final = 5
"""Evaluations that show a course."""
_RISE: Final = 1.2
"""Times its best level, from which on a validation loss has risen where a score worsens."""
_RISE_ALONE: Final = 1.3
"""The same where no score is printed."""
_LEARNT: Final = 0.9
"""Times its level at the best evaluation, to which a training loss that is still learnt falls."""
_WORSE: Final = 0.005
"""Share of its best by which a score is worse at last."""
_NEAR_CHANCE: Final = 0.05
"""Share within which a score is one in so many classes."""
_MOST_CLASSES: Final = 100
_GAP: Final = 0.25
"""By how much a training score is above a validation score that never left chance."""


def detect_overfitting(observed: Observed) -> Iterator[Anomaly]:
    """Find a validation loss that rises for long while the training loss goes on falling."""
    curves = observed.curves
    if is_rise_expected(curves):
        return
    for name in _list_validation_losses(curves):
        points = curves.finite(name)
        best = _find_turn(points)
        if best is None or not _is_training_learning(curves, points[best].line):
            continue
        level = _compute_late_level(points)
        rise = level / points[best].value
        scores = [_is_worse_at_last(curves.finite(score)) for score in _list_scores(curves)]
        if any(scores) or (not scores and rise >= _RISE_ALONE):
            message = say(
                "{name} {best:.4g} at best, {late:.4g} at last, while the training loss falls on",
                "{name} 最低 {best:.4g}，最后 {late:.4g}，而训练 loss 仍在下降",
                name=name,
                best=points[best].value,
                late=level,
            )
            yield curves.shape("overfits", message, points[best].line)
            return


def detect_validation_at_chance(observed: Observed) -> Iterable[Anomaly]:
    """Find a validation accuracy that never leaves chance while the training accuracy rises."""
    curves = observed.curves
    judged = _select_judged(curves, "accuracy")
    trained = [curves.finite(name) for name in curves.of("accuracy") if name not in judged]
    for name in judged:
        points = curves.finite(name)
        if len(points) < _FEWEST:
            continue
        values = [as_share(point.value) for point in points]
        level = statistics.median(values)
        learnt = max((as_share(one[-1].value) for one in trained if one), default=0.0)
        if _is_chance(level, values) and learnt >= level + _GAP:
            message = say(
                "{name} stays at {level:.4g}, training accuracy {learnt:.4g}",
                "{name} 一直停在 {level:.4g}，训练准确率 {learnt:.4g}",
                name=name,
                level=level,
                learnt=learnt,
            )
            return [curves.shape("validation-at-chance", message, points[0].line)]
    return []


def _select_judged(curves: Curves, *classes: str) -> list[str]:
    """Select the names of some classes of metrics that are of the validation."""
    judged = set(curves.of("validation"))
    return [name for name in curves.of(*classes) if name in judged]


def _list_validation_losses(curves: Curves) -> list[str]:
    """List the losses of the validation; beside their sum its parts show nothing."""
    if len(curves.finite(names.EVAL_LOSS)) >= _FEWEST:
        return [names.EVAL_LOSS]
    return _select_judged(curves, "loss")


def _list_scores(curves: Curves) -> list[str]:
    """List the scores of the validation that have as many records as show a course."""
    return [
        name
        for name in _select_judged(curves, *SHARES, "detection", "quality")
        if len(curves.finite(name)) >= _FEWEST
    ]


def _find_turn(points: Sequence[Point]) -> int | None:
    """Give the index of the best evaluation, if the loss rises from there to the end."""
    if len(points) < _FEWEST:
        return None
    values = [point.value for point in points]
    best = min(range(len(values)), key=values.__getitem__)
    behind = values[best + 1 :]
    half = len(behind) // 2
    is_long = len(behind) >= max(3, len(values) // 4)
    if not is_long or values[best] <= 0:
        return None
    is_rising = statistics.median(behind[half:]) > statistics.median(behind[:half])
    return best if is_rising and _compute_late_level(points) >= _RISE * values[best] else None


def _compute_late_level(points: Sequence[Point]) -> float:
    """Give the median of the last evaluations: a fifth of them, three at least."""
    return statistics.median(point.value for point in points[-max(3, len(points) // 5) :])


def _is_training_learning(curves: Curves, line: int) -> bool:
    """Say whether the training loss falls on behind a line."""
    points = curves.finite(names.LOSS)
    before = [point.value for point in points if point.line <= line][-_FEWEST:]
    behind = [point.value for point in points if point.line > line]
    if not before or len(behind) < 3:
        return False
    last = statistics.median(behind[-_FEWEST:])
    return 0 <= last <= _LEARNT * statistics.median(before)


def _is_worse_at_last(points: Sequence[Point]) -> bool:
    """Say whether a score had its best before the last third, and is worse since."""
    values = [point.value for point in points]
    third = max(1, len(values) // 3)
    best = max(values[:-third])
    return max(values[-third:]) < best - _WORSE * abs(best)


def _is_chance(level: float, values: Sequence[float]) -> bool:
    """Say whether all scores are one in so many classes."""
    if level <= 0 or max(values) - min(values) > 2 * _NEAR_CHANCE * level:
        return False
    classes = round(1 / level)
    return 2 <= classes <= _MOST_CLASSES and math.isclose(level * classes, 1, rel_tol=_NEAR_CHANCE)
