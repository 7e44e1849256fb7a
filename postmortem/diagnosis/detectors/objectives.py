"""What a run minimises, by the names of its curves, and what its loss may do by design.

In: the curves of one process. Out: whether its loss may rise, stand or be 0 in a sound run. Not
here: any anomaly.

Names are read case-blind, and a companion that is not finite itself excuses nothing.
"""

import math
import re
from collections.abc import Iterable
from typing import Final

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.diagnosis.detectors.aligned import Curves, as_share
from postmortem.extraction.facts.series import Series

_RECONSTRUCTION: Final = compile_lazily(r"recon|elbo|(?:^|[_/])rec(?:$|[_/])", re.IGNORECASE)
_CONTRASTIVE: Final = compile_lazily(
    r"contrast|info_?nce|nt[-_]?xent|moco|simclr|queue|triplet", re.IGNORECASE
)
_PREFERENCE: Final = compile_lazily(r"chosen|rejected", re.IGNORECASE)
"""Answers of a pair: what is learnt from them is no reward of one's own actions."""
_FEWEST: Final = 3
_OF_HALF: Final = 0.25
"""What smoothing, weights and a focal term leave of a cross entropy."""


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


def is_of_no_classes(curves: Curves, accuracy: float) -> bool:
    """Say whether a loss is too small for so many wrong answers: it is not what they are wrong in.

    An answer is wrong where another class is more likely, so that the right one has a half at most
    and costs ln 2. What is fitted to numbers has an accuracy near 0 by nature.
    """
    values = [point.value for point in curves.finite(names.LOSS)]
    late = values[len(values) // 2 :]
    wrong = 1.0 - as_share(accuracy)
    return bool(late) and 0 <= max(late) < _OF_HALF * wrong * math.log(2)


def _has_finite_series(curves: Curves, called: Iterable[str]) -> bool:
    """Say whether there are curves of such names, each of them finite throughout."""
    found = [curves.by_name[name] for name in called]
    return (
        bool(found)
        and max(series.points for series in found) >= _FEWEST
        and all(_is_sound(curves, series) for series in found)
    )


def _is_sound(curves: Curves, series: Series) -> bool:
    """Say whether a curve is finite from its first figure on: no episode has ended before."""
    if not series.nonfinite:
        return True
    values = [math.isfinite(point.value) for point in curves.points(series.name)]
    return any(values) and all(values[values.index(True) :])
