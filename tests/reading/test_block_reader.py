"""Blocks: fresh regions lie end to end, with context on either side, whatever their size."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.reading.sources import MARGIN, Block, iter_blocks

KINDS = {
    "lines": b"".join(b"line %d of the log\n" % number for number in range(40_000)),
    "one line": b"x" * 500_000,
    "blank lines": b"\n" * 300_000,
    "long lines": (b"y" * 90_000 + b"\n") * 5,
    "short": b"a\nb",
    "empty": b"",
    "no break at the end": b"a\n" * 70_000 + b"the end",
}
SIZES = [1, 1000, 1 << 12, 65_535, 65_536, 65_537, 1 << 17, 1 << 23]


class Trickle:
    """Gives at most a few bytes at a time, as a pipe does."""

    def __init__(self, data: bytes, most: int) -> None:
        self.stream, self.most = io.BytesIO(data), most

    def read(self, size: int) -> bytes:
        """Give less than was asked for."""
        return self.stream.read(min(size, self.most))


def check(data: bytes, found: list[Block]) -> None:
    """The promises of a block."""
    position = 0
    for block in found:
        assert block.offset + block.lo == position
        assert block.data == data[block.offset : block.offset + len(block.data)]
        assert block.hi > block.lo
        position += block.hi - block.lo
        assert block.lo == min(MARGIN, block.offset + block.lo)
        is_last = position == len(data)
        assert is_last or len(block.data) - block.hi >= MARGIN
    assert b"".join(block.data[block.lo : block.hi] for block in found) == data


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_fresh_regions_are_the_log(kind: str, size: int) -> None:
    """Joined, they are the input.

    Each has MARGIN bytes before and behind it, or the ends of the log.
    """
    data = KINDS[kind][:20_000] if size == 1 else KINDS[kind]
    check(data, list(iter_blocks(io.BytesIO(data), size)))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 60_000), st.sampled_from([b"\n", b"\r", b"\r\n", b""])),
        max_size=12,
    ),
    st.integers(1000, 400_000),
    st.integers(500, 300_000),
)
def test_any_log_any_size_any_pipe(pieces: list[tuple[int, bytes]], size: int, most: int) -> None:
    """So it is for any mixture of line lengths, and reads that give less than was asked for."""
    data = b"".join(b"z" * length + end for length, end in pieces)
    check(data, list(iter_blocks(Trickle(data, most), size)))


@pytest.mark.parametrize("size", [1 << 12, 1 << 16, 1 << 18])
def test_borders_lie_behind_line_breaks(size: int) -> None:
    """Where there is a line break to be had, a block ends with it."""
    data = KINDS["lines"]
    assert all(
        block.data[block.hi - 1 : block.hi] == b"\n"
        for block in iter_blocks(io.BytesIO(data), size)
    )


def test_memory_stays_bounded() -> None:
    """A line without end needs no more than a block and its margins."""
    found = list(iter_blocks(io.BytesIO(KINDS["one line"]), 1 << 16))
    assert max(len(block.data) for block in found) <= 2 * MARGIN + (1 << 17)
