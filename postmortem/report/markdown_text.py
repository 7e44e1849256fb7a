"""Texts made fit for a comment: escaped, in code, in fences, folded, and no longer than one may be.

In: plain text. Out: GitHub-flavoured Markdown. Not here: what a comment says (`report.markdown`).
Log text stands in fences longer than any run of backticks in it, or is escaped; mentions, issue
numbers, addresses and commits are defused.
"""

import re
from collections.abc import Iterable
from html import escape
from typing import Final

from postmortem.model.said import cut
from postmortem.model.visible import safe
from postmortem.report.plain import one_line

LONGEST: Final = 64_000
"""UTF-16 units of a comment: GitHub takes 65,536 characters, and whoever posts it may add a mark of
its own."""
_SPECIAL: Final = re.compile(r"[\\`*_\[\]~$|]|^[#+=-]|^\d{1,9}(?=[.)])")
# What GitHub turns into a mention, a reference, a link, a commit or an emoji is parted behind what
# is matched here.
_ACTIVE: Final = re.compile(
    r"[@#](?=\w)|\bGH(?=-\d)|:(?=//)|\bwww(?=\.)|:(?!\d\d:)(?=[a-z0-9_+-]{1,40}:)|\b(?:mailto|xmpp)(?=:)",
    re.IGNORECASE,
)
_COMMIT: Final = re.compile(
    r"\b(?=[0-9]{0,64}[a-f])(?=[a-f]{0,64}[0-9])[0-9a-f]{7,64}\b", re.IGNORECASE
)
_SIX: Final = re.compile(r"[0-9a-f]{6}(?=[0-9a-f])", re.IGNORECASE)
QUOTED: Final = 300
_LONGEST_LINE: Final = 2_000
_LONGEST_FENCE: Final = 8_000


def fitted(blocks: Iterable[str], last: str, note: str) -> str:
    """Join blocks, each whole in itself, up to the length of a comment.

    A note says that some were left out.
    """
    kept: list[str] = []
    room = LONGEST - units(f"{last}\n\n_{note}_\n\n\n")
    is_cut = False
    for block in blocks:
        size = units(block) + 2
        is_cut |= size > room
        if size <= room:
            kept.append(block)
            room -= size
    return "\n\n".join([*kept, *([f"_{note}_"] if is_cut else []), last]) + "\n"


def units(text: str) -> int:
    """Count UTF-16 units, of which a character beyond the basic plane has two."""
    return len(text) + sum(char > "\uffff" for char in text)


def prose(text: str) -> str:
    """Escape a text on one line: it is shown as it is, notifies nobody and links nowhere."""
    flat = _COMMIT.sub(
        lambda match: _SIX.sub(_parted, match[0]),
        _ACTIVE.sub(_parted, one_line(text, _LONGEST_LINE)),
    )
    marked = _SPECIAL.sub(
        lambda match: f"{match[0]}\u200b" if match[0].isdigit() else f"\\{match[0]}", flat
    )
    return escape(marked, quote=False)


def _parted(match: "re.Match[str]") -> str:
    return match[0] + "\u200b"


def code(text: str) -> str:
    """Put a text on one line into inline code that it cannot break out of."""
    flat = one_line(text, QUOTED)
    ticks = "`" * (_longest_run(flat) + 1)
    gap = " " if flat[:1] == "`" or flat[-1:] == "`" else ""
    return f"{ticks}{gap}{flat}{gap}{ticks}" if flat else ""


def fence(text: str, language: str = "", indent: str = "", *, longest: int = _LONGEST_FENCE) -> str:
    """Put a text into a fenced block that it cannot break out of; what is far too long is cut."""
    body = cut(
        "\n".join(cut(line, _LONGEST_LINE) for line in safe(text).strip("\n").split("\n")),
        longest,
    )
    ticks = "`" * max(3, _longest_run(body) + 1)
    info = language if re.fullmatch(r"[A-Za-z0-9+-]{1,20}", language) else ""
    return "\n".join(
        f"{indent}{line}" if line else "" for line in (f"{ticks}{info}", *body.split("\n"), ticks)
    )


def folded(title: str, *blocks: str) -> str:
    """Fold blocks under a title of our own."""
    return "\n\n".join((f"<details><summary>{escape(title)}</summary>", *blocks, "</details>"))


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
