"""A triage as it stands in a store, for whoever shows it again: its overview, its groups, its jobs.

In: a store, numbers. Out: the values of the overview, analyses under the names of their job. Not
here: pages, who asks for them.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from postmortem.model.diagnosis import Analysis
from postmortem.report.wire import tool_version
from postmortem.store.opened_store import Store
from postmortem.store.stored_rows import JobRow, TriageRow
from postmortem.triage.found_jobs import FoundJob, JobFile
from postmortem.triage.overview import JudgedTriage, as_stored, overview_of
from postmortem.triage.workers.at_work import unpacked
from postmortem.triage.workers.own_paths import relabelled

ALIKE: Final = ("places",)
"""Options in which two triages must be alike, or nothing has come or gone."""


def triage_in(store: Store, row: TriageRow) -> JudgedTriage:
    """Bring a triage together; what the scheduler says is what the store knows of it."""
    return as_stored(store, row.number, (), ALIKE)


def overview_in(store: Store, row: TriageRow, address: Callable[[int], str]) -> Mapping[str, Any]:
    """Give the values of the overview, `postmortem.triage/1`.

    Args:
        store: open.
        row: the triage.
        address: of the report of a job, by its number.
    """
    found, options = triage_in(store, row), row.options
    numbers = store.listing.numbers(row.number)
    links = {name: address(numbers[name]) for name in found.jobs if found.is_judged(name)}
    tool = {
        "version": tool_version(),
        "knowledge_base": options.get("knowledge_base", ""),
        "classifier": options.get("classifier") or None,
    }
    made = row.began if row.finished is None else row.finished
    return overview_of(found, tool, made, int(options.get("left_out", "0")), links)


def analysis_in(store: Store, job: JobRow) -> Analysis | None:
    """Give the analysis of a job under the names that its files have; None if there is none."""
    packed = store.analyses.blob(job.key)
    return None if packed is None else relabelled(unpacked(packed), _found(job))


def _found(job: JobRow) -> FoundJob:
    files = tuple(JobFile(one.name, one.location, one.size, one.stamp) for one in job.files)
    return FoundJob(job.identity, job.title, files, job.scheduler_id, job.attempt)
