"""Open what a user names: a plain, compressed or piped log, as a stream of bytes; say what it was.

In: a path, `-` for standard input, or a `Stream`. Out: `Opened`: a raw byte stream, its
compression, its digest, and what went wrong while reading, if anything did. Not here: text
encodings (`reading.decode`), unpacking and blocks (`reading.sources`), folders
(`reading.discover`).

Compression is recognised by magic bytes, not by the name. A broken archive gives what can be read
from it, and says so: half a log is worth more than an error message. So does one that unpacks to
more than a log can, and a file that is shortened or replaced while it is read.

To open a FIFO, or a pipe of the shell's (`/dev/fd/63`), waits until another program opens it for
writing, which may be never. Opened without waiting it tells three states when it is read:
something, nothing yet (somebody holds it open), and the end, which is also what it tells while
nobody has come. Only the last is not waited for without limit.
"""

import io
import os
import select
import stat
import sys
import time
from pathlib import Path
from typing import Any, Final

from postmortem.core.errors import InputError
from postmortem.core.message import Message, say
from postmortem.reading.sources import (
    BROKEN,
    STDIN,
    Origin,
    Readable,
    Renewable,
    Stored,
    Stream,
    Unpacking,
    detect_archive_type,
    open_archive,
)

_PATIENCE: Final = 10.0
"""Seconds that a program may take to open its end."""
_LOOK_MILLISECONDS: Final = 50
"""Milliseconds between two looks."""
_PIECE: Final = 1 << 16


class _Pipe(io.RawIOBase):
    """The reading end, of which the first bytes are read already."""

    def __init__(self, number: int, first: bytes) -> None:
        super().__init__()
        self._number, self._first = number, first

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read up to the buffer's length; 0 at the end."""
        data = self._first[: len(buffer)] or os.read(self._number, len(buffer))
        self._first = self._first[len(data) :]
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the end."""
        if not self.closed:
            os.close(self._number)
        super().close()


def open_pipe(path: str) -> io.BufferedReader:
    """Open a pipe for reading, as soon as somebody writes to it.

    Raises:
        InputError: nobody opens it for writing within ten seconds.
        OSError: it cannot be opened.
    """
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        first = _read_head(number, path)
    except BaseException:
        os.close(number)
        raise
    os.set_blocking(number, True)
    return io.BufferedReader(_Pipe(number, first))


def _read_head(number: int, path: str) -> bytes:
    """Give the first bytes.

    None if somebody is there who has not written yet, or has come and gone.
    """
    poll = select.poll()
    poll.register(number, select.POLLIN)
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        try:
            if first := os.read(number, _PIECE):
                return first
        except BlockingIOError:
            return b""
        if any(event & select.POLLHUP for _, event in poll.poll(_LOOK_MILLISECONDS)):
            return b""
    raise InputError(
        say("this is a pipe to which no program writes"),
        path,
        "start the program that writes to it first, or name the log file",
    )


class Opened:
    """A log that is read.

    `read(n)` gives decompressed bytes, and b"" at the end or where an archive breaks off.
    """

    def __init__(
        self,
        path: str,
        file: io.BufferedReader,
        compression: str | None,
        status: os.stat_result | None = None,
        unpacking: Unpacking | None = None,
    ) -> None:
        """Take an open file, at its beginning.

        Args:
            path: the name shown to the user.
            file: the log as it is stored.
            compression: gz, bz2, xz, zst or None.
            status: that of the file when it was opened; None if it is none.
            unpacking: to how much an archive may unpack.
        """
        self.path, self.compression = path, compression
        self.fault: Message | None = None
        """Why less was read than there should be, or what else now bears the name; or None."""
        self.bytes_read = 0
        self._stored, self._status = Stored(file), status
        self._unpacking = unpacking or Unpacking()
        self._read = open_archive(self._stored, compression) if compression else self._stored.read

    @property
    def digest(self) -> str | None:
        """Give the hash of the log as it is stored, once it has been read to its end."""
        return self._stored.digest

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes.

        Raises:
            InputError: nothing at all could be read.
        """
        if self.fault:
            return b""
        try:
            data = self._read(size)
        except BROKEN as error:
            if not self.bytes_read:
                raise self._build_unreadable_error(error) from error
            self.fault = self._describe_broken(error)
            return b""
        self.bytes_read += len(data)
        self.fault = self._check_density(len(data)) if data else self._describe_change()
        return data

    def close(self) -> None:
        """Close the file behind it; a stream that the caller holds stays open."""
        self._stored.close()

    def _check_density(self, size: int) -> Message | None:
        """Say that an archive unpacks to more than a log can."""
        allowed = self._unpacking
        if not self.compression or allowed.takes(size, self.bytes_read, self._stored.count):
            return None
        if allowed.spent > allowed.most:
            return say(
                "{what} unpacks to more than {count:,} bytes; the rest was not read",
                what=self._kind(),
                count=allowed.most,
            )
        return say(
            "{what} unpacks to more than {times:,} times its size, as no log does; only its first"
            " {count:,} bytes were read",
            what=self._kind(),
            times=allowed.times,
            count=self.bytes_read,
        )

    def _describe_change(self) -> Message | None:
        """Say what became of a file while it was read to its end."""
        if self._status is None:
            return None
        if not self.compression and self.bytes_read < self._status.st_size:
            return say(
                "it was shortened while it was read: {size:,} bytes before, {count:,} read",
                size=self._status.st_size,
                count=self.bytes_read,
            )
        try:
            now = Path(self.path).stat()
        except OSError:  # gone, but it was read
            return None
        if os.path.samestat(now, self._status):
            return None
        return say("another file took its name while it was read; this is the old one")

    def _kind(self) -> Message:
        if self.compression:
            return say("{kind}", kind=self.compression)
        return say("file")

    def _build_unreadable_error(self, error: Exception) -> InputError:
        return InputError(
            say(
                "the {what} cannot be read: {error}",
                what=self._kind(),
                error=error,
            ),
            self.path,
            "copy it again, or unpack it as far as it goes",
        )

    def _describe_broken(self, error: Exception) -> Message:
        return say(
            "{what} breaks off after {count} bytes: {error}",
            what=self._kind(),
            count=self.bytes_read,
            error=error,
        )


