"""Allocations known from earlier triages: a scheduler's records often cover a day, logs a month.

In: the allocations of a store, those of now, jobs. Out: the earlier ones of these jobs.
Not here: how rows are kept (`store`), which job an allocation belongs to (`scheduler.joining`).
"""

from collections.abc import Iterable, Iterator, Sequence

from postmortem.fleet.scheduler.allocations import Allocation, build_allocation, convert_to_values
from postmortem.fleet.scheduler.judged_jobs import JudgedJob
from postmortem.fleet.store.allocation_records import AllocationRecords
from postmortem.fleet.store.stored_rows import AllocationRow


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
