"""Detect a critic's error that grows by orders of magnitude and does not come back.

In: the curves of one process. Out: the anomaly `loss-divergence`, or `metric-absurd` where the
scores that might explain it are not printed. Not here: the training loss (`detectors.divergence`),
objectives of a policy, which have a sign and may go anywhere.

An error of values is a square: it has a level. It may rise with the rewards from which it is
learnt, and while it has nothing to tell apart at first.
"""

import itertools
import statistics
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.loss_of_training import WORTH, from_to
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.scores import list_score_names
from postmortem.extraction.facts.series import Point

_FEWEST: Final = 10
_FEW: Final = 5
_TIMES: Final = 100
_BEYOND_RETURNS: Final = 10_000
"""Growth that no returns explain; less of it may follow scores that are not printed."""
_STAYS: Final = 0.1
"""Share of its highest figure above which the last ones are not on their way back."""
_BETTER: Final = 0.25
"""Share of the whole range of a score by which it is higher at last than at first."""


def detect_critic_error_growth(observed: Observed) -> Iterable[Anomaly]:
    """Find an error of values that has grown a hundredfold while no score has got better."""
    curves = observed.curves
    if curves.of("adversarial"):
        return []
    for name in curves.of("value-error"):
        points = curves.finite(name)
        if _has_grown(points) and not _has_better_score(curves):
            values = [point.value for point in points]
            early, late = _compute_early_level(values), _compute_late_level(values)
            message = say("{name}: {rise}", name=name, rise=from_to(early, late))
            line = next(point.line for point in points if point.value > 10 * early)
            is_proved = _is_scored(curves) or late > _BEYOND_RETURNS * early
            return [
                curves.shape("loss-divergence" if is_proved else "metric-absurd", message, line)
            ]
    return []


def _is_growing_each_record(values: Sequence[float]) -> bool:
    """Say whether a few records grow from each to the next, beyond what returns explain."""
    is_growing = all(current > previous for previous, current in itertools.pairwise(values))
    return len(values) >= _FEW and is_growing and values[-1] > _BEYOND_RETURNS * abs(values[0])


def _compute_early_level(values: Sequence[float]) -> float:
    """Give the level of the first records."""
    return statistics.median(values[: max(3, len(values) // 6)])


def _compute_late_level(values: Sequence[float]) -> float:
    return statistics.median(values[-max(3, len(values) // 6) :])


def _has_grown(points: Sequence[Point]) -> bool:
    """Say whether a square stays a hundred times above its first level, which is no mere 0."""
    values = [point.value for point in points]
    if len(values) < _FEWEST and not _is_growing_each_record(values):
        return False
    early, late = _compute_early_level(values), _compute_late_level(values)
    return (
        min(values) >= 0
        and late > _TIMES * max(early, WORTH / _TIMES)
        and late > WORTH * _TIMES
        and late > _STAYS * max(values)
        and early > 0
    )


def _is_scored(curves: Curves) -> bool:
    """Say whether a score is printed at all."""
    return any(len(curves.finite(name)) >= _FEWEST for name in list_score_names(curves))


def _has_better_score(curves: Curves) -> bool:
    """Say whether a score ends clearly above its first level: larger rewards, larger errors."""
    for name in list_score_names(curves):
        values = [point.value for point in curves.finite(name)]
        if len(values) >= _FEWEST:
            third = len(values) // 3
            rise = statistics.median(values[-third:]) - statistics.median(values[:third])
            if rise > _BETTER * (max(values) - min(values)) > 0:
                return True
    return False
