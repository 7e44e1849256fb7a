"""What is found out about a job, field for field as the JSON contract names it.

In: nothing. Out: frozen values. Not here: computing them, storing them, rendering them (`report`).
Secrets are still in them (rendering redacts).

The values stand twice, in one form: with texts in every language (`Analysis`, the one value of a
job, which is stored and sent), and with texts in one of them (`Diagnosis`, which the report's forms
are made of; `report.one_language` makes it).
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from postmortem.model.lines import NOWHERE, Where
from postmortem.model.said import Said

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Text = TypeVar("Text", default=str)
else:
    from typing import TypeVar

    Text = TypeVar("Text")


def _no_text() -> Any:
    """Give no words; they are the same in every language."""
    return ""


@dataclass(frozen=True, slots=True)
class Source(Generic[Text]):
    """One file (or stream) of the job."""

    path: str
    bytes: int
    lines: int
    encoding: str
    compression: str | None
    where: Where
    kind: str
    """log | metrics | environment | scheduler | kernel | notebook | ignored"""
    note: Text = field(default_factory=_no_text)
    digest: str | None = None
    """Hash of the stored bytes, its name before it, if all were read; not in the report."""
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
    where: Where = NOWHERE
    line: int | None = None
    end_line: int | None = None


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
    separated_by: Text = field(default_factory=_no_text)
    """The one observation that would tell it from the first cause; for the page as well."""


@dataclass(frozen=True, slots=True)
class SignatureHit(Generic[Text]):
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
    title: Text = field(default_factory=_no_text)
    literal: int = 0
    """Characters of the longest text that its rule asks for; no part of the report.

    Of two rules for a line the more specific has more.
    """


@dataclass(frozen=True, slots=True)
class FirstFailure(Generic[Text]):
    """The first real failure over all sources and processes."""

    source: int
    where: Where
    line: int
    time: str | None
    why: Text


@dataclass(frozen=True, slots=True)
class Event(Generic[Text]):
    """One entry of the timeline."""

    source: int
    where: Where
    line: int
    time: str | None
    step: float | None
    role: str
    text: Text
    title: Text = field(default_factory=_no_text)
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


Analysis: TypeAlias = Diagnosis[Said]
"""The one value of a job: complete, in every language; JSON both ways (`report.lossless`)."""


def worded(value: Any, change: Callable[[Said], Any]) -> Any:
    """Change every sentence in a value of this module, in the place where it stands.

    A class without a text in any field is not generic, and is left as it is.
    """
    if isinstance(value, Said):
        return change(value)
    if isinstance(value, tuple) and value and not hasattr(value, "_fields"):
        return tuple(worded(part, change) for part in value)
    if not getattr(value.__class__, "__parameters__", ()):
        return value
    known = {name.name: getattr(value, name.name) for name in dataclasses.fields(value)}
    return value.__class__(**{name: worded(part, change) for name, part in known.items()})
