"""Choose the jobs that may be compared over nodes, and the kind of each.

In: jobs with allocations. Out: those that count, with their kinds. Not here: comparing them
(`scheduler.uneven_nodes`).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from postmortem.fleet.scheduler.judged_jobs import JudgedJob

_ENOUGH: Final = 5
"""Jobs from which on a kind is compared by itself; smaller ones are thrown together."""

Kind = tuple[str, ...]


class ComparedJob(NamedTuple):
    """A job as it is counted."""

    nodes: tuple[str, ...]
    kind: Kind
    has_failed: bool
    cause: str


def select_comparable_jobs(jobs: Sequence[JudgedJob]) -> list[ComparedJob]:
    """Give the jobs that count: the first attempt on the same nodes, with a known end."""
    first: dict[tuple[str, str, tuple[str, ...]], JudgedJob] = {}
    for job in sorted(jobs, key=lambda job: (job.run[2], job.identity)):
        one = job.allocation
        if one is None or not one.nodes or job.has_failed is None or job.was_stopped:
            continue
        first.setdefault((one.cluster, one.scheduler_id, tuple(sorted(one.nodes))), job)
    kept = [first[key] for key in sorted(first)]
    kinds = _select_strata(kept)
    return [
        ComparedJob(tuple(sorted({*job.nodes})), kind, bool(job.has_failed), job.blamed or "")
        for job, kind in zip(kept, kinds, strict=True)
    ]


def _select_strata(jobs: Sequence[JudgedJob]) -> list[Kind]:
    """Give the kind that each job is compared within, the narrowest that is large enough.

    It is settled by how many jobs there are, never by how they ended.
    """
    chosen: list[Kind] = [()] * len(jobs)
    left = list(range(len(jobs)))
    for depth in (3, 2, 1):
        kinds = {place: _build_stratum(jobs[place], depth) for place in left}
        sizes = Counter(kinds.values())
        for place in left:
            if depth == 1 or sizes[kinds[place]] >= _ENOUGH:
                chosen[place] = kinds[place]
        left = [place for place in left if not chosen[place]]
    return chosen


def _build_stratum(job: JudgedJob, depth: int) -> Kind:
    """Give size, user and work, as many of them as asked; sizes by doubling: 1, 2, 3-4, 5-8."""
    return (f"{(len(job.nodes) - 1).bit_length()}", job.user, job.work)[:depth]
