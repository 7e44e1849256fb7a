"""Choose the most informative lines of a source, without any rule.

In: the blocks of a source. Out: `TextSample`. Not here: tracebacks (`extraction.traceback`), what
the lines mean (`classifier`).

Only the last kilobytes are looked at: what stopped a run stands near its end, or in a traceback.
Of lines that differ in their figures alone one is kept.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.reading.block_reader import Block

_KEPT: Final = 24_000
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
        fresh = block.data[max(block.lo, block.hi - _KEPT) : block.hi]
        self._end = (self._end + fresh)[-_KEPT:]

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
