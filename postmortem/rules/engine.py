"""Search log text for a pattern, in time linear in the text.

In: a pattern in the syntax of the `regex` module, a text, the `Budget` of its source. Out: matches
with the surface of `re.Match`, as far as it is used. Not here: which lines are searched
(`extraction`), how a pattern is written for re2 (`rules.pattern_syntax`), how it fares under attack
(`rules.attack`).

What needs no look-around and no back-reference runs in re2, whose time is linear in the text
whatever the pattern is. The rest runs in `regex` under a time limit and draws what it takes beyond
an ordinary search from the budget. re2 sees one byte a character (`rules.pattern_syntax`).
"""

import functools
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol, TypeVar

from postmortem.rules.pattern_syntax import (
    UnfitError,
    convert_to_re2,
    find_non_ascii,
    get_byte_encoding,
)

TIMEOUT: Final = 0.5
"""Seconds that one search may take outside re2.

The last resort behind bounded windows and attacked patterns.
"""
A_SOURCE: Final = 2.0
A_JOB: Final = 10.0
"""Seconds for all searches that are no ordinary ones: of one source, of all sources of a job."""
_ORDINARY: Final = 0.002
"""Seconds that a search may take without touching the budget: no honest line needs more."""
_MARK_EVERY: Final = 0.005
"""Seconds for which a reading of the CPU time is near enough."""
_MEMORY: Final = 1 << 19
"""Bytes that re2 may take for one pattern.

A hostile text fills them, and there are more than a thousand patterns.
"""

BROAD_MEMORY: Final = 1 << 17
"""The same for a pattern of words in any order: there are hundreds, and each meets little text."""

_T = TypeVar("_T")


class Budget:
    """The seconds that a source may still spend in searches that are no ordinary ones."""

    __slots__ = ("_cpu", "_marked", "_whole", "left")

    def __init__(self, left: float, whole: "Budget | None" = None) -> None:
        """Begin with so many seconds, which count as part of a whole job's too."""
        self.left, self._whole = left, whole
        self._marked = self._cpu = -math.inf
        """When the CPU time of the thread was read last, and what it was."""

    def is_spent(self) -> bool:
        """Say whether nothing is left, here or in the whole."""
        return self.left <= 0 or (self._whole is not None and self._whole.is_spent())

    def spend(self, search: Callable[[], _T]) -> _T:
        """Search, and take what that took.

        The clock costs nothing, reading the CPU time may cost more than a search: it is read where
        the clock says that one was no ordinary one, and now and then to tell from when it counts.
        """
        began = time.perf_counter()
        if began - self._marked > _MARK_EVERY:
            self._marked, self._cpu = began, time.thread_time()
        try:
            return search()
        finally:
            passed = time.perf_counter() - began
            if passed > _ORDINARY:
                self.charge(min(passed, time.thread_time() - self._cpu))

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
def compile_pattern(pattern: str, max_memory: int = _MEMORY) -> Pattern:
    """Compile a pattern for re2, or for `regex` where re2 cannot hold to its meaning.

    Args:
        pattern: in the syntax of `regex`.
        max_memory: bytes that re2 may take for it.

    Raises:
        ValueError: it is no valid pattern.
    """
    import re2  # noqa: PLC0415 -- 5 ms that a source without a candidate does not pay

    options = re2.Options()
    options.encoding, options.max_mem, options.log_errors = (
        re2.Options.Encoding.LATIN1,
        max_memory,
        False,
    )
    try:
        own = find_non_ascii(pattern)
        return _Linear(re2.compile(convert_to_re2(pattern, own), options), own)
    except (UnfitError, re2.error):
        return _Timed(pattern)


def find_first_match_start(pattern: str, text: str, budget: Budget | None = None) -> int:
    """Say where the first match begins, or what may become one, of a text that goes on.

    Its length if none begins in it.

    Raises:
        TimeoutError: it took too long, or the budget is spent.
    """
    return _compile_backtracking(pattern).first_beginning(text, budget)


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
            for name, number in sorted(engine.groupindex.items(), key=lambda entry: int(entry[1]))
        }

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._numbers)

    def search(self, text: str, _: Budget | None = None, /) -> Match | None:
        found = self._engine.search(
            text.encode() if text.isascii() else get_byte_encoding(self._own).encode(text)
        )
        return None if found is None else _Re2Match(text, found, self._numbers)

    def finditer(self, text: str, _: Budget | None = None, /) -> Iterable[Match]:
        return (
            _Re2Match(text, found, self._numbers)
            for found in self._engine.finditer(
                text.encode() if text.isascii() else get_byte_encoding(self._own).encode(text)
            )
        )


class _Timed:
    """A pattern that backtracks, under a time limit."""

    __slots__ = ("_engine",)
    is_linear: Final = False

    def __init__(self, pattern: str) -> None:
        import regex  # noqa: PLC0415 -- 20 ms that a source without a candidate for such a pattern does not pay

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

    def first_beginning(self, text: str, budget: Budget | None) -> int:
        found: Match | None = self._spend(
            lambda: self._engine.search(text, timeout=TIMEOUT, partial=True), budget
        )
        return len(text) if found is None else found.start()

    @staticmethod
    def _spend(search: Callable[[], _T], budget: Budget | None) -> _T:
        if budget is None:
            return search()
        if budget.is_spent():
            raise TimeoutError("the time for slow searches is spent")
        return budget.spend(search)


@functools.lru_cache(maxsize=64)
def _compile_backtracking(pattern: str) -> _Timed:
    """Compile a pattern for `regex`, which can tell what may become a match."""
    return _Timed(pattern)


class _Re2Match:
    """A match of re2, in the text that its stand-ins stood for."""

    __slots__ = ("_found", "_numbers", "string")

    def __init__(self, text: str, found: Any, numbers: Mapping[str, int]) -> None:
        self.string, self._found, self._numbers = text, found, numbers

    def span(self, group: int | str = 0, /) -> tuple[int, int]:
        number = group if isinstance(group, int) else self._numbers[group]
        place: tuple[int, int] = self._found.span(number)
        return place

    def start(self, group: int | str = 0, /) -> int:
        return self.span(group)[0]

    def end(self, group: int | str = 0, /) -> int:
        return self.span(group)[1]

    def __getitem__(self, group: int | str, /) -> str | None:
        start, end = self.span(group)
        return None if start < 0 else self.string[start:end]

    def groupdict(self) -> dict[str, str | None]:
        return {name: self[number] for name, number in self._numbers.items()}
