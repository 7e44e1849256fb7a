"""Judge the logs of an issue or of a failed run, and word the comment on them.

In: logs, settings, a pool. Out: `JudgedLog`, which a process sends back; `FoundVerdict` with
Markdown in the language asked for. Not here: posting it (`bots.answering`,
`trackers.bot_comment`), the judging itself (`fleet.one_job_worker`), the report
(`report.markdown`). Names of jobs and files come from anybody: they are escaped as log text is.
"""

import asyncio
import concurrent.futures
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from postmortem.core import names
from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import PostmortemError, UsageError
from postmortem.core.host.work_pool import WorkPool, WorkPoolFull
from postmortem.core.message import Message, convert_to_message, cut, say
from postmortem.fleet.one_job_worker import (
    JudgeSettings,
    Received,
    describe_failure,
    get_ready,
    run_file_analysis,
    run_within_memory,
)
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.bots.issue_text import GatheredLogs, build_log_label
from postmortem.interfaces.trackers.tracker_protocol import NamedLog, Tracker, TryLater
from postmortem.report.display import format_percent, translate_analysis
from postmortem.report.manual.articles import render_article
from postmortem.report.manual.entries import find_entry
from postmortem.report.markdown import render_markdown
from postmortem.report.markdown_text import escape_prose, format_inline_code
from postmortem.rules.base import load_compiled_rules
from postmortem.rules.vocabulary import Trait, has_trait


class NotJudged(PostmortemError):  # noqa: N818 -- what became of it
    """A log could not be judged: it takes too long, wants too much, or cannot be read."""


_BUSY: Final = "as much as can be judged at once is being judged"


@dataclass(frozen=True, slots=True)
class JudgedLog:
    """A verdict."""

    cause: str | None
    category: str
    probability: float
    status: str
    outcome: str
    title: str = field(repr=False)
    """Of the cause, in the language that was asked for."""
    report: str = field(repr=False)
    """In Markdown, redacted and defused."""

    @property
    def is_named(self) -> bool:
        """Say whether a cause is named that is a fault of something."""
        return self.cause is not None and not self.is_sound and self.outcome != "not-a-training-log"

    @property
    def is_sound(self) -> bool:
        """Say whether the run is well."""
        return has_trait(self.cause, Trait.SOUND)

    @property
    def is_open(self) -> bool:
        """Say whether the run went wrong and the log does not show why."""
        return not self.is_named and self.outcome in names.ALARMING


def summarize_analysis(analysis: Analysis, language_code: str, longest: int) -> JudgedLog:
    """Take from an analysis what the bot needs."""
    verdict = analysis.verdict
    shown = translate_analysis(analysis, language_code)
    named = next((cause for cause in shown.causes if cause.id == verdict.cause), None)
    return JudgedLog(
        cause=verdict.cause,
        category=named.category if named else "",
        probability=verdict.probability,
        status=verdict.status,
        outcome=analysis.outcome,
        title=named.title if named else "",
        report=render_markdown(shown, redact=True, longest=longest),
    )


def run_bot_analysis(
    settings: JudgeSettings, logs: Sequence[NamedLog], language_code: str, longest: int
) -> JudgedLog:
    """Judge logs that are one job.

    Raises:
        InputError: nothing could be read.
        TooLargeError: they unpack to more than they may, or want too much memory.
    """
    get_ready(settings)
    return run_within_memory(settings, lambda: _judge_logs(settings, logs, language_code, longest))


def render_article_for_bot(settings: JudgeSettings, name: str, language_code: str) -> str | None:
    """Give the article on an id; None if nothing has it."""
    get_ready(settings)
    rules = load_compiled_rules(tuple(Path(folder) for folder in settings.patterns))
    try:
        return render_article(find_entry(rules, name), rules, language_code)
    except UsageError:
        return None


def _judge_logs(
    settings: JudgeSettings, logs: Sequence[NamedLog], language_code: str, longest: int
) -> JudgedLog:
    with tempfile.TemporaryDirectory(prefix="postmortem-") as folder:
        files = []
        for number, log in enumerate(logs):
            path = Path(folder) / str(number)
            path.write_bytes(log.content)
            files.append(Received(log.name, str(path)))
        return summarize_analysis(run_file_analysis(settings, files), language_code, longest)


