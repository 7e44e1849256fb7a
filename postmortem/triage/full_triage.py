"""A triage from paths to a folder of results: find, judge, sum up, write.

In: a `Wish`. Out: `TriageDone`, and files. Not here: any of the steps.
"""

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any, Final

from postmortem.errors import InputError, MissingExtra, PostmortemError, install_hint
from postmortem.host.files import replace
from postmortem.model.said import Said, say
from postmortem.pipeline import machine_for, model_for
from postmortem.report.page.triage_page import render_triage
from postmortem.report.wire import tool_version
from postmortem.store.entrance import open_store
from postmortem.triage.judging_jobs import Judging, Told, judge_all
from postmortem.triage.outputs import json_lines, table
from postmortem.triage.overview import JudgedTriage, brought_together, overview_of, result_rows
from postmortem.triage.report_pages import written_pages
from postmortem.triage.scheduler.allocations import Allocation
from postmortem.triage.scheduler.earlier_allocations import remember
from postmortem.triage.scheduler.scheduler_file import allocations_in
from postmortem.triage.search.finding import JobsFound, found_jobs_in
from postmortem.triage.shards import part_of
from postmortem.triage.stored_triage import ALIKE
from postmortem.triage.workers.tasks import Engine, JobSettings

PAGE: Final = "index.html"
_CELLS: Final = (
    "job",
    "title",
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
class Wish:
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
    notes: tuple[Said, ...]


def triage(wish: Wish, tell: Told) -> TriageDone:
    """Judge the jobs of some places and write what they say together.

    Raises:
        InputError: no job is there, or the store or the scheduler's file cannot be used.
        MissingExtra: an optional package is needed.
    """
    allocations, notes = _allocations(wish.scheduler, wish.zone)
    tell("finding", 0, 0, 0, 0)
    found = found_jobs_in(wish.places)
    jobs = part_of(found.jobs, wish.shard)
    if not found.jobs:
        raise _no_job(wish, found)
    judging = _judging(wish)
    with open_store(wish.store) as store, closing(_engine(wish)) as engine:
        number = store.triages.begin(_options(wish, found, judging), time.time())
        remember(store.allocations, allocations)
        judge_all(number, jobs, store, engine, judging, tell)
        if wish.shard is not None:
            return TriageDone(None, (*notes, _part_told(wish.shard, len(jobs))))
        together = brought_together(store, number, allocations, ALIKE)
        links = written_pages(together, jobs, store, engine, wish, tell)
        store.triages.finish(number, time.time())
    tool = {
        "version": tool_version(),
        "knowledge_base": judging.knowledge.version,
        "classifier": judging.model.digest if judging.model is not None else None,
    }
    value = overview_of(together, tool, time.time(), len(found.left_out), links)
    _write(together, value, links, wish)
    return TriageDone(
        value, (*notes, say("wrote {page}", "已写入 {page}", page=wish.output / PAGE))
    )


def _judging(wish: Wish) -> Judging:
    machine = machine_for(tuple(Path(folder) for folder in wish.patterns))
    return Judging(
        machine.knowledge,
        model_for(wish.model),
        wish.seconds,
        int(wish.largest * 2**30),
        wish.is_retried,
    )


def _options(wish: Wish, found: JobsFound, judging: Judging) -> dict[str, str]:
    """Give what is kept of a triage beside its jobs, by the names of `stored_triage`."""
    part = "" if wish.shard is None else "/".join(map(str, wish.shard))
    return {
        "places": "\n".join(sorted(wish.places)),
        "shard": part,
        "left_out": str(len(found.left_out)),
        "knowledge_base": judging.knowledge.version,
        "classifier": judging.model.digest if judging.model is not None else "",
    }


def _engine(wish: Wish) -> Engine:
    """Start whoever does the work.

    Raises:
        MissingExtra: what it stands on is not installed.
    """
    settings = JobSettings(wish.patterns, wish.model, wish.memory)
    if wish.engine == "local":
        from postmortem.triage.workers.pool import ProcessEngine  # noqa: PLC0415 -- one of two

        return ProcessEngine(wish.workers, settings)
    try:
        from postmortem.triage.workers.cluster import RayEngine  # noqa: PLC0415 -- one of two
    except ImportError as error:
        raise MissingExtra("the engine ray needs Ray", "", install_hint("cluster")) from error
    return RayEngine(wish.workers, settings, wish.address)


def _allocations(
    path: Path | None, zone: tzinfo | None
) -> tuple[tuple[Allocation, ...], tuple[Said, ...]]:
    if path is None:
        return (), ()
    records = allocations_in(path, zone=zone)
    if not records.bad:
        return records.allocations, ()
    first = records.bad[0]
    told = say(
        "{count} rows of the scheduler's file could not be used; the first: {where}: {why}",
        "调度器文件中有 {count} 行无法使用；第一处：{where}：{why}",
        count=len(records.bad),
        where=first.where,
        why=first.why,
    )
    return records.allocations, (told,)


def _no_job(wish: Wish, found: JobsFound) -> PostmortemError:
    why = f": {found.left_out[0].why_en}" if found.left_out else ""
    return InputError(
        f"no job was found{why}", ", ".join(wish.places), "name logs, or a folder that holds them"
    )


def _part_told(shard: tuple[int, int], jobs: int) -> Said:
    return say(
        "part {which} of {parts}: {jobs} jobs judged; run the same without --shard for the page",
        "第 {which}/{parts} 部分：已判断 {jobs} 个作业；不带 --shard 再运行一次即可生成页面",
        which=shard[0],
        parts=shard[1],
        jobs=jobs,
    )


def _write(
    found: JudgedTriage, value: Mapping[str, Any], links: Mapping[str, str], wish: Wish
) -> None:
    rows = list(result_rows(found, links))
    files = {
        "overview.json": json_lines([value]),
        "results.jsonl": json_lines(rows),
        "results.csv": table(rows, _CELLS),
        PAGE: render_triage(value, language=wish.language),
    }
    for name, text in files.items():
        replace(wish.output / name, text.encode("utf-8", "replace"))
