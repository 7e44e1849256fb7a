"""What a worker process does: take a job's digest, judge a job into a row, render a report.

In: `JobSettings` and one job, or a stored analysis. Out: `TaskOutcome`, which can be pickled: a
summary row for the store, or a page with the real paths of the job. Not here: which process this is
(`fleet.worker_pool`, `fleet.ray_cluster`), keeping what comes out (`store`), what makes failures
alike (`fleet.fingerprints`).
"""

import dataclasses
import functools
import gc
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import zstandard

from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import PostmortemError
from postmortem.core.host.files import replace
from postmortem.core.host.helper_process import (
    is_lack_of_memory,
    restrict_memory,
    use_working_directory,
)
from postmortem.core.message import NOTHING, convert_to_message, say
from postmortem.fleet.fingerprints import compute_fingerprint, summarize_failure
from postmortem.fleet.search.job_content import compute_digest, place_job_files
from postmortem.fleet.search.listing import remove_location_secrets
from postmortem.fleet.store.stored_rows import (
    CRASHED,
    JUDGED,
    OUT_OF_MEMORY,
    TIMED_OUT,
    UNREADABLE,
    AnalysisRow,
    AnalysisSummary,
    JobRow,
)
from postmortem.pipeline import prepare, run_pipeline
from postmortem.report import render
from postmortem.report.lossless import from_json, to_json
from postmortem.report.parts import get_main_cause

_GIB: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class JobSettings:
    """What every job of a triage is judged with."""

    patterns: tuple[str, ...] = ()
    """Further folders of rules, as absolute paths."""
    model: str | None = None
    """A text classifier's file, an empty string for the package's, None for none."""
    memory: int = 4096
    """MiB that one worker may hold; 0 for no limit."""


class WantedPage(NamedTuple):
    """A page of one job that is to be written."""

    path: str
    """Absolute."""
    language: str
    """In which it opens."""
    mark: str
    """With which it ends: another one if the page would be another."""


class TaskOutcome(NamedTuple):
    """What became of a task; a task that failed has a reason in English and in Chinese."""

    state: str
    value: Any = None
    why: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work that is done apart from all others."""

    name: str
    """Tells it from the others: a job's identity, the key of an analysis."""
    arguments: tuple[Any, ...] = field(repr=False)
    """Arguments of the function that does it, behind the settings."""
    seconds: float
    """It may take so long."""
    size: int = 0
    """Bytes that it will read: by these progress is counted."""


Work = Callable[..., TaskOutcome]
"""A function of a module: it is called as `work(settings, *task.arguments)` in another process."""


class Engine(Protocol):
    """Whoever does tasks apart from each other, several at a time."""

    workers: int

    def run(self, work: Work, tasks: Iterator[Task]) -> Iterator[tuple[Task, TaskOutcome]]:
        """Run tasks; each is taken only when a worker is free, and its outcome yielded when done.

        A task that crashes, takes too long or too much memory is an outcome with its reason and
        harms no other.
        """

    def close(self) -> None:
        """End the workers."""


def build_crash_outcome(how: str) -> TaskOutcome:
    """Give the outcome of a task whose process ended."""
    return TaskOutcome(
        CRASHED,
        why=say("its process ended in the middle of it ({how})", how=how).both(),
    )


def build_timeout_outcome(seconds: float) -> TaskOutcome:
    """Give the outcome of a task that took too long."""
    return TaskOutcome(
        TIMED_OUT,
        why=say(
            "not done after {seconds:,.0f} s; allow more with --timeout", seconds=seconds
        ).both(),
    )


def build_memory_outcome(mebibytes: int) -> TaskOutcome:
    """Give the outcome of a task that wanted more memory than it may have."""
    return TaskOutcome(
        OUT_OF_MEMORY,
        why=say(
            "it wants more than {mebibytes:,} MiB of memory; allow more with --memory",
            mebibytes=mebibytes,
        ).both(),
    )


def describe_too_large(size: int, most: int) -> tuple[str, str, str]:
    """Give the state and the reason of a job that is not read for its size."""
    figures = f"{size / _GIB:,.1f} GiB > {most / _GIB:,.1f} GiB"
    why = say("too large to be read ({figures}); allow more with --largest", figures=figures)
    return (UNREADABLE, *why.both())


def restore_own_paths(analysis: Analysis, job: JobRow) -> Analysis:
    """Give the analysis with the job's own paths; a path that the job lacks stays as it is."""
    places = {file.name: remove_location_secrets(file.location) for file in job.files}
    sources = tuple(
        dataclasses.replace(source, path=places.get(source.path, source.path))
        for source in analysis.sources
    )
    return dataclasses.replace(analysis, sources=sources, given=tuple(places.values()))


