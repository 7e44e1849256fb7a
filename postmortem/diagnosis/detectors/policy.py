"""A policy that no longer learns, or unlearns.

Signs are rewards without a spread, an entropy of 0, preferred answers that become unlikely.

In: the curves of one process. Out: the anomalies `flat-rewards`, `collapse`. Not here: the loss
(`detectors.trend`).
"""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Point

_FEWEST: Final = 10
_SEVERAL: Final = 3
_LASTING: Final = 5
_NOTHING: Final = 1e-3
"""Share of its first height below which an entropy is gone."""
_UNLIKELY: Final = -2.0
"""Implicit reward below which the preferred answers have lost most of their likelihood: exp(-2 /
beta), with beta at most 0.5."""
_FAR: Final = 1e6
"""Steps after which something should have been learnt of a game."""
_CERTAIN: Final = 0.02
"""Entropy, in nats, of a policy that leaves next to nothing to chance."""


def detect_uniform_rewards(observed: Observed) -> Iterable[Anomaly]:
    """Find rewards whose spread within a group is 0: from the start, or after they had differed."""
    curves = observed.curves
    series = next(map(curves.by_name.__getitem__, curves.of("reward-spread")), None)
    if series is None or (series.points < _SEVERAL and not _has_no_reward(curves)):
        return []
    points = curves.points(series.name)
    last = _find_last_index(points, lambda value: value != 0.0)
    if last < 0:
        message = say(
            "{name} is 0 at all {count} records",
            name=series.name,
            count=len(points),
        )
        return [curves.shape("flat-rewards", message, points[0].line)]
    if len(points) - last <= max(3, len(points) // 3):
        return []
    message = say(
        "{name} {value:g}, then 0 for {count} records",
        name=series.name,
        value=points[last].value,
        count=len(points) - last - 1,
    )
    return [curves.shape("collapse", message, points[last + 1].line)]


def _has_no_reward(curves: Curves) -> bool:
    """Say whether few records are all without any reward, and their loss without any part."""
    rewards = [point.value for point in curves.points("reward")]
    losses = [point.value for point in curves.points(names.LOSS)]
    return bool(losses) and not any(rewards) and not any(losses)


def detect_entropy_collapse(observed: Observed) -> Iterable[Anomaly]:
    """Find the entropy of a policy that has gone to nothing and stays there."""
    points = observed.curves.finite("entropy")
    if len(points) < _FEWEST or points[0].value <= 0:
        return []
    top = max(point.value for point in points[:_LASTING])
    last = _find_last_index(points, lambda value: abs(value) >= _NOTHING * top)
    gone = len(points) - last - 1
    if gone < _LASTING:
        return []
    message = say(
        "entropy {top:.3g}, then 0 for {count} records",
        top=top,
        count=gone,
    )
    return [observed.curves.shape("collapse", message, points[last + 1].line)]


def detect_premature_certainty(observed: Observed) -> Iterable[Anomaly]:
    """Find a policy that is certain of its actions while its reward has not risen.

    Stable-Baselines3 prints the entropy negated, as the part of the loss that it is. Continuous
    actions pass 0 on their way and do not stay there.
    """
    curves = observed.curves
    points, returns = curves.finite("entropy_loss"), _list_return_points(curves)
    late = points[len(points) // 2 :]
    if len(late) < _FEWEST or len(returns) < _FEWEST:
        return []
    most = max(abs(point.value) for point in late)
    if most > _CERTAIN or _has_risen([point.value for point in returns]):
        return []
    message = say(
        "entropy_loss within {most:.2g} of 0 at the last {count} records, the reward no higher",
        most=most,
        count=len(late),
    )
    return [curves.shape("collapse", message, late[0].line)]


def detect_absent_reward(observed: Observed) -> Iterable[Anomaly]:
    """Find a mean reward that is one and the same, and no reward, far into the run."""
    points = _list_return_points(observed.curves)
    values = {point.value for point in points}
    if len(points) < _LASTING or len(values) != 1 or not points[-1].step >= _FAR:
        return []
    value = values.pop()
    if value > 0:
        return []
    message = say(
        "the mean reward is {value:g} in all {count} records, up to step {step:g}",
        value=value,
        count=len(points),
        step=points[-1].step,
    )
    return [observed.curves.shape("nothing-moves", message, points[0].line)]


def detect_frozen_policy(observed: Observed) -> Iterable[Anomaly]:
    """Find a deterministic policy whose last update changed nothing, in a single record."""
    curves = observed.curves
    entropies = [abs(point.value) for point in _list_last_points(curves, "entropy")]
    changes = _list_last_points(curves, "policy-change")
    is_certain = bool(entropies) and max(entropies) < _NOTHING
    if (
        not is_certain
        or len(changes) < len(("kl", "clipped"))
        or any(point.value for point in changes)
    ):
        return []
    message = say(
        "entropy {entropy:.2g}, and the update changed the policy by exactly 0",
        entropy=max(entropies),
    )
    return [curves.shape("collapse", message, changes[0].line)]


def _list_last_points(curves: Curves, metric: str) -> list[Point]:
    """Give the last point of each series with such a name."""
    return [points[-1] for name in curves.of(metric) if (points := curves.points(name))]


def _list_return_points(curves: Curves) -> list[Point]:
    """Give the points of the mean reward of an episode."""
    name = next(iter(curves.of("mean-reward")), "")
    return curves.finite(name)


def _has_risen(values: Sequence[float]) -> bool:
    """Say whether the last third stands above the first by half of that, or more."""
    third = len(values) // 3
    first, last = statistics.fmean(values[:third]), statistics.fmean(values[-third:])
    return last - first > 0.5 * abs(first)


def _find_last_index(points: Sequence[Point], is_there: Callable[[float], bool]) -> int:
    """Give the index of the last point whose value is still there; -1 if none is."""
    backwards = range(len(points) - 1, -1, -1)
    return next((index for index in backwards if is_there(points[index].value)), -1)


def detect_preference_collapse(observed: Observed) -> Iterable[Anomaly]:
    """Find a preference loss that has gone to nothing while preferred answers became unlikely."""
    losses, chosen = (
        observed.curves.points(names.LOSS),
        observed.curves.points("rewards/chosen"),
    )
    if len(losses) < _FEWEST or len(chosen) < _FEWEST:
        return []
    late = max(3, len(chosen) // 4)
    loss, reward = (
        statistics.median(point.value for point in points[-late:]) for points in (losses, chosen)
    )
    if not (0 <= loss < _NOTHING and reward < _UNLIKELY):
        return []
    message = say(
        "loss {loss:.2g} and rewards/chosen {reward:.4g}, medians of the last {count} records",
        loss=loss,
        reward=reward,
        count=late,
    )
    return [observed.curves.shape("collapse", message, chosen[-late].line)]
