r"""The engine that searches log text for a pattern, in time that grows as the text does.

In: a pattern in the syntax of the `regex` module, a text, the `Budget` of its source. Out: matches
with the surface of `re.Match`, as far as it is used. Not here: which lines are searched
(`gathering`), how a pattern fares under attack (`knowledge.attack`).

What needs no look-around and no back-reference runs in re2, whose time is linear in the text
whatever the pattern is. The rest runs in `regex` under a time limit and draws what it takes beyond
an ordinary search from the budget. re2 sees one byte a character, so that places need no
conversion: ASCII as it is, for everything else a stand-in of the same class; a pattern's own
characters beyond ASCII have a stand-in each. For `\b` a word is of ASCII: it ends where Chinese
begins.
"""

import functools
import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol, TypeVar

TIMEOUT: Final = 0.5
"""Seconds that one search may take outside re2; the last resort behind bounded windows and attacked
patterns."""
A_SOURCE: Final = 2.0
A_JOB: Final = 10.0
"""Seconds for all searches of a source, and of all sources of a job, that are no ordinary ones."""
_ORDINARY: Final = 0.002
"""Seconds that a search may take without touching the budget: no honest line needs more."""
_MEMORY: Final = 1 << 20
"""Bytes that re2 may take for one pattern: a hostile text fills them, and there are more than a
thousand patterns."""
_DIGIT, _LETTER, _BLANK, _OTHER, _OWN = range(0x80, 0x85)
"""Stand-ins for characters beyond ASCII, and the first of those for a pattern's own."""
_LAST: Final = 0xBF
"""The last of them: from there on Latin-1 has upper and lower case, the same to `(?i)`."""
_DIGITS: Final = frozenset({*range(0x30, 0x3A), _DIGIT})
_CLASSES: Final[Mapping[str, tuple[frozenset[int], Callable[[str], bool]]]] = {
    "d": (_DIGITS, str.isdecimal),
    "s": (frozenset({*range(0x09, 0x0E), 0x20, _BLANK}), str.isspace),
    "w": (
        _DIGITS | {*range(0x41, 0x5B), 0x5F, *range(0x61, 0x7B), _LETTER},
        lambda char: char.isalpha() or char.isdecimal(),
    ),
}
"""What belongs to a class, without a pattern's own characters, and which of these do."""
_PORTABLE: Final = frozenset("AbBnrtfvax")
"""Letters that mean the same in both engines behind a backslash."""
_TOKEN: Final = re.compile(
    r"\\x..|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]?|\{,(?=\d+\})|\(\?[a-zA-Z]+\)", re.DOTALL
)
"""What re2 may read otherwise; every other character means the same to it."""
_BEYOND: Final = re.compile(r"([^\x00-\x7f]+)")
_RARE: Final = 0.1
"""Part of a text up to which what is beyond ASCII is looked for, in the place of looking at every
character."""
_MOST_RUNS: Final = 256
_IN_CLASS: Final = re.compile(r"\\x..|\\.|.", re.DOTALL)

_NAME: Final = re.compile(r"\(\?P?<(\w+)>")

_T = TypeVar("_T")


class Budget:
    """The seconds that a source may still spend in searches that are no ordinary ones."""

    __slots__ = ("_whole", "left")

    def __init__(self, left: float, whole: "Budget | None" = None) -> None:
        """Begin with so many seconds, which count as part of a whole job's too."""
        self.left, self._whole = left, whole

    def is_spent(self) -> bool:
        """Say whether nothing is left, here or in the whole."""
        return self.left <= 0 or (self._whole is not None and self._whole.is_spent())

    def charge(self, seconds: float) -> None:
        """Take what a search took, unless it was an ordinary one."""
        if seconds > _ORDINARY:
            self.left -= seconds
            if self._whole is not None:
                self._whole.charge(seconds)


class Match(Protocol):
    """What a search found."""

    @property
    def string(self) -> str:
        """The text that was searched."""

    def __getitem__(self, group: int | str, /) -> Any:
        """Give what a group matched."""

    def start(self, group: int | str = 0, /) -> int:
        """Say where a group begins."""

    def end(self, group: int | str = 0, /) -> int:
        """Say where a group ends."""

    def span(self, group: int | str = 0, /) -> tuple[int, int]:
        """Say where a group stands; (-1, -1) if it took no part."""

    def groupdict(self) -> dict[str, Any]:
        """Give the named groups; None for one that took no part."""


class Pattern(Protocol):
    """A compiled pattern, of either engine."""

    @property
    def is_linear(self) -> bool:
        """Whether re2 runs it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The named groups."""

    def search(self, text: str, budget: Budget | None = None, /) -> Match | None:
        """Find the first match.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """

    def finditer(self, text: str, budget: Budget | None = None, /) -> Iterable[Match]:
        """Find all matches.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """


