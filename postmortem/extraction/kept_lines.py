"""Lines of a source that are kept as text: the recurring ones, and the most informative.

In: the blocks of a source. Out: `RecurringLine`s, bounded in number and length, and the first lines
of the source; `TextSample`, chosen without any rule. Not here: where a program starts
(`case.attempts`), tracebacks (`extraction.traceback`), what the lines mean (`classifier`).

What a program prints when it starts comes again with each start; its records come far more often,
and other lines once. The wording of a line is what is left of it without digits, letters of
hexadecimal numbers, blanks and marks, so that clocks, addresses and counters do not matter.

Only the last kilobytes are sampled: what stopped a run stands near its end, or in a traceback. Of
lines that differ in their figures alone one is kept.
"""

import itertools
import string
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.reading.sources import Block

_PREFIX: Final = 20
"""Characters of a wording by which it is known; what follows is often a name or a value."""
MOST_TEXT: Final = 160
"""Characters of a line that are kept."""
HEAD: Final = 300
"""First lines of a source that are kept in any case."""
_OFTEN: Final = 300
"""Times that a wording may come before it is that of records."""
_MOST_LINES: Final = 20_000
_MOST_WORDINGS: Final = 20_000
_RECENT: Final = 1000
"""Lines behind which a wording that came once is forgotten where there are too many."""
_LONGEST: Final = 4096
BEFORE: Final = 6
"""Lines right before one that are kept with it where they are of other kinds."""
_IGNORED: Final = (
    string.digits + "abcdefABCDEF" + string.whitespace + ".,:;-+_#=*%|/()[]"
).encode()


class RecurringLine(NamedTuple):
    """A line whose wording comes again."""

    line: int
    text: str
    before: tuple[str, ...] = ()
    """The lines right before it, where they are of other kinds."""
    after: str = ""
    """The line right behind it, where it is one of many."""
    is_frequent: bool = False
    """It is the last of a wording that comes again and again."""


def get_wording(text: str) -> bytes:
    """Give the beginning of a text without all that changes from time to time."""
    return text.encode("utf-8", "replace").translate(None, _IGNORED)[:_PREFIX]


def unfold_lines(lines: Iterable[RecurringLine]) -> dict[int, str]:
    """Give kept lines and those that are kept before each of them, by raw number."""
    found: dict[int, str] = {}
    for line in lines:
        for back, text in enumerate(reversed(line.before), 1):
            found.setdefault(line.line - back, text)
        found[line.line] = line.text
    return found


class _Kept:
    """A kept line while its source is read."""

    __slots__ = ("after", "before", "line", "raw")

    def __init__(self, line: int, raw: bytes, before: list[bytes]) -> None:
        self.line, self.raw, self.before, self.after = line, raw, before, b""