def build_analysis_row(analysis: Analysis, key: str, packed: bytes) -> AnalysisRow:
    """Give the row of an analysis that was made."""
    verdict, failure = analysis.verdict, summarize_failure(analysis)
    mark = compute_fingerprint(failure)
    best = get_main_cause(analysis)
    fix = (
        next((candidate.title for candidate in best.fixes), NOTHING)
        if best is not None
        else NOTHING
    )
    title = best.title if best is not None else verdict.summary
    first = analysis.first_failure
    summary = AnalysisSummary(
        key,
        JUDGED,
        cause=verdict.cause,
        category=best.category if best is not None else "",
        probability=verdict.probability,
        status=verdict.status,
        outcome=analysis.outcome,
        title_en=title.text("en"),
        title_zh=title.text("zh"),
        fix_en=fix.text("en"),
        fix_zh=fix.text("zh"),
        retry=verdict.retry,
        whose=verdict.whose,
        failing_line=failure.line,
        template=failure.template,
        fingerprint=mark.id,
        frameworks=tuple(framework.name for framework in analysis.frameworks),
        where=str(first.where.describe()) if first is not None else "",
        hosts=tuple(sorted(set(_iter_hosts(analysis)))),
    )
    return AnalysisRow(summary, packed)


def build_rejected_row(key: str, state: str, why: tuple[str, str]) -> AnalysisRow:
    """Give the row of an analysis that could not be made."""
    return AnalysisRow(AnalysisSummary(key, state, *why))


def _iter_hosts(analysis: Analysis) -> Iterator[str]:
    places = [source.where for source in analysis.sources]
    places += [analysis.first_failure.where] if analysis.first_failure is not None else []
    yield from (place.node for place in places if place.node)


def run_digest(_settings: JobSettings, job: JobRow) -> TaskOutcome:
    """Take the digest of a job's content."""
    return _run_guarded(_settings, lambda: compute_digest(job))


def run_analysis(settings: JobSettings, job: JobRow, key: str) -> TaskOutcome:
    """Judge a job: the row to keep, the analysis packed within."""
    _get_ready(settings)
    return _run_guarded(settings, lambda: _build_row(settings, job, key))


def run_render(settings: JobSettings, packed: bytes, job: JobRow, page: WantedPage) -> TaskOutcome:
    """Write the page of a job, whole or not at all, from its stored analysis."""
    return _run_guarded(settings, lambda: _write(packed, job, page))


def unpack_analysis(packed: bytes) -> Analysis:
    """Read an analysis as it was kept."""
    return from_json(zstandard.ZstdDecompressor().decompress(packed).decode("utf-8"))


def _build_row(settings: JobSettings, job: JobRow, key: str) -> Any:
    with tempfile.TemporaryDirectory(prefix="postmortem-") as folder, use_working_directory(folder):
        sources = place_job_files(job, Path(folder))
        analysis = run_pipeline(sources, patterns=settings.patterns, model=settings.model)
    if not any(source.lines for source in analysis.sources):
        raise PostmortemError("there is nothing to judge: all files are empty")
    packed = zstandard.ZstdCompressor(level=6).compress(to_json(analysis).encode("utf-8"))
    return build_analysis_row(analysis, key, packed)


def _write(packed: bytes, job: JobRow, page: WantedPage) -> None:
    analysis = restore_own_paths(unpack_analysis(packed), job)
    text = render(analysis, "html", language=page.language, redact=True)
    replace(Path(page.path), f"{text}{page.mark}".encode("utf-8", "replace"))


def _run_guarded(settings: JobSettings, work: Callable[[], Any]) -> TaskOutcome:
    """Do it; whatever goes wrong becomes an outcome with its reason."""
    try:
        return TaskOutcome(JUDGED, work())
    except Exception as error:  # noqa: BLE001 -- one job of ten thousand: it is told in its row
        return _build_failed_outcome(settings, error)


def _build_failed_outcome(settings: JobSettings, error: Exception) -> TaskOutcome:
    if is_lack_of_memory(error):
        gc.collect()
        return build_memory_outcome(settings.memory)
    if isinstance(error, PostmortemError):
        message = convert_to_message(error.what)
        return TaskOutcome(UNREADABLE, why=message.both())
    if isinstance(error, OSError):
        detail = error.strerror or str(error)
        return TaskOutcome(UNREADABLE, why=say("cannot be read: {detail}", detail=detail).both())
    return build_crash_outcome(f"{type(error).__name__}: {error}"[:300])


@functools.lru_cache(maxsize=1)
def _get_ready(settings: JobSettings) -> None:
    """Load rules and model once in a process, and limit its memory."""
    prepare(settings.patterns, settings.model)
    # Short of memory, a library that is loaded then fails as if it were not installed.
    import numpy as np  # noqa: F401, PLC0415 -- only a limited worker needs it now

    restrict_memory(settings.memory)