@functools.lru_cache(maxsize=4096)
def compiled(pattern: str) -> Pattern:
    """Compile a pattern for re2, or for `regex` where re2 cannot hold to its meaning.

    Raises:
        ValueError: it is no valid pattern.
    """
    import re2  # noqa: PLC0415 -- 5 ms that a source without a candidate does not pay

    options = re2.Options()
    options.encoding, options.max_mem, options.log_errors = (
        re2.Options.Encoding.LATIN1,
        _MEMORY,
        False,
    )
    try:
        own = _own(pattern)
        return _Linear(re2.compile(_for_re2(pattern, own), options), own)
    except (_UnfitError, re2.error):
        return _Timed(pattern)


class _UnfitError(Exception):
    """Something in a pattern that re2 lacks or reads otherwise."""


class _Linear:
    """A pattern that re2 runs.

    A search costs hardly more than reading the text did, and nobody counts it.
    """

    __slots__ = ("_engine", "_numbers", "_own")
    is_linear: Final = True

    def __init__(self, engine: Any, own: str) -> None:
        self._engine, self._own = engine, own
        self._numbers = {
            name.decode(): number
            for name, number in sorted(engine.groupindex.items(), key=lambda one: int(one[1]))
        }

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._numbers)

    def search(self, text: str, _: Budget | None = None, /) -> Match | None:
        found = self._engine.search(
            text.encode() if text.isascii() else _stand_ins(self._own).of(text)
        )
        return None if found is None else _Match(text, found, self._numbers)

    def finditer(self, text: str, _: Budget | None = None, /) -> Iterable[Match]:
        return (
            _Match(text, found, self._numbers)
            for found in self._engine.finditer(
                text.encode() if text.isascii() else _stand_ins(self._own).of(text)
            )
        )


class _Timed:
    """A pattern that backtracks, under a time limit."""

    __slots__ = ("_engine",)
    is_linear: Final = False

    def __init__(self, pattern: str) -> None:
        import regex  # noqa: PLC0415 -- 20 ms that a source without a candidate does not pay

        try:
            self._engine: Any = regex.compile(pattern)
        except regex.error as error:
            raise ValueError(str(error)) from error

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._engine.groupindex)

    def search(self, text: str, budget: Budget | None = None, /) -> Match | None:
        found: Match | None = self._spend(
            lambda: self._engine.search(text, timeout=TIMEOUT), budget
        )
        return found

    def finditer(self, text: str, budget: Budget | None = None, /) -> Iterable[Match]:
        return self._spend(lambda: list(self._engine.finditer(text, timeout=TIMEOUT)), budget)

    @staticmethod
    def _spend(search: Callable[[], _T], budget: Budget | None) -> _T:
        if budget is None:
            return search()
        if budget.is_spent():
            raise TimeoutError("the time for slow searches is spent")
        began = time.thread_time()
        try:
            return search()
        finally:
            budget.charge(time.thread_time() - began)


class _Match:
    """A match of re2, in the text that its stand-ins stood for."""

    __slots__ = ("_numbers", "_spans", "string")

    def __init__(self, text: str, found: Any, numbers: Mapping[str, int]) -> None:
        self.string, self._numbers = text, numbers
        self._spans: list[tuple[int, int]] = [
            found.span(group) for group in range(found.re.groups + 1)
        ]

    def span(self, group: int | str = 0, /) -> tuple[int, int]:
        return self._spans[group if isinstance(group, int) else self._numbers[group]]

    def start(self, group: int | str = 0, /) -> int:
        return self.span(group)[0]

    def end(self, group: int | str = 0, /) -> int:
        return self.span(group)[1]

    def __getitem__(self, group: int | str, /) -> str | None:
        start, end = self.span(group)
        return None if start < 0 else self.string[start:end]

    def groupdict(self) -> dict[str, str | None]:
        return {name: self[number] for name, number in self._numbers.items()}


class _Runs(dict[str, str]):
    """What stands for a run of characters beyond ASCII: few come over and over."""

    def __init__(self, stand_ins: "_StandIns") -> None:
        super().__init__()
        self._stand_ins = stand_ins

    def __missing__(self, run: str) -> str:
        if len(self) >= _MOST_RUNS:
            self.clear()
        told = self[run] = run.translate(self._stand_ins)
        return told


