"""A notice as the text of a chat message, with mentions, links and markup defused.

In: a `Notice`, the most bytes that a place takes. Out: text. Not here: what the message says
(`report.notice`), the body of the request that carries it (`interfaces.notify`).

Slack parses `<…>` and reads `&` as an escape; Mattermost and Rocket.Chat read Markdown and plain
`@all` in the same request, so both are defused. Feishu, DingTalk and WeCom are sent plain text, in
which Feishu alone still reads a tag: `<at …>`.
"""

import re
from collections.abc import Callable
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.report.markdown_text import escape_references
from postmortem.report.notice import Notice

_GAP: Final = "\u200b"
"""A space of no width parts what must not be read together."""
_ACTIVE: Final = compile_lazily(r"\](?=[(\[])|!(?=\[)|<(?=[/@!#a-z])", re.IGNORECASE)
_ENTITIES: Final = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}


def format_slack_text(notice: Notice, most: int) -> str:
    """Write a message for Slack, Mattermost and Rocket.Chat."""
    address = notice.link.replace("&", "&amp;")
    return _fit_lines(notice, _escape_for_slack, f"<{address}>", most)


def format_plain_text(notice: Notice, most: int) -> str:
    """Write a message of plain text."""
    return _fit_lines(notice, _escape_markup, notice.link, most)


def _escape_for_slack(text: str) -> str:
    return _escape_markup(text).translate(_ENTITIES)


def _escape_markup(text: str) -> str:
    return _ACTIVE.sub(lambda match: match[0] + _GAP, escape_references(text))


def _fit_lines(notice: Notice, defused: Callable[[str], str], address: str, most: int) -> str:
    """Join as many lines as fit; headline and link are always kept."""
    first = defused(notice.first_line)
    last = f"{defused(notice.link_label())}{address}" if notice.link else ""
    room = most - _count_bytes(first) - _count_bytes(last)
    kept = []
    for line in map(defused, notice.lines):
        room -= _count_bytes(line)
        if room < 0:
            break
        kept.append(line)
    return "\n".join(part for part in (first, *kept, last) if part)


def _count_bytes(line: str) -> int:
    return len(line.encode()) + 1
