"""A panel of the page: series on one axis, with the marks that stand on it.

In: nothing. Out: the values. Not here: which panels there are (`page.panel_layout`), drawing them
(`page.chart`).
"""

import math
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.shown import SeriesView
from postmortem.report.page.close_up import cut_to

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
