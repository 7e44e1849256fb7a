"""Judge the jobs of a triage into rows of the store, each content once.

In: a `TriageConfig`, found jobs, a store, an engine. Out: the rows of the triage, complete. Not
here: finding jobs, totals (`fleet.overview`), reports, how leases are kept (`store`).

The key of an analysis is made from everything it depends on (content, rules, program, model): equal
keys mean equal analyses. Killed at any moment and begun again, it goes on: what is kept stays,
digests of files that have not changed are not taken again, and an analysis that another process has
under lease is waited for.
"""

import json
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path
from typing import Any, Final

import xxhash

from postmortem.core.host.machine import build_owner_name, is_gone
from postmortem.fleet.fingerprints import FINGERPRINT_VERSION
from postmortem.fleet.store.opened_store import Store
from postmortem.fleet.store.stored_rows import FAILED, JUDGED, WAITING, AnalysisRow, JobRow
from postmortem.fleet.store.triage_records import AnalysisRecords
from postmortem.fleet.worker_tasks import (
    Engine,
    JobSettings,
    Task,
    TaskOutcome,
    Work,
    build_rejected_row,
    describe_too_large,
    run_analysis,
    run_digest,
)

_LEASE: Final = 180.0
"""Seconds: of a process that died on another machine nothing is expected after that."""
_RENEWED_EVERY: Final = 45.0


class Leases:
    """Holds leases, renewed in the background as long as the process lives."""

    def __init__(self, analyses: AnalysisRecords) -> None:
        """Take over from processes of this machine that are gone, and begin to renew."""
        self._analyses, self._owner = analyses, build_owner_name()
        self._ended = threading.Event()
        self._renewing = threading.Thread(target=self._renew, daemon=True)
        for owner in analyses.list_owners():
            if is_gone(owner):
                analyses.release(owner)
        self._renewing.start()

    def close(self) -> None:
        """Give back what was not done."""
        self._ended.set()
        self._renewing.join()
        self._analyses.release(self._owner)

    def iter_granted(
        self, keys: Sequence[str], at_once: int, again: Sequence[str] = ()
    ) -> Iterator[str]:
        """Yield the keys that this process is to compute, in their order.

        They are claimed a few at a time as they are taken: two that share a store share the work.
        """
        for begin in range(0, len(keys), at_once):
            batch = keys[begin : begin + at_once]
            mine = set(self._analyses.claim(batch, self._owner, _LEASE, again))
            yield from (key for key in batch if key in mine)

    def _renew(self) -> None:
        while not self._ended.wait(_RENEWED_EVERY):
            self._analyses.renew(self._owner, _LEASE)


_ROWS: Final = 200
"""Rows that are kept at once."""
_AT_LEAST_EVERY: Final = 1.0
"""Seconds after which even a few are kept: so much work a kill may cost."""
_SLOWEST: Final = 250_000
"""Bytes a second that a log is read at least; a large one is given the time it needs."""
_POLL: Final = 1.0
ProgressCallback = Callable[[str, int, int, int, int], None]
"""Called with the stage, tasks done and in all, bytes done and in all."""


@dataclass(frozen=True, slots=True)
class TriageConfig:
    """What is asked for."""

    places: tuple[str, ...]
    output: Path
    """A folder that is there."""
    store: str
    settings: JobSettings
    """Of every job."""
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
    """For one job, beside what its size asks for."""
    largest: float = 8.0
    """GiB of a job beyond which it is not read."""
    is_retried: bool = False
    """What could not be judged in an earlier triage is tried again."""
    language: str = "en"

    def build_task(self, name: str, job: JobRow, *more: str) -> Task:
        """Give a job, and what else its work wants, the time that its size asks for."""
        return Task(name, (job, *more), self.seconds + job.size / _SLOWEST, job.size)


class Count:
    """Counts finished work of a stage and reports the progress."""

    def __init__(
        self, stage: str, sizes: Collection[int], report_progress: ProgressCallback
    ) -> None:
        """Begin with the bytes of each task."""
        self._stage, self._tasks, self._report_progress = stage, len(sizes), report_progress
        self._whole = sum(sizes)
        self._done = self._size = 0
        report_progress(stage, 0, self._tasks, 0, self._whole)

    def add(self, size: int) -> None:
        """One is done."""
        self._done, self._size = self._done + 1, self._size + size
        self._report_progress(self._stage, self._done, self._tasks, self._size, self._whole)


Outcomes = list[tuple[Task, TaskOutcome]]


def run_and_keep(
    engine: Engine,
    work: Work,
    tasks: Iterator[Task],
    keep: Callable[[Outcomes], None],
    count: Count,
) -> None:
    """Run tasks, and keep their outcomes in batches, none later than a few seconds."""
    found: Outcomes = []
    since = time.monotonic()
    try:
        for task, outcome in engine.run(work, tasks):
            found.append((task, outcome))
            count.add(task.size)
            if len(found) >= _ROWS or time.monotonic() - since > _AT_LEAST_EVERY:
                keep(found)
                found, since = [], time.monotonic()
    finally:
        keep(found)


