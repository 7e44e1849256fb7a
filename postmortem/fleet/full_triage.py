"""A triage from paths to a folder of results: find, judge, sum up, write.

In: a `TriageConfig`. Out: `TriageDone`, and files. Not here: any of the steps.
"""

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any, Final

from postmortem.core.errors import InputError, MissingExtra, PostmortemError, install_hint
from postmortem.core.host.files import replace
from postmortem.core.message import Message, say
from postmortem.fleet.judging_jobs import Judging, ProgressCallback, judge_all
from postmortem.fleet.overview import JudgedTriage, build_overview, iter_result_rows, load_triage
from postmortem.fleet.report_pages import write_pages
from postmortem.fleet.result_files import format_csv, format_json_lines
from postmortem.fleet.scheduler.allocations import Allocation
from postmortem.fleet.scheduler.earlier_allocations import store_allocations
from postmortem.fleet.scheduler.scheduler_file import read_allocations
from postmortem.fleet.search.finding import JobsFound, find_jobs
from postmortem.fleet.shards import select_shard
from postmortem.fleet.store.opening import open_store
from postmortem.fleet.stored_triage import ALIKE
from postmortem.fleet.workers.tasks import Engine, JobSettings
from postmortem.pipeline import get_matcher, open_model
from postmortem.report.page.triage_page import render_triage
from postmortem.report.wire import get_tool_version

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
class TriageConfig:
    """What is asked for."""

    places: tuple[str, ...]
    output: Path
    """A folder that is there."""
    store: str
    engine: str = "local"
    """local | ray"""
    address: str | None = None
    """Of a Ray cluster."""
    workers: int = 1
    shard: tuple[int, int] | None = None
    """(which, of how many), counted from 1."""
    scheduler: Path | None = None
    """The scheduler's file."""
    zone: tzinfo | None = None
    """Of its times without one; None: this machine's."""
    reports: str = "groups"
    """groups | all | none"""
    seconds: float = 300.0
    memory: int = 4096
    """MiB of a worker."""
    largest: float = 8.0
    """GiB of a job."""
    is_retried: bool = False
    language: str = "en"
    model: str | None = ""
    patterns: tuple[str, ...] = ()
    """Absolute paths."""


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
    judging = _build_judging(config)
    with open_store(config.store) as store, closing(_start_engine(config)) as engine:
        number = store.triages.begin(_build_stored_options(config, found, judging), time.time())
        store_allocations(store.allocations, allocations)
        judge_all(number, jobs, store, engine, judging, report_progress)
        if config.shard is not None:
            return TriageDone(None, (*notes, _describe_shard(config.shard, len(jobs))))
        together = load_triage(store, number, allocations, ALIKE)
        links = write_pages(together, jobs, store, engine, config, report_progress)
        store.triages.finish(number, time.time())
    tool = {
        "version": get_tool_version(),
        "knowledge_base": judging.knowledge.version,
        "classifier": judging.model.digest if judging.model is not None else None,
    }
    value = build_overview(together, tool, time.time(), len(found.left_out), links)
    _write(together, value, links, config)
    return TriageDone(value, (*notes, say("wrote {page}", page=config.output / PAGE)))


def _build_judging(config: TriageConfig) -> Judging:
    machine = get_matcher(tuple(Path(folder) for folder in config.patterns))
    return Judging(
        machine.knowledge,
        open_model(config.model),
        config.seconds,
        int(config.largest * 2**30),
        config.is_retried,
    )


def _build_stored_options(
    config: TriageConfig, found: JobsFound, judging: Judging
) -> dict[str, str]:
    """Build what is stored of a triage besides its jobs, by the names of `stored_triage`."""
    part = "" if config.shard is None else "/".join(map(str, config.shard))
    return {
        "places": "\n".join(sorted(config.places)),
        "shard": part,
        "left_out": str(len(found.left_out)),
        "knowledge_base": judging.knowledge.version,
        "classifier": judging.model.digest if judging.model is not None else "",
    }


def _start_engine(config: TriageConfig) -> Engine:
    """Start whoever does the work.

    Raises:
        MissingExtra: what it stands on is not installed.
    """
    settings = JobSettings(config.patterns, config.model, config.memory)
    if config.engine == "local":
        from postmortem.fleet.workers.pool import ProcessEngine  # noqa: PLC0415 -- one of two

        return ProcessEngine(config.workers, settings)
    try:
        from postmortem.fleet.workers.cluster import RayEngine  # noqa: PLC0415 -- one of two
    except ImportError as error:
        raise MissingExtra("the engine ray needs Ray", "", install_hint("cluster")) from error
    return RayEngine(config.workers, settings, config.address)


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
    files = {
        "overview.json": format_json_lines([value]),
        "results.jsonl": format_json_lines(rows),
        "results.csv": format_csv(rows, _CELLS),
        PAGE: render_triage(value, language=config.language),
    }
    for name, text in files.items():
        replace(config.output / name, text.encode("utf-8", "replace"))
