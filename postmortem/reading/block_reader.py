"""Cut a log into blocks so that the borders change no result.

In: a `Text`. Out: `Block`s: fresh bytes with as much context before and behind as any rule may look
at. Not here: what is looked for.

A block's fresh region is data[lo:hi]; whoever looks for something counts only what *starts* in it,
and may read MARGIN bytes on either side. Since windows are laid around absolute positions, the size
of a block cannot be seen in any result, and a line without end (a 100 MB progress bar) needs no
more memory than any other.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.reading.byte_streams import fill
from postmortem.reading.sources import Readable

MARGIN: Final = 64 << 10
SIZE: Final = 1 << 20
"""Bytes of a block; larger ones are read no faster, and several copies of each are held."""
PART: Final = 1 << 20
"""Bytes of a block that are read in one go."""
LEAST_PART: Final = 16 << 10
"""The same at the beginning of a source, of which nothing is known yet."""


class Block(NamedTuple):
    """A piece of the log with its surroundings."""

    data: bytes
    lo: int
    """Where the fresh region begins in `data`."""
    hi: int
    """Where it ends."""
    offset: int
    """Position of data[0] in the decoded stream, in bytes."""


def iter_blocks(text: Readable, size: int = SIZE) -> Iterator[Block]:
    """Yield the log in blocks of about `size` fresh bytes."""
    data, lo, offset = b"", 0, 0
    while chunk := fill(text, size):
        data += chunk
        hi = _find_region_end(data, lo)
        if hi > lo:
            yield Block(data, lo, hi, offset)
            keep = max(0, hi - MARGIN)
            data, lo, offset = data[keep:], hi - keep, offset + keep
    if len(data) > lo:
        yield Block(data, lo, len(data), offset)


def split_block(block: Block) -> Iterator[Block]:
    """Give a block in parts of its fresh region, each of which ends behind a line or a frame."""
    start = block.lo
    while start < block.hi:
        end = min(start + max(LEAST_PART, min(PART, (block.offset + start) // 2)), block.hi)
        if end < block.hi:
            end = block.data.rfind(b"\n", start, end) + 1 or _find_frame_end(block, start, end)
        yield Block(block.data, start, end, block.offset)
        start = end


def _find_frame_end(block: Block, start: int, end: int) -> int:
    """Find the end of the last frame of a line that is drawn again and again."""
    end = block.data.rfind(b"\r", start, end) + 1
    is_alone = end > start and not block.data.startswith(b"\n", end)
    return end if is_alone else block.hi


def _find_region_end(data: bytes, lo: int) -> int:
    """Find the end of the fresh region.

    Behind a line break if one is near, with MARGIN bytes left to look ahead.
    """
    last = len(data) - MARGIN
    if last <= lo:
        return lo
    return data.rfind(b"\n", lo, last) + 1 or last
