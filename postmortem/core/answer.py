"""The answer to a job, and what a report shows besides it: causes, fixes, timeline, curves, quotes.

In: nothing. Out: frozen values, field for field as the JSON contract names them. Not here: weighing
causes (`inference`), choosing fixes (`fixes`), making the views of findings and curves (`story`),
the whole result (`core.diagnosis`).
"""

from dataclasses import dataclass, field
from typing import Final, Generic

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.wording import Text, get_no_text

_WITHIN_REACH: Final = 2.5
"""Log-odds within which a second cause is as good as the first, for people."""
_FAR_AHEAD: Final = 0.9
"""A probability from which on no other cause is."""


@dataclass(frozen=True, slots=True)
class Need(Generic[Text]):
    """What would decide an open question, and how to get it."""

    what: Text
    why: Text
    command: str = ""


@dataclass(frozen=True, slots=True)
class Verdict(Generic[Text]):
    """The answer; `cause` is None when the program abstains."""

    cause: str | None
    probability: float
    status: str
    """established | supported | hypothesis | unknown"""
    summary: Text
    whose: str
    retry: str
    not_checked: tuple[Text, ...] = ()
    would_change: tuple[Text, ...] = ()
    need: tuple[Need[Text], ...] = ()


@dataclass(frozen=True, slots=True)
class DecisiveWords:
    """Words of the log that carry evidence of a classifier, and the line that they stand in."""

    text: str
    """The line, without what stands before it."""
    terms: tuple[str, ...]
    """As they stand in it, the weightiest first."""
    share: float
    """Of all that speaks for the cause."""
    source: int | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence(Generic[Text]):
    """One signed reason for or against a cause."""

    kind: str
    """signature | shape | environment | setting | traceback | advisory | classifier | replay"""
    id: str
    group: str
    text: Text
    weight: float
    """In log-odds; negative speaks against the cause."""
    source: int | None = None
    where: ProcessId = NOWHERE
    line: int | None = None
    end_line: int | None = None
    references: tuple[str, ...] = ()
    """Where a known defect is told of."""
    carried: tuple[DecisiveWords, ...] = ()
    """Of a classifier: the words that carry it."""


@dataclass(frozen=True, slots=True)
class Fix(Generic[Text]):
    """One thing to do, with the user's own numbers filled in."""

    id: str
    kind: str
    """check | change | prevent"""
    title: Text
    why: Text
    snippet: Text
    language: str
    safety: str
    """safe | changes-results | costly"""
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cause(Generic[Text]):
    """A candidate cause with its arithmetic."""

    id: str
    category: str
    title: Text
    probability: float
    explanation: Text
    evidence: tuple[Evidence[Text], ...]
    fixes: tuple[Fix[Text], ...] = ()
    log_odds: float = 0.0
    """What the evidence adds up to before rivals are counted; for the page, not in the report."""
    separated_by: Text = field(default_factory=get_no_text)
    """The one observation that would tell it from the first cause; for the page as well."""


def has_rival(probability: float, best: float, second: float | None) -> bool:
    """Say whether a second cause fits about as well as the first.

    Args:
        probability: of the first.
        best: the log-odds of the first.
        second: those of the second; None if there is none.
    """
    return second is not None and probability < _FAR_AHEAD and second > best - _WITHIN_REACH


@dataclass(frozen=True, slots=True)
class SignatureHit(Generic[Text]):
    """A signature as reported: first and last findings of a process are listed one by one."""

    id: str
    role: str
    because: str
    source: int
    where: ProcessId
    line: int
    end_line: int
    time: str | None
    time_basis: str | None
    """full | no-year | no-date | uptime, or None without a time"""
    count: int
    text: str
    captures: tuple[tuple[str, str], ...]
    title: Text = field(default_factory=get_no_text)
    literal: int = 0
    """Characters of the longest text that its rule asks for; no part of the report.

    Of two rules for a line the more specific has more.
    """


@dataclass(frozen=True, slots=True)
class OwnFrame:
    """The innermost frame of a traceback that stands in the user's own code."""

    file: str
    line: int
    function: str
    code: str


@dataclass(frozen=True, slots=True)
class FirstFailure(Generic[Text]):
    """The first real failure over all sources and processes."""

    source: int
    where: ProcessId
    line: int
    time: str | None
    why: Text
    frame: OwnFrame | None = None
    """Where the user's own code made the call that failed, if a traceback tells."""


@dataclass(frozen=True, slots=True)
class Event(Generic[Text]):
    """One entry of the timeline."""

    source: int
    where: ProcessId
    line: int
    time: str | None
    step: float | None
    role: str
    text: Text
    title: Text = field(default_factory=get_no_text)
    """What the line means; for people, not part of the JSON contract."""


@dataclass(frozen=True, slots=True)
class SeriesView:
    """A series as reported; a non-finite value stays a float here and becomes a string in JSON."""

    name: str
    producer: str
    source: int
    where: ProcessId
    unit: str
    points: int
    nonfinite: int
    first: tuple[float | None, float]
    last: tuple[float | None, float]
    min: float | None
    max: float | None
    """min and max are over finite values; None if there is none."""
    first_nonfinite: tuple[float | None, int] | None
    """(step, raw line)"""
    interleaved: bool
    samples: tuple[tuple[float | None, float, int], ...]
    """(step, value, raw line), at most a few hundred, extremes and changes of finiteness kept"""
    attempt: int = 1
    """The number of the attempt within its source."""


@dataclass(frozen=True, slots=True)
class BestRecord:
    """The best value of the metric by which the checkpoints of an attempt are judged."""

    name: str
    value: float
    step: float | None
    epoch: float | None
    source: int
    line: int
    better: str
    """higher | lower"""
    last: float
    """The value at the end of the attempt."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the run came and what was saved."""

    last_good_step: float | None = None
    last_checkpoint: str | None = None
    checkpoint_before_first_bad: str = "unknown"
    """yes | no | unknown; without a bad value: before the first failure"""
    seconds_after_failure: float | None = None
    """By the printed clock, from the first failure to the end of the log."""
    resume_from: str | None = None
    """The last checkpoint from before anything went wrong; of a run that was stopped from outside
    the last one."""
    first_bad: tuple[float | None, int] | None = None
    """(step, raw line) of the first value that is not finite, or of where the curve goes wrong."""
    last_step: float | None = None
    planned_steps: float | None = None
    epoch: float | None = None
    planned_epochs: float | None = None
    """How far the attempt came and how far it was to go, as printed."""
    best: BestRecord | None = None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Raw lines around a place; not part of the JSON contract, shown by the page."""

    source: int
    first_line: int
    lines: tuple[str, ...]
    marked: tuple[int, ...] = ()
    over: tuple[tuple[int, int], ...] = ()
    """(raw line, characters of it that `lines` leaves out)"""
    before: tuple[str, ...] = ()
    """Lines right before, which are not shown: a secret may begin or be named there."""
    behind: tuple[str, ...] = ()
    """Lines right behind, which are not shown either."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Places of one process where the same thing happened.

    Not part of the JSON contract, shown on the page's curves.
    """

    kind: str
    """overflow | checkpoint | evaluation | resumed | crash"""
    source: int
    where: ProcessId
    count: int
    """How often it happened; of many, `places` holds some, spread evenly."""
    places: tuple[tuple[int, float | None], ...]
    """(raw line, step), in the order of the lines"""
