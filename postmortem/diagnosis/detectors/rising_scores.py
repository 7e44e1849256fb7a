"""Detect a score or reward that rises clearly: something is learnt, whatever the loss shows.

In: the curves of one process. Out: the anomaly `score-rises`. Not here: a loss that falls
(`detectors.trend`), a score that is lost again (`detectors.scores`).
"""

import itertools
import math
import statistics
from collections.abc import Iterator
from typing import Final

from postmortem.core.message import say
from postmortem.diagnosis.curves.course import get_levels, measure_course
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.role_curves import RoleCurve, choose_role_curves

_ROLES: Final = ("eval_score", "score", "eval_reward", "reward")
_OF_VALIDATION: Final = ("eval_score", "eval_reward")
_FEWEST: Final = 4
"""Records that show a course."""
_RISE: Final = 0.1
"""Share of the larger level by which a score is better at last than at first; of what is a share
itself, also that much of the whole."""
_WHOLE: Final = 100
"""Per cent."""
_KEPT: Final = 0.35
"""Share of what was won that may be lost again."""
_BY_NOISE: Final = 4.0
"""Times its usual step by which it has risen."""


def detect_rising_score(observed: Observed) -> Iterator[Anomaly]:
    """Find a score that is clearly better at last than at first."""
    curves = observed.curves
    chosen = find_risen_score(curves)
    if chosen is not None:
        points = curves.finite(chosen.name)
        message = say(
            "{name} {first:.4g} at first, {last:.4g} at last",
            name=chosen.name,
            first=points[0].value,
            last=points[-1].value,
        )
        yield curves.shape("score-rises", message, points[-1].line)


def find_risen_score(curves: Curves, *, of_validation: bool = False) -> RoleCurve | None:
    """Give the score or reward that tells most, if it has risen; None otherwise.

    The validation goes before the training: what is learnt by heart only proves nothing.

    Args:
        curves: of one process.
        of_validation: leave the training out.
    """
    roles = choose_role_curves(curves)
    asked = _OF_VALIDATION if of_validation else _ROLES
    told = next((roles[role] for role in asked if role in roles), None)
    return told if told is not None and _is_risen(curves, told) else None


def has_risen_reward(curves: Curves) -> bool:
    """Say whether a reward has risen: the loss of a value function grows with the returns."""
    roles = choose_role_curves(curves)
    told = [roles[role] for role in ("eval_reward", "reward") if role in roles]
    return bool(told) and all(_is_risen(curves, one) for one in told)


def _is_risen(curves: Curves, chosen: RoleCurve) -> bool:
    values = [point.value for point in curves.finite(chosen.name)]
    if len(values) < _FEWEST:
        return False
    course = measure_course(values, is_higher_better=chosen.is_higher_better)
    step = statistics.median(abs(later - earlier) for earlier, later in itertools.pairwise(values))
    first, _ = get_levels(values)
    gained = abs(statistics.median(values[-max(1, len(values) // 3) :]) - first)
    is_kept = not math.isnan(course["lost_share"]) and course["lost_share"] <= _KEPT
    is_share = chosen.is_higher_better and min(values) >= 0 and max(values) <= _WHOLE
    least = _RISE * (_WHOLE if max(values) > 1 else 1) if is_share else 0.0
    return course["change"] >= _RISE and is_kept and gained >= max(least, _BY_NOISE * step)
