"""Work in a worker process for a request or for the bot: judge logs, render a report or an article.

In: settings, files that were received, logs of an issue. Out: the text of a report, a `JudgedLog`,
an article. Not here: which process this is (`core.host.work_pool`), who asks
(`http.analyze_routes`, `http.webhook_routes`), the pages of a store (`http.store_worker`).
"""

import functools
import tempfile
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
from postmortem.core.message import say
from postmortem.core.names import SHIPPED
from postmortem.fleet.search.finding import require_one_unpacked, require_one_upload
from postmortem.interfaces.bots.judged_log import JudgedLog, summarize_analysis
from postmortem.interfaces.http.api_errors import Refusal
from postmortem.interfaces.trackers.tracker_protocol import NamedLog
from postmortem.pipeline import prepare, run_pipeline
from postmortem.reading.bundles import is_bundle, unpack_bundle
from postmortem.reading.sources import LogSource, Stream, Unpacking
from postmortem.report import render
from postmortem.report.manual.articles import render_article
from postmortem.report.manual.entries import find_entry
from postmortem.rules.base import load_compiled_rules

_Result = TypeVar("_Result")
_MIB: Final = 2**20


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """What every request is judged with."""

    patterns: tuple[str, ...] = ()
    """Further folders of rules, as absolute paths."""
    model: str | None = SHIPPED
    """A text classifier's file, an empty string for the package's, None for none."""
    memory: int = 4096
    """MiB that a process may hold; 0 for no limit."""
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


class ReportOptions(NamedTuple):
    """How a report is to be."""

    form: str = "json"
    language_code: str = "en"
    is_redacted: bool = True


@functools.lru_cache(maxsize=1)
def get_ready(settings: JudgeSettings) -> None:
    """Load rules and model once in a process, and limit its memory."""
    prepare(settings.patterns, settings.model)
    restrict_memory(settings.memory)


def handle_analyze_request(
    settings: JudgeSettings, files: Sequence[Received], options: ReportOptions
) -> str:
    """Judge the logs of a request, which together are one job.

    Raises:
        InputError: nothing could be read.
        Refusal: they unpack to more than they may, or want too much memory.
    """
    get_ready(settings)
    return run_within_memory(
        settings,
        lambda: render(
            run_file_analysis(settings, files),
            options.form,
            language=options.language_code,
            redact=options.is_redacted,
            full=True,
        ),
    )


def run_within_memory(settings: JudgeSettings, work: Callable[[], _Result]) -> _Result:
    """Do work; a lack of memory becomes a refusal that says so.

    Raises:
        Refusal: it wants too much memory.
    """
    try:
        return work()
    except (MemoryError, SystemError, PostmortemError) as error:
        if not is_lack_of_memory(error):
            raise
        raise Refusal(
            413,
            say(
                "it wants more than {mib:,} MiB of memory",
                mib=settings.memory,
            ),
            "limits.memory_mib",
            say("send fewer or smaller files"),
        ) from None


def run_file_analysis(settings: JudgeSettings, files: Sequence[Received]) -> Analysis:
    """Judge files that are one job; archives are unpacked into a folder next to the first file.

    Raises:
        InputError: nothing could be read.
        Refusal: they unpack to more than they may.
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
        Refusal: it does.
    """
    if shared.is_exceeded:
        raise Refusal(
            413,
            say(
                "a packed file unpacks to more than {times:,} times its size, or all together to"
                " more than {mib:,} MiB",
                times=shared.times,
                mib=shared.most // _MIB,
            ),
            "limits.unpacked_mib",
            say("send a part of the log"),
        )


def run_bot_analysis(
    settings: JudgeSettings, logs: Sequence[NamedLog], language_code: str, longest: int
) -> JudgedLog:
    """Judge logs that are one job.

    Raises:
        InputError: nothing could be read.
        Refusal: they unpack to more than they may, or want too much memory.
    """
    get_ready(settings)
    return run_within_memory(
        settings, lambda: _run_analysis(settings, logs, language_code, longest)
    )


def render_article_for_bot(settings: JudgeSettings, name: str, language_code: str) -> str | None:
    """Give the article on an id; None if nothing has it."""
    get_ready(settings)
    rules = load_compiled_rules(tuple(Path(folder) for folder in settings.patterns))
    try:
        return render_article(find_entry(rules, name), rules, language_code)
    except UsageError:
        return None


def _run_analysis(
    settings: JudgeSettings, logs: Sequence[NamedLog], language_code: str, longest: int
) -> JudgedLog:
    with tempfile.TemporaryDirectory(prefix="postmortem-") as folder:
        files = []
        for number, log in enumerate(logs):
            path = Path(folder) / str(number)
            path.write_bytes(log.content)
            files.append(Received(log.name, str(path)))
        return summarize_analysis(run_file_analysis(settings, files), language_code, longest)
