"""Whether all digits are the same to a pattern.

If so, it matches at the same places of all texts that differ in their digits alone.

In: the text of a pattern. Out: yes, or not sure. Not here: remembering such places
(`formats.record_places`).
"""

import functools
from typing import Final

from postmortem.lazy_regex import lazy_compile

_ESCAPE: Final = lazy_compile(r"\\([^\d])")
_SET: Final = lazy_compile(r"\[\^?\]?[^\]]*\]")
_REPEAT: Final = lazy_compile(r"\{\d*,?\d*\}")
_DIGIT: Final = lazy_compile(r"\d")
_SAME_AGAIN: Final = "(?P="
"""Asks for a text that stood before, whose digits are not any."""
_BY_NAME: Final = frozenset("NgkL")
"""What an escape begins with that names a character or a group."""


@functools.lru_cache(maxsize=512)
def digits_alike(pattern: str) -> bool:
    """Say whether a pattern names no digit: it has none but in the bounds of its repeats.

    A range of characters that parts the digits begins or ends with one of them.
    """
    if _SAME_AGAIN in pattern or any(one in _BY_NAME for one in _ESCAPE.findall(pattern)):
        return False
    bare = _ESCAPE.sub("", pattern)
    sets = _SET.findall(bare)
    return not any(map(_DIGIT.search, sets)) and not _DIGIT.search(
        _REPEAT.sub("", _SET.sub("", bare))
    )
