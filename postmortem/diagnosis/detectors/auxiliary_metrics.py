"""Detect metrics besides the loss that no sound run prints, learning rates among them.

In: the curves of one process. Out: the anomalies `nan-metric`, `metric-absurd`, `zero-gradient`,
`loss-vanishes`; `high-rate`, `tiny-rate`, and of rates that do not move although a schedule is
running `rate-standstill`, `rate-zero-throughout`. Not here: the training loss and the gradients'
own ways (`detectors.nonfinite`, `detectors.gradients`), parts of a loss
(`detectors.nonfinite_metrics`), scores (`detectors.scores`), rates that a setting tells
(`patterns/causes`).
"""

import bisect
import itertools
import math
import re
import statistics
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.log_text import compile_lazily, count_digits
from postmortem.core.message import say
from postmortem.diagnosis.detectors.observed import (
    WORTH,
    Anomaly,
    Curves,
    Observed,
    find_first_nonfinite,
    show,
)
from postmortem.extraction.facts.series import Point, Series

_REPORTED_ELSEWHERE: Final = frozenset(
    {names.LOSS, names.EVAL_LOSS, names.GRAD_NORM, names.LOSS_SCALE}
)
_LOSSES: Final = (names.LOSS, names.EVAL_LOSS)
_SHARES: Final = ("retrieval", "agreement", "detection")
"""Classes of scores that are 0 / 0 where a class has no sample or no answer."""
_MAY_LACK: Final = compile_lazily(
    r"best|^min[_/ ]|^max[_/ ]|patience|clip(?!_?frac)|per_?class|class[_/ ]?\d|grad|norm$"
    r"|loss_scale|(?:^|[_/])(?:iou|ap|acc|dice)[_/.](?!mean|avg|all|top|1$|5$)[a-z0-9]",
    re.IGNORECASE,
)
"""Names of figures that a sound run may not have: a bound, a time, a score of an absent class."""
_BOUNDED: Final = compile_lazily(r"ratio|logit", re.IGNORECASE)
_OVER_EPISODES: Final = compile_lazily(
    r"(?:^|[_/])(?:ep(?:isode)?s?_?(?:rew(?:ard)?|len(?:gth)?|return)s?|eplen|eprew)_?mean$",
    re.IGNORECASE,
)
_MAY_LEAP: Final = compile_lazily(
    r"^best|flop|bytes|tokens|samples|_scale$|^scale",
    re.IGNORECASE,
)
"""Names of figures whose size says nothing of the training."""
_COUNTED: Final = compile_lazily(
    r"^(?:count|num(?:_\w{1,20})?|n(?:_\w{1,20})?|total|samples|objects|instances|boxes|gts?"
    r"|positives?)$",
    re.IGNORECASE,
)
_TIMES: Final = 1e6
"""Times its early level beyond which such a figure is absurd."""
_LARGE: Final = 1e6
_NEVER: Final = 1e10
"""Beyond it such a figure is absurd in the first record already."""
_FEWEST_BEFORE: Final = 3
_SOME: Final = 6
_MOSTLY: Final = 0.8
_RECOVERED: Final = 20
"""Finite records at the end of a figure of which some were not: a mean over nothing, or one bad
sample, which the run has left behind."""
_GONE: Final = 5
"""Records without a loss that always stood beside the others before."""


def detect_nonfinite_metrics(observed: Observed) -> Iterable[Anomaly]:
    """Find any other figure that is not finite, once it has been or for good."""
    curves = observed.curves
    may_lack = {*curves.of("machine"), *curves.called(_MAY_LACK)}
    known = [curves.by_name[name] for name in _LOSSES if name in curves.by_name]
    if known and not any(series.nonfinite for series in known):
        may_lack |= {*curves.of(*_SHARES)}
    for name, series in curves.by_name.items():
        if series.first_nonfinite is None or name in _REPORTED_ELSEWHERE or name in may_lack:
            continue
        bad = _find_nonfinite_after_finite(curves, series)
        if bad is not None:
            message = say("{name} {shown}", name=name, shown=show(bad))
            return [curves.shape("nan-metric", message, bad.line)]
    return []


def _find_nonfinite_after_finite(curves: Curves, series: Series) -> Point | None:
    """Give the first point that is not finite; none where only the first ones are.

    The mean over episodes is not finite before one has ended, or where nobody counts them.
    """
    points = curves.points(series.name)
    if _OVER_EPISODES.search(series.name) and not curves.finite(series.name):
        return None
    points = [point for point in points if point.line not in _find_empty_mean_lines(curves)]
    start = next((index for index, point in enumerate(points) if math.isfinite(point.value)), None)
    if all(math.isfinite(point.value) for point in points[-_RECOVERED:]) and (
        len(points) >= 2 * _RECOVERED
    ):
        return None
    return find_first_nonfinite(points if start is None else points[start:])


