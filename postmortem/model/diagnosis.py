"""The diagnosis: everything a report shows, field for field as the JSON contract names it.

In: nothing. Out: frozen values. Not here: computing them (`pipeline`) or rendering them (`report`).
Texts are already in the language that was asked for; secrets are still in them (rendering redacts).
"""

from dataclasses import dataclass, field
from typing import Any

from postmortem.model.lines import NOWHERE, Where


@dataclass(frozen=True, slots=True)
class Source:
    """One file (or stream) of the job."""

    path: str
    bytes: int
    lines: int
    encoding: str
    compression: str | None
    where: Where
    kind: str
    """log | metrics | environment | scheduler | kernel | notebook | ignored"""
    note: str = ""
    digest: str | None = None
    """Hash of the stored bytes, with its name before it, if all were read; not part of the JSON contract."""
    is_file: bool = True
    """Whether `path` leads to it: standard input and streams only bear a name."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run within a source that holds several."""

    source: int
    first_line: int
    last_line: int
    outcome: str


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework whose output was recognised."""

    name: str
    version: str | None
    lines: int


@dataclass(frozen=True, slots=True)
class Need:
    """What would decide an open question, and how to get it."""

    what: str
    why: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer; `cause` is None when the program abstains."""

    cause: str | None
    probability: float
    status: str
    """established | supported | hypothesis | unknown"""
    summary: str
    whose: str
    retry: str
    not_checked: tuple[str, ...] = ()
    would_change: tuple[str, ...] = ()
    need: tuple[Need, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """One signed reason for or against a cause."""

    kind: str
    """signature | shape | environment | setting | traceback | advisory | classifier | replay"""
    id: str
    group: str
    text: str
    weight: float
    """In log-odds; negative speaks against the cause."""
    source: int | None = None
    where: Where = NOWHERE
    line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """One thing to do, with the user's own numbers filled in."""

    id: str
    kind: str
    """check | change | prevent"""
    title: str
    why: str
    snippet: str
    language: str
    safety: str
    """safe | changes-results | costly"""
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cause:
    """A candidate cause with its arithmetic."""

    id: str
    category: str
    title: str
    probability: float
    explanation: str
    evidence: tuple[Evidence, ...]
    fixes: tuple[Fix, ...] = ()
    log_odds: float = 0.0
    """What the evidence adds up to before rivals are counted; for the page, not part of the JSON contract."""
    separated_by: str = ""
    """The one observation that would tell it from the first cause; for the page as well."""


@dataclass(frozen=True, slots=True)
class SignatureHit:
    """A signature as reported: first and last findings of a process are listed one by one."""

    id: str
    role: str
    because: str
    source: int
    where: Where
    line: int
    end_line: int
    time: str | None
    time_basis: str | None
    """full | no-year | no-date | uptime, or None without a time"""
    count: int
    text: str
    captures: tuple[tuple[str, str], ...]
    title: str = ""
    literal: int = 0
    """Characters of the longest text that its rule asks for: of two rules for a line the more specific has more; not part of the JSON contract."""


@dataclass(frozen=True, slots=True)
class FirstFailure:
    """The first real failure over all sources and processes."""

    source: int
    where: Where
    line: int
    time: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the timeline."""

    source: int
    where: Where
    line: int
    time: str | None
    step: float | None
    role: str
    text: str
    title: str = ""
    """What the line means; for people, not part of the JSON contract."""


@dataclass(frozen=True, slots=True)
class SeriesView:
    """A series as reported; a non-finite value stays a float here and becomes a string in JSON."""

    name: str
    producer: str
    source: int
    where: Where
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


@dataclass(frozen=True, slots=True)
class Gpu:
    """One model of GPU and how many there are."""

    name: str
    count: int
    memory_gib: float | None
    compute_capability: float | None


@dataclass(frozen=True, slots=True)
class Environment:
    """What the log and the dumps say about the machine and the software."""

    packages: dict[str, str] = field(default_factory=dict)
    python: str | None = None
    os: str | None = None
    cuda: str | None = None
    driver: str | None = None
    gpus: tuple[Gpu, ...] = ()
    precision: str | None = None
    """fp16 | bf16 | fp32 | fp8 | tf32, or None if nothing says so"""
    world_size: int | None = None
    launcher: str | None = None
    exit_status: int | None = None
    signal: str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of the run as printed."""

    value: Any
    source: int
    line: int


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
    """The last checkpoint from before anything went wrong."""
    first_bad: tuple[float | None, int] | None = None
    """(step, raw line) of the first value that is not finite, or of where the curve goes wrong."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Raw lines around a place; not part of the JSON contract, shown by the page."""

    source: int
    first_line: int
    lines: tuple[str, ...]
    marked: tuple[int, ...] = ()
    over: tuple[tuple[int, int], ...] = ()
    """(raw line, characters of it that `lines` leaves out)"""


@dataclass(frozen=True, slots=True)
class Marks:
    """Places of one process where the same thing happened.

    Not part of the JSON contract, shown on the page's curves.
    """

    kind: str
    """overflow | checkpoint | evaluation | resumed | crash"""
    source: int
    where: Where
    count: int
    """How often it happened; of many, `places` holds some, spread evenly."""
    places: tuple[tuple[int, float | None], ...]
    """(raw line, step), in the order of the lines"""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that was found out about one job."""

    knowledge_base: str
    sources: tuple[Source, ...]
    attempts: tuple[Attempt, ...]
    outcome: str
    frameworks: tuple[Framework, ...]
    verdict: Verdict
    causes: tuple[Cause, ...]
    signatures: tuple[SignatureHit, ...]
    first_failure: FirstFailure | None
    timeline: tuple[Event, ...]
    series: tuple[SeriesView, ...]
    environment: Environment
    settings: dict[str, Setting]
    progress: Progress
    warnings: tuple[str, ...]
    excerpt: Excerpt | None = None
    quotes: tuple[Excerpt, ...] = ()
    """The lines around all places that the page names; filled for the page only."""
    marks: tuple[Marks, ...] = ()
    events_left: int = 0
    """Events that the timeline leaves out; not part of the JSON contract."""
    given: tuple[str, ...] = ()
    """The paths as the caller gave them: files, folders, `-`; not part of the JSON contract."""
    language: str = "en"
    classifier: str | None = None
