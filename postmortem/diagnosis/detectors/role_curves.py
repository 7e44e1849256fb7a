"""Choose the curve of a process that plays each part: the loss, the validation loss, the scores.

In: the curves of one process. Out: the name of a curve and its direction, by role. Not here: what a
name means (`patterns/metrics.yaml`), what the curve measures (`curves.course`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.diagnosis.detectors.aligned import Curves

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
_FEWEST: Final = 3


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
        _put(found, role, chosen, higher=higher != (chosen is not None and _is_negated(chosen)))
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


def _is_negated(name: str) -> bool:
    """Say whether a curve is what is subtracted from a loss: the negated entropy of a policy."""
    return name.lower().endswith("entropy_loss")


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
    long = [name for name in chosen if curves.count(name) >= _FEWEST]
    return max(long, key=curves.count, default=None)
