"""Parts of a triage, for job arrays that share a store.

In: jobs. Out: those of one part. Not here: who runs it.
"""

from collections.abc import Sequence

import xxhash

from postmortem.fleet.found_jobs import FoundJob


def select_shard(jobs: Sequence[FoundJob], shard: tuple[int, int] | None) -> list[FoundJob]:
    """Give the jobs of one part, counted from 1: the same whatever else is there."""
    if shard is None:
        return list(jobs)
    which, parts = shard
    return [
        job
        for job in jobs
        if xxhash.xxh3_64_intdigest(job.identity.encode("utf-8", "surrogatepass")) % parts
        == which - 1
    ]
