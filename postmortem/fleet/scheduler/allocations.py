"""What a scheduler says of a job: who ran it, where, when, on how many GPUs, and how it ended.

In: nothing. Out: frozen values. Not here: reading the files (`scheduler.scheduler_file`),
joining them with jobs (`scheduler.joining`).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from postmortem.core.message import Message

COMPLETED: Final = "COMPLETED"
FAILED_STATES: Final = frozenset(
    {"FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "LAUNCH_FAILED"}
)
"""States that say that a job failed.

CANCELLED and PREEMPTED are not among them: somebody or the scheduler ended the job, whatever it was
doing.
"""
_HOUR: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Allocation:
    """One attempt of one job, as the scheduler recorded it."""

    scheduler_id: str
    """`4711`, `4711_3` for a task of an array; of a heterogeneous job that of its first part."""
    attempt: int = 1
    """1-based; in a file just read 0 where it is not told."""
    aliases: tuple[str, ...] = ()
    """Other ids under which its log may go: the raw id of an array's task, parts of a job."""
    cluster: str = ""
    user: str = ""
    nodes: tuple[str, ...] = ()
    gpus: int | None = None
    """Of the whole job; None if it is not told."""
    start: float | None = None
    """UTC seconds."""
    end: float | None = None
    """UTC seconds."""
    elapsed: float | None = None
    """Seconds without those in which it was suspended; None if only the times are told."""
    state: str = ""
    """In Slurm's words, upper case; empty if it is not told."""
    exit: str = ""
    """`code:signal` or `code`, as told."""
    image: str = ""
    name: str = ""
    log: str = ""
    """Path of its standard output, placeholders filled."""

    @property
    def seconds(self) -> float | None:
        """How long it ran; None if that is not known, or its clocks contradict themselves."""
        if self.elapsed is not None:
            return self.elapsed
        if self.start is None or self.end is None or self.end < self.start:
            return None
        return self.end - self.start

    @property
    def gpu_hours(self) -> float | None:
        """GPUs times hours; None, never 0, if either is not known."""
        if self.gpus is None or self.seconds is None:
            return None
        return self.gpus * self.seconds / _HOUR


def convert_to_values(allocation: Allocation) -> dict[str, Any]:
    """Give an allocation as values that JSON knows."""
    return asdict(allocation)


def build_allocation(values: Mapping[str, Any]) -> Allocation:
    """Make an allocation of what `convert_to_values` gave, be it read back from JSON."""
    lists = {name: tuple(values[name]) for name in ("aliases", "nodes")}
    return Allocation(**{**values, **lists})


class BadCell(ValueError):  # noqa: N818 -- it is no error of the program: it becomes a `BadRow`
    """What a record says that cannot be used."""

    def __init__(self, why: Message) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class BadRow:
    """A record of a scheduler's file that could not be used."""

    where: str
    """`line 17` or `jobs[17]`."""
    why: Message


@dataclass(frozen=True, slots=True)
class SchedulerRecords:
    """What a scheduler's file holds."""

    kind: str
    """slurm-json | slurm-table | table | json-lines"""
    allocations: tuple[Allocation, ...]
    """Sorted by id and attempt."""
    bad: tuple[BadRow, ...] = ()
