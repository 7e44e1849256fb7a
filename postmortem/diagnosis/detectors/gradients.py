"""Detect gradient norms that explode or are not finite.

In: the curves of one process. Out: the anomalies `grad-explosion`, `grad-huge-first`,
`nan-grad-finite-loss`, `grad-never-finite`. Not here: the loss (`detectors.trend`,
`detectors.nonfinite`).
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.jumps import explosion_start
from postmortem.diagnosis.detectors.observed import Anomaly, Curves, Observed, show
from postmortem.extraction.facts.series import Point

_HUGE: Final = 1e5
_ABSURD: Final = 1e6
_NEVER: Final = 1e10
_SEVERAL: Final = 5
_FEWEST: Final = 4
"""Finite norms that show what is usual."""
_AGAIN: Final = 6
"""Records within which a high norm comes again if it is no accident."""


def detect_nonfinite_norms(observed: Observed) -> Iterable[Anomaly]:
    """Find norms that are not finite while the loss is, more often than a scaler explains."""
    curves = observed.curves
    points = curves.points(names.GRAD_NORM)
    if curves.first_nonfinite(names.GRAD_NORM) is None:
        return []
    losses = curves.by_line(names.LOSS)
    calm = [
        point
        for point in points
        if not math.isfinite(point.value) and _is_sound(losses.get(point.line, math.nan))
    ]
    if not calm or is_settled(points):
        return []
    message = say(
        "grad_norm {norm} beside loss {loss:g}, {bad} of {count} records",
        norm=calm[0].value,
        loss=losses[calm[0].line],
        bad=len(calm),
        count=len(points),
    )
    return [curves.shape("nan-grad-finite-loss", message, calm[0].line)]


def detect_norms_never_finite(observed: Observed) -> Iterable[Anomaly]:
    """Find norms that are finite in none of several records, though each loss is.

    A step that is skipped now and then leaves other records finite.
    """
    curves = observed.curves
    points = curves.points(names.GRAD_NORM)
    if len(points) < _SEVERAL or math.isfinite(points[0].value):
        return []
    losses = curves.by_line(names.LOSS)
    if any(
        math.isfinite(point.value) or not _is_sound(losses.get(point.line, math.nan))
        for point in points
    ):
        return []
    message = say(
        "grad_norm {norm} in all {count} records",
        norm=points[0].value,
        count=len(points),
    )
    return [curves.shape("grad-never-finite", message, points[0].line)]


def _is_sound(loss: float) -> bool:
    """Say whether a loss is a figure: finite, and not the 0 under which NaN is hidden."""
    return math.isfinite(loss) and loss != 0.0


def _drop_zero_norms(curves: Curves) -> list[Point]:
    """Give the finite norms but those of exactly 0, of which nothing grows."""
    return [point for point in curves.finite(names.GRAD_NORM) if point.value]


def detect_gradient_explosion(observed: Observed) -> Iterable[Anomaly]:
    """Find norms that grow by orders of magnitude, or to infinity."""
    curves = observed.curves
    finite = _drop_zero_norms(curves)
    if len(finite) >= _FEWEST:
        usual = statistics.median(point.value for point in finite[: max(3, len(finite) // 2)])
        blown = (
            _find_lasting_rise(finite, usual)
            or _find_implausible_norm(finite)
            or _find_grown_norm(finite)
        )
        if blown is not None:
            message = say(
                "grad_norm {usual:.3g} → {top:.3g}",
                usual=usual,
                top=blown.value,
            )
            return [curves.shape("grad-explosion", message, blown.line)]
    elif (start := explosion_start([point.value for point in finite])) is not None:
        message = say(
            "grad_norm {usual:.3g} → {top:.3g}",
            usual=finite[start - 1].value,
            top=finite[-1].value,
        )
        return [curves.shape("grad-explosion", message, finite[start].line)]
    elif finite and _is_lost_from_afar(curves, finite):
        message = say(
            "grad_norm {top:.3g} before the loss stops being finite",
            top=max(point.value for point in finite),
        )
        return [curves.shape("grad-explosion", message, finite[0].line)]
    infinite = _find_infinite_norm_before_loss(curves)
    if infinite is None:
        return []
    message = say("grad_norm {norm}", norm=show(infinite))
    return [curves.shape("grad-explosion", message, infinite.line)]


def _is_lost_from_afar(curves: Curves, finite: Sequence[Point]) -> bool:
    """Say whether a loss stops being finite in the first records, behind a norm that was huge."""
    bad = curves.first_nonfinite(names.LOSS)
    return bad is not None and any(point.value > _HUGE for point in finite if point.line < bad.line)


def _find_lasting_rise(finite: Sequence[Point], usual: float) -> Point | None:
    """Give the first norm two orders above the usual that comes again soon, or ends the run."""
    high = [
        index
        for index, point in enumerate(finite)
        if point.value > 100 * max(usual, 1e-6) and point.value > 10
    ]
    for index in high:
        is_end = len(finite) - index <= 3
        if is_end or sum(0 <= other - index <= _AGAIN for other in high) >= 3:
            return finite[index]
    return None


def _find_implausible_norm(finite: Sequence[Point]) -> Point | None:
    """Give the first of several norms that no sound run has."""
    beyond = [point for point in finite if point.value > _ABSURD]
    is_never = sum(point.value > _NEVER for point in beyond) >= 2
    return beyond[0] if is_never or len(beyond) >= 3 else None


def _find_grown_norm(finite: Sequence[Point]) -> Point | None:
    """Give the last norm of a curve that grows from record to record to many times its first."""
    growing = sum(
        current.value > previous.value for previous, current in itertools.pairwise(finite)
    )
    is_blown = finite[-1].value > max(20 * finite[0].value, 1e4)
    return finite[-1] if is_blown and growing >= 0.7 * (len(finite) - 1) else None


def _find_infinite_norm_before_loss(curves: Curves) -> Point | None:
    """Give the first infinite norm of several, if the loss was finite until behind it."""
    if curves.first_nonfinite(names.GRAD_NORM) is None:
        return None
    points = curves.points(names.GRAD_NORM)
    infinite = next((point for point in points if math.isinf(point.value)), None)
    bad = curves.first_nonfinite(names.LOSS)
    if infinite is None or len(points) < 2 or (bad is not None and bad.line <= infinite.line):
        return None
    if bad is None and points[0] is infinite and is_settled(points):
        return None
    return infinite


def detect_huge_first_norm(observed: Observed) -> Iterable[Anomaly]:
    """Find a first norm that is huge, also in relation to the loss."""
    curves = observed.curves
    first = next(iter(curves.points(names.GRAD_NORM)), None)
    if first is None or not _HUGE < first.value < math.inf:
        return []
    losses = curves.by_line(names.LOSS)
    if not first.value > _HUGE * abs(losses.get(first.line, 1.0)) / 10:
        return []
    message = say(
        "the first grad_norm is {norm}, beside loss {loss:g}",
        norm=show(first),
        loss=losses.get(first.line, math.nan),
    )
    return [curves.shape("grad-huge-first", message, first.line)]


def is_settled(norms: Sequence[Point]) -> bool:
    """Say whether a gradient norm was not finite only once in a while.

    That is what a scaler looks like that is finding its level.
    """
    bad = sum(not math.isfinite(point.value) for point in norms)
    return 0 < bad <= max(1, len(norms) // 5) and math.isfinite(norms[-1].value)