class Judge:
    """Has logs judged in worker processes, for the threads of the bot."""

    def __init__(
        self,
        pool: WorkPool,
        settings: JudgeSettings,
        loop: asyncio.AbstractEventLoop,
        is_ending: Callable[[], bool],
    ) -> None:
        """Take the processes, the loop that they are waited for in, and whether all that ends."""
        self._pool, self._settings, self._loop, self._is_ending = pool, settings, loop, is_ending

    def judge(self, logs: Sequence[NamedLog], language_code: str, longest: int) -> JudgedLog:
        """Judge logs that are one job; the report has `longest` UTF-16 units at most.

        Raises:
            NotJudged: it could not be done.
            TryLater: not now.
        """
        found: JudgedLog = self._run(run_bot_analysis, tuple(logs), language_code, longest)
        return found

    def explain(self, name: str, language_code: str) -> str | None:
        """Give the article of the rules on an id, in Markdown; None if nothing has this id.

        Raises:
            NotJudged: it could not be done.
            TryLater: not now.
        """
        found: str | None = self._run(render_article_for_bot, name, language_code)
        return found

    def _run(self, work: Callable[..., Any], *args: Any) -> Any:
        """Wait for work in a process."""
        doing: Coroutine[Any, Any, Any] = self._pool.run(work, self._settings, *args)
        try:
            waiting = asyncio.run_coroutine_threadsafe(doing, self._loop)
        except RuntimeError:  # the service has ended
            doing.close()
            raise TryLater(_BUSY) from None
        try:
            return waiting.result()
        except (WorkPoolFull, concurrent.futures.CancelledError):
            raise TryLater(_BUSY) from None
        except Exception as error:  # noqa: BLE001 -- whatever a log does is told, and ends nothing
            if self._is_ending():  # its processes are ended in the middle of their work
                raise TryLater(_BUSY) from None
            raise NotJudged(describe_failure(error, self._pool.seconds)) from None


ROOM: Final = 6_000
"""UTF-16 units that stand around a report at most."""
_SHOWN: Final = 5
_NAME: Final = 100
_REASON: Final = 100
"""Characters: escaped, each is five at most."""


def report_comment(judged: JudgedLog, left_out: Sequence[Message], language_code: str) -> str:
    """Give a report, with what could not be read."""
    return (
        "\n\n".join([judged.report.rstrip(), *_format_skipped_files(left_out, language_code)])
        + "\n"
    )


def run_comment(jobs: Sequence[tuple[str, JudgedLog]], language_code: str) -> str:
    """Give the report of the first of several failed jobs, and a line for each of the others."""
    (first, judged), *others = jobs
    head = say("Failed job: {name}", name=format_inline_code(cut(first, _NAME))).text(language_code)
    rows = [
        f"- {format_inline_code(cut(name, _NAME))}: {_format_summary(job, language_code)}"
        for name, job in others[:_SHOWN]
    ]
    heading = say("**Other failed jobs**").text(language_code)
    return "\n\n".join(
        [head, judged.report.rstrip(), *([heading, "\n".join(rows)] if rows else [])]
    )


def build_no_log_comment(left_out: Sequence[Message], mention: str, language_code: str) -> str:
    """Say that there is no log, and how one is given."""
    message = say(
        "There is no log here to judge. Please paste the end of the output, with the whole"
        " traceback, between two lines of three backticks, or attach the log as a file; then"
        " comment {command}.",
        command=format_inline_code(f"{mention} analyze"),
    )
    return (
        "\n\n".join([message.text(language_code), *_format_skipped_files(left_out, language_code)])
        + "\n"
    )


def build_unreadable_log_comment(why: Message, language_code: str) -> str:
    """Say that a log could not be judged."""
    message = say(
        "The log could not be judged: {why}",
        why=escape_prose(cut(why.text(language_code), _REASON)),
    )
    return f"{message.text(language_code)}\n"


