"""A triage from paths to a folder of results: find, judge, sum up, write.

In: a `TriageConfig`. Out: `TriageDone`, and files: JSON Lines, CSV, the page, and the pages of
single jobs, one of each group or all. Not here: any of the steps, a page itself (`report`), the
overview (`fleet.overview`).

Job arrays that share a store judge a part of the jobs each.
"""

import csv
import io
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path
from typing import Any, Final

import xxhash

from postmortem.core.errors import InputError, MissingExtra, PostmortemError, install_hint
from postmortem.core.host import files
from postmortem.core.message import Message, say
from postmortem.fleet.judging_jobs import (
    Count,
    Outcomes,
    ProgressCallback,
    TriageConfig,
    judge_all,
    run_and_keep,
)
from postmortem.fleet.overview import build_overview, describe_tool, iter_result_rows
from postmortem.fleet.scheduler.allocations import Allocation, store_allocations
from postmortem.fleet.scheduler.scheduler_file import read_allocations
from postmortem.fleet.search.finding import JobsFound, find_jobs
from postmortem.fleet.store import open_store
from postmortem.fleet.store.opened_store import Store
from postmortem.fleet.store.stored_rows import JUDGED, JobRow, TriageRow
from postmortem.fleet.stored_triage import JudgedTriage, read_triage
from postmortem.fleet.worker_tasks import Engine, Task, WantedPage, run_render
from postmortem.pipeline import get_matcher, open_model
from postmortem.report.page.triage_page import render_triage


def select_shard(jobs: Sequence[JobRow], shard: tuple[int, int] | None) -> list[JobRow]:
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


_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""With which a spreadsheet takes a cell for a formula."""


def format_json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write an object a line."""
    return "".join(
        json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
        for row in rows
    )


def format_csv(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> str:
    """Write the rows as CSV; no cell of text can become a formula."""
    target = io.StringIO()
    names = list(columns)
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_format_cell(row.get(name)) for name in names])
    return target.getvalue()


