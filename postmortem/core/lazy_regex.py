"""Regular expressions that are compiled on first use.

In: a pattern in the syntax of `re`, and its flags. Out: what is used as a `re.Pattern`. Not here:
the patterns of rules (`rules.engine`).

There are several hundred of them, and one log asks some: compiling all took a tenth of each start.
Most lines that they are asked about hold none of the words without which they find nothing: those
that name such words look for them first, which takes a tenth of a search.
"""

import re
from collections.abc import Iterator
from typing import Any, AnyStr, Final, Generic, cast

_METHODS: Final = (
    "search",
    "match",
    "fullmatch",
    "finditer",
    "findall",
    "sub",
    "subn",
    "split",
    "flags",
    "groups",
    "groupindex",
)


class LazyPattern(Generic[AnyStr]):
    """A pattern that is compiled when the first of its methods is called.

    From then on they are those of the `re.Pattern`, and a search costs what it does there.
    """

    __slots__ = ("_with", "pattern", *_METHODS)

    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = pattern
        self._with = flags

    def __getattr__(self, name: str) -> Any:
        """Compile the pattern; this is called for what it does not have yet."""
        compiled = re.compile(self.pattern, self._with)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def compile_lazily(pattern: AnyStr, flags: int = 0) -> "re.Pattern[AnyStr]":
    """Give a pattern that is compiled when it is first used, and is faulty only then."""
    return cast("re.Pattern[AnyStr]", LazyPattern(pattern, flags))


_ALIKE: Final = ("\u0131", "\u017f", "\u0307")
"""What patterns that ignore case take for an `i` or an `s`, though small letters show none."""


def may_hold(text: str, words: tuple[str, ...]) -> bool:
    """Say whether a text may hold one of some words, which are given in small letters."""
    small = text.lower()
    for word in words:
        if word in small:
            return True
    return not small.isascii() and any(letter in small for letter in _ALIKE)


class NeedyPattern:
    """A lazy pattern that finds nothing in a text without one of its words."""

    __slots__ = ("_late", "words")

    def __init__(self, pattern: str, flags: int, words: tuple[str, ...]) -> None:
        self._late = LazyPattern(pattern, flags)
        self.words = words

    def search(self, text: str, *place: int) -> "re.Match[str] | None":
        """Find the first match, at a place of the text if one is given."""
        is_there = may_hold(text, self.words)
        found: re.Match[str] | None = self._late.search(text, *place) if is_there else None
        return found

    def finditer(self, text: str, *place: int) -> "Iterator[re.Match[str]]":
        """Find all matches, at a place of the text if one is given."""
        is_there = may_hold(text, self.words)
        found: Iterator[re.Match[str]] = self._late.finditer(text, *place) if is_there else iter(())
        return found

    def __getattr__(self, name: str) -> Any:
        """Give whatever else the pattern has, which takes no notice of the words."""
        return getattr(self._late, name)


def compile_lazily_with_words(words: str, pattern: str, flags: int = 0) -> "re.Pattern[str]":
    """Give such a pattern, which finds nothing in a text that holds none of these words.

    They are parted by blanks and in small letters; `tests/test_lazy_regex.py` proves that each
    match holds one.
    """
    return cast("re.Pattern[str]", NeedyPattern(pattern, flags, tuple(words.split())))
