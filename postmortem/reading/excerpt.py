"""The raw lines around a place of a log that can be read again, and passages of such lines.

In: where the log comes from, a line number; `Passage`s. Out: the lines; passages cut and joined.
Not here: deciding which line matters, which passages are worth showing (`share`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from postmortem.core.errors import InputError
from postmortem.core.log_text import get_last_draw
from postmortem.reading.decode import Text
from postmortem.reading.opener import open_log
from postmortem.reading.sources import Origin, Renewable, Stream, is_file, iter_blocks

_LEAST_HALVED: Final = 8
"""Lines of the shortest passage that is halved."""
_NEAR_LINES: Final = 2
"""Two passages with so many lines from the last to the first are joined."""


class Passage(NamedTuple):
    """Consecutive raw lines."""

    source: int
    first: int
    last: int

    @property
    def lines(self) -> int:
        """How many there are."""
        return self.last - self.first + 1

    def without(self, others: Sequence["Passage"]) -> list["Passage"]:
        """Cut other passages out; gives what is left of this one, in order."""
        for other in others:
            if (
                other.source == self.source
                and other.first <= self.last
                and other.last >= self.first
            ):
                pieces = (
                    self._replace(last=other.first - 1),
                    self._replace(first=other.last + 1),
                )
                return [
                    part for piece in pieces if piece.lines > 0 for part in piece.without(others)
                ]
        return [self]

    def halves(self) -> Iterator["Passage"]:
        """Yield its halves, the later one first; none if it is short."""
        if self.lines >= _LEAST_HALVED:
            middle = (self.first + self.last) // 2
            yield self._replace(first=middle + 1)
            yield self._replace(last=middle)


def merge_passages(passages: Iterable[Passage], counts: Mapping[int, int]) -> list[Passage]:
    """Bring passages into order, within their sources, without overlaps.

    Args:
        passages: in any order; they may reach beyond the ends of their sources.
        counts: lines by source; passages of other sources are left out.
    """
    found: list[Passage] = []
    for source, first, last in sorted(passage for passage in passages if passage.source in counts):
        begin, end = max(1, first), min(last, counts[source])
        if begin > end:
            continue
        before = found[-1] if found else None
        if before is not None and before.source == source and begin <= before.last + _NEAR_LINES:
            found[-1] = before._replace(last=max(before.last, end))
        else:
            found.append(Passage(source, begin, end))
    return found


_LARGEST: Final = 1 << 30
"""Bytes of a file above which it is not read a second time."""
_LONGEST: Final = 2000
_MOST_KEPT: Final = 1 << 20
"""Bytes of a stretch that are kept: a line may be as long as the log."""
_END_KEPT: Final = 1 << 16
"""Bytes of the end of such a line that are: a bar is quoted as it was drawn last."""


class RawLine(NamedTuple):
    """A line as it stands in the log, at most _LONGEST characters of it."""

    text: str
    over: int
    """Characters that are left out behind them."""


def read_lines_around(
    origin: Origin, number: int, *, before: int = 20, after: int = 20
) -> tuple[int, list[str]] | None:
    """Read the lines around a raw line number.

    The number of the first line and the lines, or None if the source cannot be read again.
    """
    begin = max(1, number - before)
    found = read_lines_again(origin, [(begin, number + after)])
    return (begin, [line.text for line in found.values()]) if found else None


def read_lines_again(origin: Origin, windows: Iterable[tuple[int, int]]) -> dict[int, RawLine]:
    """Read raw lines by number, as `read_lines_in`.

    None if the source cannot be read again (standard input, a stream, a file that is gone or very
    large).
    """
    try:
        return read_lines_in(origin, windows) if _can_be_read_again(origin) else {}
    except (InputError, OSError):
        return {}


def _can_be_read_again(origin: Origin) -> bool:
    if isinstance(origin, Stream):
        content = origin.content
        is_small = isinstance(content, bytes) and len(content) <= _LARGEST
        return is_small or isinstance(content, Renewable)
    path = Path(origin)
    return is_file(origin) and path.is_file() and path.stat().st_size <= _LARGEST


def read_lines_in(origin: Origin, windows: Iterable[tuple[int, int]]) -> dict[int, RawLine]:
    """Read raw lines of a log by number, in one pass.

    Args:
        origin: a file, or bytes under a name.
        windows: first and last line of each stretch, both included; stretches do not overlap.

    Returns:
        Lines by number; those behind the end of the log are missing.

    Raises:
        InputError: the file cannot be read.
    """
    opened = open_log(origin)
    try:
        text = Text(opened)
        wanted = sorted(windows)
        found = _cut_pieces(text, wanted)
        mark = "\r" if text.breaks_by_return else "\n"
    finally:
        opened.close()
    return {
        number: line
        for (first, _), piece in zip(wanted, found, strict=True)
        if piece.kept
        for number, line in enumerate(_split(piece, mark), first)
    }


@dataclass(slots=True)
class _Piece:
    """A stretch of a log, of which not more is kept than can be shown."""

    kept: bytearray = field(default_factory=bytearray)
    end: bytes = b""
    left_out: int = 0
    """Bytes behind what is kept."""

    def take(self, data: bytes) -> None:
        """Keep as much as the limit allows."""
        left = _MOST_KEPT - len(self.kept)
        self.kept += data[:left]
        if len(data) > left:
            self.left_out += len(data) - left
            self.end = (self.end + data[max(left, len(data) - _END_KEPT) :])[-_END_KEPT:]


def _split(piece: _Piece, mark: str) -> list[RawLine]:
    lines = piece.kept.decode("utf-8", "replace").split(mark)
    last = (get_last_draw(line) for line in (lines[:-1] if not lines[-1] else lines))
    found = [RawLine(line[:_LONGEST], max(0, len(line) - _LONGEST)) for line in last]
    if found and piece.left_out:
        drawn = piece.end.decode("utf-8", "replace").split(mark)[0].rstrip("\r")
        if "\r" in drawn:
            found[-1] = RawLine(drawn.split("\r")[-1][:_LONGEST], 0)
        else:
            found[-1] = found[-1]._replace(over=found[-1].over + piece.left_out)
    return found


def _cut_pieces(text: Text, windows: Sequence[tuple[int, int]]) -> list[_Piece]:
    """Cut the windows, which are in order, out of the text."""
    mark = b"\r" if text.breaks_by_return else b"\n"
    line, found = 1, [_Piece() for _ in windows]
    for block in iter_blocks(text):
        fresh = block.data[block.lo : block.hi]
        count = fresh.count(mark)
        here, position = line, 0
        for index, (first, last) in enumerate(windows):
            if last < line or first > line + count:
                continue
            start = _find_line_offset(fresh, mark, position, first - here)
            here, position = max(here, first), start
            end = _find_line_offset(fresh, mark, position, last + 1 - here)
            found[index].take(fresh[start:end])
            here, position = last + 1, end
        line += count
        if not windows or line > windows[-1][1]:
            break
    return found


def _find_line_offset(data: bytes, mark: bytes, position: int, breaks: int) -> int:
    """Find where the line so many breaks behind a position begins."""
    for _ in range(breaks):
        position = data.find(mark, position) + 1
        if not position:
            return len(data)
    return position
