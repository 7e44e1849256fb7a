"""The raw lines around a place of a log that can be read again.

In: a path, a line number. Out: the lines. Not here: deciding which line matters.
"""

from pathlib import Path
from typing import Final

from postmortem.errors import InputError
from postmortem.reading.blocks import blocks
from postmortem.reading.decode import Text
from postmortem.reading.opener import STDIN, open_log

_LARGEST: Final = 256 << 20
"""Bytes of a file above which it is not read a second time."""
_LONGEST: Final = 2000


def lines_around(path: str, number: int, *, before: int = 20, after: int = 20) -> tuple[int, list[str]] | None:
    """Read the lines around a raw line number.

    Returns:
        The number of the first line and the lines, or None if the source cannot be read again (standard input, a file that is gone or very large).
    """
    if path == STDIN or not Path(path).is_file() or Path(path).stat().st_size > _LARGEST:
        return None
    try:
        opened = open_log(path)
        try:
            return _around(Text(opened), max(1, number - before), number + after)
        finally:
            opened.close()
    except InputError:
        return None


def lines_in(path: str, first: int, last: int) -> list[str]:
    """Read raw lines of a file, both ends included; fewer where it ends before.

    Raises:
        InputError: the file cannot be read.
    """
    opened = open_log(path)
    try:
        found = _around(Text(opened), first, last)
    finally:
        opened.close()
    return found[1] if found is not None else []


def _around(text: Text, first: int, last: int) -> tuple[int, list[str]] | None:
    mark = b"\r" if text.breaks_by_return else b"\n"
    line, found = 1, b""
    for block in blocks(text):
        fresh = block.data[block.lo:block.hi]
        count = fresh.count(mark)
        if line + count >= first:
            start = _offset_of(fresh, mark, first - line)
            end = _offset_of(fresh, mark, last - line + 1)
            found += fresh[start:end]
        line += count
        if line > last:
            break
    if not found:
        return None
    lines = found.decode("utf-8", "replace").split(mark.decode())
    return first, [one.rstrip("\r").split("\r")[-1][:_LONGEST] for one in (lines[:-1] if not lines[-1] else lines)]


def _offset_of(data: bytes, mark: bytes, breaks: int) -> int:
    """Find where the line behind so many breaks begins."""
    position = 0
    for _ in range(breaks):
        position = data.find(mark, position) + 1
        if not position:
            return len(data)
    return position
