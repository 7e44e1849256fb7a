"""Make text safe for a Markdown comment: escaped, fenced, folded and cut to the allowed length.

In: plain text. Out: GitHub-flavoured Markdown, which GitLab reads too. Not here: what a comment
says (`report.markdown`). Log text stands in fences longer than any run of backticks in it, or is
escaped; mentions, references, addresses, commits and commands (`/close`) are defused for both.
"""

import re
from collections.abc import Iterable
from html import escape
from typing import Final

from postmortem.core.log_text import compile_lazily, escape_control_characters, format_one_line
from postmortem.core.message import cut

LONGEST: Final = 64_000
"""UTF-16 units of a comment: GitHub takes 65,536 characters, and whoever posts it may add a mark of
its own."""
_SPECIAL: Final = compile_lazily(r"[\\`*_\[\]~$|]|^[#+=-]|^\d{1,9}(?=[.)])")
# What GitHub and GitLab turn into a mention, a reference, a link or an emoji is parted behind what
# is matched here. The last row: GitLab's includes, and its references besides `#1` and `@name`.
_ACTIVE: Final = compile_lazily(
    r"[@#](?=\w)|\bGH(?=-\d)|:(?=//)|\bwww(?=\.)|:(?!\d\d:)(?=[a-z0-9_+-]{1,40}:)|\b(?:mailto|xmpp)(?=:)"
    r"|(?-i:\b[A-Z][A-Z0-9_]{1,40}-(?=\d))"
    r"|^:(?=:)|[!$&](?=\d)|[%~](?=[\"\w])|\^(?=alert)|\*(?=iteration:)|\[(?=\[|toc\]|[a-z_]{1,20}:)",
    re.IGNORECASE,
)
# At the start of any line GitLab and bots that read comments take this for a command.
_ORDER: Final = compile_lazily(
    r"^[ \t]{0,99}/(?=[a-z_-]{1,60}(?:[ \t]|$))", re.IGNORECASE | re.MULTILINE
)
_COMMIT: Final = compile_lazily(
    r"\b(?=[0-9]{0,64}[a-f])(?=[a-f]{0,64}[0-9])[0-9a-f]{7,64}\b", re.IGNORECASE
)
_SIX: Final = compile_lazily(r"[0-9a-f]{6}(?=[0-9a-f])", re.IGNORECASE)
QUOTED: Final = 300
_LONGEST_LINE: Final = 2_000
_LONGEST_FENCE: Final = 8_000


def join_blocks(blocks: Iterable[str], last: str, note: str, *, longest: int = LONGEST) -> str:
    """Join blocks, each whole in itself, up to the length of a comment.

    A note says that some were left out.
    """
    kept: list[str] = []
    room = min(longest, LONGEST) - count_utf16_units(f"{last}\n\n_{note}_\n\n\n")
    is_cut = False
    for block in blocks:
        size = count_utf16_units(block) + 2
        is_cut |= size > room
        if size <= room:
            kept.append(block)
            room -= size
    return "\n\n".join([*kept, *([f"_{note}_"] if is_cut else []), last]) + "\n"


def count_utf16_units(text: str) -> int:
    """Count UTF-16 units, of which a character beyond the basic plane has two."""
    return len(text) + sum(char > "\uffff" for char in text)


def escape_prose(text: str) -> str:
    """Escape a text on one line: it is shown as it is, notifies nobody and links nowhere."""
    flat = escape_references(format_one_line(text, _LONGEST_LINE))
    marked = _SPECIAL.sub(
        lambda match: f"{match[0]}\u200b" if match[0].isdigit() else f"\\{match[0]}", flat
    )
    return escape(marked, quote=False)


def escape_references(text: str) -> str:
    """Part what a platform takes for a mention, a reference, a link, a command or an emoji."""
    parted = _ORDER.sub(_insert_zero_width_space, _ACTIVE.sub(_insert_zero_width_space, text))
    return _COMMIT.sub(lambda match: _SIX.sub(_insert_zero_width_space, match[0]), parted)


def _insert_zero_width_space(match: "re.Match[str]") -> str:
    return match[0] + "\u200b"


def format_inline_code(text: str) -> str:
    """Put a text on one line into inline code that it cannot break out of."""
    flat = format_one_line(text, QUOTED)
    ticks = "`" * (_count_longest_backtick_run(flat) + 1)
    gap = " " if flat[:1] == "`" or flat[-1:] == "`" else ""
    return f"{ticks}{gap}{flat}{gap}{ticks}" if flat else ""


def format_code_block(
    text: str, language: str = "", indent: str = "", *, longest: int = _LONGEST_FENCE
) -> str:
    """Put a text into a fenced block that it cannot break out of; what is far too long is cut.

    No line of it is a command, whoever reads it without regard to the fence.
    """
    body = cut(
        "\n".join(
            cut(line, _LONGEST_LINE)
            for line in escape_control_characters(text).strip("\n").split("\n")
        ),
        longest,
    )
    body = _ORDER.sub(_insert_zero_width_space, body)
    ticks = "`" * max(3, _count_longest_backtick_run(body) + 1)
    info = language if re.fullmatch(r"[A-Za-z0-9+-]{1,20}", language) else ""
    return "\n".join(
        f"{indent}{line}" if line else "" for line in (f"{ticks}{info}", *body.split("\n"), ticks)
    )


def format_link(label: str, address: str) -> str:
    """Link to an address that holds neither angle brackets nor blanks."""
    return f"[{escape_prose(label)}](<{address}>)"


def format_details(title: str, *blocks: str) -> str:
    """Fold blocks under a title of our own."""
    return "\n\n".join((f"<details><summary>{escape(title)}</summary>", *blocks, "</details>"))


def _count_longest_backtick_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
