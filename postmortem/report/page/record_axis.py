"""Map lines of a log to positions on the axis of a series.

In: a `SeriesView`, and the others of its process. Out: what the axis counts, and a place for each
line. Not here: ticks and labels (`page.axis`).
"""

import bisect
import math
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Final

from postmortem.core.diagnosis import Diagnosis
from postmortem.core.shown import SeriesView
from postmortem.report.page.panel import is_of

_BEHIND: Final = 0.04
"""Share of an axis that what comes behind the last record takes at most."""


def compute_line_positions(
    diagnosis: Diagnosis, main: SeriesView
) -> tuple[list[tuple[int, float]], str]:
    """Give what places lines on the axis of a series, as (line, place), and what the axis counts.

    Steps are taken where most records print one and they do not go back: those of all series of the
    process, if they rise together.
    """
    steps = _list_printed_steps(main)
    if (
        2 * len(steps) < len(main.samples)
        or not _is_nondecreasing(steps)
        or steps[0][1] == steps[-1][1]
    ):
        return _compute_record_positions(main)
    joined = _sort_by_line(
        pair
        for series in (main, *diagnosis.series)
        if series.source == main.source and is_of(series.where, main.where)
        for pair in _list_printed_steps(series)
    )
    return joined if _is_nondecreasing(joined) else _sort_by_line(steps), "step"


def _list_printed_steps(series: SeriesView) -> list[tuple[int, float]]:
    """Give the steps that are printed, as (line, step)."""
    return [
        (line, step) for step, _, line in series.samples if step is not None and math.isfinite(step)
    ]


def _compute_record_positions(main: SeriesView) -> tuple[list[tuple[int, float]], str]:
    """Count records or, where not all of them are kept, the lines of the log."""
    lines = [line for _, _, line in main.samples]
    if main.points > len(lines) == len(set(lines)):
        return [(line, float(line)) for line in lines], "line"
    return _sort_by_line((line, float(number)) for number, line in enumerate(lines, 1)), "record"


def _sort_by_line(pairs: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Sort pairs by their lines, of one line the first."""
    return sorted({line: (line, x) for line, x in reversed(list(pairs))}.values())


def _is_nondecreasing(pairs: Sequence[tuple[int, float]]) -> bool:
    return all(first[1] <= second[1] for first, second in pairwise(pairs))


class RecordAxis:
    """Finds the place of a line between the records of a series.

    What comes before the first or behind the last has a little room.
    """

    def __init__(self, known: Sequence[tuple[int, float]], last: int) -> None:
        """Take places as (line, place), in order, and the last line that will be asked for."""
        self.lines, self.xs = [line for line, _ in known], [x for _, x in known]
        intervals = sorted(second - one for one, second in pairwise(self.xs) if second > one)
        room = intervals[len(intervals) // 2] if intervals else 1.0
        first, end = self.xs[0], self.xs[-1]
        if last > self.lines[-1]:
            self.lines.append(last)
            self.xs.append(end + min(room, max(end - first, room) * _BEHIND))
        self.lines.insert(0, min(0, self.lines[0] - 1))
        self.xs.insert(0, max(min(0.0, first), first - room))

    def place(self, line: int, step: float | None = None) -> float:
        """Give a line's place.

        It is its step, if that agrees with the records around it, else between them.
        """
        after = min(max(1, bisect.bisect_left(self.lines, line)), len(self.lines) - 1)
        low, high = self.xs[after - 1], self.xs[after]
        if step is not None and low <= step <= high:
            return step
        span = self.lines[after] - self.lines[after - 1]
        share = min(1.0, max(0.0, (line - self.lines[after - 1]) / span)) if span else 1.0
        return low + (high - low) * share

    def places(
        self, samples: Sequence[tuple[float | None, float, int]], *, by_step: bool
    ) -> tuple[float, ...]:
        """Place the samples of a series.

        By its own steps as far as they are known and rise, else by their lines.
        """
        steps = [step for step, _, _ in samples if step is not None and math.isfinite(step)]
        is_own = by_step and all(earlier <= later for earlier, later in pairwise(steps))
        places = (
            step if is_own and step is not None else self.place(line) for step, _, line in samples
        )
        return tuple(accumulate(places, max))
