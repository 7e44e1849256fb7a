"""Detect a score that is lost again: accuracies, rewards, returns.

In: the curves of one process. Out: the anomalies `collapse`, `reward-sinks`. Not here: scores that
never rise (`detectors.curve_conditions`), the spread of rewards, the entropy of a policy
(`detectors.policy`), losses (`detectors.trend`).
"""

import itertools
import statistics
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed

SHARES: Final = ("accuracy", "top-accuracy", "retrieval", "agreement")
"""Classes of metrics that say how many answers are right."""
_FEWEST: Final = 8
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
        if not _FEW < len(values) < _FEWEST or values[-1] >= 0 or not _is_reward(name):
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
    if len(values) < _FEWEST:
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
