"""Parse the command in a comment.

In: a text, the name that the bot is called by. Out: a command, or none. Not here: who may command.
A command stands at the beginning of a line, and not in code or in what is quoted.
"""

import re
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.printed_words import join_words, list_words
from postmortem.interfaces.bots.issue_text import parse_issue_text

LOOK: Final = "look"
"""An issue was opened or changed; nobody commands."""
ANALYZE: Final = "analyze"
EXPLAIN: Final = "explain"
RUN: Final = "run"
"""A run failed; nobody commands."""
_MOST: Final = 1 << 16
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
    for line in parse_issue_text(text[:_MOST]).prose.splitlines():
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