class _StandIns(dict[int, int]):
    """The byte that each character is to re2; filled as characters are met."""

    def __init__(self, own: str) -> None:
        super().__init__(
            {code: code for code in range(0x80)}
            | {ord(char): _OWN + index for index, char in enumerate(own)}
        )
        self._runs = _Runs(self)
        self._last = ("", b"")
        """What was read last: many patterns are searched in one text, one behind the other."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        byte = (
            _DIGIT
            if char.isdecimal()
            else _LETTER
            if char.isalpha()
            else _BLANK
            if char.isspace()
            else _OTHER
        )
        if code <= 0xFFFF:
            self[code] = byte
        return byte

    def of(self, text: str) -> bytes:
        """Give one byte a character."""
        if text is not self._last[0]:
            is_rare = len(text.encode("utf-8", "replace")) < len(text) * (1 + _RARE)
            self._last = (
                text,
                (self._pieced(text) if is_rare else text.translate(self)).encode("latin-1"),
            )
        return self._last[1]

    def _pieced(self, text: str) -> str:
        """Translate a text of which little is beyond ASCII."""
        pieces = _BEYOND.split(text)
        pieces[1::2] = map(self._runs.__getitem__, pieces[1::2])
        return "".join(pieces)


@functools.lru_cache(maxsize=128)
def _stand_ins(own: str) -> _StandIns:
    """Give the stand-ins for all patterns that have the same characters of their own."""
    return _StandIns(own)


def _own(pattern: str) -> str:
    """Give the characters beyond ASCII in a pattern, each of which has a stand-in of its own."""
    if pattern.isascii():
        return ""
    own = "".join(sorted({char for char in pattern if not char.isascii()}))
    if len(own) > _LAST + 1 - _OWN:
        raise _UnfitError
    return own


def _for_re2(pattern: str, own: str) -> bytes:
    """Write a pattern as re2 reads it, in bytes."""
    names = _NAME.findall(pattern)
    if len(names) > len(set(names)):
        raise _UnfitError  # re2 gives the first group of a name only
    written = _TOKEN.sub(lambda found: _token(found[0], own, is_first=found.start() == 0), pattern)
    return _stand_ins(own).of(written)


def _token(token: str, own: str, *, is_first: bool) -> str:
    """Write a part of a pattern as re2 reads it."""
    if len(token) > 1 and token[0] == "[":
        return _class(token, own)
    if token[0] == "\\":
        return f"[{members}]" if (members := _members(token[1], own)) else _escape(token)
    if token.startswith("(?") and not is_first:
        # such a flag holds from here on in re2, for the whole pattern in `regex`
        raise _UnfitError
    return token.replace("{,", "{0,")


def _class(token: str, own: str) -> str:
    """Write [...] as re2 reads it, which takes a dash beside a class for a range."""
    begin = next(one for one in ("[^]", "[^", "[]", "[") if token.startswith(one))
    tokens = _IN_CLASS.findall(token[len(begin) : -1])
    if not token.endswith("]") or "\\" in tokens or ("[" in tokens and "[:" in token[1:]):
        raise _UnfitError  # a class that does not end; or [[:alpha:]], which is of ASCII in re2
    members = [_members(part[1], own) if part[0] == "\\" else "" for part in tokens]
    parts = [
        members[index] or _single(part, is_beside=any(members[max(0, index - 1) : index + 2]))
        for index, part in enumerate(tokens)
    ]
    return "".join([begin, *parts, "]"])


def _single(part: str, *, is_beside: bool) -> str:
    """Write a part of [...] that is no class, but may stand beside one."""
    if part == "[" or (part == "-" and is_beside):
        return f"\\{part}"
    return _escape(part) if part[0] == "\\" else part


@functools.lru_cache(maxsize=512)
def _members(name: str, own: str) -> str:
    r"""Give what \d, \w, \s and their opposites stand for, as ranges of bytes.

    Nothing for another escape.
    """
    if name.lower() not in _CLASSES:
        return ""
    members, is_own = _CLASSES[name.lower()]
    chosen = {*members, *(_OWN + index for index, char in enumerate(own) if is_own(char))}
    marks = [False, *((byte in chosen) == name.islower() for byte in range(0x100)), False]
    edges = [byte for byte in range(0x101) if marks[byte] != marks[byte + 1]]
    return "".join(
        rf"\x{low:02x}-\x{high - 1:02x}" for low, high in zip(edges[::2], edges[1::2], strict=True)
    )


def _escape(token: str) -> str:
    """Give any other escape as re2 writes it."""
    name = token[1]
    if name == "Z":
        return r"\z"
    if (
        (name.isalnum() and name not in _PORTABLE)
        or name == "_"
        or not name.isascii()
        or (name == "x" and token[2] not in "01234567")
    ):
        raise _UnfitError
    return token
