"""A triage as it stands in a store, for whoever shows it again: its overview, its groups, its jobs.

In: a store, numbers. Out: the values of the overview, analyses under the names of their job. Not
here: pages, who asks for them.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from postmortem.core.diagnosis import Analysis
from postmortem.fleet.overview import JudgedTriage, as_stored, build_overview
from postmortem.fleet.store.opened_store import Store
from postmortem.fleet.store.stored_rows import JobRow, TriageRow
from postmortem.fleet.worker_tasks import restore_own_paths, unpack_analysis
from postmortem.report.wire import get_tool_version

ALIKE: Final = ("places",)
"""Options in which two triages must be alike, or nothing has come or gone."""


def load_stored_triage(store: Store, row: TriageRow) -> JudgedTriage:
    """Bring a triage together; what the scheduler says is what the store knows of it."""
    return as_stored(store, row.number, (), ALIKE)


def build_stored_overview(
    store: Store, row: TriageRow, address: Callable[[int], str]
) -> Mapping[str, Any]:
    """Give the values of the overview, `postmortem.triage/1`.

    Args:
        store: open.
        row: the triage.
        address: of the report of a job, by its number.
    """
    found, options = load_stored_triage(store, row), row.options
    numbers = store.listing.get_numbers(row.number)
    links = {name: address(numbers[name]) for name in found.jobs if found.is_judged(name)}
    tool = {
        "version": get_tool_version(),
        "knowledge_base": options.get("knowledge_base", ""),
        "classifier": options.get("classifier") or None,
    }
    made = row.began if row.finished is None else row.finished
    return build_overview(found, tool, made, int(options.get("left_out", "0")), links)


def load_stored_analysis(store: Store, job: JobRow) -> Analysis | None:
    """Give the analysis of a job under the names that its files have; None if there is none."""
    packed = store.analyses.read_blob(job.key)
    return None if packed is None else restore_own_paths(unpack_analysis(packed), job)