class RecurringLines:
    """Keeps what recurs in one source."""

    def __init__(self, line_break: bytes) -> None:
        """Start before the first byte."""
        self._break, self._line, self._partial = line_break, 0, b""
        self._known: dict[int, list[_Kept] | None] = {}
        """Kept lines by the hash of their wording; None for one that comes too often."""
        self._latest: dict[int, tuple[int, bytes]] = {}
        """The last line of each wording that comes too often."""
        self._often, self._most, self._count = _OFTEN, _MOST_WORDINGS, 0
        self._last: list[bytes] = []
        self._waiting: _Kept | None = None

    def feed(self, block: Block) -> None:
        """Look at the lines that end in the fresh region."""
        raws = (self._partial + block.data[block.lo : block.hi]).split(self._break)
        self._partial = raws.pop()[-_LONGEST:]
        if any(len(raw) > _LONGEST for raw in raws):
            raws = [raw[-_LONGEST:] for raw in raws]
        self._take(raws)

    def lines(self) -> tuple[RecurringLine, ...]:
        """Give what is kept so far, in order."""
        found = [
            kept
            for group in self._known.values()
            if group is not None and (len(group) > 1 or group[0].line <= HEAD)
            for kept in group
        ]
        lines = [
            RecurringLine(
                kept.line, _decode(kept.raw), tuple(map(_decode, kept.before)), _decode(kept.after)
            )
            for kept in found
        ]
        lines += [
            RecurringLine(line, _decode(raw), is_frequent=True)
            for line, raw in self._latest.values()
        ]
        return tuple(sorted(lines))

    def _take(self, raws: list[bytes]) -> None:
        wordings = b"\n".join(raws).translate(None, _IGNORED_IN_LINES).split(b"\n")
        if not raws:
            return
        if len(wordings) != len(raws):  # lines that end otherwise
            wordings = [raw.translate(None, _IGNORED) for raw in raws]
        last = dict(zip(wordings, itertools.count()))
        keys = {wording: hash(wording[:_PREFIX]) for wording in last}
        often = {wording for wording in last if self._known.get(keys[wording], ()) is None}
        rest = last.keys() - often - {b""}
        if rest:
            self._take_rest(raws, wordings, keys, rest)
        else:
            self._end_waiting(raws[0], wordings[0])
        self._note_frequent(raws, {keys[wording]: number for wording, number in last.items()})
        self._line += len(raws)
        self._last = [*self._last, *raws[-BEFORE:]][-BEFORE:]

    def _note_frequent(self, raws: list[bytes], last: Mapping[int, int]) -> None:
        """Keep the last line of each wording that comes too often."""
        for key, number in last.items():
            place = self._line + 1 + number
            if self._known.get(key, ()) is None and self._latest.get(key, (0, b""))[0] < place:
                self._latest[key] = (place, _shorten(raws[number]))

    def _take_rest(
        self,
        raws: list[bytes],
        wordings: list[bytes],
        keys: Mapping[bytes, int],
        rest: Container[bytes],
    ) -> None:
        """Look at the lines whose wording did not come too often before."""
        numbers = [number for number, wording in enumerate(wordings) if wording in rest]
        if numbers[0] > 0:
            self._end_waiting(raws[0], wordings[0])
        for number in numbers:
            key, line = keys[wordings[number]], self._line + 1 + number
            group = self._known.get(key, ())
            is_behind = self._waiting is not None and self._waiting.line == line - 1
            if group is None:
                if is_behind:
                    self._waiting.after = _shorten(raws[number])  # type: ignore[union-attr]
            elif group:
                before = [] if is_behind else self._before(raws, number)
                self._waiting = _Kept(line, _shorten(raws[number]), before)
                self._keep(key, group, self._waiting)
                self._look_behind(raws, wordings, number, rest)
            else:
                self._known[key] = [_Kept(line, _shorten(raws[number]), [])]
                if len(self._known) > self._most:
                    self._forget_single(line)

    def _look_behind(
        self, raws: list[bytes], wordings: list[bytes], number: int, rest: Container[bytes]
    ) -> None:
        """Give the kept line the one behind it, if that comes too often to be kept."""
        behind = number + 1
        if self._waiting and behind < len(raws) and wordings[behind] not in rest:
            self._waiting.after = _shorten(raws[behind]) if wordings[behind] else b""

    def _end_waiting(self, raw: bytes, wording: bytes) -> None:
        """Give a kept line that ended the region before the line behind it."""
        if self._waiting is not None and self._waiting.line == self._line:
            self._waiting.after = _shorten(raw) if wording else b""

    def _before(self, raws: list[bytes], number: int) -> list[bytes]:
        """Give the lines right before one."""
        if number >= BEFORE:
            return [*map(_shorten, raws[number - BEFORE : number])]
        return [*map(_shorten, [*self._last, *raws[:number]][-BEFORE:])]

    def _keep(self, key: int, group: list[_Kept], kept: _Kept) -> None:
        """Keep one more line of a wording, and forget what has become too much."""
        group.append(kept)
        self._count += 1 + (len(group) == 2)
        if len(group) > self._often:
            self._count -= len(group)
            self._known[key] = None
        while self._count > _MOST_LINES:
            self._often //= 2
            self._forget_frequent()

    def _forget_single(self, line: int) -> None:
        """Forget the wordings that came once, long ago."""
        self._known = {
            key: group
            for key, group in self._known.items()
            if group is None or len(group) > 1 or not HEAD < group[0].line < line - _RECENT
        }
        self._most = max(_MOST_WORDINGS, 2 * len(self._known))

    def _forget_frequent(self) -> None:
        """Drop the lines of wordings that come more often than may be, the first ones' last."""
        for key, group in self._known.items():
            often = self._often * (4 if group and group[0].line <= HEAD else 1)
            if group is not None and len(group) > max(1, often):
                self._count -= len(group)
                self._known[key] = None


