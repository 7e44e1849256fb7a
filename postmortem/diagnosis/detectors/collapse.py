"""Detect what has collapsed: a policy, adversarial training, representations, a codebook.

In: the curves of one process. Out: the anomalies `flat-rewards` and `collapse`. Not here: the
training loss (`detectors.trend`), scores that are lost and outputs that are all alike
(`detectors.scores`), other figures that freeze (`detectors.curve_features`), the perplexity of
words.

Signs of a policy that no longer learns, or unlearns, are rewards without a spread, an entropy of 0,
preferred answers that become unlikely. Of adversarial training one side has won. The perplexity of
codes is how many of them are used as if equally often; 1 is a single one.
"""

import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import say
from postmortem.diagnosis.detectors.observed import (
    Anomaly,
    Curves,
    Observed,
    count_trailing_repeats,
)
from postmortem.extraction.facts.series import Point

_FEWEST_OF_POLICY: Final = 10
_SEVERAL_REWARDS: Final = 3
_LASTING: Final = 5
_NEXT_TO_NOTHING: Final = 1e-3
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
    if series is None or (series.points < _SEVERAL_REWARDS and not _has_no_reward(curves)):
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
    if len(points) < _FEWEST_OF_POLICY or points[0].value <= 0:
        return []
    top = max(point.value for point in points[:_LASTING])
    last = _find_last_index(points, lambda value: abs(value) >= _NEXT_TO_NOTHING * top)
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
    if len(late) < _FEWEST_OF_POLICY or len(returns) < _FEWEST_OF_POLICY:
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
    is_certain = bool(entropies) and max(entropies) < _NEXT_TO_NOTHING
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
    if len(losses) < _FEWEST_OF_POLICY or len(chosen) < _FEWEST_OF_POLICY:
        return []
    late = max(3, len(chosen) // 4)
    loss, reward = (
        statistics.median(point.value for point in points[-late:]) for points in (losses, chosen)
    )
    if not (0 <= loss < _NEXT_TO_NOTHING and reward < _UNLIKELY):
        return []
    message = say(
        "loss {loss:.2g} and rewards/chosen {reward:.4g}, medians of the last {count} records",
        loss=loss,
        reward=reward,
        count=late,
    )
    return [observed.curves.shape("collapse", message, chosen[-late].line)]


_ALIKE: Final = compile_lazily(
    r"(?:emb(?:ed(?:ding)?s?)?|repr(?:esentations?)?|feat(?:ure)?s?|latents?|proj(?:ections?)?|^z)"
    r"[_/. ](?:std|var|spread)(?:$|[_/. ])",
    re.IGNORECASE,
)
"""Figures that say how much what is learnt differs from sample to sample."""
_FEWEST_OF_COURSE: Final = 20
_SEVERAL_OF_EACH_SIDE: Final = 8
_NO_ERROR: Final = 0.01
"""Cross entropy of a discriminator that tells all samples apart."""
_CAUGHT: Final = 5.0
"""The generator's, where each of its samples is found out: below 1 % by the other's judgement."""
_NO_LOSS: Final = 1e-3
_HIGH_OF_GENERATOR: Final = 3.0
"""The generator's beside a discriminator's that is nothing throughout: it need not have risen."""
_SPREAD_GONE: Final = 0.03


def detect_dominant_discriminator(observed: Observed) -> Iterable[Anomaly]:
    """Find a discriminator that makes no error any more while the generator's loss is high."""
    curves = observed.curves
    judge, forger = (
        _find_points(curves, curves.of("discriminator-loss")),
        _find_points(curves, curves.of("generator-loss")),
    )
    if (
        min(len(judge), len(forger)) < _SEVERAL_OF_EACH_SIDE
        or min(point.value for point in judge) < 0
    ):
        return []
    late = len(judge) // 2
    loss = statistics.median(point.value for point in judge[-late:])
    other = statistics.median(point.value for point in forger[-(len(forger) // 2) :])
    first = statistics.median(point.value for point in forger[:2])
    is_long = min(len(judge), len(forger)) >= _FEWEST_OF_COURSE
    has_risen = is_long and loss < _NO_ERROR and other > max(_CAUGHT, 2 * abs(first))
    is_gone = max(point.value for point in judge[-late:]) < _NO_LOSS and other >= _HIGH_OF_GENERATOR
    if not (has_risen or is_gone):
        return []
    message = say(
        "the discriminator's loss is {loss:.2g}, the generator's {other:.3g}, medians of the later"
        " half",
        loss=loss,
        other=other,
    )
    return [curves.shape("collapse", message, judge[-late].line)]


def detect_silenced_generator(observed: Observed) -> Iterable[Anomaly]:
    """Find a generator whose loss is exactly 0 to the end while the discriminator's is high.

    The logarithm is cut off there: nothing tells it any more in which direction to change.
    """
    curves = observed.curves
    judge, forger = (
        _find_points(curves, curves.of("discriminator-loss")),
        _find_points(curves, curves.of("generator-loss")),
    )
    count = count_trailing_repeats([point.value for point in forger])
    if (
        count < _SEVERAL_OF_EACH_SIDE
        or forger[-1].value != 0.0
        or len(judge) < _SEVERAL_OF_EACH_SIDE
    ):
        return []
    least = min(point.value for point in judge[-_SEVERAL_OF_EACH_SIDE:])
    if least < _CAUGHT:
        return []
    message = say(
        "the generator's loss is exactly 0 in the last {count} records, the discriminator's above"
        " {least:.3g}",
        count=count,
        least=least,
    )
    return [curves.shape("collapse", message, forger[-count].line)]


def detect_representation_collapse(observed: Observed) -> Iterable[Anomaly]:
    """Find representations whose spread over the samples has gone to nothing."""
    curves = observed.curves
    points = _find_points(curves, curves.called(_ALIKE))
    if len(points) < _FEWEST_OF_COURSE:
        return []
    early = statistics.median(point.value for point in points[:3])
    late = max(point.value for point in points[-5:])
    if not 0 <= late < _SPREAD_GONE * early:
        return []
    line = next(point.line for point in points if point.value < _SPREAD_GONE * early)
    message = say(
        "the spread of the representations {early:.3g} → {late:.2g}: all samples look alike",
        early=early,
        late=late,
    )
    return [curves.shape("collapse", message, line)]


def _find_points(curves: Curves, called: Iterable[str]) -> list[Point]:
    """Give the finite points of the first series with such a name."""
    name = next(iter(called), "")
    return curves.finite(name)


_OF_CODES: Final = compile_lazily(
    r"code_?book|(?<![a-z])r?vq|quanti[sz]|commit|(?:^|[_/ .-])code(?:s|words?)?(?:$|[_/ .-])",
    re.IGNORECASE,
)
_USE: Final = compile_lazily(
    r"(?:^|[_/ .-])(?:usage|use|used|util[a-z]{0,7}|active|unique|alive)(?:$|[_/ .-])",
    re.IGNORECASE,
)
_LOSS: Final = compile_lazily(r"loss", re.IGNORECASE)
_FEWEST_OF_USE: Final = 5
_LAST: Final = 3
_ONE: Final = 1.2
"""The perplexity below which all is one code."""
_USE_GONE: Final = 0.03
"""Share of what was used at best that is next to nothing."""
_HIGH_LOSS: Final = 0.2
"""A loss whose exponential is no perplexity of nearly 1."""
_SEVERAL_CODES: Final = 16.0


def detect_codebook_collapse(observed: Observed) -> Iterable[Anomaly]:
    """Find codes of which at last one is used, or next to none of those that were."""
    curves = observed.curves
    for name in _list_usage_metrics(curves):
        points = curves.finite(name)
        values = [point.value for point in points]
        if len(values) < _FEWEST_OF_USE or min(values) < 0:
            continue
        is_count = name in curves.of("perplexity")
        if (is_count and max(values[-_LAST:]) < _ONE) or _is_lost(values, is_count=is_count):
            message = say(
                "{name} {best:.4g} at best, {last:.4g} at last: hardly any code is used",
                name=name,
                best=max(values),
                last=values[-1],
            )
            first = next(index for index in range(len(values)) if _is_low(values, index))
            return [curves.shape("collapse", message, points[first].line)]
    return []


def _list_usage_metrics(curves: Curves) -> list[str]:
    """List the metrics that count how many codes are used."""
    has_codes = bool(curves.called(_OF_CODES))
    perplexities = {
        *(name for name in curves.of("perplexity") if has_codes or _is_of_no_loss(curves, name)),
        *filter(_USE.search, curves.called(_OF_CODES, _LOSS)),
    }
    return [name for name in curves.by_name if name in perplexities]


def _is_of_no_loss(curves: Curves, name: str) -> bool:
    """Say whether a perplexity that is always 1 is not the exponential of a printed loss."""
    losses = [point.value for point in curves.finite(names.LOSS)][-_LAST:]
    return (
        bool(losses)
        and min(losses) > _HIGH_LOSS
        and all(0 < point.value < _ONE for point in curves.finite(name))
        and not (set(curves.by_name) & {names.EVAL_LOSS})
    )


def _is_lost(values: Sequence[float], *, is_count: bool) -> bool:
    """Say whether next to nothing is used of what was."""
    best = max(values)
    is_much = not is_count or best >= _SEVERAL_CODES
    return is_much and best > 0 and max(values[-_LAST:]) <= _USE_GONE * best


def _is_low(values: Sequence[float], index: int) -> bool:
    """Say whether a record, and all behind it, are as low as the last ones are."""
    limit = max(_ONE if min(values) >= 1 else 0.0, 2 * statistics.median(values[-_LAST:]))
    return max(values[index:]) <= limit
