"""Read an issue: its author's prose and code blocks, a command, the logs in it and attached to it.

In: Markdown as people write it; an issue and comments as they stand now. Out: prose and blocks, a
`BotCommand` or none, logs with labels, and what could not be fetched. Not here: who may command,
whether the texts are logs at all, which judging finds out.

markdown-it-py, which Rich brings along, knows where a block begins and ends; only its blocks are
parsed, nothing within a line. What is quoted from others (`> `) counts as nobody's. A command
stands at the beginning of a line, and not in code or in what is quoted. What others write under an
issue is left alone: anybody may paste anything there, and it would change what the author is told.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Final, NamedTuple

from markdown_it import MarkdownIt

from postmortem.core.log_text import compile_lazily, format_one_line
from postmortem.core.message import Message, convert_to_message, quote, say
from postmortem.core.printed_words import join_words, list_words
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.trackers.tracker_protocol import (
    IssueComment,
    IssueThread,
    LinkedFile,
    NamedLog,
    Tracker,
    TrackerError,
    TrackerUser,
    TryLater,
)

_MOST: Final = 1 << 20
"""Characters that are looked at: no tracker keeps as many in one text."""
_TAG: Final = compile_lazily(r"</?[A-Za-z][^<>]{0,300}>|<!--.{0,300}?-->", re.DOTALL)
_SPAN: Final = compile_lazily(r"(?<!`)(`{1,3})(?!`)[^`]{1,500}(?<!`)\1(?!`)")
_SUMMARY: Final = compile_lazily(r"<summary>[^<>]{0,300}</summary>", re.IGNORECASE)
_HAN: Final = compile_lazily("[\u3400-\u9fff]")
_WORD: Final = compile_lazily(r"[A-Za-z]{2,}")
_HAN_OF_A_WORD: Final = 2
"""Characters that say about as much as a word of English."""
_ENOUGH: Final = 0.3
"""Share of Chinese from which a text is Chinese: it names much in English."""


class AuthoredText(NamedTuple):
    """A text, taken apart."""

    prose: str
    """Without quotes, tags and blocks of code."""
    blocks: tuple[str, ...]
    """Fenced, indented, or within the tags of a block."""

    @property
    def is_chinese(self) -> bool:
        """Say whether its author writes Chinese."""
        han = len(_HAN.findall(self.prose)) / _HAN_OF_A_WORD
        return han > _ENOUGH * (han + len(_WORD.findall(self.prose)))


def parse_issue_text(text: str) -> AuthoredText:
    """Take a text apart."""
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    prose, blocks, quoted = [], [], 0
    for token in parser.parse(text[:_MOST].replace("\r\n", "\n")):
        quoted += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if quoted:
            continue
        if token.type in {"fence", "code_block"}:
            blocks.append(token.content)
        elif token.type == "html_block":
            blocks.append(unescape(_TAG.sub("", _SUMMARY.sub("", token.content))))
        elif token.type == "inline":
            prose.append(_TAG.sub("", _SPAN.sub(_keep_inline_code, token.content)))
    kept = (block.strip("\n") for block in blocks)
    return AuthoredText("\n\n".join(prose), tuple(block for block in kept if block.strip()))


def _keep_inline_code(span: "re.Match[str]") -> str:
    """Keep code within a line, with its marks; what runs over several lines is no prose."""
    return "" if "\n" in span[0] else span[0]


LOOK: Final = "look"
"""An issue was opened or changed; nobody commands."""
ANALYZE: Final = "analyze"
EXPLAIN: Final = "explain"
RUN: Final = "run"
"""A run failed; nobody commands."""
_MOST_SEARCHED: Final = 1 << 16
"""Characters in which a command is looked for: whoever sends a delivery waits meanwhile."""
_WORDS: Final = dict.fromkeys(("analyze", "analyse", *list_words("command-analyze")), ANALYZE)
_ABOUT: Final = compile_lazily(
    rf"(?:explain|{join_words('command-explain')})[ \t]{{1,5}}`{{0,3}}([A-Za-z0-9][\w.-]{{0,99}})",
    re.IGNORECASE,
)


class BotCommand(NamedTuple):
    """A command."""

    ask: str
    """`ANALYZE` or `EXPLAIN`."""
    about: str = ""
    """What is to be explained: an id of the rules."""


def find_command(text: str, mention: str) -> BotCommand | None:
    """Give the first command of a text."""
    if mention.lower() not in text.lower():
        return None
    for line in parse_issue_text(text[:_MOST_SEARCHED]).prose.splitlines():
        words = line.strip()
        if words[: len(mention)].lower() != mention.lower():
            continue
        rest = words[len(mention) :]
        if not rest[:1].isspace():
            continue
        rest = rest.strip()
        found = _ABOUT.match(rest)
        if found is not None:
            return BotCommand(EXPLAIN, found[1].rstrip("."))
        ask = _WORDS.get(rest.split(maxsplit=1)[0].rstrip(".,!。！").lower() if rest else "")
        if ask is not None:
            return BotCommand(ask)
    return None


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
