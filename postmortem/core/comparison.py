"""What differs between two runs.

In: nothing. Out: `Comparison` and its parts. Not here: finding it (`compare`), rendering it
(`report.side_by_side`).
"""

from dataclasses import dataclass
from typing import Generic, NamedTuple

from postmortem.core.diagnosis import Diagnosis
from postmortem.core.shown import SeriesView
from postmortem.core.wording import Text


class Differing(NamedTuple):
    """A fact that both runs may state."""

    name: str
    good: str | None
    bad: str | None


class Parting(NamedTuple):
    """A series of both runs."""

    name: str
    common: int
    """Steps that both have recorded."""
    step: float | None
    """Where the curves part; None if they do not, within what both have."""
    good: float
    bad: float
    """The values there, or the last ones."""
    good_line: int
    bad_line: int


class Wording(NamedTuple):
    """A line that only one of the runs prints."""

    text: str
    source: str
    line: int
    times: int


class PairOfSeries(NamedTuple):
    """A series as both runs have it; one of them may not."""

    good: SeriesView | None
    bad: SeriesView | None


@dataclass(frozen=True, slots=True)
class Comparison(Generic[Text]):
    """What differs between two runs."""

    good: Diagnosis[Text]
    bad: Diagnosis[Text]
    settings: tuple[Differing, ...]
    environment: tuple[Differing, ...]
    curves: tuple[Parting, ...]
    only_good: tuple[Wording, ...]
    only_bad: tuple[Wording, ...]
    drawn: tuple[PairOfSeries, ...] = ()
    """What a drawing shows, the training loss first."""
