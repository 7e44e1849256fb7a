"""Detect what scores tell: a clear rise, a loss of what was reached, 0 throughout.

In: the curves of one process. Out: the anomalies `score-rises` (something is learnt, whatever the
loss shows), `collapse` and `reward-sinks` (accuracies, rewards, returns that are lost again),
`nothing-moves` (an object detector whose average precision stays at 0). Not here: scores that never
rise (`detectors.curve_features`), the spread of rewards, the entropy of a policy
(`detectors.collapse`), losses (`detectors.trend`).
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import say
from postmortem.diagnosis.detectors.curve_course import get_levels, measure_course
from postmortem.diagnosis.detectors.curve_roles import RoleCurve, choose_role_curves
from postmortem.diagnosis.detectors.observed import Anomaly, Curves, Observed

_ROLES: Final = ("eval_score", "score", "eval_reward", "reward")
_OF_VALIDATION: Final = ("eval_score", "eval_reward")
_FEWEST_OF_COURSE: Final = 4
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
    if len(values) < _FEWEST_OF_COURSE:
        return False
    course = measure_course(values, is_higher_better=chosen.is_higher_better)
    step = statistics.median(abs(later - earlier) for earlier, later in itertools.pairwise(values))
    first, _ = get_levels(values)
    gained = abs(statistics.median(values[-max(1, len(values) // 3) :]) - first)
    is_kept = not math.isnan(course["lost_share"]) and course["lost_share"] <= _KEPT
    is_share = chosen.is_higher_better and min(values) >= 0 and max(values) <= _WHOLE
    least = _RISE * (_WHOLE if max(values) > 1 else 1) if is_share else 0.0
    return course["change"] >= _RISE and is_kept and gained >= max(least, _BY_NOISE * step)


SHARES: Final = ("accuracy", "top-accuracy", "retrieval", "agreement")
"""Classes of metrics that say how many answers are right."""
_FEWEST_SCORES: Final = 8
_FEW: Final = 3
_NOTHING: Final = 0.1
"""Share of its early level below which a score is gone."""
_TWICE: Final = 2
_LAST_FEW: Final = 4
_MANY_TIMES: Final = 20


def detect_lost_score(observed: Observed) -> Iterable[Anomaly]:
    """Find a score that had risen far above its noise, and is back where it began, or below."""
    curves = observed.curves
    for name in list_score_names(curves):
        points = curves.finite(name)
        found = _find_score_drop([point.value for point in points])
        if found is not None:
            best, late, index = found
            message = say(
                "{name} {best:.4g} at best, {late:.4g} at last",
                name=name,
                best=best,
                late=late,
            )
            return [curves.shape("collapse", message, points[index].line)]
    return _detect_sinking_reward(curves)


def _detect_sinking_reward(curves: Curves) -> list[Anomaly]:
    """Find a reward that ends, sinking still, many times further down than it ever varied before.

    Few records show it: from +1 to -80 no exploration leads.
    """
    for name in list_score_names(curves):
        points = curves.finite(name)
        values = [point.value for point in points]
        if not _FEW < len(values) < _FEWEST_SCORES or values[-1] >= 0 or not _is_reward(name):
            continue
        first = max(abs(value) for value in values[:2])
        is_lower = all(
            current <= previous for previous, current in itertools.pairwise(values[-_LAST_FEW:])
        )
        if (
            is_lower
            and values[-1] < -_MANY_TIMES * max(first, 1.0)
            and values[-2] < -_TWICE * first
        ):
            message = say(
                "{name} {first:.4g} at first, {last:.4g} at last",
                name=name,
                first=values[0],
                last=values[-1],
            )
            return [curves.shape("reward-sinks", message, points[-2].line)]
    return []


def _is_reward(name: str) -> bool:
    return any(word in name.lower() for word in ("rew", "return", "score"))


def list_score_names(curves: Curves) -> list[str]:
    """Give the names of the figures that are the better the higher they are."""
    return curves.of(*SHARES, "detection", "quality", "reward")


def _find_score_drop(values: Sequence[float]) -> tuple[float, float, int] | None:
    """Give the best level, the last one, and where it was lost; None where it was not."""
    if len(values) < _FEWEST_SCORES:
        return None
    return _find_drop_to_zero(values) or _find_drop_from_gain(values)


def _find_drop_to_zero(values: Sequence[float]) -> tuple[float, float, int] | None:
    """Find a score that stood well above 0 from the first record on, and is nearly 0 at last.

    What it had gained before is not in the log.
    """
    last = max(3, len(values) // 5)
    early, late = values[: len(values) // 3 + 1], statistics.median(values[-last:])
    level = statistics.median(early)
    is_gone = max(values[-last:]) <= _NOTHING * level
    if level <= 0 or min(values) < 0 or min(early) < 0.5 * level or not is_gone:
        return None
    index = next(place for place, value in enumerate(values) if value < 0.5 * level)
    return max(values), late, index


def _find_drop_from_gain(values: Sequence[float]) -> tuple[float, float, int] | None:
    """Find a score that is back where it began, or below, after it had risen."""
    quarter = max(2, len(values) // 5)
    levels = [statistics.median(values[index : index + 3]) for index in range(len(values) - 2)]
    early = levels[: len(levels) - quarter] or levels[:1]
    first, best = statistics.median(values[:2]), max(early)
    tail = values[-quarter:]
    late, gain = statistics.median(tail), best - first
    noise = statistics.median(
        abs(current - previous)
        for previous, current in itertools.pairwise(values[: early.index(best) + 2])
    )
    is_gain = gain > max(4 * noise, 0.1 * abs(best), 1e-9)
    if not is_gain or late > first + 0.2 * gain or max(tail) > first + 0.5 * gain:
        return None
    limit = first + 0.5 * gain
    lost = (index for index in range(early.index(best) + 1, len(values)) if values[index] < limit)
    return best, late, next(lost, len(values) - 1)


_PRECISION: Final = compile_lazily(r"(?:^|[_/-])m?AP(?:50|_?0\.5)?$")
_LOWEST: Final = 0.006
_SEVERAL: Final = 3
_EVALUATIONS: Final = 12
_OF_COCO: Final = "coco-eval"
"""What evaluates a trained model; others begin with an evaluation of one that is not."""


def detect_zero_precision(observed: Observed) -> Iterable[Anomaly]:
    """Find a precision of about 0 in many evaluations, or where no loss shows an early run."""
    curves = observed.curves
    for name in curves.called(_PRECISION):
        points = curves.finite(name)
        values = [abs(point.value) for point in points]
        is_trained = bool(points) and (
            curves.by_name[name].producer == _OF_COCO or points[0].step > 0
        )
        has_loss = names.LOSS in curves.by_name
        is_enough = len(values) >= (_EVALUATIONS if has_loss else 1 if is_trained else _SEVERAL)
        if is_enough and max(values) < _LOWEST:
            message = say(
                "{name} {value:.4g} at last, never above {most:.4g} in {count} evaluations",
                name=name,
                value=points[-1].value,
                most=max(values),
                count=len(values),
            )
            return [curves.shape("nothing-moves", message, points[0].line)]
    return []
