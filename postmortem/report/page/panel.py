"""A panel of the page: series on one axis with their marks, places on it, and close-ups.

In: a `SeriesView`, the others of its process, where the run failed. Out: the values of a panel;
what its axis counts, and a place for each line of a log; the part of a curve around a fault, or
None where the whole curve shows as much. Not here: which panels there are (`page.panel_layout`),
drawing them (`page.chart`), ticks and labels (`page.chart_axes`).
"""

import bisect
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from postmortem.core.answer import SeriesView
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.names import GRAD_NORM, LOSS, LOSS_SCALE
from postmortem.report.curves import build_curve, find_first_nonfinite_index

_AT_AN_END: Final = 0.02
_AROUND: Final = 0.05
_DETAIL_SAMPLES: Final = 20
_WIDEST_DETAIL: Final = 0.25
"""A detail of more than this share of the curve shows nothing that the curve does not."""
_DETAILED: Final = (LOSS, GRAD_NORM, LOSS_SCALE)
"""A failure that is no value of the curve is looked at closely in these only."""


def extract_edge_close_up(
    series: SeriesView, failure: tuple[int, int] | None = None
) -> SeriesView | None:
    """Give the samples around a fault at the very start or end of a long curve.

    None where the whole curve shows it or samples are too few.

    The fault is the first non-finite value; without one the failure, a (source, line).
    """
    at = find_fault_index(series, failure)
    one = build_curve(series)
    span = one.xs[-1] - one.xs[0] if one.xs else 0.0
    if (
        at is None
        or not span
        or not (
            _is_at_an_end(one.xs, at) or _is_at_an_end([line for _, _, line in series.samples], at)
        )
    ):
        return None
    near = [index for index, x in enumerate(one.xs) if abs(x - one.xs[at]) <= _AROUND * span]
    first, last = near[0], near[-1] + 1
    if last - first < _DETAIL_SAMPLES:
        first = max(0, min(at - _DETAIL_SAMPLES // 2, len(one.xs) - _DETAIL_SAMPLES))
        last = first + _DETAIL_SAMPLES
    if last > len(one.xs) or one.xs[last - 1] - one.xs[first] > _WIDEST_DETAIL * span:
        return None
    return cut_to(series, series.samples[first:last])


def extract_close_up(
    series: SeriesView, failure: tuple[int, int] | None = None
) -> SeriesView | None:
    """Give the samples around a fault of a curve whose points are not all kept.

    None where all are, or too few stand there.
    """
    at = find_fault_index(series, failure)
    if at is None or len(series.samples) >= series.points:
        return None
    first = max(0, at - _DETAIL_SAMPLES // 2)
    close = series.samples[first : at + _DETAIL_SAMPLES // 2 + 1]
    return cut_to(series, close) if len(close) > _DETAIL_SAMPLES // 2 else None


def _is_at_an_end(places: Sequence[float], at: int) -> bool:
    """Say whether a sample is in the first or last 2 % of the curve.

    Thinned records are placed by their lines, which is more exact than their numbers.
    """
    span = places[-1] - places[0]
    return span > 0 and not _AT_AN_END < (places[at] - places[0]) / span < 1 - _AT_AN_END


def cut_to(series: SeriesView, samples: tuple[tuple[float | None, float, int], ...]) -> SeriesView:
    """Give a part of a series as a series of its own."""
    finite = [value for _, value, _ in samples if math.isfinite(value)]
    return replace(
        series,
        points=len(samples),
        nonfinite=len(samples) - len(finite),
        first=samples[0][:2],
        last=samples[-1][:2],
        min=min(finite, default=None),
        max=max(finite, default=None),
        samples=samples,
    )


def find_fault_index(series: SeriesView, failure: tuple[int, int] | None) -> int | None:
    """Give the index of the first non-finite sample.

    Without one that of the sample at a failure, for the curves that may show why.
    """
    bad = find_first_nonfinite_index(series)
    if (
        bad is not None
        or failure is None
        or series.name not in _DETAILED
        or series.source != failure[0]
        or not series.samples
    ):
        return bad
    return next(
        (index for index, (_, _, line) in enumerate(series.samples) if line >= failure[1]),
        len(series.samples) - 1,
    )


KINDS: Final = (
    "failure",
    "crash",
    "bad",
    "overflow",
    "checkpoint",
    "evaluation",
    "resumed",
    "restarted",
    "parting",
)
"""What is marked, the most telling first; `bad` is the first non-finite value,
`parting` where two runs part."""


class Spot(NamedTuple):
    """One mark: its place on the axis and its log line."""

    kind: str
    x: float
    line: int
    step: float | None


class NonfiniteMark(NamedTuple):
    """A non-finite value and where it was printed."""

    name: str
    value: float
    step: float | None
    line: int


class Track(NamedTuple):
    """One series of a panel, with a place for each sample."""

    series: SeriesView
    xs: tuple[float, ...]
    form: str
    """line | dashes | points | steps; `steps` is a loss scale and stands on the right axis, or
    alone. Of several processes: odd, dash-0 ..., thin"""


@dataclass(frozen=True, slots=True)
class Panel:
    """Series on one axis."""

    tracks: tuple[Track, ...]
    axis: str
    """step | record | line; where most steps are missing or some go back, records are counted, or,
    where not all are kept, the lines of the log"""
    is_log: bool
    """The values span so much that a logarithmic axis shows them better."""
    left: float
    right: float
    spots: tuple[Spot, ...]
    counts: tuple[tuple[str, int], ...]
    """How often each kind happened, also where only some are shown."""
    bad: NonfiniteMark | None
    """The first non-finite value of the process, of whatever series."""
    near: tuple[float, float] | None
    """The neighbourhood of a fault that stands at the very edge, or in a curve too long for all its
    points to be drawn."""
    is_of_processes: bool = False
    """The tracks are the same series of several processes."""

    @property
    def main(self) -> SeriesView:
        """The series that gives the panel its axis and its name."""
        return self.tracks[0].series

    @property
    def source(self) -> int:
        """The source of all that it shows."""
        return self.main.source

    @property
    def named(self) -> tuple[Track, ...]:
        """The tracks that are named in the legend."""
        return tuple(track for track in self.tracks if track.form != "thin")

    @property
    def has_finite(self) -> bool:
        """Whether any value of any track can be drawn."""
        return any(
            math.isfinite(value) for track in self.tracks for _, value, _ in track.series.samples
        )

    @property
    def has_right_axis(self) -> bool:
        """Whether a loss scale is drawn together with other series."""
        return len(self.tracks) > 1 and self.tracks[-1].form == "steps"

    @property
    def scale(self) -> str:
        """How the left axis is drawn: linear, log10, or log2 for a loss scale that stands alone."""
        if self.tracks[0].form == "steps":
            return "log2"
        return "log10" if self.is_log else "linear"

    def close_up(self) -> "Panel | None":
        """Give the part around a fault that stands at the very edge."""
        if self.near is None:
            return None
        low, high = self.near
        kept = [
            [index for index, x in enumerate(track.xs) if low <= x <= high] for track in self.tracks
        ]
        tracks = [
            Track(
                cut_to(track.series, tuple(track.series.samples[index] for index in indexes)),
                tuple(track.xs[index] for index in indexes),
                track.form,
            )
            for track, indexes in zip(self.tracks, kept, strict=True)
            if indexes
        ]
        return replace(
            self,
            tracks=tuple(tracks),
            left=low,
            right=high,
            spots=tuple(spot for spot in self.spots if low <= spot.x <= high),
            near=None,
        )


def is_of(process: ProcessId, other: ProcessId) -> bool:
    """Say whether two lines may be of the same process.

    They name the same, or one of them names none.
    """
    return NOWHERE in (process, other) or process == other


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
