"""Say in one search of a line which of many patterns may match it.

In: patterns in the syntax of `regex` or `re`, the text of a line. Out: the numbers of those that
may match; whoever is not named does not. Not here: which rules are asked so (`rule_sieve`), which
figures (`record_screen`).

hyperscan runs all patterns at once, at the speed of memory. What it lacks is dropped (look-around)
or widened (bounded repeats, which make it slow to compile), so that it finds rather more. Compiling
takes 10 ms a pattern; what it has compiled is kept. Elsewhere than on x86-64 each is searched.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.literal_filters import load_database
from postmortem.rules.byte_encoding import MOST_OWN, get_byte_encoding
from postmortem.rules.re2_syntax import UnfitError, convert_to_re2, drop_look_around

try:
    import hyperscan
except ImportError:  # no wheel for this platform
    hyperscan = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from hyperscan import Database

_TOKEN: Final = compile_lazily(
    rb"\\x..|\\.|\[\^?\]?(?:\\.|[^\]\\\[])*\]"
    rb"|(?P<repeat>[*+?]|\{\d{0,6},?\d{0,6}\})(?P<kind>[+?]?)",
    re.DOTALL,
)
_BOUNDS: Final = compile_lazily(rb"\{(\d{0,6})(,?)(\d{0,6})\}")
_MOST_KEPT: Final = 64
"""Searches that are kept: each log has its own, of some 100 kB."""
_FEW: Final = 3
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
        own = _choose_own(patterns)
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
            database = _load(patterns)
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


def _choose_own(patterns: Sequence[str]) -> str:
    """Choose the characters beyond ASCII that get a byte of their own: the commonest."""
    count = Counter(char for pattern in patterns for char in pattern if not char.isascii())
    return "".join(sorted(char for char, _ in count.most_common(MOST_OWN)))


def _convert(pattern: str, own: str, *, of_many_lines: bool) -> bytes | None:
    """Write a pattern as hyperscan reads it; None if it cannot be."""
    relaxed = _NAMED.sub("(", drop_look_around(pattern))
    if _STRANGE_CLASS.search(relaxed):
        return None
    try:
        written = _TOKEN.sub(_widen, convert_to_re2(relaxed, own))
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
    high = int(most) if most else low if not comma else _FEW + 1
    if high <= _FEW:
        return token["repeat"]
    return (b"*", b"+")[low] if low < 2 else b"{%d,}" % min(low, _FEW)


def _load(patterns: dict[int, bytes]) -> "Database":
    """Load the compiled patterns, or compile and keep them."""
    flag = hyperscan.HS_FLAG_ALLOWEMPTY | hyperscan.HS_FLAG_SINGLEMATCH
    return load_database("screen", patterns, flag, is_literal=False, most_kept=_MOST_KEPT)


def _is_fit(pattern: bytes) -> bool:
    """Say whether hyperscan compiles a pattern."""
    try:
        hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK).compile(
            expressions=[pattern], ids=[0], elements=1, flags=[hyperscan.HS_FLAG_ALLOWEMPTY]
        )
    except hyperscan.HyperscanError:
        return False
    return True
