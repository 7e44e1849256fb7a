"""The code of a snippet with its comments in every language.

In: a snippet as `patterns/fixes` holds it. Out: its code, filled. Not here: the user's numbers
(`fixes.figures`). A snippet is written with English comments; `zh` maps each of them to its Chinese
form, and so a whole line where the snippet is prose, or a `<place to fill>`. The code is the same
by construction.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import Message

_PLACEHOLDER: Final = compile_lazily(r"\$\{(\w{1,80})(?:\|([^}]{0,400}))?\}")
_STAND_IN: Final = compile_lazily(r"`\$\{(\w{1,80})\|([^}`]{0,200})\}`")


class Snippet(NamedTuple):
    """Code to copy, with places for the user's numbers."""

    language: str
    """Of the code: python, bash, text ..."""
    code: str
    zh: Mapping[str, str]
    """Its comments in Chinese."""


def parse_snippet(entry: Mapping[str, Any]) -> Snippet:
    """Take a snippet as a file of fixes holds it."""
    return Snippet(entry["language"], entry["code"], entry.get("zh") or {})


def translate_comments(snippet: Snippet) -> Message:
    """Give the code with its comments in either language."""
    chinese = snippet.code
    for comment, translation in snippet.zh.items():
        chinese = _place(comment).sub(r"\g<1>" + translation.replace("\\", r"\\"), chinese)
    return Message(snippet.code, chinese)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace `${name|default}` by the user's value, else the default, else `<name>`."""

    def replacement(match: re.Match[str]) -> str:
        return values.get(match[1]) or (match[2] if match[2] is not None else f"<{match[1]}>")

    return _PLACEHOLDER.sub(replacement, template)


def fill_sentence(text: str, values: Mapping[str, str]) -> str:
    """Fill a text; words that stand in for a name are no code, and lose its backticks."""

    def plain(match: re.Match[str]) -> str:
        return match[0] if values.get(match[1]) else match[2]

    return fill(_STAND_IN.sub(plain, text), values)


def find_unknown_comments(snippet: Snippet) -> Iterator[str]:
    """Yield what `zh` translates and the code holds neither as a comment, a line nor a place."""
    yield from (comment for comment in snippet.zh if not _place(comment).search(snippet.code))


def _place(comment: str) -> "re.Pattern[str]":
    literal = re.escape(comment)
    return re.compile(
        f"(){literal}" if comment.startswith("<") else rf"(^|#\s*){literal}$", re.MULTILINE
    )
