"""Detect what validation tells beside training: overfitting, and a validation that learns nothing.

In: the curves of one process. Out: the anomalies `overfits`, `validation-left-behind`. Not here: a
validation at chance (`detectors.curve_features`), curves that are judged by themselves
(`detectors.trend`, `detectors.scores`).

The limits are set so that sound runs stay silent: their validation loss rises by up to 17 % above
its best while the score still improves.
"""

import itertools
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.curve_roles import is_rise_expected
from postmortem.diagnosis.detectors.observed import Anomaly, Curves, Observed
from postmortem.diagnosis.detectors.scores import SHARES, find_risen_score
from postmortem.extraction.facts.series import Point

_FEWEST: Final = 5
"""Evaluations that show a course."""
_RISE: Final = 0.2
"""Share of its scale by which a validation loss has risen above its best where a score worsens."""
_RISE_LEVEL: Final = 0.25
"""The same where no score improves."""
_RISE_ALONE: Final = 0.3
"""The same where no score is printed."""
_NOISES: Final = 2.0
"""The same in times of what two neighbouring evaluations differ by: the best of many noisy ones is
a lucky one."""
_LEARNT: Final = 0.1
"""Share of its scale by which a training loss that is still learnt falls behind the best."""
_BY_HEART: Final = 0.05
"""Share of its first level at which a training loss has nothing left to fall."""
_WORSE: Final = 0.01
"""Share of its best by which a score is worse at last."""
_ERRORS: Final = ("distance", "error-rate", "error-share")
"""Classes of metrics that measure by how much answers are wrong: no sureness makes them rise."""
_MANY: Final = 20
"""Records of a reward that show by how much it rises."""
_APART: Final = 0.35
"""Share of that rise within which the evaluations are to begin like it, and stay."""
_COURSE: Final = 10
"""Records of an error that show how far it falls."""
_UNLEARNT, _FALLEN = 0.75, 0.25
"""Shares of its first value above which an error is not learnt, and below which it is."""
_LEVEL: Final = 0.15
"""The same of their level at last."""


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
        if _is_worse_for_good(curves, name, _compute_rise(points, best)):
            message = say(
                "{name} {best:.4g} at best, {late:.4g} at last, while the training loss falls on",
                name=name,
                best=points[best].value,
                late=_compute_late_level(points),
            )
            yield curves.shape("overfits", message, points[best].line)
            return


def _is_worse_for_good(curves: Curves, name: str, rise: float) -> bool:
    """Say whether the scores worsen with a loss, or none improves while it rises far."""
    scores = [_compute_late_gain(curves.finite(score)) for score in _list_scores(curves)]
    is_better = any(gain > 0 for gain in scores)
    if any(gain < -_WORSE for gain in scores):
        return True
    is_error = name != names.EVAL_LOSS and name in curves.of(*_ERRORS)
    return not is_better and (is_error or rise >= (_RISE_LEVEL if scores else _RISE_ALONE))


def detect_validation_left_behind(observed: Observed) -> Iterable[Anomaly]:
    """Find a reward of evaluations that stays where it began while that of the training rises."""
    curves = observed.curves
    judged = _select_judged(curves, "reward")
    trained = [name for name in curves.of("reward") if name not in judged]
    for name, of_training in itertools.product(judged, trained):
        points, others = curves.finite(name), curves.finite(of_training)
        if len(points) < _FEWEST or len(others) < _MANY:
            continue
        first, level = points[0].value, _compute_late_level(points)
        begun, late = others[0].value, _compute_late_level(others)
        gain = late - begun
        best = max(point.value for point in points)
        is_alike = abs(first - begun) <= _APART * gain
        if is_alike and best - first <= _APART * gain and level - first <= _LEVEL * gain:
            message = say(
                "{name} {first:.4g} at first, {level:.4g} at last, while {trained} rises from"
                " {begun:.4g} to {late:.4g}",
                name=name,
                first=first,
                level=level,
                trained=of_training,
                begun=begun,
                late=late,
            )
            return [curves.shape("validation-left-behind", message, points[0].line)]
    return _detect_error_left_behind(curves)


def _detect_error_left_behind(curves: Curves) -> list[Anomaly]:
    """Find an error that hardly falls in the validation while that of the training is learnt."""
    if is_rise_expected(curves) or find_risen_score(curves, of_validation=True) is not None:
        return []
    pairs = [
        (names.EVAL_LOSS, names.LOSS),
        *((name, f"avg_{name}") for name in _list_counterparts(curves)),
    ]
    for name, of_training in pairs:
        points, others = curves.finite(name), curves.finite(of_training)
        if min(len(points), len(others)) < _COURSE or min(points[0].value, others[0].value) <= 0:
            continue
        first, level = points[0].value, _compute_late_level(points)
        begun, late = others[0].value, _compute_late_level(others)
        is_alike = abs(first - begun) <= _APART * begun
        if is_alike and level >= _UNLEARNT * first and 0 <= late <= _FALLEN * begun:
            message = say(
                "{name} {first:.4g} at first, {level:.4g} at last, while {trained} falls from"
                " {begun:.4g} to {late:.4g}",
                name=name,
                first=first,
                level=level,
                trained=of_training,
                begun=begun,
                late=late,
            )
            return [curves.shape("overfits", message, points[0].line)]
    return []


def _select_judged(curves: Curves, *classes: str) -> list[str]:
    """Select the names of some classes of metrics that are of the validation."""
    judged = set(curves.of("validation"))
    return [name for name in curves.of(*classes) if name in judged]


def _list_validation_losses(curves: Curves) -> list[str]:
    """List the losses of the validation; beside their sum its parts show nothing."""
    if len(curves.finite(names.EVAL_LOSS)) >= _FEWEST:
        return [names.EVAL_LOSS]
    return _select_judged(curves, "loss", *_ERRORS) + _list_counterparts(curves)


def _list_counterparts(curves: Curves) -> list[str]:
    """List the errors that stand apart, fewer than those of the training of the same name."""
    return [
        name
        for name in curves.of(*_ERRORS)
        for trained in (f"train_{name}", f"avg_{name}")
        if len(points := curves.finite(name)) < len(others := curves.finite(trained))
        and not {point.line for point in points} & {point.line for point in others}
    ]


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
    if len(behind) < max(3, len(values) // 4):
        return None
    is_rising = statistics.median(behind[half:]) > statistics.median(behind[:half])
    noise = statistics.median(abs(one - next_one) for one, next_one in itertools.pairwise(behind))
    is_above_noise = _compute_late_level(points) - values[best] >= _NOISES * noise
    return best if is_rising and is_above_noise and _compute_rise(points, best) >= _RISE else None


def _compute_rise(points: Sequence[Point], best: int) -> float:
    """Give by which share of its scale a loss is above its best at last."""
    return (_compute_late_level(points) - points[best].value) / _compute_scale(
        points[0].value, points[best].value
    )


def _compute_scale(first: float, best: float) -> float:
    """Give what a change of a loss is measured by: its level; of one below 0, its range as well."""
    return max(abs(best), first - best if best <= 0 else 0.0, 1e-12)


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
    level, last = statistics.median(before), statistics.median(behind[-_FEWEST:])
    is_by_heart = 0 <= last <= _BY_HEART * points[0].value
    return is_by_heart or last <= level - _LEARNT * _compute_scale(points[0].value, level)


def _compute_late_gain(points: Sequence[Point]) -> float:
    """Give by which share of its best before a score is better in its last third."""
    values = [point.value for point in points]
    third = max(1, len(values) // 3)
    best = max(values[:-third])
    return (max(values[-third:]) - best) / max(abs(best), 1e-12)
