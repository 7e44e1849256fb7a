"""Detect other values that are not finite: evaluation, parts of the loss, inputs.

In: the curves of one process. Out: the anomalies `nan-at-zero-rate`, `nan-eval-only`,
`nan-component`, `nan-part-first`, `nan-inputs`, `vanishing-before-nan`. Not here: the training loss
(`detectors.nonfinite`).
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves, show
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.gradients import is_settled
from postmortem.diagnosis.detectors.hidden_loss import detect_zero_loss
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Point, Series

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
