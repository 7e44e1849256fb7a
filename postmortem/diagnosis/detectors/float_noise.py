"""Detect a metric that changes only in the last digits of a float.

In: the curves of one process in which no loss is known. Out: the anomaly `nothing-moves`. Not here:
a loss that stands still (`detectors.trend`), figures that are equal (`detectors.degenerate`).

A setting that is printed again and again is equal each time; what is reckoned anew from inputs that
change, and comes out the same but for rounding, depends on none of them: all embeddings are alike,
every hinge is at its margin.
"""

import itertools
import re
from collections.abc import Iterable
from typing import Final

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Point

_FEWEST: Final = 6
_PARTS: Final = 2
_RECORDS: Final = 5
_ROUNDING: Final = 2e-6
"""Share of its size by which a float32 sum may differ with the order of its terms."""
_NO_OBJECTIVE: Final = compile_lazily(
    r"time|date|clock|elapsed|eta|speed|per_?s|throughput|mem|epoch|step|iter|lr|rate|token|sample"
    r"|acc|score|size|scale|weight_norm|param",
    re.IGNORECASE,
)


def detect_constant_up_to_rounding(observed: Observed) -> Iterable[Anomaly]:
    """Find a figure that is the same but for rounding in all of several records."""
    curves = observed.curves
    if names.LOSS in curves.by_name:
        return []
    for name in curves.by_name:
        points = curves.points(name)
        if _NO_OBJECTIVE.search(name) or len(points) < _FEWEST or not _is_noise(points):
            continue
        message = say(
            "{name} {value:.7g} in all {count} records, but for rounding",
            "全部 {count} 条记录的 {name} 都是 {value:.7g}，只差舍入误差",
            name=name,
            value=points[-1].value,
            count=len(points),
        )
        return [curves.shape("nothing-moves", message, points[0].line)]
    return []


def detect_constant_loss_parts(observed: Observed) -> Iterable[Anomaly]:
    """Find several losses each of which is the same in all of several records, but for 0."""
    curves = observed.curves
    losses = {name: curves.points(name) for name in curves.of("loss")}
    if len(losses) < _PARTS or min(map(len, losses.values())) < _RECORDS:
        return []
    if any(len({point.value for point in points}) > 1 for points in losses.values()):
        return []
    nonzero = [name for name, points in losses.items() if points[0].value]
    if not nonzero:
        return []
    message = say(
        "{name} {value:g} and {more} more losses are the same in all {count} records",
        "全部 {count} 条记录的 {name} 都是 {value:g}，另有 {more} 项 loss 也不变",
        name=nonzero[0],
        value=losses[nonzero[0]][0].value,
        more=len(losses) - 1,
        count=len(losses[nonzero[0]]),
    )
    return [curves.shape("nothing-moves", message, losses[nonzero[0]][0].line)]


def _is_noise(points: list[Point]) -> bool:
    """Say whether values waver about one figure by no more than rounding, and not one way."""
    values = [point.value for point in points]
    spread, size = max(values) - min(values), abs(values[0])
    changes = {
        current > previous
        for previous, current in itertools.pairwise(values)
        if current != previous
    }
    return 0 < spread <= _ROUNDING * size and len(changes) > 1
