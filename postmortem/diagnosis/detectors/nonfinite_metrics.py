"""Detect values that are not finite besides a printed loss: evaluation, parts, a loss shown as 0.

In: the curves of one process. Out: the anomalies `nan-at-zero-rate`, `nan-eval-only`,
`nan-component`, `nan-part-first`, `nan-inputs`, `vanishing-before-nan`; of a training loss that is
printed as 0 `hidden-nan` or, with nothing to learn, `zero-loss`. Not here: a training loss that is
printed as NaN (`detectors.nonfinite`), norms of gradients (`detectors.gradients`).
"""

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import say
from postmortem.diagnosis.detectors.gradients import is_settled
from postmortem.diagnosis.detectors.observed import (
    Anomaly,
    Curves,
    Observed,
    as_share,
    find_first_nonfinite,
    show,
)
from postmortem.diagnosis.detectors.scores import find_risen_score
from postmortem.extraction.facts.series import Point, Series

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


_FEWEST_PARTS: Final = 2
_BEST_SO_FAR: Final = compile_lazily(r"(?i:best|lowest|min(?:imum)?)(?![a-z])")
_FEWEST_BEFORE: Final = 3
_LEAST: Final = 1e-30
"""Size at which a figure that is above 0 by its nature is about to become 0: float32 ends at 1e-45,
and a logarithm or a division by it before."""
_JUST: Final = 5
"""Records before the first bad one in which a figure has just vanished."""
_OWN_WAYS: Final = frozenset(
    {names.LOSS, names.EVAL_LOSS, names.GRAD_NORM, names.LEARNING_RATE, names.LOSS_SCALE}
)
_NO_PART: Final = compile_lazily(
    r"acc|ppl|perplex|psnr|ssim|iou|map|f1|auc|reward|return|score|norm|grad|rate|\blr|time|speed|tok"
    r"|mem|step|epoch|iter|scale|throughput|eval|val|test|best|mfu|_ms|eta|batch"
    r"|(?:^|_)(?:avg|average|mean|running|smooth\w{0,4})[_ ]loss",
    re.IGNORECASE,
)
"""Figures that are no part of a loss, among them its own mean."""
_OF_INPUTS: Final = compile_lazily(
    r"(?:x|inputs?|batch|images?|img|pixels?|pixel_values|features?|feats?|data|samples?|audio|wav"
    r"|mels?|src)_(?:abs_?)?(?:max|min|mean|std|var|norm|sum|amax|absmax|range)",
    re.IGNORECASE,
)
"""Names of figures of what the model is given: `x_absmax`, `input_mean`, `pixel_values_max`."""


def detect_nonfinite_at_zero_rate(observed: Observed) -> Iterable[Anomaly]:
    """Find a non-finite loss or gradient while no rate has been applied yet."""
    curves = observed.curves
    bad = _find_first_bad_point(curves)
    if bad is None or _is_search_for_scale(curves):
        return []
    rates = curves.by_line(names.LEARNING_RATE)
    if rates.get(bad.line) != 0.0:
        return []
    if any(value != 0.0 for line, value in rates.items() if line <= bad.line):
        return []
    message = say(
        "learning rate {rate} at the first non-finite record",
        rate=rates[bad.line],
    )
    return [curves.shape("nan-at-zero-rate", message, bad.line)]


def _find_first_bad_point(curves: Curves) -> Point | None:
    """Give the first loss or gradient norm that is not finite."""
    found = [curves.first_nonfinite(name) for name in (names.LOSS, names.GRAD_NORM)]
    return min(
        (point for point in found if point is not None), key=lambda point: point.line, default=None
    )


def _is_search_for_scale(curves: Curves) -> bool:
    """Say whether only gradients are not finite, once in a while: a scaler finds its level."""
    return is_settled(curves.points(names.GRAD_NORM)) and not any(
        math.isnan(point.value) for point in curves.points(names.LOSS)
    )


def detect_nonfinite_evaluation(observed: Observed) -> Iterable[Anomaly]:
    """Find an evaluation loss that is not finite although training is."""
    curves = observed.curves
    bad = curves.first_nonfinite(names.EVAL_LOSS)
    if (
        bad is None
        or detect_zero_loss(observed)
        or any(
            # In whatever file: trackers keep each curve in one of its own.
            curve.name == names.LOSS and curve.first_nonfinite is not None
            for curve in observed.series
        )
    ):
        return []
    message = say(
        "eval_loss {shown}; training finite",
        shown=show(bad),
    )
    return [curves.shape("nan-eval-only", message, bad.line)]


