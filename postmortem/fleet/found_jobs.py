"""The jobs of a triage: their files, and the state of their analysis.

In: nothing. Out: frozen values. Not here: finding jobs, judging them, keeping them.
"""

from dataclasses import dataclass
from typing import Final

JUDGED: Final = "judged"
UNREADABLE: Final = "unreadable"
CRASHED: Final = "crashed"
TIMED_OUT: Final = "timed-out"
OUT_OF_MEMORY: Final = "out-of-memory"
FAILED: Final = (UNREADABLE, CRASHED, TIMED_OUT, OUT_OF_MEMORY)
"""States of a job that could not be judged: it has a reason, and no analysis."""
STATES: Final = ("waiting", JUDGED, *FAILED)


@dataclass(frozen=True, slots=True)
class JobFile:
    """One file of a job."""

    name: str
    """Under which it is analysed: `log.txt`, `job/rank0.log`, `job/slurm-%j.err`.

    Neutral: it tells of the process within the job, never which job it is, so that jobs with the
    same content have one analysis.
    """
    location: str
    """A path, or a URL that fsspec opens."""
    size: int
    """Stored bytes."""
    stamp: str
    """Changes when the content does: modification time in ns, or what the storage calls it."""


@dataclass(frozen=True, slots=True)
class FoundJob:
    """One job that ran: five hundred jobs with the same log are five hundred of these."""

    identity: str
    """`<scheduler id>.<attempt>` where there is one, else the normalised location."""
    title: str
    """For people: the scheduler's id, a folder's or a file's name."""
    files: tuple[JobFile, ...]
    scheduler_id: str = ""
    attempt: int = 1

    @property
    def size(self) -> int:
        """Stored bytes of all its files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A location below what was named that belongs to no job, and why."""

    location: str
    why_en: str
    why_zh: str
