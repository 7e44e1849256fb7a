"""Python's own parser of regular expressions, its opcodes, and the words that a match must hold.

In: a pattern. Out: `parser`, `codes`; words. Not here: what else a pattern's parts are asked for
(`rules.attack_texts`, `rules.first_lines`).
"""

import importlib
import re
import sys
from collections.abc import Iterable
from typing import Any, Final

parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
codes: Any = importlib.import_module(
    "re._constants" if sys.version_info >= (3, 11) else "sre_constants"
)
_SHORTEST: Final = 4
"""Characters of a word by which texts are told apart."""


def find_required_words(pattern: str) -> tuple[str, ...]:
    """Give words of which every match of a pattern holds at least one; none if none are known."""
    try:
        nodes = parser.parse(pattern)
    except (re.error, RecursionError):
        return ()  # `regex` knows more than Python does
    return () if nodes.state.flags & re.IGNORECASE else _find_required_words(nodes)


def _find_required_words(nodes: Iterable[tuple[Any, Any]]) -> tuple[str, ...]:
    candidates: list[tuple[str, ...]] = []
    word = ""
    for code, value in [*nodes, (None, None)]:
        if code is codes.LITERAL:
            word += chr(value)
            continue
        candidates += [(word,)] if len(word) >= _SHORTEST else []
        candidates.append(_find_words_of_part(code, value))
        word = ""
    known = [words for words in candidates if words]
    return max(known, key=lambda words: min(map(len, words)), default=())


def _find_words_of_part(code: Any, value: Any) -> tuple[str, ...]:
    """Give the words of a group, of a choice or of what stands once or more."""
    if code is codes.BRANCH:
        choices = [_find_required_words(choice) for choice in value[1]]
        return tuple(word for words in choices for word in words) if all(choices) else ()
    if code is codes.SUBPATTERN and not value[1] & re.IGNORECASE:
        return _find_required_words(value[3])
    if code in {codes.MAX_REPEAT, codes.MIN_REPEAT} and value[0]:
        return _find_required_words(value[2])
    return ()
