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

from postmortem.errors import PostmortemError
from postmortem.host.files import replace
from postmortem.host.worker_process import limit_memory, working_in
from postmortem.model.diagnosis import Analysis
from postmortem.model.said import as_said
from postmortem.pipeline import analyze, prepare
from postmortem.report import render
from postmortem.report.lossless import from_json, to_json
from postmortem.triage.found_jobs import JUDGED, UNREADABLE, FoundJob
from postmortem.triage.search.job_content import digest_of, laid_out
from postmortem.triage.summary_rows import row_of
from postmortem.triage.workers.own_paths import relabelled
from postmortem.triage.workers.tasks import (
    JobSettings,
    TaskOutcome,
    WantedPage,
    crashed,
    out_of_memory,
)


def digested(_settings: JobSettings, job: FoundJob) -> TaskOutcome:
    """Take the digest of a job's content."""
    return _guarded(_settings, lambda: digest_of(job))


def judged(settings: JobSettings, job: FoundJob, key: str) -> TaskOutcome:
    """Judge a job: the row to keep, the analysis packed within."""
    _get_ready(settings)
    return _guarded(settings, lambda: _row(settings, job, key))


def rendered(settings: JobSettings, packed: bytes, job: FoundJob, page: WantedPage) -> TaskOutcome:
    """Write the page of a job, whole or not at all, from its stored analysis."""
    return _guarded(settings, lambda: _write(packed, job, page))


def unpacked(packed: bytes) -> Analysis:
    """Read an analysis as it was kept."""
    return from_json(zstandard.ZstdDecompressor().decompress(packed).decode("utf-8"))


def _row(settings: JobSettings, job: FoundJob, key: str) -> Any:
    with tempfile.TemporaryDirectory(prefix="postmortem-") as folder, working_in(folder):
        sources = laid_out(job, Path(folder))
        analysis = analyze(sources, patterns=settings.patterns, model=settings.model)
    if not any(source.lines for source in analysis.sources):
        raise PostmortemError("there is nothing to judge: all files are empty")
    packed = zstandard.ZstdCompressor(level=6).compress(to_json(analysis).encode("utf-8"))
    return row_of(analysis, key, packed)


def _write(packed: bytes, job: FoundJob, page: WantedPage) -> None:
    analysis = relabelled(unpacked(packed), job)
    text = render(analysis, "html", language=page.language, redact=True)
    replace(Path(page.path), text.encode("utf-8", "replace"))


def _guarded(settings: JobSettings, work: Callable[[], Any]) -> TaskOutcome:
    """Do it; whatever goes wrong becomes an outcome with its reason."""
    try:
        return TaskOutcome(JUDGED, work())
    except MemoryError:
        gc.collect()
        return out_of_memory(settings.memory)
    except PostmortemError as error:
        if isinstance(error.__cause__, MemoryError):
            return out_of_memory(settings.memory)
        said = as_said(error.what)
        return TaskOutcome(UNREADABLE, why=(said.text("en"), said.text("zh")))
    except OSError as error:
        told = error.strerror or str(error)
        return TaskOutcome(UNREADABLE, why=(f"cannot be read: {told}", f"无法读取：{told}"))
    except Exception as error:  # noqa: BLE001 -- one job of ten thousand: it is told in its row
        return crashed(f"{type(error).__name__}: {error}"[:300])


@functools.lru_cache(maxsize=1)
def _get_ready(settings: JobSettings) -> None:
    """Load rules and model once in a process, and limit its memory."""
    prepare(settings.patterns, settings.model)
    limit_memory(settings.memory)
