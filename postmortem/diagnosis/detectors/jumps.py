"""Detect a metric that grows by orders of magnitude: within one record, or for good.

In: the curves of one process; lines that count up, of which no reader made records. Out: the
anomalies `loss-spike`, `huge-spike`, `spike-recovers`, `metric-absurd`, and `loss-divergence` where
it never comes back; of a critic's error `metric-absurd` too, where the scores that might explain it
are not printed; the record with which a lasting growth begins. Not here: rises by less, which need
records that show what is usual (`detectors.divergence`), norms of gradients
(`detectors.gradients`), figures that are not finite, objectives of a policy, which have a sign and
may go anywhere.

Whatever is minimised, and whatever its sign: a hundred times all that it has ever been is no noise.
An error of values is a square: it has a level. It may rise with the rewards from which it is
learnt, and while it has nothing to tell apart at first.
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.curve_roles import is_rise_expected
from postmortem.diagnosis.detectors.observed import (
    WORTH,
    Anomaly,
    Curves,
    Observed,
    format_position,
    from_to,
)
from postmortem.diagnosis.detectors.progress_lines import iter_counted_columns
from postmortem.diagnosis.detectors.scores import list_score_names
from postmortem.extraction.facts.series import Point

_TIMES_OF_LOWEST: Final = 1e3
"""Times its lowest value at which a figure has exploded, if it is far above all before as well."""
_TIMES_OF_ONE: Final = 1e5
"""The same behind a single record, which may be of another kind."""
_TIMES_OF_RUN: Final = 1e2
"""The same of a growth that the records show step by step."""
_STEP: Final = 10.0
"""Times from one record to the next in such a growth."""
_LEFT: Final = 10.0
"""Times its lowest value up to which a figure is still at its level."""
_ABOVE_ALL: Final = 100.0
"""Times all figures before the growth that its end must reach."""
_LARGE_AT_FIRST: Final = 10.0
"""A size up to which a figure may be one of what was near 0 to begin with."""
_BELOW_ZERO: Final = 1e9
"""Size from which a figure below 0 has exploded: a likelihood may fall far."""


def explosion_start(values: Sequence[float], by_design: float = 1.0) -> int | None:
    """Give the index of the first record of a growth without return; None where there is none.

    Args:
        values: the records in their order.
        by_design: times by which more than usual is asked of a figure that may rise.
    """
    sizes = [abs(value) for value in values]
    lowest = min((size for size in sizes if size > 0), default=0.0)
    if len(sizes) < 2 or not all(map(math.isfinite, sizes)) or lowest == 0:
        return None
    start = next(
        (index + 1 for index in reversed(range(len(sizes))) if sizes[index] <= _LEFT * lowest), 0
    )
    if not 0 < start < len(sizes):
        return None
    last, before = values[-1], max(sizes[:start])
    limit = max(
        _LARGE_AT_FIRST,
        by_design * max(_compute_required_rise(sizes, start) * lowest, _ABOVE_ALL * before),
    )
    return start if last > limit or -last > max(limit, _BELOW_ZERO) else None


def _compute_required_rise(sizes: Sequence[float], start: int) -> float:
    """Give the times by which the lowest value must have grown."""
    grows = [
        current > _STEP * previous for previous, current in itertools.pairwise(sizes[start - 1 :])
    ]
    if len(grows) > 1 and all(grows):
        return _TIMES_OF_RUN
    return _TIMES_OF_ONE if start == 1 else _TIMES_OF_LOWEST


_TIMES_OF_LEAP: Final = 100.0
_TIMES_BY_DESIGN: Final = 1000.0
"""The same of a loss that may rise in a sound run, as that of a critic does."""
_BY_DESIGN: Final = 1e3
"""Times by which more is asked of the explosion of such a loss."""
_SHOW_WHAT_IS_USUAL: Final = 10
"""Records of a loss above 0 from which on `detectors.divergence` judges it.
"""
_FEWEST_BEFORE_LEAP: Final = 2
_LARGE_LEAP: Final = 10.0
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
    times = _TIMES_BY_DESIGN if is_rise_expected(curves) else _TIMES_OF_LEAP
    index = find_jump(values, times, _FEWEST_BEFORE_LEAP) or find_jump(values, _TIMES_BY_DESIGN, 1)
    if index is None and times == _TIMES_OF_LEAP:
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
    index = find_jump(values, _TIMES_OF_LEAP, 1)
    other = find_jump([point.value for point in curves.points(names.EVAL_LOSS)], _TIMES_OF_LEAP, 1)
    return index if index == other == 1 else None


def detect_unnamed_metric_jumps(observed: Observed) -> Iterable[Anomaly]:
    """Find a figure without a name that leaps, in lines that count up."""
    for source, where, lines, column in iter_counted_columns(observed):
        index = find_jump(
            column,
            _UNNAMED_TIMES if len(column) < _SEVERAL else _TIMES_OF_LEAP,
            _FEWEST_BEFORE_LEAP,
        )
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
        if index >= fewest and most > 0 and size > _LARGE_LEAP and size > times * most:
            return index
        most = max(most, size)
    return None


_FEWEST_ERRORS: Final = 10
_FEW: Final = 5
_TIMES_OF_ERROR: Final = 100
_BEYOND_RETURNS: Final = 10_000
"""Growth that no returns explain; less of it may follow scores that are not printed."""
_STAYS: Final = 0.1
"""Share of its highest figure above which the last ones are not on their way back."""
_BETTER: Final = 0.25
"""Share of the whole range of a score by which it is higher at last than at first."""


def detect_critic_error_growth(observed: Observed) -> Iterable[Anomaly]:
    """Find an error of values that has grown a hundredfold while no score has got better."""
    curves = observed.curves
    if curves.of("adversarial"):
        return []
    for name in curves.of("value-error"):
        points = curves.finite(name)
        if _has_grown(points) and not _has_better_score(curves):
            values = [point.value for point in points]
            early, late = _compute_early_level(values), _compute_late_level(values)
            message = say("{name}: {rise}", name=name, rise=from_to(early, late))
            line = next(point.line for point in points if point.value > 10 * early)
            is_proved = (
                any(len(curves.finite(name)) >= _FEWEST_ERRORS for name in list_score_names(curves))
                or late > _BEYOND_RETURNS * early
            )
            return [
                curves.shape("loss-divergence" if is_proved else "metric-absurd", message, line)
            ]
    return []


def _is_growing_each_record(values: Sequence[float]) -> bool:
    """Say whether a few records grow from each to the next, beyond what returns explain."""
    is_growing = all(current > previous for previous, current in itertools.pairwise(values))
    return len(values) >= _FEW and is_growing and values[-1] > _BEYOND_RETURNS * abs(values[0])


def _compute_early_level(values: Sequence[float]) -> float:
    """Give the level of the first records."""
    return statistics.median(values[: max(3, len(values) // 6)])


def _compute_late_level(values: Sequence[float]) -> float:
    return statistics.median(values[-max(3, len(values) // 6) :])


def _has_grown(points: Sequence[Point]) -> bool:
    """Say whether a square stays a hundred times above its first level, which is no mere 0."""
    values = [point.value for point in points]
    if len(values) < _FEWEST_ERRORS and not _is_growing_each_record(values):
        return False
    early, late = _compute_early_level(values), _compute_late_level(values)
    return (
        min(values) >= 0
        and late > _TIMES_OF_ERROR * max(early, WORTH / _TIMES_OF_ERROR)
        and late > WORTH * _TIMES_OF_ERROR
        and late > _STAYS * max(values)
        and early > 0
    )


def _has_better_score(curves: Curves) -> bool:
    """Say whether a score ends clearly above its first level: larger rewards, larger errors."""
    for name in list_score_names(curves):
        values = [point.value for point in curves.finite(name)]
        if len(values) >= _FEWEST_ERRORS:
            third = len(values) // 3
            rise = statistics.median(values[-third:]) - statistics.median(values[:third])
            if rise > _BETTER * (max(values) - min(values)) > 0:
                return True
    return False
