"""Decide whether a pattern treats all digits alike.

If it does, it matches at the same places of all texts that differ in their digits alone.

In: a pattern. Out: yes, or not sure; a pattern for which they are and that finds no less. Not
here: remembering such places (`formats.record_places`).
"""

import functools
import re
from typing import Final

from postmortem.core.lazy_regex import compile_lazily

_ESCAPE: Final = compile_lazily(r"\\([^\d])")
_SET: Final = compile_lazily(r"\[\^?\]?[^\]]{0,60}\]")
_REPEAT: Final = compile_lazily(r"\{\d{0,6},?\d{0,6}\}")
_DIGIT: Final = compile_lazily(r"\d")
_TOKEN: Final = compile_lazily(r"\\.|\[\^?\]?(?:\\.|[^\]\\]){0,60}\]|\{\d{0,6},?\d{0,6}\}|\d")
_PARTED: Final = compile_lazily(r"\\|\d-[^\]]|-\d")
_MUST_NOT: Final = ("(?!", "(?<!", "(?#")
"""Says what must not stand somewhere, of which less is more."""
_SAME_AGAIN: Final = "(?P="
"""Asks for a text that stood before, whose digits are not any."""
_BY_NAME: Final = frozenset("NgkL")
"""What an escape begins with that names a character or a group."""


@functools.lru_cache(maxsize=512)
def is_digit_agnostic(pattern: str) -> bool:
    """Say whether a pattern names no digit: it has none but in the bounds of its repeats.

    A range of characters that parts the digits begins or ends with one of them.
    """
    if _SAME_AGAIN in pattern or any(escape in _BY_NAME for escape in _ESCAPE.findall(pattern)):
        return False
    bare = _ESCAPE.sub("", pattern)
    sets = _SET.findall(bare)
    return not any(map(_DIGIT.search, sets)) and not _DIGIT.search(
        _REPEAT.sub("", _SET.sub("", bare))
    )


@functools.lru_cache(maxsize=512)
def build_any_digit_pattern(pattern: re.Pattern[str]) -> re.Pattern[str] | None:
    """Give a pattern that finds whatever another does, and any other digits in its place.

    None if there is none so simple: a range parts the digits, or something must not stand there.
    """
    if any(construct in pattern.pattern for construct in _MUST_NOT):
        return None
    text = _TOKEN.sub(_replace_digits, pattern.pattern)
    try:
        return re.compile(text, pattern.flags) if is_digit_agnostic(text) else None
    except re.error:  # a digit that is no character: in the name of a group, behind an escape
        return None


def _replace_digits(token: re.Match[str]) -> str:
    """Write a part of a pattern for any digit; one with a digit is left where that may be wrong."""
    text = token[0]
    if text.startswith("["):
        is_plain = not text.startswith("[^") and not _PARTED.search(text)
        return _DIGIT.sub(r"\\d", text) if is_plain else text
    return r"\d" if text.isdigit() else text
