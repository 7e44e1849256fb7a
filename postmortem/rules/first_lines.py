"""Evaluate a rule of several lines on its first line alone, as far as that decides.

In: a rule, the text of the line that its window begins with. Out: whether it holds there whatever
stands behind that line; whether none of its matches begins in that line; the word that each of its
matches holds. Not here: which lines stand behind (`reading.windows`), rules of one line.

A match in the line alone stays one in every window that begins with it, where the engine is linear
and nothing in the pattern asks for the end of the text. That no match begins in the line, nor may
begin there and be completed behind it, tells the engine that backtracks, where nothing in the
pattern looks at both sides of a border: it does not know what stands behind this one.
"""

import functools
import re
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.rules.base import Signature
from postmortem.rules.engine import Budget, find_first_match_start
from postmortem.rules.python_patterns import codes, parser

_ENDS: Final = compile_lazily(r"\$|\\[zZ]")
"""What hangs on where the text ends."""
_BORDERS: Final = compile_lazily(r"\$|\\[bBzZGmMAKX]|\(\?<[=!]|\(\?[a-zA-Z]*r")
_SHORTEST: Final = 4
"""Characters of a word by which matches are told."""


def must_match(rule: Signature, text: str, budget: Budget | None = None) -> bool:
    """Say whether a rule is sure to hold in every window that begins with a line.

    Raises:
        TimeoutError: the search took too long, or the budget is spent.
    """
    pattern = rule.pattern()
    return (
        pattern.is_linear
        and not rule.raw.get("unless")
        and not rule.raw.get("beside")
        and _ENDS.search(rule.match) is None
        and pattern.search(text, budget) is not None
    )


def has_no_match_start(rule: Signature, text: str, budget: Budget | None = None) -> bool:
    """Say whether no match of a rule begins in a line, whatever stands behind it.

    Raises:
        TimeoutError: the search took too long, or the budget is spent.
    """
    if _BORDERS.search(rule.match) is not None:
        return False
    return find_first_match_start(rule.match, f"{text}\n", budget) > len(text)


@functools.lru_cache(maxsize=256)
def find_required_word(pattern: str) -> bytes:
    """Give the longest word that every match of a pattern holds, within one line.

    Empty if none is known.
    """
    try:
        nodes = parser.parse(pattern)
    except (re.error, RecursionError):
        return b""  # `regex` knows more than Python does
    if nodes.state.flags & re.IGNORECASE:
        return b""
    words, word = [], ""
    for code, value in [*nodes, (None, None)]:
        if code is codes.LITERAL and not chr(value).isspace():
            word += chr(value)
            continue
        words.append(word)
        word = ""
    longest = max(words, key=len)
    return longest.encode() if len(longest) >= _SHORTEST else b""
