"""What a log is read from, as bytes that are counted, hashed and unpacked, and as blocks of text.

In: what a caller of the library names: a path, bytes, or a stream that the caller holds open; a
binary file; a text. Out: `Origin`s: paths as text, and `Stream`s, each with a name to be shown;
`Stored`, the bytes of a log as they are read; `Block`s: fresh bytes with as much context before and
behind as any rule may look at. Not here: opening files, what is said of a broken archive
(`reading.opener`), decoding (`reading.decode`), what a folder holds (`reading.discover`).

A block's fresh region is data[lo:hi]; whoever looks for something counts only what *starts* in it,
and may read MARGIN bytes on either side. Since windows are laid around absolute positions, the size
of a block cannot be seen in any result, and a line without end (a 100 MB progress bar) needs no
more memory than any other.
"""

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, runtime_checkable

from xxhash import xxh3_128

STDIN: Final = "-"


@runtime_checkable
class Readable(Protocol):
    """Whatever gives bytes."""

    def read(self, size: int, /) -> bytes:
        """Give up to `size` bytes, b"" at the end."""


@runtime_checkable
class Renewable(Readable, Protocol):
    """Gives bytes, and can give the same ones again."""

    def reopen(self) -> Readable:
        """Give another that reads from the beginning."""


@dataclass(eq=False, slots=True)
class Unpacking:
    """To how much packed sources may unpack: all of a job together, and each for its size."""

    most: int = 64 << 30
    """Bytes."""
    times: int = 1000
    """Times its size: the lines of a log differ by counters and times."""
    free: int = 64 << 20
    """Bytes up to which a source may be as dense as it likes."""
    spent: int = 0
    is_exceeded: bool = False
    """Less was read than there is."""

    def takes(self, size: int, per_source: int, packed: int) -> bool:
        """Count bytes that were unpacked, and say whether more may be.

        Args:
            size: how many.
            per_source: how many of the same source, with these.
            packed: how many it is made of.
        """
        self.spent += size
        is_too_dense = per_source > max(self.free, self.times * packed)
        self.is_exceeded = self.is_exceeded or is_too_dense or self.spent > self.most
        return not self.is_exceeded


@dataclass(frozen=True, slots=True)
class Stream:
    """A log that is no file.

    What its name tells of the process counts as it does for a file (`node0/rank3.log`); nothing is
    ever opened by it.
    """

    name: str
    """Under which reports show it."""
    content: bytes | Readable = field(repr=False)
    """The log, packed or not, or what gives it.

    A stream is binary and blocking; it is read once, from where it stands to its end, and closed by
    nobody but its owner. Bytes can be read again, and so can what is `Renewable`.
    """


Origin: TypeAlias = str | Stream
"""Where a log comes from, under a name: a path (or `-`, standard input), or a stream."""
LogSource: TypeAlias = str | Path | bytes | Readable | Stream
"""What a caller may name as a log. Text is a path, never the log itself."""


def list_origins(logs: LogSource | Sequence[LogSource]) -> list[Origin]:
    """List what a caller names, in its order.

    Bytes have no name, and a stream may have none: such a log is called `log`, of several sources
    the third `log-3`.

    Raises:
        TypeError: something is none of what a log can be read from.
    """
    is_single = isinstance(logs, (str, Path, bytes, Readable, Stream))
    sources: Sequence[LogSource] = [logs] if is_single else logs  # type: ignore[assignment,list-item]  # told apart in the line before
    return [
        _build_origin(source, f"log-{place}" if len(sources) > 1 else "log")
        for place, source in enumerate(sources, 1)
    ]


def _build_origin(source: LogSource, nameless: str) -> Origin:
    if isinstance(source, Stream):
        return source
    if isinstance(source, bytes):
        return Stream(nameless, source)
    if isinstance(source, Readable):
        name = getattr(source, "name", None)  # of a file; a number for a bare descriptor
        return Stream(name if name and isinstance(name, str) else nameless, source)
    return os.fspath(source)


def name_of(origin: Origin) -> str:
    """Give the name to be shown."""
    return origin if isinstance(origin, str) else origin.name


def is_file(origin: Origin) -> bool:
    """Say whether a path leads to a log, by which others find it too."""
    return isinstance(origin, str) and origin != STDIN


_AT_ONCE: Final = 8 << 20
"""Bytes asked for at once: a reader may set aside all that it is asked for."""


