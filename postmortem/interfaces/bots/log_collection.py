"""Collect the logs of an issue: code blocks of its author and of commanders, attached files.

In: an issue and comments as they stand now. Out: logs with labels, and what could not be fetched.
Not here: whether they are logs at all, which judging finds out.

What others write under an issue is left alone: anybody may paste anything there, and it would
change what the author is told about their run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from postmortem.core.message import Message, convert_to_message, quote, say
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.bots.issue_text import AuthoredText, parse_issue_text
from postmortem.interfaces.trackers.tracker_errors import TrackerError, TryLater
from postmortem.interfaces.trackers.tracker_protocol import Tracker
from postmortem.interfaces.trackers.tracker_values import (
    IssueComment,
    IssueThread,
    LinkedFile,
    NamedLog,
    TrackerUser,
)
from postmortem.report.plain import format_one_line

_MIB: Final = 2**20
_LABEL: Final = 100
_MOST_TEXT: Final = 1 << 20
"""Characters of all comments that are read."""


@dataclass(frozen=True, slots=True)
class GatheredLogs:
    """What there is to judge."""

    logs: tuple[NamedLog, ...]
    left_out: tuple[Message, ...]
    """What is attached and could not be read, each with its reason."""
    is_chinese: bool
    """Whether the issue is written in Chinese."""


def collect_logs(
    tracker: Tracker,
    settings: BotSettings,
    thread: IssueThread,
    comments: Sequence[IssueComment],
    users: Sequence[TrackerUser],
) -> GatheredLogs:
    """Gather the logs of an issue.

    Args:
        tracker: where it is.
        settings: how much may be fetched.
        thread: the issue.
        comments: all of them.
        users: those whose comments count, besides the author.

    Raises:
        TryLater: a file could not be fetched now.
    """
    counted = {thread.author.identity, *(user.identity for user in users)} - {""}
    own = parse_issue_text(thread.text)
    read = [
        comment
        for comment in comments
        if comment.author.identity in counted and not comment.author.is_bot
    ]
    apart = [("issue", own)]
    apart += [
        (f"comment-{comment.identity}", parse_issue_text(comment.text))
        for comment in _select_newest_comments(read)
    ]
    logs = [log for label, text in apart for log in _iter_blocks(label, text)]
    prose = "\n\n".join(text.prose for _, text in apart)
    links = list(dict.fromkeys(tracker.linked_files(thread.place, prose)))
    files, left_out = _fetch_files(tracker, settings, links)
    is_chinese = AuthoredText(f"{thread.title}\n\n{own.prose}", ()).is_chinese
    return GatheredLogs((*logs, *files), tuple(left_out), is_chinese)


def _select_newest_comments(comments: Sequence[IssueComment]) -> list[IssueComment]:
    """Leave out what is too long together, the oldest first; what is left keeps its order."""
    left, kept = _MOST_TEXT, []
    for candidate in sorted(comments, key=lambda comment: comment.age, reverse=True):
        left -= len(candidate.text)
        if left < 0:
            break
        kept.append(candidate)
    return kept[::-1]


def _fetch_files(
    tracker: Tracker, settings: BotSettings, links: Sequence[LinkedFile]
) -> tuple[list[NamedLog], list[Message]]:
    """Fetch files; gives them, and what was left out.

    Raises:
        TryLater: one could not be fetched now.
    """
    files: list[NamedLog] = []
    left_out: list[Message] = []
    for link in links[: settings.files]:
        try:
            content = tracker.fetched(link, int(settings.file_mib * _MIB))
        except TryLater:
            raise
        except TrackerError as error:
            left_out.append(_describe_skipped_file(link, convert_to_message(error.what)))
        else:
            files += [NamedLog(build_log_label(link.name), content)] if content.strip() else []
    too_many = say("too many files")
    return files, left_out + [
        _describe_skipped_file(link, too_many) for link in links[settings.files :]
    ]


def _iter_blocks(label: str, text: AuthoredText) -> Iterator[NamedLog]:
    for number, block in enumerate(text.blocks, 1):
        yield NamedLog(f"{label}-block-{number}", block.encode("utf-8", "replace"))


def build_log_label(name: str) -> str:
    """Make a label of a name that anybody may have chosen: its last part, on one line."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return format_one_line(last, _LABEL).strip(". ") or "log"


def _describe_skipped_file(link: LinkedFile, why: Message) -> Message:
    return say("{name}: {why}", name=quote(build_log_label(link.name)), why=why)