def judge_all(
    triage: int,
    jobs: Sequence[JobRow],
    store: Store,
    engine: Engine,
    config: TriageConfig,
    tool: Mapping[str, Any],
    report_progress: ProgressCallback,
) -> None:
    """Judge all jobs of a triage.

    Args:
        triage: its number in the store.
        jobs: sorted by identity; the files are read again only where they have changed.
        store: open.
        engine: whoever does the work.
        config: limits.
        tool: program, rules and model that judge, each with its version.
        report_progress: called as it goes on.

    Raises:
        InputError: the store cannot be written.
    """
    store.jobs.note(triage, jobs)
    readable = _select_readable_jobs(triage, jobs, store, int(config.largest * 2**30))
    digests = _compute_digests(triage, readable, store, engine, config, report_progress)
    keys: dict[str, str] = {}
    first: dict[str, JobRow] = {}
    for job in jobs:
        if digest := digests.get(job.identity):
            key = keys[job.identity] = _compute_analysis_key(digest, tool)
            first.setdefault(key, job)
    store.jobs.note_keys(triage, keys)
    _judge(first, store.analyses, engine, config, report_progress)


def _compute_analysis_key(digest: str, tool: Mapping[str, Any]) -> str:
    """Give the key under which the analysis of a content is kept."""
    parts = [
        digest,
        tool["knowledge_base"],
        tool["version"],
        tool["classifier"],
        FINGERPRINT_VERSION,
    ]
    return xxhash.xxh3_128_hexdigest(json.dumps(parts).encode())


def _select_readable_jobs(
    triage: int, jobs: Sequence[JobRow], store: Store, largest: int
) -> list[JobRow]:
    """Give the jobs that are read; of the others the reason is noted."""
    for job in jobs:
        if job.size > largest:
            store.jobs.note_refused(triage, job.identity, *describe_too_large(job.size, largest))
    return [job for job in jobs if job.size <= largest]


def _compute_digests(
    triage: int,
    jobs: Sequence[JobRow],
    store: Store,
    engine: Engine,
    config: TriageConfig,
    report_progress: ProgressCallback,
) -> dict[str, str]:
    """Give the digest of each job; of one that cannot be read, the reason is noted."""
    known = {row.identity: row.digest for row in store.jobs.iter_triage_jobs(triage) if row.digest}
    wanted = {job.identity: job for job in jobs if job.identity not in known}

    def keep(outcomes: Outcomes) -> None:
        found = {task.name: done.value for task, done in outcomes if done.state == JUDGED}
        store.jobs.note_digests(
            replace(wanted[name], digest=digest) for name, digest in found.items()
        )
        known.update(found)
        for task, done in outcomes:
            if done.state != JUDGED:
                store.jobs.note_refused(triage, task.name, done.state, *done.why)

    count = Count("reading", [job.size for job in wanted.values()], report_progress)
    tasks = (config.build_task(name, job) for name, job in wanted.items())
    run_and_keep(engine, run_digest, tasks, keep, count)
    return known


def _judge(
    first: Mapping[str, JobRow],
    analyses: AnalysisRecords,
    engine: Engine,
    config: TriageConfig,
    report_progress: ProgressCallback,
) -> None:
    """Have each content judged that nobody has judged, the largest first."""
    open_states = (WAITING, *FAILED) if config.is_retried else (WAITING,)
    states = analyses.get_states(first)
    waiting = {
        key: job
        for key, job in sorted(first.items(), key=lambda item: (-item[1].size, item[0]))
        if states.get(key, WAITING) in open_states
    }

    def keep(outcomes: Outcomes) -> None:
        analyses.keep(_build_analysis_row(task.name, outcome) for task, outcome in outcomes)
        for task, _ in outcomes:
            del waiting[task.name]

    count = Count("judging", [job.size for job in waiting.values()], report_progress)
    with closing(Leases(analyses)) as leases:
        while waiting:
            keys = leases.iter_granted(list(waiting), 2 * engine.workers, open_states[1:])
            tasks = (config.build_task(key, waiting[key], key) for key in keys)
            run_and_keep(engine, run_analysis, tasks, keep, count)
            states = analyses.get_states(waiting)
            for key in [key for key in waiting if states.get(key, WAITING) not in open_states]:
                count.add(waiting.pop(key).size)  # another has judged it
            if waiting:
                time.sleep(_POLL)


def _build_analysis_row(key: str, outcome: TaskOutcome) -> AnalysisRow:
    if outcome.state != JUDGED:
        return build_rejected_row(key, outcome.state, outcome.why)
    row: AnalysisRow = outcome.value
    return row