def _format_cell(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        value = " ".join(map(str, value))
    if isinstance(value, Mapping):
        value = value.get("en", "")
    if isinstance(value, str):
        plain = "".join(letter if letter.isprintable() else " " for letter in value)
        return f"'{plain}" if value.startswith(_FORMULA) else plain
    return "" if value is None else value


_SECONDS: Final = 300.0


def write_pages(
    found: JudgedTriage,
    store: Store,
    engine: Engine,
    config: TriageConfig,
    report_progress: ProgressCallback,
) -> dict[str, str]:
    """Write the pages that are asked for, and give their links, relative to the folder.

    A page that is there as it would be written stays; one that cannot be rendered is left out.
    """
    names = _build_page_names(found, config.reports)
    for folder in {name.partition("/")[0] for name in names.values()}:
        (config.output / folder).mkdir(exist_ok=True)
    pages = {name: _build_wanted_page(found.jobs[name], names[name], config) for name in names}
    links = {name: names[name] for name, page in pages.items() if _is_written(page)}
    jobs = [(found.jobs[name], pages[name]) for name in sorted(pages) if name not in links]

    def keep(outcomes: Outcomes) -> None:
        done = [task.name for task, outcome in outcomes if outcome.state == JUDGED]
        links.update({name: names[name] for name in done})

    count = Count("reports", [0] * len(jobs), report_progress)
    run_and_keep(engine, run_render, _iter_tasks(jobs, store), keep, count)
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


def _iter_tasks(jobs: Iterable[tuple[JobRow, WantedPage]], store: Store) -> Iterator[Task]:
    for job, page in jobs:
        packed = store.analyses.read_blob(job.key)
        if packed is not None:
            yield Task(job.identity, (packed, job, page), _SECONDS)


def _build_wanted_page(job: JobRow, name: str, config: TriageConfig) -> WantedPage:
    shown = [job.key, config.language, *((file.name, file.location) for file in job.files)]
    mark = xxhash.xxh3_128_hexdigest(json.dumps(shown).encode())
    return WantedPage(str((config.output / name).resolve()), config.language, f"<!-- {mark} -->\n")


def _is_written(page: WantedPage) -> bool:
    """Say whether a page is there already as it would be written."""
    mark = page.mark.encode()
    try:
        with Path(page.path).open("rb") as file:
            file.seek(-len(mark), os.SEEK_END)
            return file.read() == mark
    except OSError:
        return False


PAGE: Final = "index.html"
_CELLS: Final = (
    "job",
    "title",
    "attempts",
    "state",
    "cause",
    "cause_title",
    "probability",
    "status",
    "outcome",
    "retry",
    "fix",
    "group",
    "user",
    "nodes",
    "gpus",
    "gpu_hours",
    "end",
    "scheduler_state",
    "failing_line",
    "reason",
    "report",
)
"""Columns of the table."""


@dataclass(frozen=True, slots=True)
class TriageDone:
    """What came out."""

    value: Mapping[str, Any] | None
    """`postmortem.triage/1`; None of a part."""
    notes: tuple[Message, ...]


def run_triage(config: TriageConfig, report_progress: ProgressCallback) -> TriageDone:
    """Judge the jobs of some places and write what they say together.

    Raises:
        InputError: no job is there, or the store or the scheduler's file cannot be used.
        MissingExtra: an optional package is needed.
    """
    allocations, notes = _load_allocations(config.scheduler, config.zone)
    report_progress("finding", 0, 0, 0, 0)
    found = find_jobs(config.places)
    jobs = select_shard(found.jobs, config.shard)
    if not found.jobs:
        raise _build_no_job_error(config, found)
    row = TriageRow(0, _build_stored_options(config, found), time.time(), None)
    tool = describe_tool(row.options)
    with open_store(config.store) as store, closing(_start_engine(config)) as engine:
        row = replace(row, number=store.triages.begin(row.options, row.began))
        store_allocations(store.allocations, allocations)
        judge_all(row.number, jobs, store, engine, config, tool, report_progress)
        if config.shard is not None:
            return TriageDone(None, (*notes, _describe_shard(config.shard, len(jobs))))
        together = read_triage(store, row.number, allocations, is_remembered=True)
        links = write_pages(together, store, engine, config, report_progress)
        ended = time.time()
        store.triages.finish(row.number, ended)
    value = build_overview(together, replace(row, finished=ended), links)
    _write(together, value, links, config)
    return TriageDone(value, (*notes, say("wrote {page}", page=config.output / PAGE)))


def _build_stored_options(config: TriageConfig, found: JobsFound) -> dict[str, str]:
    """Build what is stored of a triage besides its jobs."""
    matcher = get_matcher(tuple(Path(folder) for folder in config.settings.patterns))
    model = open_model(config.settings.model)
    return {
        "places": "\n".join(sorted(config.places)),
        "shard": "" if config.shard is None else "/".join(map(str, config.shard)),
        "left_out": str(len(found.left_out)),
        "knowledge_base": matcher.knowledge.version,
        "classifier": model.digest if model is not None else "",
    }


def _start_engine(config: TriageConfig) -> Engine:
    """Start whoever does the work.

    Raises:
        MissingExtra: what it stands on is not installed.
    """
    if config.engine == "local":
        from postmortem.fleet.worker_pool import ProcessEngine  # noqa: PLC0415 -- one of two

        return ProcessEngine(config.workers, config.settings)
    try:
        from postmortem.fleet.ray_cluster import RayEngine  # noqa: PLC0415 -- one of two
    except ImportError as error:
        raise MissingExtra("the engine ray needs Ray", "", install_hint("cluster")) from error
    return RayEngine(config.workers, config.settings, config.address)


def _load_allocations(
    path: Path | None, zone: tzinfo | None
) -> tuple[tuple[Allocation, ...], tuple[Message, ...]]:
    if path is None:
        return (), ()
    records = read_allocations(path, zone=zone)
    if not records.bad:
        return records.allocations, ()
    first = records.bad[0]
    note = say(
        "{count} rows of the scheduler's file could not be used; the first: {where}: {why}",
        count=len(records.bad),
        where=first.where,
        why=first.why,
    )
    return records.allocations, (note,)


def _build_no_job_error(config: TriageConfig, found: JobsFound) -> PostmortemError:
    why = f": {found.left_out[0].why_en}" if found.left_out else ""
    return InputError(
        f"no job was found{why}", ", ".join(config.places), "name logs, or a folder that holds them"
    )


def _describe_shard(shard: tuple[int, int], jobs: int) -> Message:
    return say(
        "part {which} of {parts}: {jobs} jobs judged; run the same without --shard for the page",
        which=shard[0],
        parts=shard[1],
        jobs=jobs,
    )


def _write(
    found: JudgedTriage, value: Mapping[str, Any], links: Mapping[str, str], config: TriageConfig
) -> None:
    rows = list(iter_result_rows(found, links))
    texts = {
        "overview.json": format_json_lines([value]),
        "results.jsonl": format_json_lines(rows),
        "results.csv": format_csv(rows, _CELLS),
        PAGE: render_triage(value, language=config.language),
    }
    for name, text in texts.items():
        files.replace(config.output / name, text.encode("utf-8", "replace"))
