"""Search text for thousands of literals, or a line for many patterns, in one pass.

In: literals (bytes) and a block; patterns in the syntax of `regex` or `re`, and the text of a line.
Out: hits as (literal's number, start in the block), in the order of their ends; the numbers of the
patterns that may match: whoever is not named does not. Not here: what a hit leads to, which rules
are asked so (`extraction.rule_sieve`).

hyperscan scans at the speed of memory, but has wheels for x86-64 only; elsewhere ahocorasick_rs
finds the same literals (held by a test), and each pattern is searched. What hyperscan lacks in
patterns is dropped (look-around) or widened (bounded repeats, which make it slow to compile), so
that it finds rather more. It needs 70 ms for six thousand literals, a fifth of a short run, and 10
ms a pattern, so what it has compiled is kept; it checks version, machine and checksum itself.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import xxhash

from postmortem.core import resources
from postmortem.core.errors import MissingExtra
from postmortem.core.log_text import compile_lazily
from postmortem.rules.pattern_syntax import (
    MOST_OWN,
    UnfitError,
    convert_to_re2,
    drop_look_around,
    get_byte_encoding,
)

try:
    import hyperscan
except ImportError:  # no wheel for this platform
    hyperscan = None  # type: ignore[assignment]

_OVERHANG: Final = 512
"""Bytes behind the fresh region that a literal in it may reach into; no literal is longer."""

_WORTH_KEEPING: Final = 1000
"""Literals; fewer are compiled faster than a file is found."""

Hit = tuple[int, int]


class Prefilter(Protocol):
    """Finds literals in bytes."""

    def hits(self, data: bytes, lo: int, hi: int) -> list[Hit]:
        """Find every literal that starts in data[lo:hi]."""


class HyperscanFilter:
    """The usual one."""

    def __init__(self, literals: Sequence[bytes], *, is_once: bool = False) -> None:
        """Compile the literals; of each the first place alone is found if `is_once`."""
        self._lengths = [len(literal) for literal in literals]
        flag = hyperscan.HS_FLAG_SINGLEMATCH if is_once else 0
        every = dict(enumerate(literals))
        self._database = (
            load_database("literals", every, flag, is_literal=True) if literals else None
        )

    def hits(self, data: bytes, lo: int, hi: int) -> list[Hit]:
        """Find every literal that starts in data[lo:hi]."""
        found: list[Hit] = []
        lengths, most = self._lengths, hi - lo
        if self._database is None:
            return found

        def on_match(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
            start = end - lengths[number]
            if start < most:
                found.append((number, start + lo))

        fresh = data if lo == 0 and len(data) <= hi + _OVERHANG else data[lo : hi + _OVERHANG]
        self._database.scan(fresh, match_event_handler=on_match)
        return found


def load_database(
    kind: str, patterns: Mapping[int, bytes], flag: int, *, is_literal: bool, most_kept: int = 8
) -> "hyperscan.Database":
    """Load compiled patterns by their numbers, or compile them; many are kept in the cache.

    Raises:
        hyperscan.HyperscanError: it cannot run one of them.
    """
    texts = [b"%d:%b" % pattern for pattern in patterns.items()]
    made_by = f"{getattr(hyperscan, '__version__', '')} {flag} {is_literal}"
    stamp = xxhash.xxh3_128_hexdigest(b"\0".join([made_by.encode(), *texts]))[:24]
    is_kept = not is_literal or len(patterns) >= _WORTH_KEEPING
    known = resources.read_cached(kind, stamp) if is_kept else None
    if known is not None:
        try:
            database = hyperscan.loadb(known, mode=hyperscan.HS_MODE_BLOCK)
            database.scratch = hyperscan.Scratch(database)
        except hyperscan.HyperscanError:
            pass  # of another machine, another version, or damaged
        else:
            return database
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=list(patterns.values()),
        ids=list(patterns),
        elements=len(patterns),
        flags=[flag] * len(patterns),
        literal=is_literal,
    )
    if is_kept:
        resources.keep(kind, stamp, hyperscan.dumpb(database), most_kept)
    return database


class AhoCorasickFilter:
    """Where hyperscan has no wheel."""

    def __init__(self, literals: Sequence[bytes]) -> None:
        """Build the automaton."""
        try:
            import ahocorasick_rs  # noqa: PLC0415 -- installed only where hyperscan is not
        except ImportError as error:
            raise MissingExtra(
                "neither hyperscan nor ahocorasick_rs is installed",
                "",
                "pip install ahocorasick_rs",
            ) from error
        self._lengths = [len(literal) for literal in literals]
        self._automaton = ahocorasick_rs.BytesAhoCorasick(list(literals)) if literals else None

    def hits(self, data: bytes, lo: int, hi: int) -> list[Hit]:
        """Find every literal that starts in data[lo:hi]."""
        if self._automaton is None:
            return []
        matches = self._automaton.find_matches_as_indexes(
            data[lo : hi + _OVERHANG], overlapping=True
        )
        return [(number, start + lo) for number, start, _ in matches if start < hi - lo]


def build_prefilter(literals: Sequence[bytes], *, is_once: bool = False) -> Prefilter:
    """Build the fastest filter that this platform has.

    If `is_once`, whoever asks needs of each literal the first place alone.
    """
    if hyperscan is None:
        return AhoCorasickFilter(literals)
    return HyperscanFilter(literals, is_once=is_once)


try:
    import hyperscan
except ImportError:  # no wheel for this platform
    hyperscan = None  # type: ignore[assignment]


_PATTERN_TOKEN: Final = compile_lazily(
    rb"\\x..|\\.|\[\^?\]?(?:\\.|[^\]\\\[])*\]"
    rb"|(?P<repeat>[*+?]|\{\d{0,6},?\d{0,6}\})(?P<kind>[+?]?)",
    re.DOTALL,
)
_BOUNDS: Final = compile_lazily(rb"\{(\d{0,6})(,?)(\d{0,6})\}")
_MOST_KEPT: Final = 64
"""Searches that are kept: each log has its own, of some 100 kB."""
_FEW_REPEATS: Final = 3
"""Repeats up to which a bound is kept."""
_NAMED: Final = compile_lazily(r"(?<!\\)\(\?P?<\w+>")
_STRANGE_CLASS: Final = compile_lazily(
    r"\[(?:\^[^\]\[]{0,200}[^\x00-\x7f]|[^\]\[]{0,200}(?:[^\x00-\x7f]-|-[^\x00-\x7f]))"
    r"|(?<!\\)\[\^?\]?(?:\\.|[^\]\\\[]){0,200}\["
)
"""A class that leaves out characters beyond ASCII, holds a range of them, or a bracket as it is."""


class LineScreen:
    """Patterns that are searched in one go."""

    def __init__(
        self,
        patterns: Sequence[str],
        encode: Callable[[str], Callable[[str], bytes]] | None = None,
        *,
        of_many_lines: bool = False,
    ) -> None:
        """Compile the patterns.

        Args:
            patterns: to be searched.
            encode: gives what encodes a text beyond ASCII, by the characters that have a byte of
                their own; as for re2 if there is none.
            of_many_lines: each may match lines of a text of many, whose ends are ends to it.
        """
        # The commonest characters beyond ASCII get a byte of their own.
        count = Counter(char for pattern in patterns for char in pattern if not char.isascii())
        own = "".join(sorted(char for char, _ in count.most_common(MOST_OWN)))
        self._encode = get_byte_encoding(own).encode if encode is None else encode(own)
        converted = [_convert(pattern, own, of_many_lines=of_many_lines) for pattern in patterns]
        self.unfit = frozenset(index for index, pattern in enumerate(converted) if pattern is None)
        """Those that cannot be searched so, which may always match."""
        fit = {index: pattern for index, pattern in enumerate(converted) if pattern is not None}
        self._found: list[int] = []
        self._search = self._build_search(fit)

    def find(self, text: str) -> tuple[int, ...]:
        """Give the numbers of the patterns that may match a text, but for those that are unfit."""
        found = self._found
        found.clear()
        self._search(text.encode() if text.isascii() else self._encode(text))
        return tuple(found)

    def _build_search(self, patterns: dict[int, bytes]) -> Callable[[bytes], object]:
        if hyperscan is None or not patterns:
            return self._search_each(patterns)
        try:
            flag = hyperscan.HS_FLAG_ALLOWEMPTY | hyperscan.HS_FLAG_SINGLEMATCH
            database = load_database(
                "screen", patterns, flag, is_literal=False, most_kept=_MOST_KEPT
            )
        except hyperscan.HyperscanError:
            self.unfit |= {index for index, one in patterns.items() if not _is_fit(one)}
            fit = {index: one for index, one in patterns.items() if index not in self.unfit}
            return self._build_search(fit)
        found = self._found

        def on_match(number: int, *_: object) -> None:
            found.append(number)

        return functools.partial(database.scan, match_event_handler=on_match)

    def _search_each(self, patterns: dict[int, bytes]) -> Callable[[bytes], object]:
        import re2  # noqa: PLC0415 -- where hyperscan is not

        options = re2.Options()
        options.encoding, options.log_errors = re2.Options.Encoding.LATIN1, False
        searches = list[tuple[int, Any]]()
        for index, pattern in patterns.items():
            try:
                searches.append((index, re2.compile(pattern, options).search))
            except re2.error:
                self.unfit |= {index}
        found = self._found

        def search(data: bytes) -> None:
            found.extend(index for index, one in searches if one(data) is not None)

        return search


def _convert(pattern: str, own: str, *, of_many_lines: bool) -> bytes | None:
    """Write a pattern as hyperscan reads it; None if it cannot be."""
    relaxed = _NAMED.sub("(", drop_look_around(pattern))
    if _STRANGE_CLASS.search(relaxed):
        return None
    try:
        written = _PATTERN_TOKEN.sub(_widen, convert_to_re2(relaxed, own))
        if not of_many_lines:
            return written
        return b"(?m)" + written.replace(rb"\A", b"^").replace(rb"\z", b"$")
    except UnfitError:
        return None


def _widen(token: "re.Match[bytes]") -> bytes:
    """Write a repeat without its upper bound, unless that is small."""
    if token["repeat"] is None:
        return token[0]
    bounds = _BOUNDS.fullmatch(token["repeat"])
    if bounds is None:
        return token["repeat"]
    least, comma, most = bounds.groups()
    low = int(least or 0)
    high = int(most) if most else low if not comma else _FEW_REPEATS + 1
    if high <= _FEW_REPEATS:
        return token["repeat"]
    return (b"*", b"+")[low] if low < 2 else b"{%d,}" % min(low, _FEW_REPEATS)


def _is_fit(pattern: bytes) -> bool:
    """Say whether hyperscan compiles a pattern."""
    try:
        hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK).compile(
            expressions=[pattern], ids=[0], elements=1, flags=[hyperscan.HS_FLAG_ALLOWEMPTY]
        )
    except hyperscan.HyperscanError:
        return False
    return True
