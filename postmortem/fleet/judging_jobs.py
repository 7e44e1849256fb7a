"""Judge the jobs of a triage into rows of the store, each content once.

In: found jobs, a store, an engine. Out: the number of the triage, whose rows are then complete. Not
here: finding jobs, totals (`fleet.overview`), reports, how leases are kept (`store`).

The key of an analysis is made from everything it depends on (content, rules, program, model): equal
keys mean equal analyses. Killed at any moment and begun again, it goes on: what is kept stays,
digests of files that have not changed are not taken again, and an analysis that another process has
under lease is waited for.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final

import xxhash

from postmortem.core.host.machine import build_owner_name, is_gone
from postmortem.diagnosis.classifier.models import TextModel
from postmortem.fleet.fingerprints import FINGERPRINT_VERSION
from postmortem.fleet.store.opened_store import Store
from postmortem.fleet.store.stored_rows import FAILED, JUDGED, WAITING, AnalysisRow, JobRow
from postmortem.fleet.store.triage_records import AnalysisRecords
from postmortem.fleet.worker_tasks import (
    Engine,
    Task,
    TaskOutcome,
    build_rejected_row,
    describe_too_large,
    run_analysis,
    run_digest,
)
from postmortem.report.wire import get_tool_version
from postmortem.rules.base import KnowledgeBase


def compute_analysis_key(digest: str, knowledge: KnowledgeBase, model: TextModel | None) -> str:
    """Give the key under which the analysis of a content is kept."""
    parts = [
        digest,
        knowledge.version,
        get_tool_version(),
        model.digest if model is not None else None,
        FINGERPRINT_VERSION,
    ]
    return xxhash.xxh3_128_hexdigest(json.dumps(parts).encode())


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
class Judging:
    """What a triage judges with, and how long a job may take."""

    knowledge: KnowledgeBase
    model: TextModel | None
    seconds: float
    """For one job, beside what its size asks for."""
    largest: int = 8 << 30
    """Bytes of a job beyond which it is not read."""
    is_retried: bool = False
    """What could not be judged in an earlier triage is tried again."""

    def get_allowed_seconds(self, job: JobRow) -> float:
        """Give the seconds that a job may take."""
        return self.seconds + job.size / _SLOWEST


def judge_all(
    triage: int,
    jobs: Sequence[JobRow],
    store: Store,
    engine: Engine,
    judging: Judging,
    report_progress: ProgressCallback,
) -> None:
    """Judge all jobs of a triage.

    Args:
        triage: its number in the store.
        jobs: sorted by identity; the files are read again only where they have changed.
        store: open.
        engine: whoever does the work.
        judging: rules and limits.
        report_progress: called as it goes on.

    Raises:
        InputError: the store cannot be written.
    """
    store.jobs.note(triage, jobs)
    readable = _select_readable_jobs(triage, jobs, store, judging.largest)
    digests = _compute_digests(triage, readable, store, engine, judging, report_progress)
    keys: dict[str, str] = {}
    first: dict[str, JobRow] = {}
    for job in jobs:
        if digest := digests.get(job.identity):
            key = compute_analysis_key(digest, judging.knowledge, judging.model)
            keys[job.identity] = key
            first.setdefault(key, job)
    store.jobs.note_keys(triage, keys)
    _judge(first, store.analyses, engine, judging, report_progress)


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
    judging: Judging,
    report_progress: ProgressCallback,
) -> dict[str, str]:
    """Give the digest of each job; of one that cannot be read, the reason is noted."""
    known = {row.identity: row.digest for row in store.jobs.iter_triage_jobs(triage) if row.digest}
    wanted = {job.identity: job for job in jobs if job.identity not in known}
    count = _Count("reading", list(wanted.values()), report_progress)
    tasks = (
        Task(job.identity, (job,), judging.get_allowed_seconds(job), job.size)
        for job in wanted.values()
    )
    found: list[JobRow] = []
    since = time.monotonic()
    for task, outcome in engine.run(run_digest, tasks):
        if outcome.state == JUDGED:
            found.append(replace(wanted[task.name], digest=outcome.value))
            known[task.name] = outcome.value
        else:
            store.jobs.note_refused(triage, task.name, outcome.state, *outcome.why)
        count.add(task.size)
        if len(found) >= _ROWS or time.monotonic() - since > _AT_LEAST_EVERY:
            store.jobs.note_digests(found)
            found, since = [], time.monotonic()
    store.jobs.note_digests(found)
    return known


def _judge(
    first: Mapping[str, JobRow],
    analyses: AnalysisRecords,
    engine: Engine,
    judging: Judging,
    report_progress: ProgressCallback,
) -> None:
    """Have each content judged that nobody has judged, the largest first."""
    again = FAILED if judging.is_retried else ()
    states = analyses.get_states(first)
    waiting = {
        key: job
        for key, job in sorted(first.items(), key=lambda item: (-item[1].size, item[0]))
        if states.get(key, WAITING) in (WAITING, *again)
    }
    count = _Count("judging", list(waiting.values()), report_progress)
    with closing(Leases(analyses)) as leases, closing(_Keeper(analyses)) as keeper:
        while waiting:
            granted = leases.iter_granted(list(waiting), 2 * engine.workers, again)
            for task, outcome in engine.run(run_analysis, _iter_tasks(granted, waiting, judging)):
                keeper.add(_build_analysis_row(task.name, outcome))
                count.add(waiting.pop(task.name).size)
            keeper.close()
            states = analyses.get_states(waiting)
            for key in [
                key for key in waiting if states.get(key, WAITING) not in (WAITING, *again)
            ]:
                count.add(waiting.pop(key).size)  # another has judged it
            if waiting:
                time.sleep(_POLL)


def _iter_tasks(
    keys: Iterator[str], jobs: Mapping[str, JobRow], judging: Judging
) -> Iterator[Task]:
    for key in keys:
        job = jobs[key]
        yield Task(key, (job, key), judging.get_allowed_seconds(job), job.size)


def _build_analysis_row(key: str, outcome: TaskOutcome) -> AnalysisRow:
    if outcome.state != JUDGED:
        return build_rejected_row(key, outcome.state, outcome.why)
    row: AnalysisRow = outcome.value
    return row


class _Keeper:
    """Stores rows in batches, none later than a few seconds."""

    def __init__(self, analyses: AnalysisRecords) -> None:
        self._analyses, self._since = analyses, time.monotonic()
        self._rows: list[AnalysisRow] = []

    def add(self, row: AnalysisRow) -> None:
        """Take a row."""
        self._rows.append(row)
        if len(self._rows) >= _ROWS or time.monotonic() - self._since > _AT_LEAST_EVERY:
            self.close()

    def close(self) -> None:
        """Keep what was taken; more may follow."""
        self._analyses.keep(self._rows)
        self._rows, self._since = [], time.monotonic()


class _Count:
    """Counts finished work and reports the progress."""

    def __init__(
        self, stage: str, jobs: Sequence[JobRow], report_progress: ProgressCallback
    ) -> None:
        self._stage, self._tasks, self._report_progress = stage, len(jobs), report_progress
        self._whole = sum(job.size for job in jobs)
        self._done = self._size = 0
        report_progress(stage, 0, self._tasks, 0, self._whole)

    def add(self, size: int) -> None:
        """One is done."""
        self._done, self._size = self._done + 1, self._size + size
        self._report_progress(self._stage, self._done, self._tasks, self._size, self._whole)
