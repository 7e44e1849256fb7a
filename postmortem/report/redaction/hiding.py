"""What a rule of redaction is: where something stands that gives people or machines away.

In: a pattern of `re` or `re2`, and a check. Out: a `HidingRule`, which gives places in a text. Not
here: the rules (`tokens`, `assignments`, `arguments`, `multiline_secrets`, `machines`, `people`),
`pseudonyms`.

Patterns are bounded (`re`) or linear by construction (`re2`). Each rule has a hint, a pattern of
`re2` without which it finds nothing: all hints are looked for at once, and a text that holds none
of them costs one pass.
"""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final, NamedTuple

import re2

from postmortem.core.log_text import compile_lazily

KINDS: Final = ("secret", "email", "ip", "mac", "phone", "user", "host")
ROOM: Final = re2.Options()
ROOM.max_mem = 1 << 26
PSEUDONYM: Final = compile_lazily(rf"(?:{'|'.join(KINDS)})-\d{{1,6}}(?![\w-])")

Span = tuple[int, int]
Check = Callable[[Any], bool]


def parse_words(text: str) -> frozenset[str]:
    """Read a table of words, parted by blanks."""
    return frozenset(text.split())


def build_alternation(text: str) -> str:
    """Make a pattern of a table of patterns, parted by blanks: any of them, the first one first."""
    return "|".join(text.split())


class HidingPattern:
    """A pattern that is compiled when it is first asked for.

    A run needs few of them, and none unless it hides something.
    """

    def __init__(self, text: str, compiler: Callable[[str], Any] = re.compile) -> None:
        """Keep the text of the pattern and what compiles it."""
        self.text, self._compiler = text, compiler

    @cached_property
    def compiled(self) -> Any:
        """Give the compiled pattern."""
        return self._compiler(self.text)

    def search(self, text: str) -> Any:
        """Find the first match."""
        return self.compiled.search(text)

    def match(self, text: str, start: int = 0) -> Any:
        """Match at a place."""
        return self.compiled.match(text, start)

    def fullmatch(self, text: str) -> Any:
        """Match the whole text."""
        return self.compiled.fullmatch(text)

    def finditer(self, text: str) -> Iterator[Any]:
        """Find all matches."""
        found: Iterator[Any] = self.compiled.finditer(text)
        return found


def build_linear_pattern(text: str) -> HidingPattern:
    """Make a pattern of `re2`: its time is linear in the text by construction."""
    return HidingPattern(text, lambda text: re2.compile(text, ROOM))


class HidingRule(NamedTuple):
    """What to hide, and what must stand in a text for it to be worth a look."""

    kind: str
    hint: str
    """A pattern of `re2`."""
    spans: Callable[[str], Iterator[Span]]
    """Gives the places to hide in the order of the text, without overlaps."""


def is_always_true(_: Any) -> bool:
    """Hold for every match."""
    return True


_WHOLE: Final = 400
"""Characters of a text up to which it is looked through at once."""


def build_rule(
    kind: str, hint: str, pattern: HidingPattern, holds: Check = is_always_true
) -> HidingRule:
    """Make a rule that hides group `v` of a pattern unless the check says no."""

    def spans(text: str) -> Iterator[Span]:
        group = dict(pattern.compiled.groupindex)["v"]  # a match of re2 knows places by number only
        return (match.span(group) for match in pattern.finditer(text) if holds(match))

    return HidingRule(kind, hint, spans)


def build_line_rule(
    kind: str, hint: str, pattern: HidingPattern, holds: Check = is_always_true
) -> HidingRule:
    """Make a rule as `build_rule` does, of a pattern of `re` that matches within a line.

    Of a long text it looks only at the lines that hold the hint.
    """
    hinted = build_linear_pattern(rf"(?m:{hint})[^\n]*")  # once for each line

    def spans(text: str) -> Iterator[Span]:
        if len(text) <= _WHOLE:
            yield from (match.span("v") for match in pattern.finditer(text) if holds(match))
            return
        done = 0
        for hit in hinted.finditer(text):
            if hit.end() > done:
                begin = max(text.rfind("\n", done, hit.start()), done)
                end = text.find("\n", hit.end())
                done = end if end >= 0 else len(text)
                for match in pattern.compiled.finditer(text, begin, done):
                    if holds(match):
                        yield match.span("v")

    return HidingRule(kind, hint, spans)
