"""Patterns that are compiled on first use, visible control characters, and numbers of log text.

In: a pattern in the syntax of `re` and its flags; text from a log; digits, a figure or a step. Out:
what is used as a `re.Pattern`; text in which every control character can be seen, so that it steers
no terminal, page or runner; an `int`, or None where no counter has so many digits; a finite number,
how many digits it has, a step as it is counted. Not here: the patterns of rules (`rules.engine`),
figures in other spellings (`formats.figures`), short numbers and places (`report.display`),
escaping for HTML or Markdown, which each form does last.

There are several hundred patterns, and one log asks some: compiling all took a tenth of each start.
Most lines that they are asked about hold none of the words without which they find nothing: those
that name such words look for them first, which takes a tenth of a search.

Python refuses to read more than 4,300 digits, and makes of fewer a number that no float holds and
no loop counts to.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, AnyStr, Final, Generic, cast

from postmortem.core.message import cut

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


ANSI: Final = compile_lazily(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[]PX^_][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[()][A-Z0-9])"
)
"""What a terminal obeys and does not show: colours, movements, titles."""

# Bidirectional controls reorder what a reader sees (CVE-2021-42574); U+2028 and U+2029 break lines
# in some viewers; what cannot be seen at all hides the rest. A joiner is kept where it joins emoji.
_UNSEEN: Final = (
    "\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c"
    "\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U000e0000-\U000e0fff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
)
UNSEEN: Final = compile_lazily(f"[{_UNSEEN}]|(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d")
_STEERING: Final = compile_lazily(f"[\x00-\x08\x0b-\x1f]|{UNSEEN.pattern}")
# A runner obeys the first at the start of a line, wherever a wrapped line starts, and the others
# anywhere (actions/runner, ActionCommand; Azure Pipelines; TeamCity).
_COMMANDS: Final = (
    "add-mask|add-matcher|add-path|debug|echo|endgroup|error|group|internal-set-repo-path|notice"
    "|remove-matcher|save-state|set-env|set-output|stop-commands|warning"
)
RUNNER: Final = compile_lazily(
    rf":(?=:(?:{_COMMANDS})(?: |::))|#(?=#(?:\[|vso\[|teamcity\[))", re.IGNORECASE
)
_CR_BEFORE_BREAK: Final = compile_lazily(r"\r+(?=\n|$)")


def get_last_draw(line: str) -> str:
    """Give what a terminal shows last of a line that is drawn again and again."""
    return line.rstrip("\r").rsplit("\r", 1)[-1]


def escape_control_characters(text: str) -> str:
    r"""Take colours out; show every other control character as a picture or an escape.

    So is what begins a runner's command; `\n` stays, a tab is four spaces.
    """
    bare = _CR_BEFORE_BREAK.sub("", ANSI.sub("", text)) if "\x1b" in text or "\r" in text else text
    seen = _STEERING.sub(_format_control_character, bare).replace("\t", "    ")
    return RUNNER.sub(escape_character, seen) if "::" in seen or "##" in seen else seen


def format_one_line(text: str, limit: int) -> str:
    """Bring a text onto one line of at most `limit` characters."""
    flat = " ⏎ ".join(
        part.strip() for part in escape_control_characters(text).strip().split("\n") if part.strip()
    )
    return cut(flat, limit)


def _format_control_character(match: "re.Match[str]") -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else escape_character(match)


def escape_character(match: "re.Match[str]") -> str:
    """Write a character as JSON and Python escape it."""
    code = ord(match[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_MOST_DIGITS: Final = 18
"""A count of nanoseconds or tokens has no more; it fits 64 bits."""


def parse_whole_number(text: str | None) -> int | None:
    """Read a whole number; None if there is none, or it is too long to be a count."""
    if text is None or len(text) > _MOST_DIGITS:
        return None
    try:
        return int(text)
    except ValueError:
        return None


_LAST_STEP: Final = 1e15
"""No run takes so many steps; below it a float tells neighbours apart."""


def parse_number(text: str) -> float | None:
    """Read a finite number as programs print them (thousands commas, exponents), or None."""
    if not re.fullmatch(r"[+-]?(?:\d[\d,_]*)?\.?\d*(?:[eE][+-]?\d+)?", text) or not any(
        char.isdigit() for char in text
    ):
        return None
    try:
        value = float(text.replace(",", "").replace("_", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def count_digits(value: float) -> int:
    """Count the significant digits of a figure: those that Python needs to print it in full."""
    return len(repr(value).split("e")[0].lstrip("-").replace(".", "").strip("0"))


def normalise_step(step: float | None) -> float | None:
    """Give a step as it is counted, an integer if it is one.

    None if it is not known (NaN) or cannot be one (infinite, too large to count to).
    """
    if step is None or not abs(step) < _LAST_STEP:
        return None
    return int(step) if float(step).is_integer() else step
