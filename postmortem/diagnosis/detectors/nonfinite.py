"""Detect a training loss that is not finite: when, after what, how often.

In: the curves of one process. Out: the anomalies `nan-loss`, `nan-first-record`,
`nan-before-update`, `nan-in-interval`, `nan-zero-gradient`, `nan-recovers`, `nan-after-runup`,
`nan-out-of-flat`, `inf-at-half-range`. Not here: a NaN that is hidden, other figures than the loss
(`detectors.nonfinite_metrics`), gradients that grow (`detectors.gradients`).
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import Message, join_list, say
from postmortem.diagnosis.detectors.observed import Anomaly, Curves, Observed, format_position, show
from postmortem.extraction.facts.series import Point

_WIDE: Final = 5
"""Steps between two records beyond which a run-up may lie unseen between them."""
_HUGE: Final = 30
"""Times its highest level at which a part of the loss has blown up."""
_LARGEST_HALF: Final = 65504.0
_NEAR_HALF: Final = 32
"""Times below float16's largest number at which a figure is on its way beyond it."""
_NO_CLASSIFIER: Final = 1000.0
"""No cross-entropy is as high before the weights have left their range."""
_FEW: Final = 8
"""Records below which nobody can say how much noise is usual."""


def detect_nonfinite_loss(observed: Observed) -> Iterable[Anomaly]:
    """Find a non-finite training loss: at once, after a run-up, or out of a calm curve."""
    curves = observed.curves
    points = curves.points(names.LOSS)
    first = curves.first_nonfinite(names.LOSS)
    return (
        _detect_skipped_nan_iterations(curves)
        if first is None or _is_mean_of_nothing(points)
        else _detect_around_bad_record(curves, points, points.index(first))
    )


def _is_mean_of_nothing(points: Sequence[Point]) -> bool:
    """Say whether the record at step 0 alone is NaN: 0 / 0, a mean of no batch so far."""
    first, *others = points
    is_first = first.step == 0.0 and math.isnan(first.value)
    return is_first and len(others) >= _FEW and all(math.isfinite(one.value) for one in others)


def _detect_around_bad_record(
    curves: Curves, points: Sequence[Point], bad: int
) -> Iterator[Anomaly]:
    """Detect anomalies around a bad record."""
    first = points[bad]
    yield curves.shape("nan-loss", say("loss {shown}", shown=show(first)), first.line)
    if bad == 0:
        message = say("first record: {shown}", shown=show(first))
        yield curves.shape("nan-first-record", message, first.line)
        yield from _detect_before_first_update(curves, points)
    yield from _detect_in_first_interval(curves, points, bad)
    yield from _detect_zero_gradient(curves, points)
    if any(math.isfinite(point.value) and not point.step <= first.step for point in points[bad:]):
        message = say("finite again after {shown}", shown=show(first))
        yield curves.shape("nan-recovers", message, first.line)
    yield from _detect_float16_overflow(curves, points, bad)
    yield from _detect_preceding_trend(curves, points, bad)


def _detect_before_first_update(curves: Curves, points: Sequence[Point]) -> Iterator[Anomaly]:
    """Find a loss that is bad in the first step: it is computed before the first update.

    A mean over an epoch is not of one step.
    """
    first = points[0]
    is_single_step = len(points) == 1 or points[1].step - first.step <= 1
    is_mean = first.line in curves.by_line(names.EVAL_LOSS)
    if first.step in {0.0, 1.0} and is_single_step and not is_mean:
        message = say(
            "loss {shown}, computed before the first update",
            shown=show(first),
        )
        yield curves.shape("nan-before-update", message, first.line)


def _detect_in_first_interval(
    curves: Curves, points: Sequence[Point], bad: int
) -> Iterator[Anomaly]:
    """Detect a first bad record that covers several steps.

    What led to it cannot be seen.
    """
    before, first = points[bad - 1].step if bad else 0.0, points[bad].step
    if first - before >= _WIDE:
        message = say(
            "the record at step {first:g} is the first since step {before:g}: the bad step is one"
            " of {count:g}",
            first=first,
            before=before,
            count=first - before,
        )
        yield curves.shape("nan-in-interval", message, points[bad].line)


def _detect_zero_gradient(curves: Curves, points: Sequence[Point]) -> Iterator[Anomaly]:
    """Detect a NaN loss with a gradient of exactly 0: the mean over no label at all.

    A NaN that is computed from values has NaN gradients.
    """
    norms = curves.by_line(names.GRAD_NORM)
    empty = [point for point in points if math.isnan(point.value) and norms.get(point.line) == 0.0]
    bad = sum(not math.isfinite(point.value) for point in points)
    if len(empty) >= 2 and len(empty) >= 0.9 * bad:
        message = say(
            "loss nan with grad_norm 0 at {count} of {bad} bad records",
            count=len(empty),
            bad=bad,
        )
        yield curves.shape("nan-zero-gradient", message, empty[0].line)


