"""Determine what each curve of a process is: its role, and what its loss may do by design.

In: the curves of one process. Out: the name of a curve and its direction, by role (the loss, the
validation loss, the scores); whether the loss may rise, stand or be 0 in a sound run. Not here:
what a name means (`patterns/metrics.yaml`), what a curve measures (`detectors.curve_course`), any
anomaly.

Names are read case-blind, and a companion that is not finite itself excuses nothing.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.log_text import compile_lazily
from postmortem.diagnosis.detectors.observed import Curves
from postmortem.extraction.facts.series import Series

_SCORES: Final = (
    "accuracy",
    "agreement",
    "retrieval",
    "detection",
    "top-accuracy",
    "quality",
    "likeness",
)
"""Classes of scores, the one that tells most first; higher is better in all of them."""
_ERRORS: Final = ("error-rate", "error-share", "perplexity", "distance")
"""Classes of figures of which lower is better, and that are no losses."""
_FEWEST_OF_ROLE: Final = 3


class RoleCurve(NamedTuple):
    """A curve that plays a part."""

    name: str
    is_higher_better: bool


def choose_role_curves(curves: Curves) -> dict[str, RoleCurve]:
    """Choose the curve of each role that is played: the most telling class, then the longest.

    Returns:
        By `loss`, `eval_loss`, `score`, `eval_score`, `reward`, `eval_reward`, and the quantities
        beside them: `entropy`, `divergence`, `discriminator`, `generator`, `spread`, `retained` (a
        score on what was learnt before), `diversity`, `explained` (the variance that a regression
        explains), `embedding` (its spread), `true_reward` (what the reward stands for), `balanced`
        (the mean accuracy of the classes).
    """
    judged = set(curves.of("validation"))
    found: dict[str, RoleCurve] = {}
    if names.LOSS in curves.by_name:
        found["loss"] = RoleCurve(names.LOSS, is_higher_better=False)
    eval_losses = [
        *(name for name in (names.EVAL_LOSS,) if name in curves.by_name),
        *(name for name in curves.of("loss") if name in judged),
    ]
    _put(found, "eval_loss", _choose_longest(curves, eval_losses), higher=False)
    for role, is_wanted in (("score", False), ("eval_score", True)):
        for group, higher in ((_SCORES, True), (_ERRORS, False)):
            names_of = _iter_by_class(curves, group, judged, is_judged=is_wanted)
            if role not in found:
                _put(found, role, next(names_of, None), higher=higher)
    for role, is_wanted in (("reward", False), ("eval_reward", True)):
        names_of = _iter_by_class(curves, ("mean-reward", "reward"), judged, is_judged=is_wanted)
        _put(found, role, next(names_of, None), higher=True)
    for role, (classes, higher) in BESIDE.items():
        chosen = _choose_longest(curves, curves.of(*classes))
        _put(
            found,
            role,
            chosen,
            higher=higher != (chosen is not None and chosen.lower().endswith("entropy_loss")),
        )
    return found


BESIDE: Final[Mapping[str, tuple[tuple[str, ...], bool]]] = {
    "entropy": (("entropy",), True),
    "divergence": (("divergence",), True),
    "discriminator": (("discriminator-loss",), False),
    "generator": (("generator-loss",), False),
    "spread": (("reward-spread",), True),
    "retained": (("retained-score",), True),
    "diversity": (("diversity",), True),
    "explained": (("explained",), True),
    "embedding": (("embedding-spread",), True),
    "true_reward": (("true-reward",), True),
    "balanced": (("balanced-accuracy",), True),
}
"""Roles beside the judged ones: the classes that play them, and which way is counted as better."""


def _put(found: dict[str, RoleCurve], role: str, name: str | None, *, higher: bool) -> None:
    if name is not None:
        found[role] = RoleCurve(name, higher)


def _iter_by_class(
    curves: Curves, classes: Sequence[str], judged: set[str], *, is_judged: bool
) -> Iterator[str]:
    """Yield the longest name of each class that is of the validation, or is not."""
    for one in classes:
        chosen = [name for name in curves.of(one) if (name in judged) == is_judged]
        name = _choose_longest(curves, chosen)
        if name is not None:
            yield name


def _choose_longest(curves: Curves, chosen: Sequence[str]) -> str | None:
    """Choose the longest of some curves, the first of equals; none that is too short."""
    long = [name for name in chosen if curves.count(name) >= _FEWEST_OF_ROLE]
    return max(long, key=curves.count, default=None)


_RECONSTRUCTION: Final = compile_lazily(r"recon|elbo|(?:^|[_/])rec(?:$|[_/])", re.IGNORECASE)
_CONTRASTIVE: Final = compile_lazily(
    r"contrast|info_?nce|nt[-_]?xent|moco|simclr|queue|triplet", re.IGNORECASE
)
_PREFERENCE: Final = compile_lazily(r"chosen|rejected", re.IGNORECASE)
"""Answers of a pair: what is learnt from them is no reward of one's own actions."""
_FEWEST_OF_COMPANION: Final = 3


def is_policy(curves: Curves) -> bool:
    """Say whether the loss is a policy's: it begins near 0 and may go anywhere."""
    return _has_finite_series(curves, curves.of("policy"))


def is_rewarded(curves: Curves) -> bool:
    """Say whether a reward is maximised: reinforcement learning of a policy, not of preferences."""
    names_of = curves.of("reward", "mean-reward", "reinforcement")
    return _has_finite_series(curves, names_of) and not curves.called(_PREFERENCE)


def is_adversarial(curves: Curves) -> bool:
    """Say whether a generator and a discriminator are trained against each other."""
    sides = (curves.of("discriminator-loss"), curves.of("generator-loss"))
    return all(_has_finite_series(curves, side) for side in sides)


def is_rise_expected(curves: Curves) -> bool:
    """Say whether the loss of a sound run may rise.

    A policy's, that of two networks against each other, one with a divergence whose weight grows,
    one against a queue that fills.
    """
    return (
        is_policy(curves)
        or _has_finite_series(curves, curves.of("adversarial"))
        or _has_finite_series(curves, curves.called(_CONTRASTIVE))
        or (
            _has_finite_series(curves, curves.of("divergence"))
            and _has_finite_series(curves, curves.called(_RECONSTRUCTION))
        )
    )


def _has_finite_series(curves: Curves, called: Iterable[str]) -> bool:
    """Say whether there are curves of such names, each of them finite throughout."""
    found = [curves.by_name[name] for name in called]
    return (
        bool(found)
        and max(series.points for series in found) >= _FEWEST_OF_COMPANION
        and all(_is_sound(curves, series) for series in found)
    )


def _is_sound(curves: Curves, series: Series) -> bool:
    """Say whether a curve is finite from its first figure on: no episode has ended before."""
    if not series.nonfinite:
        return True
    values = [math.isfinite(point.value) for point in curves.points(series.name)]
    return any(values) and all(values[values.index(True) :])