def _find_empty_mean_lines(curves: Curves) -> set[int]:
    """Name the lines that count nothing: a mean over nothing is not finite, and no fault."""
    return {
        point.line
        for name in curves.called(_COUNTED)
        for point in curves.finite(name)
        if point.value == 0
    }


def detect_implausible_end(observed: Observed) -> Iterable[Anomaly]:
    """Find a part of the loss, a divergence or a ratio that ends at a size no sound run has."""
    curves = observed.curves
    bounded = {*curves.of("loss", "divergence", "perplexity"), *curves.called(_BOUNDED)}
    for name in filter(bounded.__contains__, curves.by_name) if bounded else ():
        is_reported_elsewhere = name in _REPORTED_ELSEWHERE and not (
            name == names.LOSS and observed.loss is None
        )
        if is_reported_elsewhere or curves.is_within(name, _LARGE):
            continue
        points = curves.finite(name)
        if not points:
            continue
        found = (
            _detect_metric_growth(curves, name, points)
            if len(points) >= _SOME
            else _detect_implausible_size(curves, name, points)
        )
        if found is not None:
            return [found]
    return []


def _detect_metric_growth(curves: Curves, name: str, points: Sequence[Point]) -> Anomaly | None:
    """Find a figure that has grown beyond its early level by orders of magnitude."""
    quarter = max(2, len(points) // 4)
    early = statistics.median(abs(point.value) for point in points[: 2 * quarter])
    late = statistics.median(abs(point.value) for point in points[-quarter:])
    if not (late > _LARGE and late > _TIMES * early):
        return None
    message = say(
        "{name} {early:.3g} → {late:.3g}",
        name=name,
        early=early,
        late=late,
    )
    limit = math.sqrt(max(early, 1e-9)) * math.sqrt(late)
    line = next((point.line for point in points if abs(point.value) > limit), points[-1].line)
    return curves.shape("metric-absurd", message, line)


def _detect_implausible_size(curves: Curves, name: str, points: Sequence[Point]) -> Anomaly | None:
    """Find a figure that ends at a size no sound run has in any record, however few there are."""
    value = points[-1].value
    if value <= _NEVER:
        return None
    message = say("{name} {value:.3g}", name=name, value=value)
    line = next(point.line for point in points if point.value > _NEVER)
    return curves.shape("metric-absurd", message, line)


def detect_astronomic_jump(observed: Observed) -> Iterable[Anomaly]:
    """Find a figure that leaps among calm ones to a size no sound run has, be it but once."""
    curves = observed.curves
    may_leap = {*curves.of("machine"), *curves.called(_MAY_LEAP)}
    for name in curves.by_name:
        if curves.is_within(name, _NEVER) or name in may_leap:
            continue
        most, points = 0.0, curves.finite(name)
        for index, point in enumerate(points):
            size = abs(point.value)
            if index >= _FEWEST_BEFORE and size > max(_NEVER, _TIMES * most):
                message = say("{name} {shown}", name=name, shown=show(point))
                return [curves.shape("metric-absurd", message, point.line)]
            most = max(most, size)
    return []


def detect_zero_gradients(observed: Observed) -> Iterable[Anomaly]:
    """Find gradients of exactly 0 to the end: no weight moves, whatever the rewards do.

    Where the loss falls all the same the figure is wrong, not the training.
    """
    curves, loss = observed.curves, observed.loss
    points = curves.points(names.GRAD_NORM)
    half = points[len(points) // 2 :]
    if not points or any(point.value != 0.0 for point in half):
        return []
    zeros = sum(point.value == 0.0 for point in points)
    falls = loss is not None and 0 < loss.tail < 0.97 * loss.head
    is_long_enough = len(points) >= _get_min_record_count(curves) or _has_to_learn(curves)
    if zeros < _MOSTLY * len(points) or falls or not is_long_enough:
        return []
    message = say(
        "grad_norm is exactly 0 at {zeros} of {count} records",
        zeros=zeros,
        count=len(points),
    )
    line = next(point.line for point in points if point.value == 0.0)
    return [curves.shape("zero-gradient", message, line)]


def _has_to_learn(curves: Curves) -> bool:
    """Say whether each loss printed with the gradients should have a gradient."""
    lines = {point.line for point in curves.points(names.GRAD_NORM)}
    losses = [point.value for point in curves.points(names.LOSS) if point.line in lines]
    return bool(losses) and min(losses) > WORTH


def _get_min_record_count(curves: Curves) -> int:
    """Give the records that show it: fewer where rewards differ, of which a gradient comes."""
    spread = [point.value for name in curves.of("reward-spread") for point in curves.finite(name)]
    return _FEWEST_BEFORE - 1 if spread and min(spread) > 0 else _FEWEST_BEFORE


def detect_vanished_loss(observed: Observed) -> Iterable[Anomaly]:
    """Find a loss that is no longer printed while the metrics printed with it go on."""
    curves = observed.curves
    losses = curves.points(names.LOSS)
    for name in (names.GRAD_NORM, names.LEARNING_RATE):
        points = curves.points(name)
        if not losses or not points or points[-1].line <= losses[-1].line:
            continue
        lines = {point.line for point in losses}
        if len(lines) < _SOME:
            return []
        printed = sorted({point.line for point in points})
        behind = len(printed) - bisect.bisect_right(printed, losses[-1].line)
        before = len(printed) - behind
        together = len(lines.intersection(printed))
        if behind >= _GONE and together >= 0.9 * max(len(lines), before):
            message = say(
                "no loss beside the last {count} records of {name}",
                count=behind,
                name=name,
            )
            return [curves.shape("loss-vanishes", message, printed[before])]
    return []


_TINY: Final = 1e-8
"""With this rate no float32 weight of usual size moves by a step of an Adam-like optimiser."""
_HIGH: Final = 1e-3
_FEWEST_RATES: Final = 5
_MANY: Final = 20
_SAME: Final = 0.95
"""Share of its first level below which a loss has fallen."""


def detect_unusual_learning_rate(observed: Observed) -> Iterable[Anomaly]:
    """Find a rate far above or below what is usual for Adam-like optimisers on transformers."""
    points = observed.curves.finite(names.LEARNING_RATE)
    top = max(points, key=lambda point: point.value, default=None)
    if top is None:
        return []
    if top.value == 0.0 and _is_loss_flat_at_zero_rate(observed, len(points)):
        message = say(
            "learning rate 0 in all {count} records, and the loss does not fall",
            count=len(points),
        )
        return [observed.curves.shape("rate-zero-throughout", message, points[0].line)]
    if 0 < top.value < _TINY and len(points) >= _FEWEST_RATES:
        message = say("learning rate at most {top:g}", top=top.value)
        return [observed.curves.shape("tiny-rate", message, top.line)]
    if top.value < _HIGH:
        return []
    message = say("learning rate up to {top:g}", top=top.value)
    return [observed.curves.shape("high-rate", message, top.line)]


def _is_loss_flat_at_zero_rate(observed: Observed, count: int) -> bool:
    """Say whether a loss stays where it is for as many records as a rate of 0 is printed.

    What is printed as 0 may be another rate than the one that is applied, or one of few digits.
    """
    loss = observed.loss
    return loss is not None and count >= _MANY and loss.tail >= _SAME * loss.head > 0


def detect_constant_learning_rate(observed: Observed) -> Iterable[Anomaly]:
    """Find a learning rate that does not move although a schedule is running."""
    rates = observed.curves.points(names.LEARNING_RATE)
    still = [
        current
        for previous, current in itertools.pairwise(rates)
        if previous.value == current.value
    ]
    if not still or not _has_begun(rates) or not _is_schedule(rates):
        return []
    message = say(
        "learning rate {rate:g} printed twice or more ({still} of {count} intervals do not move)",
        rate=still[0].value,
        still=len(still),
        count=len(rates) - 1,
    )
    return [observed.curves.shape("rate-standstill", message, still[0].line)]


def _has_begun(rates: Sequence[Point]) -> bool:
    """Say whether a rate takes several values, or waits at the 0 from which a warm-up starts."""
    return len({point.value for point in rates}) >= 2 or rates[0].value == 0.0


def _is_schedule(rates: Sequence[Point]) -> bool:
    """Say whether a rate is meant to move.

    One that is constant by design, flat at its round peak, or printed with too few digits to move,
    is no standstill.
    """
    values = [point.value for point in rates]
    top = max(values)
    still = sum(
        previous == current and (previous < top or count_digits(top) >= 6)
        for previous, current in itertools.pairwise(values)
    )
    starts_at_zero = values[0] == values[1] == 0.0
    return starts_at_zero or (still > 0 and any(count_digits(value) >= 7 for value in set(values)))
