"""Detect scores that are low and do not move: always the same answer, or none right.

In: the curves of one process. Out: the anomalies `stuck-score`, `nothing-moves`, `collapse`. Not
here: scores that are lost (`detectors.scores`), that stand beside a loss that does not fall
(`detectors.degenerate`).

The share of one class among the samples comes out to the last digit each time, whatever the loss
does: it may well fall, by its regulariser alone.
"""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves, as_share, count_trailing_repeats
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.objectives import is_policy
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.scores import list_score_names
from postmortem.diagnosis.detectors.trend import is_young
from postmortem.extraction.facts.number_texts import count_digits
from postmortem.extraction.facts.series import Point

_LOW: Final = 0.65
_VERY_LOW: Final = 0.1
_EXACT: Final = 6
"""Digits that no count of right answers gives twice by chance."""
_FINE: Final = 4
_MANY: Final = 8
_SEVERAL: Final = 4
_TWICE: Final = 2
_LEVEL: Final = 0.03
_LASTING: Final = 5
_NOISE: Final = 0.1
"""Share of a low level within which a count of right answers moves by chance."""
_HARDLY: Final = 0.98
_LOSSES: Final = (names.LOSS, names.EVAL_LOSS)
_FALLEN: Final = 0.8
_FEW: Final = 3
_MANY_TIMES: Final = 10
_EPOCHS: Final = 2
_STEPS: Final = 1000


def detect_constant_low_accuracy(observed: Observed) -> Iterable[Anomaly]:
    """Find an accuracy that is low and the same, or nearly so, in all records."""
    curves = observed.curves
    for name in curves.of("accuracy"):
        points = curves.finite(name)
        if len(points) < _TWICE:
            continue
        values = [point.value for point in points]
        if _is_constant(values) or (_is_late(curves, points) and _is_low_and_level(values)):
            message = say(
                "{name} {value:.6g} in all {count} records, or nearly so",
                "全部 {count} 条记录的 {name} 都是或几乎都是 {value:.6g}",
                name=name,
                value=values[-1],
                count=len(values),
            )
            return [curves.shape("stuck-score", message, points[0].line)]
    return []


def detect_frozen_low_score(observed: Observed) -> Iterable[Anomaly]:
    """Find a score that ends at one and the same value, far below what it was before.

    Of what the weights answer nothing depends on the input any more.
    """
    curves = observed.curves
    for name in list_score_names(curves):
        points = curves.finite(name)
        values = [point.value for point in points]
        count = count_trailing_repeats(values)
        before = values[: len(values) - count]
        if count < _LASTING or len(before) < _LASTING or is_young(curves, points):
            continue
        best = statistics.median(before)
        if best > 0 and values[-1] < _FALLEN * best and len(set(before)) > _TWICE:
            message = say(
                "{name} {best:.4g} before, {value:.4g} in each of the last {count} records",
                "{name} 此前为 {best:.4g}，最后 {count} 条记录都是 {value:.4g}",
                name=name,
                best=best,
                value=values[-1],
                count=count,
            )
            return [curves.shape("stuck-score", message, points[-count].line)]
    return []


def detect_always_zero_scores(observed: Observed) -> Iterable[Anomaly]:
    """Find all of several scores exactly 0 in all records while a loss grows or falls far."""
    curves = observed.curves
    zeros = [*_iter_finite_points(curves, {*list_score_names(curves)})]
    if len(zeros) < _TWICE or any(point.value for points in zeros for point in points):
        return []
    losses = {*curves.of("loss")}
    grown = [points for points in _iter_finite_points(curves, losses) if _has_large_change(points)]
    if not grown:
        return []
    message = say(
        "{count} scores are exactly 0 in all {records} records, the loss {first:.4g} → {last:.4g}",
        "{count} 项得分在全部 {records} 条记录里都是 0，loss {first:.4g} → {last:.4g}",
        count=len(zeros),
        records=len(zeros[0]),
        first=grown[0][0].value,
        last=grown[0][-1].value,
    )
    kind = "nothing-moves" if grown[0][-1].value > grown[0][0].value else "collapse"
    return [curves.shape(kind, message, zeros[0][0].line)]


def _iter_finite_points(curves: Curves, wanted: AbstractSet[str]) -> Iterator[Sequence[Point]]:
    """Yield the finite points of these curves, in their order, where there are several."""
    for name in curves.by_name if wanted else ():
        if name in wanted and len(points := curves.finite(name)) >= _FEW:
            yield points


def detect_unimproved_accuracy(observed: Observed) -> Iterable[Anomaly]:
    """Find an accuracy as low in the first pass over the data as in the last of several."""
    curves = observed.curves
    epochs = [point.value for point in curves.finite(names.EPOCH)]
    if (
        len(set(epochs)) < _LASTING
        or epochs[0] > 1
        or is_policy(curves)
        or _is_loss_falling(curves)
    ):
        return []
    for name in curves.of("accuracy"):
        points = curves.finite(name)
        values = [point.value for point in points]
        if len(points) >= _LASTING and _is_level(values):
            message = say(
                "{name} {first:.4g} at first, {last:.4g} after {count} passes over the data",
                "{name} 开始时为 {first:.4g}，遍历数据 {count} 次后为 {last:.4g}",
                name=name,
                first=values[0],
                last=values[-1],
                count=len(set(epochs)),
            )
            return [curves.shape("nothing-moves", message, points[0].line)]
    return []


def _has_large_change(points: Sequence[Point]) -> bool:
    """Say whether a figure above 0 becomes many times larger or smaller."""
    first, last = points[0].value, points[-1].value
    return first > 0 and not first / _MANY_TIMES < last < first * _MANY_TIMES


def _is_constant(values: Sequence[float]) -> bool:
    """Say whether many records give the same low figure to many digits."""
    is_same = len(set(values)) == 1 and len(values) >= _MANY
    return is_same and 0 < values[0] < _LOW and count_digits(values[0]) >= _EXACT


def _is_low_and_level(values: Sequence[float]) -> bool:
    """Say whether a few records are very low, and equal or within little of each other."""
    level = statistics.median(values)
    if not 0 < level < _VERY_LOW:
        return False
    if len(set(values)) == 1 and count_digits(level) >= _FINE:
        return True
    return len(values) >= _SEVERAL and max(values) - min(values) < _LEVEL * level


def _is_late(curves: Curves, points: Sequence[Point]) -> bool:
    """Say whether records are from behind the first passes over the data, or end far behind."""
    epochs = [point.value for point in curves.finite(names.EPOCH)]
    is_far = bool(epochs) and epochs[-1] >= _EPOCHS + _SEVERAL
    return is_far or bool(epochs and epochs[0] >= _EPOCHS) or points[0].step >= _STEPS


def _is_loss_falling(curves: Curves) -> bool:
    """Say whether a loss falls behind its first record, which is that of random weights."""
    losses = ([point.value for point in curves.finite(name)][1:] for name in _LOSSES)
    return any(values and values[-1] < _HARDLY * values[0] for values in losses)


def _is_level(values: Sequence[float]) -> bool:
    """Say whether a share, maybe in per cent, stays low but for noise, and does not rise."""
    third = len(values) // 3
    level, most = statistics.median(values), max(values)
    share = as_share(most)
    head, tail = statistics.fmean(values[:third]), statistics.fmean(values[-third:])
    is_level = most - min(values) < _NOISE * level and tail < (1 + _LEVEL / 2) * head
    return 0 < share < _LOW and is_level
