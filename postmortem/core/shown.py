"""What a report shows besides the verdict: findings, timeline, curves, progress, quoted lines.

In: nothing. Out: frozen values, field for field as the JSON contract names them. Not here: making
them (`story`).
"""

from dataclasses import dataclass, field
from typing import Generic

from postmortem.core.lines import ProcessId
from postmortem.core.wording import Text, get_no_text


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
