"""The code of a snippet with its comments in every language.

In: a snippet as `patterns/fixes` holds it. Out: its code. Not here: the user's numbers
(`fixes.select`). A snippet is written with English comments; `zh` maps each of them to its Chinese
form, and so a whole line where the snippet is prose, or a `<place to fill>`. The code is the same
by construction.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from postmortem.model.said import Said


def code(snippet: Mapping[str, Any]) -> Said:
    """Give the code with its comments in either language."""
    english = chinese = str(snippet["code"])
    for comment, said in (snippet.get("zh") or {}).items():
        chinese = _place(comment).sub(r"\g<1>" + said.replace("\\", r"\\"), chinese)
    return Said(english, chinese)


def strangers(snippet: Mapping[str, Any]) -> Iterator[str]:
    """Yield what `zh` translates and the code does not hold as a comment, a line or a place to fill."""
    yield from (
        comment
        for comment in snippet.get("zh") or {}
        if not _place(comment).search(snippet["code"])
    )


def _place(comment: str) -> "re.Pattern[str]":
    literal = re.escape(comment)
    return re.compile(
        f"(){literal}" if comment.startswith("<") else rf"(^|#\s*){literal}$", re.MULTILINE
    )
