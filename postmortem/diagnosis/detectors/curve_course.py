"""Measure the course of one curve, over the last training that its process shows.

In: the series of one process; the values of a curve, and which way is better. Out: the same series,
of the last training alone; measures by name, each free of the curve's unit: how far it came, what
it lost again, how noisy it is. Not here: which curve is the loss (`detectors.curve_roles`), what
two curves say together (`detectors.curve_features`), attempts, which are starts of the program
(`case.attempts`).

Every measure is NaN where the curve is too short for it. A long curve is looked at in `BINS` means,
so that a measure takes the same time for any length; extremes, jumps and values that are not finite
are those of all values.

A curve of two trainings (folds, stages, runs of a search) is none: what falls from the second to
the first is no spike, and the best of one fold is not the best of all. A training begins anew where
the epoch is back at its first one, or, in a log without epochs, where the step is. A step that
counts within each epoch is back many times, at even distances: that is no beginning.
"""

import itertools
import math
import statistics
from collections.abc import Sequence
from typing import Final

from postmortem.core import names
from postmortem.diagnosis.detectors.observed import count_trailing_repeats
from postmortem.extraction.facts.series import Series

BINS: Final = 240
_TINY: Final = 1e-12
_LARGEST_RATIO: Final = 1e3
"""Bound of every ratio: beyond it only the sign matters."""
_SMOOTHED_FROM: Final = 20
"""Values from which on the best one is that of a running median."""
_FEWEST_FINITE: Final = 3
MEASURES: Final = (
    "count",
    "nonfinite",
    "ends_nonfinite",
    "first_level",
    "last_level",
    "change",
    "best_change",
    "lost",
    "lost_share",
    "best_at",
    "early_share",
    "middle_slope",
    "late_slope",
    "noise",
    "noise_level",
    "jump",
    "jump_at",
    "after_jump",
    "worst",
    "spread",
    "distinct",
    "repeats",
)
"""The names of what `measure_course` gives."""


def measure_course(values: Sequence[float], *, is_higher_better: bool) -> dict[str, float]:
    """Measure a curve.

    Args:
        values: in the order of the log; they may hold NaN and infinities.
        is_higher_better: whether a larger value is a better one.

    Returns:
        `count`: log10 of the values. `nonfinite`: the share of those that are not finite;
        `ends_nonfinite`: 1 if the last is one. `first_level`, `last_level`: log10 of the size.
        `change`, `best_change`: from the first level to the last, to the best, as a share of the
        largest of the three; positive is better. `lost`: how far the last is behind the best, as a
        share of the best; `lost_share`: as a share of what had been won. `best_at`: where the best
        stands, 0 to 1. `early_share`: the share of the change in the first third. `middle_slope`,
        `late_slope`: change from third to third. `noise`: median step as a share of the spread;
        `noise_level`: of the level. `jump`, `jump_at`, `after_jump`: the largest step for the worse
        by the level, its place, and how far the values behind it are from those before. `worst`:
        how far it came below its first level. `spread`: the middle 80 % of the values by the level.
        `distinct`: share of different values. `repeats`: share of the end that is one value.
    """
    finite = [value for value in values if math.isfinite(value)]
    found = dict.fromkeys(MEASURES, math.nan)
    if not values:
        return found
    found["count"] = math.log10(len(values))
    found["nonfinite"] = 1 - len(finite) / len(values)
    found["ends_nonfinite"] = float(not math.isfinite(values[-1]))
    if len(finite) < _FEWEST_FINITE:
        return found
    sign = 1.0 if is_higher_better else -1.0
    exact = [max(-1e150, min(1e150, value)) * sign for value in finite]
    found["distinct"] = len(set(exact)) / len(exact)
    found["repeats"] = count_trailing_repeats(exact) / len(exact)
    curve = take_means(exact, BINS)
    found.update(_measure_levels(curve))
    found.update(_measure_steps(curve, exact))
    return found


