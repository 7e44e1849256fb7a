"""Scan a block for all literals in one pass.

In: the literals (bytes), a block. Out: hits as (literal's number, start in the block), in the order
of their ends. Not here: what a hit leads to.

hyperscan scans at memory speed, but has wheels for x86-64 only; ahocorasick_rs does the same
elsewhere. A test holds that both find the same. hyperscan needs 70 ms for six thousand literals, a
fifth of a short run, so what it has compiled is kept; it checks version, machine and checksum
itself.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import xxhash

from postmortem.core import resources
from postmortem.core.errors import MissingExtra

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