def fill(source: Readable, size: int) -> bytes:
    """Read `size` bytes, in as many steps as it takes; fewer only at the end."""
    chunks = []
    missing = size
    while missing > 0 and (chunk := source.read(min(missing, _AT_ONCE))):
        chunks.append(chunk)
        missing -= len(chunk)
    return b"".join(chunks)


def iter_lines(source: Readable, longest: int) -> Iterator[str]:
    """Yield the lines of UTF-8 text without their breaks, each cut behind `longest` bytes."""
    rest = b""
    while chunk := source.read(_AT_ONCE):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line[:longest].decode("utf-8", "replace") for line in whole)
        rest = rest[:longest]
    if rest:
        yield rest.decode("utf-8", "replace")


class LineCounter:
    """Counts the lines of what is read through it."""

    def __init__(self, source: Readable) -> None:
        """Take what is to be read."""
        self._source, self._breaks, self._is_open = source, 0, True

    @property
    def lines(self) -> int:
        """Give the lines read so far; one without a break at its end counts."""
        return self._breaks + self._is_open

    def read(self, size: int, /) -> bytes:
        """Give up to `size` bytes, b"" at the end."""
        data = self._source.read(size)
        if data:
            self._breaks += data.count(b"\n")
            self._is_open = not data.endswith(b"\n")
        return data


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


_MAGIC: Final = (
    (b"\x1f\x8b", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
)
BROKEN: Final = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""What a broken archive raises, and a file that cannot be read on."""
_PIECE: Final = 1 << 10
"""Packed bytes unpacked in one go; a hostile frame makes at most 32 MiB of them."""


def detect_archive_type(head: bytes) -> str | None:
    """Detect the type of an archive by its first bytes; None if it is no archive."""
    return next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)


class Stored:
    """A file's bytes as they are stored."""

    def __init__(self, file: io.BufferedReader) -> None:
        """Take an open file, at its beginning."""
        self._file, self._hash, self._is_done = file, xxh3_128(), False
        self.count = 0
        """Bytes read so far."""

    @property
    def digest(self) -> str | None:
        """Give the hash of the whole, with its name before it; None if it was not read to its end.

        It tells whether two logs are the same. It is not made to withstand somebody who wants two
        logs to share it: a hash that does costs a tenth of the time that a log is read in.
        """
        return f"xxh3-128:{self._hash.hexdigest()}" if self._is_done else None

    def read(self, size: int = -1, /) -> bytes:
        """Give up to `size` bytes, b"" at the end."""
        data = self._file.read(size)
        if data:
            self.count += len(data)
            self._hash.update(data)
        else:
            self._is_done = True
        return data

    def close(self) -> None:
        """Release the file."""
        self._file.close()


class _Frames:
    """The frames of a .zst file, one behind the other.

    Unlike the library's own reader it notices a file that ends within a frame.
    """

    def __init__(self, packed: Readable) -> None:
        import zstandard  # noqa: PLC0415 -- rare input: its import is not paid by every start

        self._packed, self._unpacker = packed, zstandard.ZstdDecompressor()
        self._error: type[Exception] = zstandard.ZstdError
        self._frame: Any = None
        self._waiting = self._ready = b""

    def read(self, size: int, /) -> bytes:
        """Give up to `size` bytes, b"" at the end.

        Raises:
            EOFError: the file ends within a frame.
            OSError: a frame is broken.
        """
        while not self._ready:
            packed = self._waiting or self._packed.read(_PIECE)
            if not packed and self._frame is not None:
                raise EOFError("Compressed file ended before the end of a frame")
            if not packed:
                return b""
            self._unpack(packed)
        data, self._ready = self._ready[:size], self._ready[size:]
        return data

    def _unpack(self, packed: bytes) -> None:
        self._frame = self._frame or self._unpacker.decompressobj()
        try:
            self._ready, self._waiting = self._frame.decompress(packed), b""
        except self._error as error:
            raise OSError(str(error)) from error
        if self._frame.eof:
            self._waiting, self._frame = self._frame.unused_data, None


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "gz": lambda packed: gzip.GzipFile(fileobj=packed),
    "bz2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zst": _Frames,
}


def open_archive(packed: Stored, kind: str) -> Callable[[int], bytes]:
    """Give what reads on in an archive: what it has is handed out before a break in it is met."""
    reader = _READERS[kind](packed)
    read: Callable[[int], bytes] = getattr(reader, "read1", reader.read)
    return read
