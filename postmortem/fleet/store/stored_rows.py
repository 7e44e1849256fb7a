"""What is kept: jobs, analyses, groups, allocations, deliveries and answers, as plain values.

In: nothing. Out: frozen values. Not here: the tables that hold them, what the texts in them mean.
Times are seconds since 1970 in UTC; keys and digests are texts that the caller has made. No text of
an issue is among them: only where something is asked, and what.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

WAITING: Final = "waiting"
"""The state of a job or an analysis of which nothing is known yet."""
JUDGED: Final = "judged"
UNREADABLE: Final = "unreadable"
CRASHED: Final = "crashed"
TIMED_OUT: Final = "timed-out"
OUT_OF_MEMORY: Final = "out-of-memory"
FAILED: Final = (UNREADABLE, CRASHED, TIMED_OUT, OUT_OF_MEMORY)
"""States of a job that could not be judged: it has a reason, and no analysis."""
STATES: Final = (WAITING, JUDGED, *FAILED)


@dataclass(frozen=True, slots=True)
class TriageRow:
    """One triage that was begun, with the options that it was begun with."""

    number: int
    options: Mapping[str, str]
    began: float
    finished: float | None


class FileRow(NamedTuple):
    """One file of a job."""

    name: str
    """Under which it is analysed: `log.txt`, `job/rank0.log`, `job/slurm-%j.err`.

    Neutral: it tells of the process within the job, never which job it is, so that jobs with the
    same content have one analysis. Of a file that no job has yet, its name in its folder.
    """
    location: str
    """A path, or a URL that fsspec opens."""
    size: int
    """Stored bytes."""
    stamp: str
    """Changes when the content does: modification time in ns, or what the storage calls it."""


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job that ran: five hundred jobs with the same log are five hundred of these.

    What the caller notes are the first five fields; the store fills in the others.
    """

    identity: str
    """`<scheduler id>.<attempt>` where there is one, else the normalised location."""
    title: str
    """For people: the scheduler's id, a folder's or a file's name."""
    files: tuple[FileRow, ...]
    """Sorted by name."""
    scheduler_id: str = ""
    attempt: int = 1
    digest: str = ""
    """Of its content; empty until it is noted, and again once a file has changed."""
    key: str = ""
    """Of its analysis in the triage that was asked about."""
    state: str = WAITING
    """What became of it in that triage: that of its analysis, unless it was refused before."""
    reason_en: str = ""
    reason_zh: str = ""
    first_triage: int = 0
    last_triage: int = 0

    @property
    def size(self) -> int:
        """Stored bytes of all its files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class AnalysisSummary:
    """What the overview needs of an analysis, without unpacking it."""

    key: str
    state: str
    reason_en: str = ""
    """Why there is no verdict, if there is none."""
    reason_zh: str = ""
    cause: str | None = None
    category: str = ""
    probability: float = 0.0
    status: str = ""
    outcome: str = ""
    title_en: str = ""
    title_zh: str = ""
    fix_en: str = ""
    fix_zh: str = ""
    retry: str = ""
    whose: str = ""
    failing_line: str = ""
    """As printed, not redacted."""
    template: str = ""
    """Its normalised form."""
    fingerprint: str = ""
    """The exact group to which it belongs."""
    frameworks: tuple[str, ...] = ()
    where: str = ""
    """The process that is told to be at fault."""
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnalysisRow:
    """An analysis that was made, or could not be."""

    summary: AnalysisSummary
    blob: bytes | None = None
    """The whole of it, opaque here; None if there is none."""


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group of jobs that failed alike."""

    identity: str
    version: str
    """Of the way of grouping; groups of another version are others."""
    cause: str | None
    template: str
    title_en: str = ""
    title_zh: str = ""
    jobs: int = 0
    """How many of its jobs are in the triage that was asked about."""
    first_triage: int = 0
    """Filled in by the store: the triage that met it first."""


@dataclass(frozen=True, slots=True)
class AllocationRow:
    """What the scheduler says of one attempt of a job."""

    scheduler_id: str
    attempt: int
    facts: Mapping[str, object]
    """Plain JSON values."""


class AskedPlace(NamedTuple):
    """Where something is asked."""

    tracker: str
    project: str
    kind: str
    """Of issue, or a run whose issue is not known yet."""
    name: str
    """A number, or a run's id."""


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """One delivery."""

    place: AskedPlace
    delivery: str
    """The tracker's id of it."""
    ask: str
    about: str = ""
    """What of the rules is to be explained."""
    comment: str = ""
    """The id of the comment that asks."""
    asker: str = ""
    """Who asks: an id that stays."""
    asker_name: str = ""
    run: str = ""
    number: int = 0
    """Filled in by the store: the order in which they came."""
    state: str = WAITING
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """What stands in a place by now."""

    place: AskedPlace
    comment: str = ""
    """The id of the one comment."""
    run: str = ""
    """The last failed run that was told of there."""
    labels: tuple[str, ...] = ()
    """Those that were put on by the bot."""
    failed_tries: int = 0
    """To answer, since the last success; the store's column is `attempts`."""
    claim: str = ""
    """Of whoever is at it: a text that no other claim has."""
