"""What a worker process does: take a job's digest, judge a job, render a report.

In: settings and one job, or a stored analysis. Out: `TaskOutcome`. Not here: which process this is
(`workers.pool`, `workers.cluster`), keeping what comes out (`store`).
"""

import functools
import gc
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import PostmortemError
from postmortem.core.host.files import replace
from postmortem.core.host.worker_process import (
    is_lack_of_memory,
    restrict_memory,
    use_working_directory,
)
from postmortem.core.message import convert_to_message, say
from postmortem.fleet.found_jobs import JUDGED, UNREADABLE, FoundJob
from postmortem.fleet.search.job_content import compute_digest, place_job_files
from postmortem.fleet.summary_rows import build_analysis_row
from postmortem.fleet.workers.real_paths import restore_own_paths
from postmortem.fleet.workers.tasks import (
    JobSettings,
    TaskOutcome,
    WantedPage,
    build_crash_outcome,
    build_memory_outcome,
)
from postmortem.pipeline import prepare, run_pipeline
from postmortem.report import render
from postmortem.report.lossless import from_json, to_json


def run_digest(_settings: JobSettings, job: FoundJob) -> TaskOutcome:
    """Take the digest of a job's content."""
    return _run_guarded(_settings, lambda: compute_digest(job))


def run_analysis(settings: JobSettings, job: FoundJob, key: str) -> TaskOutcome:
    """Judge a job: the row to keep, the analysis packed within."""
    _get_ready(settings)
    return _run_guarded(settings, lambda: _build_row(settings, job, key))


def run_render(
    settings: JobSettings, packed: bytes, job: FoundJob, page: WantedPage
) -> TaskOutcome:
    """Write the page of a job, whole or not at all, from its stored analysis."""
    return _run_guarded(settings, lambda: _write(packed, job, page))


def unpack_analysis(packed: bytes) -> Analysis:
    """Read an analysis as it was kept."""
    return from_json(zstandard.ZstdDecompressor().decompress(packed).decode("utf-8"))


def _build_row(settings: JobSettings, job: FoundJob, key: str) -> Any:
    with tempfile.TemporaryDirectory(prefix="postmortem-") as folder, use_working_directory(folder):
        sources = place_job_files(job, Path(folder))
        analysis = run_pipeline(sources, patterns=settings.patterns, model=settings.model)
    if not any(source.lines for source in analysis.sources):
        raise PostmortemError("there is nothing to judge: all files are empty")
    packed = zstandard.ZstdCompressor(level=6).compress(to_json(analysis).encode("utf-8"))
    return build_analysis_row(analysis, key, packed)


def _write(packed: bytes, job: FoundJob, page: WantedPage) -> None:
    analysis = restore_own_paths(unpack_analysis(packed), job)
    text = render(analysis, "html", language=page.language, redact=True)
    replace(Path(page.path), text.encode("utf-8", "replace"))


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
