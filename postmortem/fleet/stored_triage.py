"""A triage as it stands in a store, brought together with what the scheduler says.

In: a store, the row of a triage, allocations. Out: `JudgedTriage`, analyses under the names of
their job. Not here: what is told of it (`fleet.overview`), groups (`fleet.job_groups`), pages.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from postmortem.core.diagnosis import Analysis
from postmortem.fleet.job_groups import VERSION, JobGroup, group_summaries
from postmortem.fleet.scheduler.allocations import (
    Allocation,
    Joined,
    JudgedJob,
    iter_earlier_allocations,
    join_jobs,
)
from postmortem.fleet.search.listing import remove_location_secrets
from postmortem.fleet.store.opened_store import Store
from postmortem.fleet.store.stored_rows import JUDGED, AnalysisSummary, GroupRow, JobRow
from postmortem.fleet.worker_tasks import restore_own_paths, unpack_analysis

_ALIKE: Final = ("places",)
"""Options in which two triages must be alike, or nothing has come or gone."""


@dataclass(frozen=True, slots=True)
class JudgedTriage:
    """A triage as it stands in the store, brought together."""

    jobs: Mapping[str, JobRow]
    """By identity, sorted."""
    summaries: Mapping[str, AnalysisSummary]
    """By key."""
    joined: Joined
    of_key: Mapping[str, str]
    """The group of each analysis that was judged."""
    groups: Mapping[str, JobGroup]
    earlier: Mapping[str, GroupRow] | None
    """The groups of the triage before; None if there was none."""
    since: float | None
    """When that one ended, UTC seconds."""

    def group_of(self, identity: str) -> str | None:
        """Give the id of a job's group; None if it was not judged."""
        return self.of_key.get(self.jobs[identity].key)

    def is_judged(self, identity: str) -> bool:
        """Say whether a job has an analysis."""
        return self.jobs[identity].state == JUDGED

    def get_members(self) -> dict[str, list[JudgedJob]]:
        """Give the jobs of each group, by id; both sorted."""
        found: dict[str, list[JudgedJob]] = {name: [] for name in self.groups}
        for job in self.joined.jobs:
            if name := self.group_of(job.identity):
                found[name].append(job)
        return found


def read_triage(
    store: Store,
    number: int,
    allocations: Sequence[Allocation] = (),
    *,
    is_remembered: bool = False,
) -> JudgedTriage:
    """Read a triage from the store.

    Args:
        store: open.
        number: of the triage, all its jobs done.
        allocations: what the scheduler says now, beside what the store knows of earlier.
        is_remembered: its groups are kept for the next triage; else nothing is changed.
    """
    jobs = {row.identity: row for row in store.jobs.iter_triage_jobs(number)}
    summaries = {record.key: record for record in store.analyses.iter_triage_analyses(number)}
    of_key, groups = group_summaries(summaries.values(), store.groups.list_known())
    before = store.triages.find_earlier(number, _ALIKE)
    row = store.triages.get_row(before) if before is not None else None
    earlier = (
        None
        if before is None
        else {record.identity: record for record in store.groups.list_triage_groups(before)}
    )
    if is_remembered:
        counted = Counter(of_key[job.key] for job in jobs.values() if job.key in of_key)
        rows = [_build_group_row(group, counted[group.id]) for group in groups.values()]
        store.groups.note(number, rows)
    judged = [_build_triage_job(row, summaries.get(row.key)) for row in jobs.values()]
    return JudgedTriage(
        jobs,
        summaries,
        _join_scheduler_records(store, judged, allocations),
        of_key,
        groups,
        earlier,
        row.finished if row is not None else None,
    )


def _join_scheduler_records(
    store: Store, jobs: Sequence[JudgedJob], allocations: Sequence[Allocation]
) -> Joined:
    """Join jobs with what the scheduler says now, and has said."""
    earlier = list(iter_earlier_allocations(store.allocations, allocations, jobs))
    found = join_jobs(jobs, [*allocations, *earlier])
    known = {id(allocation) for allocation in earlier}
    others = tuple(allocation for allocation in found.without_job if id(allocation) not in known)
    return replace(found, without_job=others)


def _build_triage_job(row: JobRow, summary: AnalysisSummary | None) -> JudgedJob:
    is_judged = summary is not None and row.state == JUDGED
    return JudgedJob(
        row.identity,
        row.title,
        row.scheduler_id,
        row.attempt,
        summary.cause if is_judged and summary else None,
        summary.outcome if is_judged and summary else "",
        summary.retry if is_judged and summary else "unknown",
        summary.hosts if summary else (),
        tuple(remove_location_secrets(file.location) for file in row.files),
    )


def _build_group_row(group: JobGroup, jobs: int) -> GroupRow:
    return GroupRow(
        group.id,
        VERSION,
        group.cause,
        group.template,
        group.title.text("en"),
        group.title.text("zh"),
        jobs,
    )


def load_stored_analysis(store: Store, job: JobRow) -> Analysis | None:
    """Give the analysis of a job under the names that its files have; None if there is none."""
    packed = store.analyses.read_blob(job.key)
    return None if packed is None else restore_own_paths(unpack_analysis(packed), job)
