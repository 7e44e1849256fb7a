"""Join jobs with allocations by the scheduler's id, else by a unique name.

In: jobs whose logs were judged, allocations. Out: the jobs with their allocations, and what could
not be joined. Not here: reading either.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from postmortem.fleet.scheduler.allocations import Allocation
from postmortem.fleet.scheduler.judged_jobs import JudgedJob

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
