"""The pages of single jobs that a triage writes: one of each group, or all.

In: a triage brought together, its store, an engine. Out: files, and links to them by identity. Not
here: a page itself (`report`), the overview (`fleet.overview`).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

import xxhash

from postmortem.fleet.found_jobs import JUDGED, FoundJob
from postmortem.fleet.judging_jobs import ProgressCallback
from postmortem.fleet.overview import JudgedTriage
from postmortem.fleet.store.opened_store import Store
from postmortem.fleet.workers.tasks import Engine, Task, WantedPage
from postmortem.fleet.workers.worker_tasks import run_render

_SECONDS: Final = 300.0


class PageOptions(Protocol):
    """What of a wish matters here."""

    @property
    def output(self) -> Path:
        """The folder."""

    @property
    def reports(self) -> str:
        """Groups | all | none."""

    @property
    def language(self) -> str:
        """In which a page opens."""


def write_pages(
    found: JudgedTriage,
    jobs: Sequence[FoundJob],
    store: Store,
    engine: Engine,
    wanted: PageOptions,
    report_progress: ProgressCallback,
) -> dict[str, str]:
    """Write the pages that are asked for, and give their links, relative to the folder.

    A page that cannot be rendered is left out.
    """
    names = _build_page_names(found, wanted.reports)
    for folder in {name.partition("/")[0] for name in names.values()}:
        (wanted.output / folder).mkdir(exist_ok=True)
    known = {job.identity: job for job in jobs}
    report_progress("reports", 0, len(names), 0, 0)
    links: dict[str, str] = {}
    tasks = _iter_tasks(names, found, known, store, wanted)
    for done, (task, outcome) in enumerate(engine.run(run_render, tasks), 1):
        if outcome.state == JUDGED:
            links[task.name] = names[task.name]
        report_progress("reports", done, len(names), 0, 0)
    return dict(sorted(links.items()))


def _build_page_names(found: JudgedTriage, reports: str) -> dict[str, str]:
    """Give the file of each job that gets a page."""
    if reports == "none":
        return {}
    members = found.get_members()
    if reports == "groups":
        return {jobs[0].identity: f"groups/{name}.html" for name, jobs in members.items()}
    return {
        job.identity: f"jobs/{_hash_identity(job.identity)}.html"
        for jobs in members.values()
        for job in jobs
    }


def _hash_identity(identity: str) -> str:
    return xxhash.xxh3_64_hexdigest(identity.encode("utf-8", "surrogatepass"))


def _iter_tasks(
    names: Mapping[str, str],
    found: JudgedTriage,
    jobs: Mapping[str, FoundJob],
    store: Store,
    wanted: PageOptions,
) -> Iterator[Task]:
    for identity, name in sorted(names.items()):
        packed = store.analyses.read_blob(found.jobs[identity].key)
        if packed is not None:
            page = WantedPage(str((wanted.output / name).resolve()), wanted.language)
            yield Task(identity, (packed, jobs[identity], page), _SECONDS)