def _detect_float16_overflow(
    curves: Curves, points: Sequence[Point], bad: int
) -> Iterator[Anomaly]:
    """Find a loss that becomes infinite on its way to the largest number of float16.

    One that climbed from far below has diverged, whatever its type.
    """
    before, first = points[max(0, bad - 3) : bad], points[bad]
    last = before[-1].value if before else 0.0
    is_near = _LARGEST_HALF / _NEAR_HALF < last <= _LARGEST_HALF
    was_high = all(last / _NEAR_HALF < point.value <= last for point in points[:bad])
    if math.isinf(first.value) and is_near and was_high:
        message = _format_transition([point.value for point in before], first.value)
        yield curves.shape("inf-at-half-range", message, first.line)


def _detect_preceding_trend(curves: Curves, points: Sequence[Point], bad: int) -> Iterator[Anomaly]:
    """Detect what preceded the first bad record: a rise, or a flat curve."""
    before, value = [point.value for point in points[:bad]], points[bad].value
    part = _format_exploded_part(curves, points[bad].line)
    if _is_runup(before) or _is_absurd(curves, points[:bad]):
        line = points[max(0, bad - 3)].line
        yield curves.shape("nan-after-runup", _format_transition(before[-5:], value), line)
    elif len(before) >= 2 and part is not None:
        yield curves.shape("nan-after-runup", part, points[bad].line)
    elif len(before) >= 2:
        yield curves.shape(
            "nan-out-of-flat", _format_transition(before[-4:], value), points[bad].line
        )


def _format_exploded_part(curves: Curves, line: int) -> Message | None:
    """Word the part of the loss that is finite in the first bad record, and huge.

    It shows the climb that the total, not finite already, hides.
    """
    for name in curves.by_name:
        values = curves.by_line(name)
        last = values.get(line, math.nan)
        before = [abs(value) for place, value in values.items() if place < line]
        if "loss" not in name.lower() or name == names.LOSS_SCALE or len(before) < 2:
            continue
        if math.isfinite(last) and _HUGE * max(*before, 1.0) < last:
            return say(
                "{name} {last:.4g} beside it, at most {most:.4g} before",
                name=name,
                last=last,
                most=max(before),
            )
    return None


def _format_transition(before: Sequence[float], value: float) -> Message:
    return say(
        "loss {before}, then {value}",
        before=join_list([f"{value:.4g}" for value in before]),
        value=value,
    )


def _is_runup(values: Sequence[float]) -> bool:
    """Say whether a finite stretch ends in a climb, more than the usual noise of the curve."""
    if len(values) < 2 or values[-1] <= 0:
        return False
    return _is_climbing(values) if len(values) < _FEW else _has_left_range(values)


def _is_absurd(curves: Curves, before: Sequence[Point]) -> bool:
    """Say whether the last finite record is too high for the classifier whose accuracy it has."""
    if not before or before[-1].value < _NO_CLASSIFIER:
        return False
    return any(before[-1].line in curves.by_line(name) for name in curves.of("accuracy"))


def _is_climbing(values: Sequence[float]) -> bool:
    """Say whether a few records mostly rise, to well above the first and the lowest."""
    best, last = min(values), values[-1]
    rising = [current > previous for previous, current in itertools.pairwise(values)]
    is_steep = last > 3 * best or all(rising[-2:])
    return (
        best > 0
        and last > 1.25 * values[0]
        and last > 1.25 * best
        and sum(rising) >= len(rising) / 2
        and is_steep
    )


def _has_left_range(values: Sequence[float]) -> bool:
    """Say whether the last records stand above all of the ones before, far or several times."""
    recent, ceiling = values[-5:], max(values[-30:-5])
    return max(recent) > 1.8 * ceiling or (
        sum(value > 1.15 * ceiling for value in recent) >= 2 and max(recent) > 1.3 * ceiling
    )


def _detect_skipped_nan_iterations(curves: Curves) -> Iterator[Anomaly]:
    """Find the NaN of a program that counts such iterations, or omits their loss (Megatron)."""
    counted = next((point for point in curves.points("nan_iterations") if point.value > 0), None)
    if counted is not None:
        message = say(
            "{count:g} nan iterations at {place}",
            count=counted.value,
            place=format_position(counted),
        )
        yield curves.shape("nan-loss", message, counted.line)
        return
    if curves.first_nonfinite(names.GRAD_NORM) is None:
        return
    counters, losses = curves.by_line("nan_iterations"), curves.by_line(names.LOSS)
    missing = next(
        (
            point
            for point in curves.points(names.GRAD_NORM)
            if math.isnan(point.value) and point.line in counters and point.line not in losses
        ),
        None,
    )
    if missing is not None:
        message = say(
            "no loss beside grad_norm {shown}",
            shown=show(missing),
        )
        yield curves.shape("nan-loss", message, missing.line)
