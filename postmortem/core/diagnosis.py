"""Complete results: of a job, of a replay, of a comparison of two runs, of a watch.

In: nothing. Out: frozen values, field for field as the JSON contract names them: `Analysis` and
`Diagnosis`, `Replayed`, `Comparison`, and the `WatchEvent`s of a watch (a warning, a note on the
file, the end). Not here: computing them (`replay`, `compare`, `watch`), storing them, rendering
them (`report`). Secrets are still in them (rendering redacts).

The result of a job stands twice, in one form: with texts in every language (`Analysis`, the one
value of a job, which is stored and sent), and with texts in one of them (`Diagnosis`, which the
report's forms are made of; `report.display` makes it).
"""

import math
from dataclasses import dataclass, field
from typing import Final, Generic, NamedTuple, TypeAlias

from postmortem.core.answer import (
    Cause,
    Event,
    Excerpt,
    FirstFailure,
    Marks,
    Progress,
    SeriesView,
    SignatureHit,
    Verdict,
)
from postmortem.core.findings import Attempt, Environment, Framework, ProcessId, Setting, Source
from postmortem.core.message import NOTHING, Message
from postmortem.core.wording import Text, get_no_text


@dataclass(frozen=True, slots=True)
class ReplayTrial(Generic[Text]):
    """The window run again, as it was or with one thing changed."""

    id: str
    title: Text
    outcome: str
    """finite | not-finite | diverges | skipped | failed (an exception ended it)"""
    text: Text
    """What happened, or why it was skipped."""
    losses: tuple[float | None, ...] = ()
    """Of each step."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class CauseTested(Generic[Text]):
    """The result of the trials for one cause."""

    cause: str
    title: Text
    verdict: str
    """confirmed | refuted | not-reproduced | not-testable"""
    reasons: tuple[Text, ...] = ()
    """The observations that decide, or why nothing can be said."""


@dataclass(frozen=True, slots=True)
class ModulePeak:
    """The greatest absolute values at one module, in the order of the forward pass."""

    module: str
    kind: str
    output: float
    """Of the finite numbers in its output."""
    is_finite: bool = True
    gradient: float | None = None
    gradient_is_finite: bool = True


@dataclass(frozen=True, slots=True)
class FaultySample(Generic[Text]):
    """A sample without which the window stays finite."""

    step: int
    micro_batch: int
    position: int
    """Within the micro-batch, from 0."""
    index: int | None
    """In the data set, if it was recorded."""
    preview: tuple[Text, ...] = ()
    """Shapes and ranges, never what stands in it."""


@dataclass(frozen=True, slots=True)
class Replayed(Generic[Text]):
    """Everything that a replay has found out."""

    capsule: str
    device: str
    recorded_on: str
    reason: Text
    summary: Text
    reproduced: str
    """yes | no | elsewhere | intermittent | nothing-failed | not-run

    elsewhere: the reruns failed more than a step from where the recorded run did."""
    fidelity: Text
    """The recorded losses against those of the rerun: bit-equal, or by how much they differ."""
    trials: tuple[ReplayTrial[Text], ...]
    tested: tuple[CauseTested[Text], ...]
    place: Text = field(default_factory=get_no_text)
    """The first module, and the first operation, that left the finite range."""
    module: str = ""
    direction: str = ""
    """forward | backward | empty"""
    operation: str = ""
    culprits: tuple[FaultySample[Text], ...] = ()
    peaks: tuple[ModulePeak, ...] = ()
    limit: float = 0.0
    """The largest number of the type that the modules were computed in."""
    limit_of: str = ""
    peaks_of: Text = field(default_factory=get_no_text)
    """Of which run the peaks are."""
    notes: tuple[Text, ...] = ()

    @property
    def confirmed(self) -> tuple[CauseTested[Text], ...]:
        """Give the causes that the replay proves."""
        return tuple(cause for cause in self.tested if cause.verdict == "confirmed")


@dataclass(frozen=True, slots=True)
class Diagnosis(Generic[Text]):
    """Everything that was found out about one job."""

    knowledge_base: str
    sources: tuple[Source[Text], ...]
    attempts: tuple[Attempt, ...]
    outcome: str
    frameworks: tuple[Framework, ...]
    verdict: Verdict[Text]
    causes: tuple[Cause[Text], ...]
    signatures: tuple[SignatureHit[Text], ...]
    first_failure: FirstFailure[Text] | None
    timeline: tuple[Event[Text], ...]
    series: tuple[SeriesView, ...]
    environment: Environment
    settings: dict[str, Setting]
    progress: Progress
    warnings: tuple[Text, ...]
    excerpt: Excerpt | None = None
    quotes: tuple[Excerpt, ...] = ()
    """The lines around all places that the page names."""
    marks: tuple[Marks, ...] = ()
    events_left: int = 0
    """Events that the timeline leaves out; not part of the JSON contract."""
    given: tuple[str, ...] = ()
    """The paths as the caller gave them: files, folders, `-`; not part of the JSON contract."""
    language: str = ""
    """Of the texts; empty where they are in every language."""
    classifier: str | None = None
    replay: Replayed[Text] | None = None
    """What running a capsule of its steps again has shown."""
    other_series: tuple[SeriesView, ...] = ()
    """Of the attempts that are not judged, with few samples."""


Analysis: TypeAlias = Diagnosis[Message]
"""The one value of a job: complete, in every language; JSON both ways (`report.lossless`)."""


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


KINDS: Final = (
    "nan",
    "hidden-nan",
    "eval-nan",
    "overflow",
    "divergence",
    "gradients",
    "zero-loss",
    "memory",
    "stall",
    "same-step",
)
"""What is warned of."""
ENDS: Final = ("completed", "failed", "warned", "once", "interrupted")


class MetricRecord(NamedTuple):
    """All figures that one line prints for one process."""

    where: ProcessId
    producer: str
    line: int
    step: float
    """NaN where none is printed."""
    values: dict[str, float]


class Sign(NamedTuple):
    """A reason to warn."""

    kind: str
    """One of KINDS."""
    message: Message
    """The figures that show it."""
    line: int
    """Raw line that shows it."""
    step: float = math.nan
    first: int = 0
    """Raw line where it began; 0 where that is the same."""


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning, shown once."""

    kind: str
    path: str
    where: ProcessId
    line: int
    """0 where no line shows it: a run that is silent."""
    step: float | None
    message: Message
    evidence: str
    """The raw line."""
    time: float
    """When it was told, in seconds since the epoch."""
    checkpoint: str | None = None
    """The last checkpoint that the log names from before it began."""
    checkpoint_standing: str = "unknown"
    """Whether a checkpoint stands before it: yes, no, unknown."""


@dataclass(frozen=True, slots=True)
class Noted:
    """Something about the file that is worth a line and is no warning."""

    kind: str
    """waiting | found | rotated | truncated | goes-on | unreadable"""
    path: str
    message: Message | None = None
    """Why, where that is known."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the watch."""

    how: str
    """One of ENDS."""
    paths: tuple[str, ...]
    warnings: int
    time: float
    cause: str | None = None
    """Of a run that is over: the verdict."""
    title: Message = NOTHING
    probability: float = 0.0

    @property
    def is_bad(self) -> bool:
        """True if something was warned of, or the run failed."""
        return self.warnings > 0 or self.how == "failed"


WatchEvent = Warned | Noted | Ended
