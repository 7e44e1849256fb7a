"""Open what a user names: a plain, compressed or piped log, as a stream of bytes; say what it was.

In: a path, or `-` for standard input. Out: `Opened`: a raw byte stream, its compression, and what
went wrong while reading, if anything did. Not here: text encodings (`reading.decode`), blocks
(`reading.blocks`), folders (`reading.discover`).

Compression is told by magic bytes, not by the name. A broken archive gives what can be read from
it, and says so: half a log is worth more than an error message. So does one that unpacks to more
than a log can, and a file that is shortened or replaced while it is read.
"""

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Protocol

from postmortem.errors import InputError
from postmortem.model.said import Said, say
from postmortem.reading.pipe import open_pipe

STDIN: Final = "-"
_AT_ONCE: Final = 8 << 20
"""Bytes asked for at once: a reader may set aside all that it is asked for."""
MAGIC: Final = (
    (b"\x1f\x8b", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
)
_BROKEN: Final = (EOFError, OSError, zlib.error, lzma.LZMAError)
_FREE: Final = 64 << 20
"""Unpacked bytes up to which an archive may be as dense as it likes."""
_DENSEST: Final = 1000
"""Times its size that an archive of a log may unpack to: counters and times differ from line to line."""
_MOST_UNPACKED: Final = 64 << 30
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

    def __init__(
        self,
        path: str,
        stream: Stream,
        compression: str | None,
        packed: "_Packed | None" = None,
        status: os.stat_result | None = None,
    ) -> None:
        """Wrap an open stream; `path` is the name shown to the user, `packed` the file that a decompressor reads and does not close, `status` that of a file when it was opened."""
        self.path, self.compression = path, compression
        self.fault: Said | None = None
        """Why less was read than there should be, or something else than now bears the name; None if all is well."""
        self.bytes_read = 0
        self._stream, self._packed, self._status = stream, packed, status
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
                raise InputError(
                    say(
                        "the {what} cannot be read: {error}",
                        "{what}无法读取：{error}",
                        what=self._kind(),
                        error=error,
                    ),
                    self.path,
                    "copy it again, or unpack it as far as it goes",
                ) from error
            self.fault = self._broken(error)
            return b""
        except Exception as error:
            if type(error).__name__ != "ZstdError":
                raise
            self.fault = self._broken(error)
            if not self.bytes_read:
                raise InputError(
                    say(
                        "the zst archive cannot be read: {error}",
                        "zst 压缩包无法读取：{error}",
                        error=error,
                    ),
                    self.path,
                    "copy it again",
                ) from error
            return b""
        self.bytes_read += len(data)
        self.fault = self._too_dense() if data else self._changed()
        return data

    def _too_dense(self) -> Said | None:
        """Say that an archive unpacks to more than a log can."""
        if self._packed is None or self.bytes_read <= max(
            _FREE, min(_DENSEST * self._packed.count, _MOST_UNPACKED)
        ):
            return None
        if self.bytes_read > _MOST_UNPACKED:
            return say(
                "{what} unpacks to more than {count:,} bytes; the rest was not read",
                "{what}解压后超过 {count:,} 字节；其余部分未读取",
                what=self._kind(),
                count=_MOST_UNPACKED,
            )
        return say(
            "{what} unpacks to more than {times:,} times its size, as no log does; only its first"
            " {count:,} bytes were read",
            "{what}解压后超过其大小的 {times:,} 倍，不像日志；只读取了前 {count:,} 字节",
            what=self._kind(),
            times=_DENSEST,
            count=self.bytes_read,
        )

    def _changed(self) -> Said | None:
        """Say what became of a file while it was read to its end."""
        if self._status is None:
            return None
        if not self.compression and self.bytes_read < self._status.st_size:
            return say(
                "it was shortened while it was read: {size:,} bytes before, {count:,} read",
                "读取期间文件被截短：原有 {size:,} 字节，读到 {count:,} 字节",
                size=self._status.st_size,
                count=self.bytes_read,
            )
        try:
            now = Path(self.path).stat()
        except OSError:  # gone, but it was read
            return None
        return (
            None
            if os.path.samestat(now, self._status)
            else say(
                "another file took its name while it was read; this is the old one",
                "读取期间另一个文件占用了它的名字；读取的是旧文件",
            )
        )

    def _kind(self) -> Said:
        return (
            say("{kind}", "{kind} 压缩包", kind=self.compression)
            if self.compression
            else say("file", "文件")
        )

    def _broken(self, error: Exception) -> Said:
        return say(
            "{what} breaks off after {count} bytes: {error}",
            "{what}在 {count} 字节之后中断：{error}",
            what=self._kind(),
            count=self.bytes_read,
            error=error,
        )

    def close(self) -> None:
        """Close the file behind it."""
        self._stream.close()
        if self._packed is not None:
            self._packed.close()


class _Packed:
    """A file as a decompressor reads it, counted."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self.count = stream, 0

    def read(self, size: int = -1, /) -> bytes:
        """Give up to `size` bytes, b"" at the end."""
        data = self._stream.read(size)
        self.count += len(data)
        return data

    def close(self) -> None:
        """Release the file."""
        self._stream.close()


class _Frames:
    """The frames of a .zst file, one behind the other.

    Unlike the library's own reader it notices a file that ends within a frame.
    """

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
        InputError: missing, a folder, a device, a pipe to which nobody writes, or not readable.
    """
    if path == STDIN:
        _refuse_device(_status_of_stdin(), path)
        return _unpacked(path, io.BufferedReader(sys.stdin.buffer), None)  # type: ignore[arg-type]  # a binary stream is all it takes
    try:
        status = Path(path).stat()
        if stat.S_ISDIR(status.st_mode):
            raise InputError(
                "this is a folder", path, "name a file in it, or pass the folder itself to analyze"
            )
        _refuse_device(status, path)
        if stat.S_ISFIFO(status.st_mode):
            return _unpacked(path, open_pipe(path), None)
        stream = Path(path).open("rb")  # noqa: SIM115 -- closed by Opened.close
        status = os.fstat(stream.fileno())
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        raise InputError(
            say(
                "cannot be opened: {why}",
                "无法打开：{why}",
                why=getattr(error, "strerror", None) or error,
            ),
            path,
            "check the path and its permissions",
        ) from error
    return _unpacked(path, stream, status if stat.S_ISREG(status.st_mode) else None)


def no_file(mode: int) -> Said | None:
    """Say what a thing is that is neither file nor folder; None for these."""
    if stat.S_ISFIFO(mode):
        return say("a pipe, not a file", "是管道，不是文件")
    if stat.S_ISSOCK(mode):
        return say("a socket, not a file", "是 socket，不是文件")
    return (
        say("a device, not a file", "是设备，不是文件")
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
        else None
    )


def _refuse_device(status: os.stat_result | None, path: str) -> None:
    """Let through files and pipes, the terminal that is standard input, and the device that is always empty."""
    why = None if status is None or stat.S_ISFIFO(status.st_mode) else no_file(status.st_mode)
    if status is None or why is None or (path == STDIN and stat.S_ISSOCK(status.st_mode)):
        return
    stdin = _status_of_stdin()
    is_terminal = stdin is not None and os.path.samestat(stdin, status) and sys.stdin.isatty()
    if not is_terminal and not (
        stat.S_ISCHR(status.st_mode) and os.path.samestat(Path(os.devnull).stat(), status)
    ):
        raise InputError(why, path, "name the text log of the run")


def _status_of_stdin() -> os.stat_result | None:
    try:
        return os.fstat(sys.stdin.fileno())
    except (OSError, ValueError, AttributeError):  # closed, or no file at all
        return None


def _unpacked(path: str, buffered: io.BufferedReader, status: os.stat_result | None) -> Opened:
    head = _peek(buffered, path)
    kind = next((name for magic, name in MAGIC if head.startswith(magic)), None)
    if kind is None:
        return Opened(path, buffered, None, status=status)
    packed = _Packed(buffered)
    readers: dict[str, Callable[[Any], Any]] = {
        "gz": lambda file: gzip.GzipFile(fileobj=file),
        "bz2": bz2.BZ2File,
        "xz": lzma.LZMAFile,
        "zst": _Frames,
    }
    return Opened(path, readers[kind](packed), kind, packed, status)


def _peek(buffered: io.BufferedReader, path: str) -> bytes:
    try:
        return buffered.peek(8)
    except OSError as error:
        raise InputError(
            say("cannot be read: {why}", "无法读取：{why}", why=error.strerror or error),
            path,
            "check the file",
        ) from error
