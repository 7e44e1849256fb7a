"""Find where the curves of two runs diverge.

In: the series of both. Out: `Parting`s. Not here: which of the runs went well.

Curves are compared at equal steps; runs differ by their seeds from the first step on, so they part
where their distance leaves what it was before and stays there; or they are far apart from the
start.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.comparison import PairOfSeries, Parting
from postmortem.core.shown import SeriesView

_FEWEST: Final = 6
_TIMES: Final = 5.0
"""Times the usual distance of the curves before."""
_SHARE: Final = 0.15
"""Share of the value below which curves are taken to be together."""
_STAYS: Final = 3
_FAR: Final = 0.5
"""Share of the value from which curves are apart at their very start."""


def iter_divergences(good: Sequence[SeriesView], bad: Sequence[SeriesView]) -> Iterator[Parting]:
    """Yield where the series that both have part, the training loss first."""
    for good_curve, bad_curve in match_series(good, bad):
        parting = (
            None
            if good_curve is None or bad_curve is None
            else find_divergence(good_curve, bad_curve)
        )
        if parting is not None:
            yield parting


def match_series(good: Sequence[SeriesView], bad: Sequence[SeriesView]) -> Iterator[PairOfSeries]:
    """Yield the series that both have, and the training loss if only one has it, this first."""
    of_good, of_bad = _select_longest_series(good), _select_longest_series(bad)
    shared = (of_good.keys() & of_bad.keys()) | ({names.LOSS} & (of_good.keys() | of_bad.keys()))
    order = (names.LOSS, names.EVAL_LOSS, names.GRAD_NORM, names.LEARNING_RATE)
    for name in sorted(
        shared, key=lambda name: (order.index(name) if name in order else len(order), name)
    ):
        yield PairOfSeries(of_good.get(name), of_bad.get(name))


def _select_longest_series(series: Sequence[SeriesView]) -> dict[str, SeriesView]:
    """Give one series of each name: the longest, of the first process that has it."""
    found: dict[str, SeriesView] = {}
    for curve in series:
        if curve.name not in found or curve.points > found[curve.name].points:
            found[curve.name] = curve
    return found


def find_divergence(good: SeriesView, bad: SeriesView) -> Parting | None:
    """Find where two series part.

    Their distance leaves what it was before and stays away, or one of them stops being finite.
    """
    mine, its = _collect_values_by_step(good), _collect_values_by_step(bad)
    steps = sorted(mine.keys() & its.keys())
    if not steps:
        return None
    begin = _find_first_divergent_pair([(mine[step][0], its[step][0]) for step in steps])
    step = steps[-1 if begin is None else begin]
    return Parting(
        good.name,
        len(steps),
        None if begin is None else step,
        mine[step][0],
        its[step][0],
        mine[step][1],
        its[step][1],
    )


def _find_first_divergent_pair(pairs: Sequence[tuple[float, float]]) -> int | None:
    """Give the number of the first pair of values that are apart for good; None if none are."""
    if len(pairs) >= _FEWEST and all(_is_far_apart(*pair) for pair in pairs[:_STAYS]):
        return 0
    distances: list[float] = []
    away = 0
    for number, (mine, its) in enumerate(pairs):
        if math.isfinite(mine) != math.isfinite(its):
            return number
        if not math.isfinite(mine):
            continue
        distance = abs(mine - its)
        usual = statistics.median(distances) if len(distances) >= _FEWEST else math.inf
        is_away = distance > _TIMES * usual and distance > _SHARE * max(abs(mine), abs(its))
        away = away + 1 if is_away else 0
        if away == _STAYS:
            return number - _STAYS + 1
        if not is_away:
            distances.append(distance)
    return None


def _is_far_apart(mine: float, its: float) -> bool:
    if not (math.isfinite(mine) and math.isfinite(its)):
        return math.isfinite(mine) != math.isfinite(its)
    return abs(mine - its) > _FAR * max(abs(mine), abs(its))


def _collect_values_by_step(series: SeriesView) -> dict[float, tuple[float, int]]:
    """Give values and lines by step.

    Where no step is known, by number of the record, if every record is there.
    """
    if all(step is None for step, _, _ in series.samples) and series.points == len(series.samples):
        return {
            float(index): (value, line) for index, (_, value, line) in enumerate(series.samples, 1)
        }
    return {float(step): (value, line) for step, value, line in series.samples if step is not None}
