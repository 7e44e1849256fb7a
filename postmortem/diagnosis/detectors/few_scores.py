"""Detect accuracies of a few records that are equal in both sets, or never rise.

In: the curves of one process. Out: the anomalies `stuck-score`, `nothing-moves`. Not here: one
score among many records, or beside a loss (`detectors.low_scores`, `detectors.degenerate`).
"""

import statistics
from collections.abc import Iterable
from typing import Final

from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves, count_trailing_repeats
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.objectives import is_policy
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.scores import list_score_names
from postmortem.extraction.facts.number_texts import count_digits

_LOW: Final = 0.65
_VERY_LOW: Final = 0.1
_BARELY: Final = 1.25
"""Times its first level up to which a score has not risen."""
_TWICE, _FEW, _SEVERAL, _MANY = 2, 3, 4, 8


def detect_flat_accuracies(observed: Observed) -> Iterable[Anomaly]:
    """Find a training and a validation accuracy of few records that both stand, at a low value.

    The shares of the largest class differ from one set to the other, and neither moves.
    """
    curves = observed.curves
    standing_ones = [
        (name, points, count)
        for name in _list_score_metrics(curves)
        if len(points := curves.finite(name)) >= _SEVERAL
        and (count := count_trailing_repeats([point.value for point in points])) >= _FEW
        and 0 < points[-1].value < _LOW
        and count_digits(points[-1].value) >= _FEW
    ]
    if len({points[-1].value for _, points, _ in standing_ones}) < _TWICE:
        return []
    name, points, count = max(standing_ones, key=lambda score: score[2])
    other, other_value, _ = min(standing_ones, key=lambda score: score[2])
    message = say(
        "{name} {value:.4g} and {other} {beside:.4g} do not move in the last records",
        "最后几条记录的 {name}（{value:.4g}）和 {other}（{beside:.4g}）都不变",
        name=name,
        value=points[-1].value,
        other=other,
        beside=other_value[-1].value,
    )
    return [curves.shape("stuck-score", message, points[-count].line)]


def _list_score_metrics(curves: Curves) -> list[str]:
    """Name the accuracies, and the scores of another kind where no policy earns them."""
    return curves.of("accuracy") if is_policy(curves) else list_score_names(curves)


def detect_unimproved_low_accuracy(observed: Observed) -> Iterable[Anomaly]:
    """Find a very low accuracy that does not rise, in a run without a known loss."""
    curves = observed.curves
    accuracies = curves.of("accuracy")
    if not accuracies or curves.of("loss"):
        return []
    for name in accuracies:
        values = [point.value for point in curves.finite(name)]
        third = len(values) // 3
        if len(values) < _MANY or not 0 < max(values) < _VERY_LOW:
            continue
        first, last = statistics.median(values[:third]), statistics.median(values[-third:])
        if last <= _BARELY * first and max(values[-third:]) <= max(values[:third]):
            message = say(
                "{name} {first:.3g} at first, {last:.3g} at last, in {count} records never above"
                " {most:.3g}",
                "{name} 开始时为 {first:.3g}，最后为 {last:.3g}，{count} 条记录从未超过 {most:.3g}",
                name=name,
                first=first,
                last=last,
                count=len(values),
                most=max(values),
            )
            return [curves.shape("nothing-moves", message, curves.finite(name)[0].line)]
    return []