def build_unknown_id_comment(about: str, language_code: str) -> str:
    """Say that the rules know nothing of an id."""
    message = say(
        "The rules have nothing with the id {about}. The ids stand in reports; all of them:"
        " {command}.",
        about=format_inline_code(about),
        command=format_inline_code("postmortem patterns list"),
    )
    return f"{message.text(language_code)}\n"


def _format_name(name: str) -> str:
    return format_inline_code(cut(name, _NAME))


def _format_summary(judged: JudgedLog, language_code: str) -> str:
    if judged.cause is None:
        return say("the log does not show the cause").text(language_code)
    return say(
        "{title} ({cause}, {share})",
        title=escape_prose(cut(judged.title, _REASON)),
        cause=format_inline_code(judged.cause),
        share=format_percent(judged.probability),
    ).text(language_code)


def _format_skipped_files(reasons: Sequence[Message], language_code: str) -> list[str]:
    if not reasons:
        return []
    rows = "\n".join(
        f"- {escape_prose(cut(reason.text(language_code), _REASON))}" for reason in reasons[:_SHOWN]
    )
    return [say("**Attached, but not read**").text(language_code), rows]


_MIB: Final = 2**20


class FoundVerdict(NamedTuple):
    """What is to be said."""

    text: str
    is_plain: bool = False
    """Whether it is worth saying unasked."""
    labels: frozenset[str] = frozenset()


class VerdictFinder:
    """Has logs judged, and words what comes of it."""

    def __init__(self, judge: Judge, settings: BotSettings) -> None:
        self._judge, self._settings = judge, settings

    def choose_language(self, gathered: GatheredLogs) -> str:
        """Choose the language of an answer."""
        chosen = self._settings.language
        if chosen != "auto":
            return chosen
        return "zh" if gathered.is_chinese else "en"

    def judge_run(
        self, tracker: Tracker, project: str, run: str, language_code: str
    ) -> FoundVerdict | None:
        """Judge each failed job of a run; the most certain verdict comes first.

        None if there are no logs any more.

        Raises:
            TrackerError: they could not be fetched.
        """
        judged: list[tuple[str, JudgedLog]] = []
        why, longest = None, tracker.longest - ROOM
        for log in tracker.run_logs(project, run, int(self._settings.file_mib * _MIB)):
            labelled = log._replace(name=build_log_label(log.name))
            try:
                judged.append((log.name, self._judge.judge([labelled], language_code, longest)))
            except NotJudged as error:
                why = convert_to_message(error.what)
        if not judged:
            return (
                None
                if why is None
                else FoundVerdict(build_unreadable_log_comment(why, language_code))
            )
        judged.sort(key=lambda item: (-item[1].is_named, -item[1].probability))
        return self._found(run_comment(judged, language_code), judged[0][1])

    def judge_issue(
        self, tracker: Tracker, gathered: GatheredLogs, language_code: str
    ) -> FoundVerdict:
        """Judge the logs of an issue, all together.

        Raises:
            TryLater: not now.
        """
        if not gathered.logs:
            mention = self._settings.mention
            return FoundVerdict(build_no_log_comment(gathered.left_out, mention, language_code))
        try:
            judged = self._judge.judge(gathered.logs, language_code, tracker.longest - ROOM)
        except NotJudged as error:
            return FoundVerdict(
                build_unreadable_log_comment(convert_to_message(error.what), language_code)
            )
        return self._found(report_comment(judged, gathered.left_out, language_code), judged)

    def explain(self, about: str, language_code: str) -> str:
        """Give the article of the rules on an id, or say that there is none.

        Raises:
            TryLater: not now.
        """
        try:
            text = self._judge.explain(about, language_code)
        except NotJudged as error:
            return build_unreadable_log_comment(convert_to_message(error.what), language_code)
        return text or build_unknown_id_comment(about, language_code)

    def _found(self, text: str, judged: JudgedLog) -> FoundVerdict:
        is_sure = judged.probability >= self._settings.threshold
        if judged.is_named:
            known = self._settings.labels
            label = known.get(judged.cause or "") or known.get(judged.category)
            labels = frozenset({label} if label and is_sure else ())
            return FoundVerdict(text, is_sure, labels)
        return FoundVerdict(text, judged.is_open and self._settings.when_unsure == "ask")
