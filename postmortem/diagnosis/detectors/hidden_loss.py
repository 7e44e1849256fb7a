"""Detect a training loss that is printed as 0: a hidden NaN, or nothing to learn.

In: the curves of one process. Out: the anomalies `hidden-nan`, `zero-loss`. Not here: a loss that
is printed as NaN (`detectors.nonfinite`).
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves, as_share, find_first_nonfinite
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.rising_scores import find_risen_score
from postmortem.extraction.facts.series import Point

_ROUNDING: Final = 1e-15
_OFTEN: Final = 0.2
"""Share of records with a loss of exactly 0 that are more than chance."""
_IN_A_ROW: Final = 3
_NEARLY: Final = 0.01
"""A loss from which the next record may be 0 without anything being wrong."""
_LEARNT: Final = 0.9
"""An accuracy that is learnt."""
_COURSE: Final = 6
"""Records of another loss that show how it goes."""
_FALLEN: Final = 0.9
"""Share of its first third below which the last third of another loss lies."""
_STARTED: Final = 0.1
"""A loss that had something left to lose when it dropped to 0."""


def detect_zero_loss(observed: Observed) -> list[Anomaly]:
    """Find a loss printed as 0: a NaN that the Trainer filters out, or labels all masked."""
    curves = observed.curves
    points = curves.points(names.LOSS)
    found = [point for point in points if _is_zero(point)]
    if not found:
        return []
    norms = curves.by_line(names.GRAD_NORM)
    with_bad_norm = [
        point for point in found if point.line in norms and not math.isfinite(norms[point.line])
    ]
    if with_bad_norm:
        return [_build_nan_gradient_anomaly(curves, points, with_bad_norm)]
    if len(found) < max(1, min(2, len(points))) or _may_be_sound(curves, points, found[0]):
        return []
    if (
        not norms
        and _has_zero_tail(points, found[0])
        and _is_zero_suspicious(curves, points, found[0])
    ):
        return [_build_drop_anomaly(curves, points, found[0])]
    return _detect_masked_labels(curves, points, found)


def _is_zero(point: Point) -> bool:
    """Say whether a loss is 0 but for what rounding leaves."""
    return abs(point.value) < _ROUNDING


def _build_nan_gradient_anomaly(
    curves: Curves, points: Sequence[Point], bad: Sequence[Point]
) -> Anomaly:
    message = say(
        "loss 0.0 with grad_norm {norm} at {bad} of {count} records",
        norm=curves.by_line(names.GRAD_NORM)[bad[0].line],
        bad=len(bad),
        count=len(points),
    )
    return curves.shape("hidden-nan", message, bad[0].line)


def _may_be_sound(curves: Curves, points: Sequence[Point], zero: Point) -> bool:
    """Say whether a loss may well be 0: it is a policy's, or learnt to the last printed digit.

    A gradient that flows shows it, too: the loss of a policy starts at 0. So does an accuracy that
    no training without labels reaches.
    """
    if _has_gradient(curves.by_line(names.GRAD_NORM)) or curves.of("earned"):
        return True
    if find_risen_score(curves) is not None or _falls_by_another_name(curves):
        return True
    accuracies = filter(None, map(curves.finite, curves.of("accuracy")))
    if any(as_share(accuracy[-1].value) >= _LEARNT for accuracy in accuracies):
        return True
    first = points.index(zero)
    return first > 0 and 0 < points[first - 1].value < _NEARLY


def _falls_by_another_name(curves: Curves) -> bool:
    """Say whether another figure of what is lost falls on: this one is printed wrongly."""
    for name in curves.of("loss"):
        values = [point.value for point in curves.points(name)]
        if name != names.LOSS and len(values) >= _COURSE and all(map(math.isfinite, values)):
            third = len(values) // 3
            if 0 < max(values[-third:]) < _FALLEN * min(values[:third]):
                return True
    return False


def _has_gradient(norms: Mapping[int, float]) -> bool:
    return any(0 < value < math.inf for value in norms.values())


def _has_zero_tail(points: Sequence[Point], zero: Point) -> bool:
    return all(_is_zero(point) for point in points[points.index(zero) :])


def _find_first_nonzero(points: Sequence[Point]) -> Point | None:
    """Give the first record that is not 0."""
    return next((point for point in points if not _is_zero(point)), None)


def _is_zero_suspicious(curves: Curves, points: Sequence[Point], zero: Point) -> bool:
    """Say whether a loss had something left to lose before a 0, or the evaluation is NaN."""
    started = _find_first_nonzero(points)
    return any(math.isnan(point.value) for point in curves.points(names.EVAL_LOSS)) or (
        started is not None and started.value > _STARTED and started.line < zero.line
    )


def _build_drop_anomaly(curves: Curves, points: Sequence[Point], zero: Point) -> Anomaly:
    started = _find_first_nonzero(points)
    message = say(
        "loss {before} drops to exactly 0.0 and stays",
        before=started.value if started else "",
    )
    return curves.shape("hidden-nan", message, zero.line)


def _detect_masked_labels(
    curves: Curves, points: Sequence[Point], found: Sequence[Point]
) -> list[Anomaly]:
    """Find zeros that come in a row, or often.

    A loss that is learnt may be 0 for a batch, and one that is not finite as well is another
    matter.
    """
    longest = max(
        len(list(run)) for is_zero, run in itertools.groupby(points, key=_is_zero) if is_zero
    )
    is_often = longest >= _IN_A_ROW or len(found) >= _OFTEN * len(points)
    is_short = len(found) < 2 < len(points)
    if is_short or not is_often or find_first_nonfinite(points) is not None:
        return []
    message = say(
        "loss exactly 0.0 at {bad} of {count} records",
        bad=len(found),
        count=len(points),
    )
    return [curves.shape("zero-loss", message, found[0].line)]
