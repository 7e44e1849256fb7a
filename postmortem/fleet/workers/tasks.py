"""The inputs and outcomes of worker tasks.

In: nothing. Out: frozen values that can be pickled. Not here: the work (`workers.worker_tasks`),
who does it (`workers.pool`, `workers.cluster`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from postmortem.core.message import say
from postmortem.fleet.found_jobs import CRASHED, OUT_OF_MEMORY, TIMED_OUT, UNREADABLE

_GIB: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class JobSettings:
    """What every job of a triage is judged with."""

    patterns: tuple[str, ...] = ()
    """Further folders of rules, as absolute paths."""
    model: str | None = None
    """A text classifier's file, an empty string for the package's, None for none."""
    memory: int = 4096
    """MiB that one worker may hold; 0 for no limit."""


class WantedPage(NamedTuple):
    """A page of one job that is to be written."""

    path: str
    """Absolute."""
    language: str
    """In which it opens."""


class TaskOutcome(NamedTuple):
    """What became of a task; a task that failed has a reason in English and in Chinese."""

    state: str
    value: Any = None
    why: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work that is done apart from all others."""

    name: str
    """Tells it from the others: a job's identity, the key of an analysis."""
    arguments: tuple[Any, ...] = field(repr=False)
    """Arguments of the function that does it, behind the settings."""
    seconds: float
    """It may take so long."""
    size: int = 0
    """Bytes that it will read: by these progress is counted."""


Work = Callable[..., TaskOutcome]
"""A function of a module: it is called as `work(settings, *task.arguments)` in another process."""


class Engine(Protocol):
    """Whoever does tasks apart from each other, several at a time."""

    workers: int

    def run(self, work: Work, tasks: Iterator[Task]) -> Iterator[tuple[Task, TaskOutcome]]:
        """Run tasks; each is taken only when a worker is free, and its outcome yielded when done.

        A task that crashes, takes too long or too much memory is an outcome with its reason and
        harms no other.
        """

    def close(self) -> None:
        """End the workers."""


def build_crash_outcome(how: str) -> TaskOutcome:
    """Give the outcome of a task whose process ended."""
    return TaskOutcome(
        CRASHED,
        why=say("its process ended in the middle of it ({how})", how=how).both(),
    )


def build_timeout_outcome(seconds: float) -> TaskOutcome:
    """Give the outcome of a task that took too long."""
    return TaskOutcome(
        TIMED_OUT,
        why=say(
            "not done after {seconds:,.0f} s; allow more with --timeout", seconds=seconds
        ).both(),
    )


def build_memory_outcome(mebibytes: int) -> TaskOutcome:
    """Give the outcome of a task that wanted more memory than it may have."""
    return TaskOutcome(
        OUT_OF_MEMORY,
        why=say(
            "it wants more than {mebibytes:,} MiB of memory; allow more with --memory",
            mebibytes=mebibytes,
        ).both(),
    )


def describe_too_large(size: int, most: int) -> tuple[str, str, str]:
    """Give the state and the reason of a job that is not read for its size."""
    figures = f"{size / _GIB:,.1f} GiB > {most / _GIB:,.1f} GiB"
    why = say("too large to be read ({figures}); allow more with --largest", figures=figures)
    return (UNREADABLE, *why.both())