def detect_nonfinite_component(observed: Observed) -> Iterable[Anomaly]:
    """Find one loss component that is not finite while the total, or most others, are."""
    curves = observed.curves
    total = curves.by_name.get(names.LOSS)
    for name, series in curves.by_name.items():
        first = series.first_nonfinite
        if first is not None and _is_component(name) and _is_worse(series, total):
            message = say("{name} {shown}", name=name, shown=show(first))
            return [curves.shape("nan-component", message, first.line)]
    return []


def detect_first_nonfinite_part(observed: Observed) -> Iterable[Anomaly]:
    """Find the one part of a loss that is not finite where the loss first is not.

    The other parts are finite still: what is wrong is in that one.
    """
    curves = observed.curves
    bad = curves.first_nonfinite(names.LOSS)
    if bad is None:
        return []
    parts = {
        name: values[bad.line]
        for name in curves.by_name
        if name != names.LOSS and not _NO_PART.search(name)
        if bad.line in (values := curves.by_line(name)) and _has_finite_history(values, bad.line)
    }
    broken = [name for name, value in parts.items() if not math.isfinite(value)]
    if len(broken) != 1 or len(parts) < _FEWEST_PARTS:
        return []
    message = say(
        "{name} is {value} where the other parts are finite",
        name=broken[0],
        value=parts[broken[0]],
    )
    return [curves.shape("nan-part-first", message, bad.line)]


def detect_vanishing_metric(observed: Observed) -> Iterable[Anomaly]:
    """Find a figure that shrinks to nothing just before the loss is not finite.

    A probability, a variance or a norm of which a logarithm or a quotient is taken.
    """
    curves = observed.curves
    bad = curves.first_nonfinite(names.LOSS)
    if bad is None:
        return []
    for name in curves.by_name:
        before = [point for point in curves.finite(name) if point.line < bad.line]
        if name not in _OWN_WAYS and _is_vanishing(before):
            last = min(before[-_JUST:], key=lambda point: point.value)
            message = say(
                "{name} {first:.3g} → {last:.3g}, then the loss is not finite",
                name=name,
                first=before[0].value,
                last=last.value,
            )
            return [curves.shape("vanishing-before-nan", message, last.line)]
    return []


def _is_vanishing(points: Sequence[Point]) -> bool:
    """Say whether a figure that never is 0 ends at next to nothing."""
    values = [point.value for point in points]
    return (
        len(values) >= 2 * _JUST
        and values[0] > _LEAST
        and min(values) > 0
        and min(values[-_JUST:]) < _LEAST
    )


def _has_finite_history(values: Mapping[int, float], line: int) -> bool:
    """Say whether several records before a line are finite, and differ from one another."""
    before = {value for place, value in values.items() if place < line and math.isfinite(value)}
    return len(before) >= _FEWEST_BEFORE


def _is_component(name: str) -> bool:
    """Say whether a figure is a part of the loss, and not the best of it so far."""
    is_other = name in {names.LOSS, names.EVAL_LOSS} or _BEST_SO_FAR.match(name)
    return "loss" in name and not is_other


def _is_worse(series: Series, total: Series | None) -> bool:
    """Say whether a component is not finite more often than the total."""
    return total is None or total.nonfinite < series.nonfinite


def detect_nonfinite_inputs(observed: Observed) -> Iterable[Anomaly]:
    """Find a figure of the inputs that is not finite when the loss first is not, or earlier.

    It was printed before anything was computed from them.
    """
    curves = observed.curves
    bad = _find_first_bad_point(curves)
    bad_inputs = [
        (series.first_nonfinite, name)
        for name, series in curves.by_name.items()
        if series.first_nonfinite and _OF_INPUTS.fullmatch(name)
    ]
    if bad is None or not bad_inputs:
        return []
    first, name = min(bad_inputs, key=lambda entry: entry[0].line)
    if first.line > bad.line:
        return []
    message = say("{name} {shown}", name=name, shown=show(first))
    return [curves.shape("nan-inputs", message, first.line)]
