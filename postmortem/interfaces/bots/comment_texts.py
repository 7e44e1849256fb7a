"""Texts of the bot's comments around a report.

In: verdicts, reasons, a language. Out: Markdown. Not here: the report itself (`report.markdown`),
posting it (`trackers.bot_comment`). Names of jobs and files come from anybody: they are escaped as
log text is.
"""

from collections.abc import Sequence
from typing import Final

from postmortem.core.message import Message, cut, say
from postmortem.interfaces.bots.judged_log import JudgedLog
from postmortem.report.markdown_text import escape_prose, format_inline_code
from postmortem.report.plain import format_percent

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
