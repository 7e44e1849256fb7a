"""Judge the files of one job in a worker process: for the service, its bot, coding assistants.

In: settings, files that were received. Out: an analysis; what is said of work that failed. Not
here: which process this is (`core.host.work_pool`), who asks (`interfaces`), jobs of a triage
(`fleet.worker_tasks`).
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import InputError, PostmortemError, UsageError
from postmortem.core.host.helper_process import (
    is_lack_of_memory,
    restrict_memory,
    use_working_directory,
)
from postmortem.core.host.work_pool import WorkerLost, WorkTooLong
from postmortem.core.message import Message, convert_to_message, say
from postmortem.core.names import SHIPPED
from postmortem.fleet.search.finding import require_one_unpacked, require_one_upload
from postmortem.pipeline import prepare, run_pipeline
from postmortem.reading.bundles import is_bundle, unpack_bundle
from postmortem.reading.sources import LogSource, Stream, Unpacking

_Result = TypeVar("_Result")
_MIB: Final = 2**20


class TooLargeError(InputError):
    """Files unpack to more than they may, or want too much memory."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker process judges every job with."""

    patterns: tuple[str, ...] = ()
    """Further folders of rules, as absolute paths."""
    model: str | None = SHIPPED
    """A text classifier's file, an empty string for the package's, None for none."""
    memory: int = 4096
    """MiB that a process may hold; 0 for no limit."""


@dataclass(frozen=True, slots=True)
class JudgeSettings(WorkerSettings):
    """What every request of the service is judged with."""

    unpacked: int = 1 << 30
    """Bytes to which all files of a request together may unpack."""
    unpacked_times: int = 1000
    unpacked_free: int = 64 << 20
    bundle_files: int = 1000
    """Files that a zip or tar may hold."""
    store: str | None = None


class Received(NamedTuple):
    """A file of a request, kept while it is judged."""

    label: str
    """Under which reports show it; nothing is opened by it."""
    path: str
    is_environment: bool = False


@functools.lru_cache(maxsize=1)
def get_ready(settings: WorkerSettings) -> None:
    """Load rules and model once in a process, and limit its memory."""
    prepare(settings.patterns, settings.model)
    restrict_memory(settings.memory)


def run_within_memory(settings: JudgeSettings, work: Callable[[], _Result]) -> _Result:
    """Do work; a lack of memory becomes a refusal that says so.

    Raises:
        TooLargeError: it wants too much memory.
    """
    try:
        return work()
    except (MemoryError, SystemError, PostmortemError) as error:
        if not is_lack_of_memory(error):
            raise
        raise TooLargeError(
            say(
                "it wants more than {mib:,} MiB of memory",
                mib=settings.memory,
            ),
            "limits.memory_mib",
            say("send fewer or smaller files"),  # type: ignore[arg-type]  # worded when it is sent
        ) from None


def run_file_analysis(settings: JudgeSettings, files: Sequence[Received]) -> Analysis:
    """Judge files that are one job; archives are unpacked into a folder next to the first file.

    Raises:
        InputError: nothing could be read.
        TooLargeError: they unpack to more than they may.
    """
    shared = Unpacking(settings.unpacked, settings.unpacked_times, settings.unpacked_free)
    folder = Path(files[0].path).parent / "unpacked"
    folder.mkdir()
    try:
        with use_working_directory(
            folder
        ):  # what was unpacked is shown under the names of the bundle
            logs = [
                _open_source(file, settings, shared) for file in files if not file.is_environment
            ]
            dumps = [
                Stream(file.label, Path(file.path).read_bytes())
                for file in files
                if file.is_environment
            ]
            _require_small(shared)
            _require_one_job(logs)
            analysis = run_pipeline(
                logs,
                env_files=dumps,
                patterns=settings.patterns,
                model=settings.model,
                within=(),
                unpacking=shared,
            )
    except InputError:
        _require_small(shared)
        raise
    _require_small(shared)
    if not any(source.lines for source in analysis.sources):
        raise InputError(
            say("there is nothing to judge: all files are empty"),
            "",
            "send the file that holds the output",
        )
    return analysis


def _open_source(file: Received, settings: JudgeSettings, shared: Unpacking) -> LogSource:
    """Give a file as a stream, a bundle of files as a folder of them."""
    content = Path(file.path).read_bytes()
    if not is_bundle(file.label, content):
        return Stream(file.label, content)
    name = Path(file.label).name
    folder = Path(name if not Path(name).exists() else f"{Path(file.path).name}-{name}")
    folder.mkdir()
    unpack_bundle(file.label, content, folder, shared, settings.bundle_files)
    return str(folder)


def _require_one_job(logs: Sequence[LogSource]) -> None:
    """Refuse an archive of several jobs, and several files with names of different jobs.

    Raises:
        InputError: there are several jobs.
    """
    for folder in logs:
        if isinstance(folder, str):
            require_one_unpacked(folder)
    names = [log.name for log in logs if isinstance(log, Stream)]
    if len(names) > 1:
        require_one_upload(names)


def _require_small(shared: Unpacking) -> None:
    """Refuse what unpacks to more than it may, rather than judge a part of it.

    Raises:
        TooLargeError: it does.
    """
    if shared.is_exceeded:
        raise TooLargeError(
            say(
                "a packed file unpacks to more than {times:,} times its size, or all together to"
                " more than {mib:,} MiB",
                times=shared.times,
                mib=shared.most // _MIB,
            ),
            "limits.unpacked_mib",
            say("send a part of the log"),  # type: ignore[arg-type]  # worded when it is sent
        )


def describe_failure(error: Exception, seconds: float) -> Message:
    """Say why work was not done by a pool in which a piece may take so many `seconds`."""
    if isinstance(error, WorkTooLong):
        return say("not done after {seconds:,.0f} s", seconds=seconds)
    if isinstance(error, WorkerLost):
        return say("the process that did this ended in the middle of it; the service goes on")
    if isinstance(error, InputError | UsageError):
        return convert_to_message(error.what)
    return say("internal error: {kind}", kind=type(error).__name__)