class _BorrowedStream(io.RawIOBase):
    """A stream owned by the caller: closing this leaves it open."""

    def __init__(self, stream: Readable, name: str) -> None:
        super().__init__()
        self._stream, self._name = stream, name

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read up to the buffer's length; 0 at the end.

        Raises:
            InputError: it gives something else than bytes, or nothing yet.
        """
        data = self._stream.read(len(buffer))
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise InputError(
                say(
                    "the stream gives {kind}, not bytes",
                    kind=type(data).__name__,
                ),
                self._name,
                "open it in binary mode, and blocking",
            )
        buffer[: len(data)] = data
        return len(data)


def open_log(origin: Origin, unpacking: Unpacking | None = None) -> Opened:
    """Open one file, standard input, or a stream.

    Args:
        origin: what is read.
        unpacking: to how much it may unpack; None: to as much as any log.

    Raises:
        InputError: missing, a folder, a device, a pipe to which nobody writes, or not readable.
    """
    if isinstance(origin, Stream):
        content = (
            origin.content.reopen() if isinstance(origin.content, Renewable) else origin.content
        )
        return _open_unpacked(
            origin.name,
            _wrap_stream(
                io.BytesIO(content) if isinstance(content, bytes) else content, origin.name
            ),
            unpacking=unpacking,
        )
    if origin == STDIN:
        _reject_device(_get_stdin_status(), origin)
        return _open_unpacked(origin, _wrap_stream(sys.stdin.buffer, origin), unpacking=unpacking)
    try:
        file, status = _open_file(origin)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        raise InputError(
            say(
                "cannot be opened: {why}",
                why=getattr(error, "strerror", None) or error,
            ),
            origin,
            "check the path and its permissions",
        ) from error
    return _open_unpacked(origin, file, status if stat.S_ISREG(status.st_mode) else None, unpacking)


def _wrap_stream(stream: Readable, name: str) -> io.BufferedReader:
    return io.BufferedReader(_BorrowedStream(stream, name))


def _open_file(path: str) -> tuple[io.BufferedReader, os.stat_result]:
    """Open a file or a pipe, with its status; a folder or a device is refused before."""
    status = Path(path).stat()
    if stat.S_ISDIR(status.st_mode):
        raise InputError(
            "this is a folder", path, "name a file in it, or pass the folder itself to analyze"
        )
    _reject_device(status, path)
    if stat.S_ISFIFO(status.st_mode):
        return open_pipe(path), status
    file = Path(path).open("rb")  # noqa: SIM115 -- closed by Opened.close
    return file, os.fstat(file.fileno())


def _open_unpacked(
    path: str,
    file: io.BufferedReader,
    status: os.stat_result | None = None,
    unpacking: Unpacking | None = None,
) -> Opened:
    try:
        head = file.peek(8)
    except OSError as error:
        raise InputError(
            say("cannot be read: {why}", why=error.strerror or error),
            path,
            "check the file",
        ) from error
    return Opened(path, file, detect_archive_type(head), status, unpacking)


def describe_special_file(mode: int) -> Message | None:
    """Say what a thing is that is neither file nor folder; None for these."""
    if stat.S_ISFIFO(mode):
        return say("a pipe, not a file")
    if stat.S_ISSOCK(mode):
        return say("a socket, not a file")
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return say("a device, not a file")
    return None


def _reject_device(status: os.stat_result | None, path: str) -> None:
    """Let through files and pipes.

    And the terminal that is standard input, and the device that is always empty.
    """
    why = (
        None
        if status is None or stat.S_ISFIFO(status.st_mode)
        else describe_special_file(status.st_mode)
    )
    if status is None or why is None or (path == STDIN and stat.S_ISSOCK(status.st_mode)):
        return
    stdin = _get_stdin_status()
    is_terminal = stdin is not None and os.path.samestat(stdin, status) and sys.stdin.isatty()
    if not is_terminal and not (
        stat.S_ISCHR(status.st_mode) and os.path.samestat(Path(os.devnull).stat(), status)
    ):
        raise InputError(why, path, "name the text log of the run")


def _get_stdin_status() -> os.stat_result | None:
    try:
        return os.fstat(sys.stdin.fileno())
    except (OSError, ValueError, AttributeError):  # closed, or no file at all
        return None
