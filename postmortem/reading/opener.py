"""Open what a user names: a plain, compressed or piped log, as a stream of bytes; say what it was.

In: a path, or `-` for standard input.
Out: `Opened`: a raw byte stream, its compression, and what went wrong while reading, if anything did.
Not here: text encodings (`reading.decode`), blocks (`reading.blocks`), folders (`reading.discover`).

Compression is told by magic bytes, not by the name. A broken archive gives what can be read from it, and says so:
half a log is worth more than an error message.
"""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Protocol

from postmortem.errors import InputError
from postmortem.model.said import Said, say

STDIN: Final = "-"
_AT_ONCE: Final = 8 << 20
"""Bytes asked for at once: a reader may set aside all that it is asked for."""
MAGIC: Final = ((b"\x1f\x8b", "gz"), (b"BZh", "bz2"), (b"\xfd7zXZ\x00", "xz"), (b"\x28\xb5\x2f\xfd", "zst"))
_BROKEN: Final = (EOFError, OSError, zlib.error, lzma.LZMAError)
_PIECE: Final = 1 << 10
"""Packed bytes unpacked in one go; a hostile frame makes at most 32 MiB of them."""


class Readable(Protocol):
    """Whatever gives bytes."""

    def read(self, size: int, /) -> bytes:
        """Give up to `size` bytes, b"" at the end."""


class Stream(Readable, Protocol):
    """What can be closed too: a file, a decompressor."""

    def close(self) -> None:
        """Release the file."""


def fill(source: Readable, size: int) -> bytes:
    """Read `size` bytes, in as many steps as it takes; fewer only at the end."""
    chunks = []
    missing = size
    while missing > 0 and (chunk := source.read(min(missing, _AT_ONCE))):
        chunks.append(chunk)
        missing -= len(chunk)
    return b"".join(chunks)


def lines_of(source: Readable, longest: int) -> Iterator[str]:
    """Yield the lines of UTF-8 text without their breaks, each cut behind `longest` bytes."""
    rest = b""
    while chunk := source.read(_AT_ONCE):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line[:longest].decode("utf-8", "replace") for line in whole)
        rest = rest[:longest]
    if rest:
        yield rest.decode("utf-8", "replace")


class Counted:
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


class Opened:
    """A readable log: `read(n)` gives decompressed bytes, and b"" at the end or where an archive breaks off."""

    def __init__(self, path: str, stream: Stream, compression: str | None, packed: Stream | None = None) -> None:
        """Wrap an open stream; `path` is the name shown to the user, `packed` the file that a decompressor reads and does not close."""
        self.path, self.compression = path, compression
        self.fault: Said | None = None
        """Why reading ended early; None if it did not."""
        self.bytes_read = 0
        self._stream, self._packed = stream, packed
        # A decompressor's read1 hands out what it has before it meets the break.
        self._read = getattr(stream, "read1", stream.read) if compression else stream.read

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes.

        Raises:
            InputError: nothing at all could be read.
        """
        if self.fault:
            return b""
        try:
            data = self._read(size)
        except _BROKEN as error:
            if not self.bytes_read:
                raise InputError(say("the {what} cannot be read: {error}", "{what}无法读取：{error}", what=self._kind(), error=error), self.path, "copy it again, or unpack it as far as it goes") from error
            self.fault = self._broken(error)
            return b""
        except Exception as error:
            if type(error).__name__ != "ZstdError":
                raise
            self.fault = self._broken(error)
            if not self.bytes_read:
                raise InputError(say("the zst archive cannot be read: {error}", "zst 压缩包无法读取：{error}", error=error), self.path, "copy it again") from error
            return b""
        self.bytes_read += len(data)
        return data

    def _kind(self) -> Said:
        return say("{kind}", "{kind} 压缩包", kind=self.compression) if self.compression else say("file", "文件")

    def _broken(self, error: Exception) -> Said:
        return say("{what} breaks off after {count} bytes: {error}", "{what}在 {count} 字节之后中断：{error}", what=self._kind(), count=self.bytes_read, error=error)

    def close(self) -> None:
        """Close the file behind it."""
        self._stream.close()
        if self._packed is not None:
            self._packed.close()


class _Frames:
    """The frames of a .zst file, one behind the other; unlike the library's own reader it notices a file that ends within a frame."""

    def __init__(self, stream: Stream) -> None:
        import zstandard  # noqa: PLC0415 -- rare input: its import is not paid by every start

        self._stream, self._unpacker = stream, zstandard.ZstdDecompressor()
        self._frame: Any = None
        self._packed = self._ready = b""

    def read(self, size: int, /) -> bytes:
        """Give up to `size` bytes, b"" at the end."""
        while not self._ready:
            packed = self._packed or self._stream.read(_PIECE)
            if not packed and self._frame is not None:
                raise EOFError("Compressed file ended before the end of a frame")
            if not packed:
                return b""
            self._frame = self._frame or self._unpacker.decompressobj()
            self._ready, self._packed = self._frame.decompress(packed), b""
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, None
        data, self._ready = self._ready[:size], self._ready[size:]
        return data

    def close(self) -> None:
        """Release the file."""
        self._stream.close()


def open_log(path: str) -> Opened:
    """Open one file or standard input.

    Raises:
        InputError: missing, a folder, or not readable.
    """
    if path == STDIN:
        return _unpacked(path, io.BufferedReader(sys.stdin.buffer))  # type: ignore[arg-type]  # a binary stream is all it takes
    try:
        if Path(path).is_dir():
            raise InputError("this is a folder", path, "name a file in it, or pass the folder itself to analyze")
        stream = Path(path).open("rb")  # noqa: SIM115 -- closed by Opened.close
    except OSError as error:
        raise InputError(say("cannot be opened: {why}", "无法打开：{why}", why=error.strerror or error), path, "check the path and its permissions") from error
    return _unpacked(path, stream)


def _unpacked(path: str, buffered: io.BufferedReader) -> Opened:
    head = _peek(buffered, path)
    kind = next((name for magic, name in MAGIC if head.startswith(magic)), None)
    if kind is None:
        return Opened(path, buffered, None)
    if kind == "gz":
        return Opened(path, gzip.GzipFile(fileobj=buffered), kind, buffered)
    if kind == "bz2":
        return Opened(path, bz2.BZ2File(buffered), kind, buffered)
    if kind == "xz":
        return Opened(path, lzma.LZMAFile(buffered), kind, buffered)
    return Opened(path, _Frames(buffered), kind)


def _peek(buffered: io.BufferedReader, path: str) -> bytes:
    try:
        return buffered.peek(8)
    except OSError as error:
        raise InputError(say("cannot be read: {why}", "无法读取：{why}", why=error.strerror or error), path, "check the file") from error