def take_means(values: Sequence[float], most: int) -> list[float]:
    """Give the means of at most so many stretches of values; few values are given as they are."""
    if len(values) <= most:
        return list(values)
    borders = [len(values) * index // most for index in range(most + 1)]
    return [statistics.fmean(values[start:end]) for start, end in itertools.pairwise(borders)]


def get_levels(curve: Sequence[float]) -> tuple[float, float]:
    """Give the level at which a curve begins, a mean, and the one at which it ends, a median."""
    few = max(1, len(curve) // 20)
    last = max(1 if len(curve) < 10 else _FEWEST_FINITE, len(curve) // 10)
    return statistics.fmean(curve[:few]), statistics.median(curve[-last:])


def compute_ratio(part: float, whole: float) -> float:
    """Divide within bounds."""
    return max(-_LARGEST_RATIO, min(_LARGEST_RATIO, part / max(abs(whole), _TINY)))


def compute_size(value: float) -> float:
    """Give the logarithm of the size of a value, at least -12."""
    return math.log10(max(abs(value), _TINY))


def _measure_levels(curve: Sequence[float]) -> dict[str, float]:
    """Measure levels and slopes; in `curve` higher is better."""
    first, last = get_levels(curve)
    smooth = _smooth(curve) if len(curve) >= _SMOOTHED_FROM else curve
    at = max(range(len(smooth)), key=smooth.__getitem__)
    best = max(smooth[at], last)
    scale = max(abs(first), abs(best), abs(last), _TINY)
    third = max(1, len(curve) // 3)
    thirds = [
        statistics.fmean(part)
        for part in (curve[:third], curve[third:-third] or curve, curve[-third:])
    ]
    low, high = _get_middle(curve)
    return {
        "first_level": compute_size(first),
        "last_level": compute_size(last),
        "change": (last - first) / scale,
        "best_change": (best - first) / scale,
        "lost": compute_ratio(best - last, best),
        "lost_share": compute_ratio(best - last, best - first) if best > first else math.nan,
        "best_at": at / (len(curve) - 1),
        "early_share": compute_ratio(thirds[0] - first, last - first),
        "middle_slope": (thirds[1] - thirds[0]) / scale,
        "late_slope": (thirds[2] - thirds[1]) / scale,
        "worst": (first - min(curve)) / max(scale, abs(min(curve))),
        "spread": (high - low) / scale,
    }


def _measure_steps(curve: Sequence[float], exact: Sequence[float]) -> dict[str, float]:
    """Measure noise and the largest step for the worse; in both higher is better."""
    steps = [later - earlier for earlier, later in itertools.pairwise(curve)]
    typical = statistics.median(map(abs, steps))
    low, high = _get_middle(curve)
    level = max(abs(statistics.median(curve)), _TINY)
    drops = [later - earlier for earlier, later in itertools.pairwise(exact)]
    at = min(range(len(drops)), key=drops.__getitem__)
    before, behind = exact[: at + 1], exact[at + 1 :]
    return {
        "noise": typical / max(high - low, _TINY) if high > low else 0.0,
        "noise_level": compute_ratio(typical, level),
        "jump": compute_ratio(-drops[at], level),
        "jump_at": at / len(drops),
        "after_jump": compute_ratio(
            statistics.median(before[-9:]) - statistics.median(behind[-9:]), level
        ),
    }


def _smooth(curve: Sequence[float]) -> list[float]:
    """Give running medians of three; the ends stay."""
    middle = [sorted(part)[1] for part in zip(curve, curve[1:], curve[2:], strict=False)]
    return [curve[0], *middle, curve[-1]]


def _get_middle(curve: Sequence[float]) -> tuple[float, float]:
    """Give the borders of the middle 80 % of the values."""
    ordered = sorted(curve)
    tenth = len(ordered) // 10
    return ordered[tenth], ordered[-1 - tenth]


_COUNTED: Final = (names.LOSS, names.EVAL_LOSS)
_FEWEST_OF_TRAINING: Final = 4
"""Records that make a training of its own."""
_SHARE: Final = 0.34
"""Share of the longest training from which on the last one is judged, not the one before it."""
_MOST_BEGINNINGS: Final = 64
"""Beginnings beyond which a counter counts something else."""
_EVEN: Final = 3
"""Beginnings at even distances that are those of epochs."""


def select_last_training(series: Sequence[Series]) -> Sequence[Series]:
    """Give the series within the last training that has records enough; all if there is but one."""
    starts = _find_starts(series)
    if not starts:
        return series
    main = max(series, key=lambda one: one.points)
    first, end = _choose_span(main, starts)
    if end is not None and any(
        one.first_nonfinite is not None and one.first_nonfinite.line > end for one in series
    ):
        return series
    full = [one for one in series if one.points]
    last = max(one.lines[-1] for one in full) if end is None else end
    return [part for one in full if (part := one.within(first, last)).points]


def _choose_span(main: Series, starts: Sequence[int]) -> tuple[int, int | None]:
    """Choose the last training with records enough: its first line, and its last unless it is open.

    Args:
        main: the longest series.
        starts: the lines at which a training begins anew.
    """
    ends = [*(start - 1 for start in starts), None]
    spans = list(zip([0, *starts], ends, strict=True))
    counts = [
        main.count_within(low, main.lines[-1] if high is None else high) for low, high in spans
    ]
    least = max(_FEWEST_OF_TRAINING, _SHARE * max(counts))
    long = [span for span, count in zip(spans, counts, strict=True) if count >= least]
    return long[-1] if long else (0, None)


def _find_starts(series: Sequence[Series]) -> list[int]:
    """Give the raw lines at which a training begins anew."""
    epochs = [
        one for one in series if one.name == names.EPOCH and one.points >= _FEWEST_OF_TRAINING
    ]
    if epochs:
        longest = max(epochs, key=lambda one: one.points)
        return _find_returns(longest.values, longest.lines)
    counted = [
        one
        for name in _COUNTED
        for one in series
        if one.name == name and one.points >= _FEWEST_OF_TRAINING and not math.isnan(one.steps[0])
    ]
    if not counted:
        return []
    starts = _find_returns(counted[0].steps, counted[0].lines)
    return [] if _is_even(starts, counted[0]) else starts


def _find_returns(counter: Sequence[float], lines: Sequence[int]) -> list[int]:
    """Give the lines at which a counter is back where it began, or before that."""
    placed = sorted(zip(lines, counter, strict=True))
    first = placed[0][1]
    found = [
        line
        for (_, earlier), (line, later) in itertools.pairwise(placed)
        if later < earlier and later <= first
    ]
    return found if len(found) <= _MOST_BEGINNINGS else []


def _is_even(starts: Sequence[int], series: Series) -> bool:
    """Say whether about as many records lie between all beginnings."""
    if len(starts) < _EVEN:
        return False
    counts = [
        series.count_within(low, high - 1)
        for low, high in itertools.pairwise([series.lines[0], *starts])
    ]
    return max(counts) - min(counts) <= max(1, max(counts) // 10)