_IGNORED_IN_LINES: Final = _IGNORED.replace(b"\n", b"")


def _shorten(raw: bytes) -> bytes:
    """Give the beginning of the last frame of a line."""
    if len(raw) <= MOST_TEXT and b"\r" not in raw:
        return raw
    return raw.rstrip(b"\r").rsplit(b"\r", 1)[-1][: 2 * MOST_TEXT]


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")[:MOST_TEXT].rstrip()


_SAMPLED_BYTES: Final = 24_000
"""Bytes at the end of a source that are looked at."""
_FIRST, _LAST, _WORDS = 8, 16, 14
"""Telling lines that are kept, the first and the last of them, and last lines of any kind."""
_MOST_LINE: Final = 400
_TELLING: Final = tuple(
    b"error,exception,fatal,fail,abort,killed,terminat,assert,cannot,could not,unable,invalid,"
    b"denied,not found,no such,timeout,timed out,signal,warn,overflow,out of,corrupt,mismatch,"
    b"refused,unexpected,missing,segmentation,support,undefined,incompatible,must be,nan,not "
    b"available,stuck,exceed,limit,cancel,preempt,quota,space".split(b",")
)
_FIGURES: Final = bytes.maketrans(b"0123456789", b"0000000000")


class TextSample(NamedTuple):
    """Lines of one source with their raw numbers, in order."""

    telling: tuple[tuple[int, str], ...] = ()
    """Lines with a word of trouble in them."""
    last: tuple[tuple[int, str], ...] = ()
    """The last lines that are not empty."""

    def joined(self, later: "TextSample") -> "TextSample":
        """Give the sample of a source whose later part is another one."""
        return TextSample(
            _keep_first_and_last([*self.telling, *later.telling]),
            (*self.last, *later.last)[-_WORDS:],
        )


class Sampler:
    """Keeps the end of a source, and chooses from it."""

    def __init__(self, line_break: bytes) -> None:
        """Start before the first byte."""
        self._break, self._end = line_break, b""

    def feed(self, block: Block) -> None:
        """Keep what the fresh region adds."""
        fresh = block.data[max(block.lo, block.hi - _SAMPLED_BYTES) : block.hi]
        self._end = (self._end + fresh)[-_SAMPLED_BYTES:]

    def sample(self, line: int) -> TextSample:
        """Choose from what is kept.

        Args:
            line: raw number of the line that the source ends in, or of the one behind its last
                break.
        """
        first = line - self._end.count(self._break)
        lines = [
            (number, shown.strip()[:_MOST_LINE])
            for number, raw in enumerate(self._end.split(self._break), first)
            if (shown := raw.rstrip(b"\r").rsplit(b"\r", 1)[-1]) and not shown.isspace()
        ]
        return TextSample(
            _keep_first_and_last(_decode_lines(_iter_trouble_lines(lines))),
            tuple(_decode_lines(lines[-_WORDS:])),
        )


def _iter_trouble_lines(lines: Sequence[tuple[int, bytes]]) -> Iterable[tuple[int, bytes]]:
    """Give the lines with a word of trouble, each wording once, where it stands last."""
    found: dict[bytes, tuple[int, bytes]] = {}
    small = b"\n".join([raw for _, raw in lines]).lower()
    words = [word for word in _TELLING if word in small]
    for number, raw in lines:
        low = raw.lower()
        if any(word in low for word in words):
            alike = low.translate(_FIGURES)
            found.pop(alike, None)
            found[alike] = (number, raw)
    return found.values()


def _decode_lines(lines: Iterable[tuple[int, bytes]]) -> list[tuple[int, str]]:
    return [(number, raw.decode("utf-8", "replace")) for number, raw in lines]


def _keep_first_and_last(lines: list[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Keep the first and the last of many."""
    return tuple(lines if len(lines) <= _FIRST + _LAST else [*lines[:_FIRST], *lines[-_LAST:]])
