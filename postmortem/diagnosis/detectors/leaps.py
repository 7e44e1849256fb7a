"""Detect a metric that leaps by orders of magnitude from one record to the next.

In: the curves of one process; lines that count up, of which no reader made records. Out: the
anomalies `loss-spike`, `huge-spike`, `spike-recovers`, `metric-absurd`, and `loss-divergence` where
it never comes back. Not here: rises by less, which need records that show what is usual
(`detectors.spikes`, `detectors.divergence`), figures that are not finite.

Whatever is minimised, and whatever its sign: a hundred times all that it has ever been is no noise.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves, format_position
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.counting_lines import iter_counted_columns
from postmortem.diagnosis.detectors.explosions import explosion_start
from postmortem.diagnosis.detectors.objectives import is_rise_expected
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Point

_TIMES: Final = 100.0
_TIMES_BY_DESIGN: Final = 1000.0
"""The same of a loss that may rise in a sound run, as that of a critic does."""
_BY_DESIGN: Final = 1e3
"""Times by which more is asked of the explosion of such a loss."""
_SHOW_WHAT_IS_USUAL: Final = 10
"""Records of a loss above 0 from which on `detectors.divergence` and `detectors.spikes` judge it.
"""
_FEWEST: Final = 2
_LARGE: Final = 10.0
"""A size up to which such a leap may be one of what was 0 to begin with."""
_BACK: Final = 10.0
"""Times its size before the leap up to which a figure is back."""
_SEVERAL: Final = 4
_UNNAMED_TIMES: Final = 1e4
"""Times that a figure must leap of which nobody knows what it is, in fewer records than several."""


def detect_loss_jumps(observed: Observed) -> Iterator[Anomaly]:
    """Find a loss that leaps, and whether it comes back."""
    curves = observed.curves
    if any(series.nonfinite for series in curves.by_name.values()):
        return
    points = curves.points(names.LOSS)
    start = loss_explosion(curves)
    if start is not None:
        yield _build_explosion_anomaly(curves, points, start)
    else:
        yield from _detect_leap(curves, points)


def _detect_leap(curves: Curves, points: Sequence[Point]) -> Iterator[Anomaly]:
    values = [point.value for point in points]
    if len(values) >= _SHOW_WHAT_IS_USUAL and min(values) > 0:
        return
    times = _TIMES_BY_DESIGN if is_rise_expected(curves) else _TIMES
    index = find_jump(values, times, _FEWEST) or find_jump(values, _TIMES_BY_DESIGN, 1)
    if index is None and times == _TIMES:
        index = _find_jump_with_evaluation(curves, values)
    if index is None:
        return
    message = say(
        "loss leaps: {before:.4g} → {value:.4g} ({place})",
        before=points[index - 1].value,
        value=points[index].value,
        place=format_position(points[index]),
    )
    yield curves.shape("loss-spike", message, points[index].line)
    yield curves.shape("huge-spike", message, points[index].line)
    size = max(abs(point.value) for point in points[:index])
    if abs(points[-1].value) <= _BACK * size:
        yield curves.shape("spike-recovers", message, points[index].line)


def loss_explosion(curves: Curves) -> int | None:
    """Give the index of the record with which the loss leaves its level by orders, for good."""
    values = [point.value for point in curves.points(names.LOSS)]
    return explosion_start(values, _BY_DESIGN if is_rise_expected(curves) else 1.0)


def _build_explosion_anomaly(curves: Curves, points: Sequence[Point], start: int) -> Anomaly:
    message = say(
        "loss explodes: {before:.4g} → {value:.4g} ({place}), and does not come back",
        before=points[start - 1].value,
        value=points[-1].value,
        place=format_position(points[start]),
    )
    return curves.shape("loss-divergence", message, points[start].line)


def _find_jump_with_evaluation(curves: Curves, values: Sequence[float]) -> int | None:
    """Give the second record where the loss of the evaluation leaps with that of training."""
    index = find_jump(values, _TIMES, 1)
    other = find_jump([point.value for point in curves.points(names.EVAL_LOSS)], _TIMES, 1)
    return index if index == other == 1 else None


def detect_unnamed_metric_jumps(observed: Observed) -> Iterable[Anomaly]:
    """Find a figure without a name that leaps, in lines that count up."""
    for source, where, lines, column in iter_counted_columns(observed):
        index = find_jump(column, _UNNAMED_TIMES if len(column) < _SEVERAL else _TIMES, _FEWEST)
        if index is not None and column[index - 1]:  # a time that is mostly 0 is no loss
            message = say(
                "a figure {before:.4g} → {value:.4g}",
                before=column[index - 1],
                value=column[index],
            )
            course = "loss-spike" if explosion_start(column) is None else "loss-divergence"
            return [
                Anomaly(name, message, source, where, lines[index])
                for name in ("metric-absurd", course)
            ]
    return []


def find_jump(values: Sequence[float], times: float, fewest: int) -> int | None:
    """Give the index of the first value so many times as large as all before; None without one."""
    most = 0.0
    for index, value in enumerate(values):
        size = abs(value)
        if not math.isfinite(size):
            return None
        if index >= fewest and most > 0 and size > _LARGE and size > times * most:
            return index
        most = max(most, size)
    return None
