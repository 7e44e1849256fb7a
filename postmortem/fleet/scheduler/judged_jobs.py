"""A job for statistics: its verdict and its allocation.

In: nothing. Out: frozen values. Not here: the analysis (`pipeline`), where its rows are kept
(`store`), joining (`scheduler.joining`), counting.
"""

import re
from dataclasses import dataclass
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.fleet.scheduler.allocations import COMPLETED, FAILED_STATES, Allocation
from postmortem.rules.traits import Trait, has_trait

_BY_HAND: Final = frozenset({"CANCELLED", "PREEMPTED"})
_TASK: Final = compile_lazily(r"\d+_(\d+)\Z", re.ASCII)
_NOT_ENDED: Final = frozenset({"RUNNING", "PENDING", "SUSPENDED", "CONFIGURING", "COMPLETING"})
_NUMBER: Final = compile_lazily(r"\d+")
_NO_NAME: Final = compile_lazily(
    r"slurm|sbatch|jobs?|logs?|std|out(?:put)?|err(?:or)?|rank|node|run|task|txt", re.IGNORECASE
)
"""Words that name no work: `slurm-4711.out` is any job's log."""
_TELLING: Final = compile_lazily(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class JudgedJob:
    """One job with its verdict and, if it could be joined, its allocation."""

    identity: str
    title: str = ""
    scheduler_id: str = ""
    attempt: int = 1
    cause: str | None = None
    """None if it was not judged, or the judge abstains."""
    outcome: str = ""
    """One of `names.OUTCOMES`, as the log shows it."""
    retry: str = "unknown"
    """as-is | after-fix | no | unknown, as the rule of its cause says."""
    hosts: tuple[str, ...] = ()
    """Machines that its log names."""
    locations: tuple[str, ...] = ()
    """Of its files."""
    allocation: Allocation | None = None

    @property
    def blamed(self) -> str | None:
        """The cause, unless it says that all is well."""
        return None if self.cause is None or has_trait(self.cause, Trait.SOUND) else self.cause

    @property
    def has_failed(self) -> bool | None:
        """Whether it failed; None if nobody says so.

        A log that ends in a failure counts even where the scheduler saw exit code 0: scripts often
        swallow it. One that ends well, or COMPLETED, is no failure. CANCELLED and PREEMPTED tell of
        none by themselves.
        """
        state = "" if self.allocation is None else self.allocation.state
        has_ended_badly = self.outcome in {"failed", "cancelled"}
        if self.blamed is not None and has_ended_badly:
            return True
        if has_trait(self.cause, Trait.COMPLETED) or state == COMPLETED:
            return False
        if state in FAILED_STATES or has_ended_badly:
            return True
        if self.outcome == "completed":
            return False
        is_named = self.blamed is not None and not has_trait(self.blamed, Trait.SLOW)
        return True if is_named and state not in _NOT_ENDED else None

    @property
    def was_stopped(self) -> bool:
        """Whether somebody or the scheduler ended it, which says nothing of its machines."""
        state = "" if self.allocation is None else self.allocation.state
        return has_trait(self.cause, Trait.STOPPED_ON_REQUEST) or (
            state in _BY_HAND and self.blamed is None
        )

    @property
    def gpu_hours(self) -> float | None:
        """What it took; None if that is not known."""
        return None if self.allocation is None else self.allocation.gpu_hours

    @property
    def user(self) -> str:
        """Who ran it; empty if that is not known."""
        return "" if self.allocation is None else self.allocation.user

    @property
    def nodes(self) -> tuple[str, ...]:
        """Where it ran, as the scheduler says; empty if that is not known."""
        return () if self.allocation is None else self.allocation.nodes

    @property
    def run(self) -> tuple[str, str, int]:
        """Cluster, id and attempt as the scheduler knows them, else as its log prints them."""
        one = self.allocation
        if one is None:
            return "", self.scheduler_id, self.attempt
        return one.cluster, one.scheduler_id, one.attempt

    @property
    def attempt_count(self) -> int:
        """How many times it was started, this one included, as its scheduler or its name says."""
        return max(self.attempt, self.allocation.attempt if self.allocation is not None else 0)

    @property
    def work(self) -> str:
        """What it ran: its name, else its title without numbers; empty if neither is known."""
        if self.allocation is not None and self.allocation.name:
            return self.allocation.name
        stem = _NUMBER.sub("#", self.title)
        return stem if _TELLING.search(_NO_NAME.sub("", stem)) else ""

    @property
    def task(self) -> str:
        """The number of its task within an array; empty if it is in none."""
        found = _TASK.match(self.run[1])
        return found[1] if found else ""


def build_job_without_log(allocation: Allocation) -> JudgedJob:
    """Build a job that only the scheduler knows: how and where it ended, not why.

    Its identity is none that a job with a log can have.
    """
    cluster, identity, attempt = allocation.cluster, allocation.scheduler_id, allocation.attempt
    name = f"scheduler:{cluster}:{identity}.{attempt}"
    return JudgedJob(name, identity, identity, attempt, allocation=allocation)
