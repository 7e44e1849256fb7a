"""Allocations, what a scheduler says of a job, and judged jobs joined with them.

In: jobs whose logs were judged, allocations, those of earlier triages (a scheduler's records often
cover a day, logs a month). Out: frozen values: who ran a job, where, when, on how many GPUs, and
how it ended; the jobs with their allocations, by the scheduler's id, else by a unique name, and
what could not be joined. Not here: reading the files (`scheduler.scheduler_file`), how rows are
kept (`store`), counting.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Final

from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message
from postmortem.fleet.store.stored_rows import AllocationRow
from postmortem.fleet.store.triage_records import AllocationRecords
from postmortem.rules.vocabulary import Trait, has_trait

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


def store_allocations(records: AllocationRecords, allocations: Iterable[Allocation]) -> None:
    """Keep what the scheduler says now; of the same attempt it replaces what was kept."""
    records.note(
        AllocationRow(
            _build_allocation_key(allocation), allocation.attempt, convert_to_values(allocation)
        )
        for allocation in allocations
    )


def iter_earlier_allocations(
    records: AllocationRecords, now: Sequence[Allocation], jobs: Sequence[JudgedJob]
) -> Iterator[Allocation]:
    """Yield what was said earlier of these jobs, and is not said now.

    By the scheduler's id or the path of the log; of other jobs nothing is read into memory.
    """
    known = {(_build_allocation_key(allocation), allocation.attempt) for allocation in now}
    wanted = {job.scheduler_id for job in jobs} | {place for job in jobs for place in job.locations}
    wanted.discard("")
    for row in records.iter_all():
        if (row.scheduler_id, row.attempt) not in known:
            one = build_allocation(row.facts)
            if not wanted.isdisjoint({one.scheduler_id, *one.aliases, one.log}):
                yield one


def _build_allocation_key(allocation: Allocation) -> str:
    """Give the id under which it is kept: two clusters may use one number."""
    return "/".join(filter(None, (allocation.cluster, allocation.scheduler_id)))


_OfJob = Callable[[JudgedJob], Iterable[str]]
_OfAllocation = Callable[[Allocation], str]


@dataclass(frozen=True, slots=True)
class Joined:
    """The jobs, sorted by identity, and what has no counterpart."""

    jobs: tuple[JudgedJob, ...]
    without_allocation: tuple[str, ...]
    """Identities of jobs of which the scheduler's file says nothing, or not one thing."""
    without_job: tuple[Allocation, ...]
    """Allocations whose log was not among the jobs."""


def join_jobs(jobs: Iterable[JudgedJob], allocations: Iterable[Allocation]) -> Joined:
    """Give each job its allocation.

    By the scheduler's id and attempt. Where an id has one log but several attempts, the log is that
    of the last: a requeued job writes over its log, or goes on in it. An id that several clusters
    use is left. A job without an id is joined by the path of its log, then by the file's name, then
    by the job's name, each only where one job and one allocation alone bear it.
    """
    listed = sorted(jobs, key=lambda job: job.identity)
    known = sorted(
        allocations,
        key=lambda allocation: (allocation.scheduler_id, allocation.attempt, repr(allocation)),
    )
    found = dict(_match_by_id([job for job in listed if job.scheduler_id], known))
    _join_by_names(found, listed, known)
    taken = {id(allocation) for allocation in found.values()}
    return Joined(
        tuple(replace(job, allocation=found.get(job.identity)) for job in listed),
        tuple(job.identity for job in listed if job.identity not in found),
        tuple(allocation for allocation in known if id(allocation) not in taken),
    )


def _match_by_id(
    jobs: Sequence[JudgedJob], allocations: Sequence[Allocation]
) -> Iterator[tuple[str, Allocation]]:
    """Yield the identities of jobs and their allocations, joined by the scheduler's id."""
    attempts: dict[str, list[Allocation]] = defaultdict(list)
    others: dict[str, list[Allocation]] = defaultdict(list)
    for allocation in allocations:
        attempts[allocation.scheduler_id].append(allocation)
        for alias in {*allocation.aliases} - {allocation.scheduler_id}:
            others[alias].append(allocation)
    logs: dict[str, list[JudgedJob]] = defaultdict(list)
    for job in jobs:
        logs[job.scheduler_id].append(job)
    for identity, known in logs.items():
        candidates = attempts.get(identity) or others.get(identity, [])
        if len({(candidate.cluster, candidate.scheduler_id) for candidate in candidates}) == 1:
            yield from _match_by_attempt(known, candidates)


def _match_by_attempt(
    jobs: Sequence[JudgedJob], attempts: Sequence[Allocation]
) -> Iterator[tuple[str, Allocation]]:
    if len(jobs) == 1 and (jobs[0].attempt == 1 or len(attempts) == 1):
        yield jobs[0].identity, max(attempts, key=lambda attempt: attempt.attempt)
        return
    numbered = {attempt.attempt: attempt for attempt in attempts}
    attempt_numbers = [job.attempt for job in jobs]
    for job in jobs:
        if job.attempt in numbered and attempt_numbers.count(job.attempt) == 1:
            yield job.identity, numbered[job.attempt]


def _join_by_names(
    found: dict[str, Allocation], jobs: Sequence[JudgedJob], allocations: Sequence[Allocation]
) -> None:
    """Add what jobs without an id have a name in common with, and nothing else has."""
    latest = [
        *{
            (allocation.cluster, allocation.scheduler_id): allocation for allocation in allocations
        }.values()
    ]
    for of_job, of_allocation in _NAMES:
        taken = {id(allocation) for allocation in found.values()}
        for job, allocation in _match_by_name(jobs, latest, of_job, of_allocation):
            if not job.scheduler_id and job.identity not in found and id(allocation) not in taken:
                found[job.identity] = allocation


def _match_by_name(
    jobs: Sequence[JudgedJob],
    allocations: Sequence[Allocation],
    of_job: _OfJob,
    of_allocation: _OfAllocation,
) -> Iterator[tuple[JudgedJob, Allocation]]:
    """Yield a job and an allocation that have a name in common which no other of them bears."""
    named: dict[str, list[JudgedJob]] = defaultdict(list)
    bearing: dict[str, list[Allocation]] = defaultdict(list)
    for job in jobs:
        for name in {*of_job(job)} - {""}:
            named[name].append(job)
    for allocation in allocations:
        bearing[of_allocation(allocation)].append(allocation)
    pairs = [
        (named[name][0], bearing[name][0])
        for name in sorted(named.keys() & bearing.keys())
        if len(named[name]) == len(bearing[name]) == 1
    ]
    often = Counter(job.identity for job, _ in pairs)
    yield from (pair for pair in pairs if often[pair[0].identity] == 1)


def _get_file_name(path: str) -> str:
    return PurePosixPath(path.replace("\\", "/")).name


_NAMES: Final[tuple[tuple[_OfJob, _OfAllocation], ...]] = (
    (lambda job: job.locations, lambda one: one.log),
    (lambda job: map(_get_file_name, job.locations), lambda one: _get_file_name(one.log)),
    (
        lambda job: (
            job.title,
            *(PurePosixPath(_get_file_name(path)).stem for path in job.locations),
        ),
        lambda one: one.name,
    ),
)
"""How jobs without an id are joined, the surest first: their names, and those of an allocation."""
