"""Write a file completely or not at all, and keep a copy of a command's output.

In: a path as a user names it, and bytes; pieces of output. Out: the file; of output whose end found
no room further files elsewhere, and what was lost. Not here: what stands in a file, saying what
went wrong.

A file's bytes go to a new file beside the old one, which then takes its name: a full disk leaves
the old one as it was. What is no regular file (a device, a pipe, an open file under /dev/fd) is
written to directly.

Output that finds no room waits in memory and is tried again with each further piece: a disk that
was full for a while costs nothing. Of more than 16 MiB the oldest lines go first, since the end of
an output says why it ended. Nothing that was written is deleted.
"""

import errno
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from postmortem.core.host.streams import describe_stream_error, write_all
from postmortem.core.log_text import compile_lazily

_OPEN_FILES: Final = compile_lazily(
    r"/(?:proc/(?:\d+/(?:task/\d+/)?|self/|thread-self/)fd|dev/fd)$"
)
_MOST_LINKS: Final = 40
_NO_NEW_FILE: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV})
"""The folder takes no new file, or the file is a mount of its own; it may be writable though."""


def replace(path: Path, data: bytes) -> None:
    """Write a file.

    Raises:
        OSError: it cannot be written, or not as a whole; a regular file is then as it was.
    """
    number = _open_number(path)
    if number is not None:
        _write(number, data)
        return
    target = Path(os.path.realpath(path))
    old = target.stat() if target.exists() else None
    if old is not None and not stat.S_ISREG(old.st_mode):
        _write_into(target, data, os.O_WRONLY)
        return
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(
            errno.EACCES, os.strerror(errno.EACCES), str(target)
        )  # renaming would not ask
    try:
        _write_and_rename(target, data, old)
    except OSError as error:
        if error.errno not in _NO_NEW_FILE or old is None:
            raise
        _write_into(target, data, os.O_WRONLY | os.O_TRUNC)


def _open_number(path: Path) -> int | None:
    """Give the file descriptor that a name such as /dev/stdout refers to.

    To open it anew would truncate it, to rename over it would miss it.
    """
    for _ in range(_MOST_LINKS):
        if _OPEN_FILES.search(os.path.realpath(path.parent)) and path.name.isdecimal():
            return int(path.name)
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return None


def _write_and_rename(target: Path, data: bytes, old: os.stat_result | None) -> None:
    number, name = tempfile.mkstemp(prefix=".postmortem-", suffix=".part", dir=target.parent)
    new = Path(name)
    try:
        try:
            _write(number, data)
            os.fsync(number)  # a network disk says only here that it is full
        finally:
            os.close(number)
        if old is None:
            new.chmod(0o666 & ~_get_umask())
        else:
            shutil.copymode(target, new)
            with suppress(OSError):  # only root may give files away
                os.chown(new, old.st_uid, old.st_gid)
        new.replace(target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _write_into(target: Path, data: bytes, flags: int) -> None:
    number = os.open(target, flags)
    try:
        _write(number, data)
    finally:
        os.close(number)


def _write(number: int, data: bytes) -> None:
    _, error = write_all(number, data)
    if error is not None:
        raise error


def _get_umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


_MOST_WAITING: Final = 16 << 20
"""Bytes that may wait for room."""
_MEMORY: Final = "/dev/shm"  # noqa: S108 -- there may be room where no disk has any


class KeptLog:
    """A log that is being written."""

    def __init__(self, path: Path | None, most: int = _MOST_WAITING) -> None:
        """Open the file; None: no folder took one, and all of it waits.

        Raises:
            OSError: it cannot be written.
        """
        self.path = path
        self.number = (
            None if path is None else os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        )
        self.elsewhere: list[Path] = []
        """Where the end is that found no room."""
        self.lost = 0
        self._most = most
        self._fault = "" if path else "no folder takes a file"
        self._waiting = bytearray()
        self._is_cut = False

    def write(self, data: bytes) -> None:
        """Add a piece."""
        self._waiting += data
        if self.number is not None:
            self._store(self.number)
        excess = len(self._waiting) - self._most
        if excess > 0:
            end = self._waiting.find(b"\n", excess) + 1 or len(self._waiting)
            self.lost += end - self._is_cut
            self._waiting[:end] = b"\n"  # what is left of a line before is none with what comes
            self._is_cut = True

    def close(self) -> None:
        """Try once more.

        What still finds no room goes elsewhere, the end first, and is lost only if there is none
        either.
        """
        if self.number is not None:
            self._store(self.number)
            if not os.fstat(self.number).st_nlink:
                self._rescue(self.number)
            os.close(self.number)
            self.number = None
        for folder in (tempfile.gettempdir, lambda: _MEMORY):
            if self._waiting:
                with suppress(OSError):  # the former looks for room, too
                    self._store_in(folder())
        self.lost += max(0, len(self._waiting) - self._is_cut)
        self._waiting.clear()

    @property
    def paths(self) -> list[Path]:
        """The files that hold the output, in order."""
        return [path for path in (self.path, *self.elsewhere) if path is not None and path.exists()]

    def problem(self) -> str:
        """Say what did not fit, in one line; empty if all did and is still there."""
        if not self.lost and not self.elsewhere:
            return ""
        sentences = [
            f"not all of the output could be kept{f' in {self.path}' if self.path else ''}:"
            f" {self._fault}"
        ]
        if self.elsewhere:
            sentences.append(f"its end is in {' and '.join(map(str, self.elsewhere))}")
        if self.lost:
            sentences.append(f"{self.lost:,} bytes are lost")
        return "; ".join(sentences)

    def remove(self) -> None:
        """Delete a log that nobody wants."""
        for path in self.paths:
            with suppress(OSError):
                path.unlink()

    def _store(self, number: int) -> None:
        """Write as much as fits on the disk."""
        while self._waiting:
            try:
                del self._waiting[: os.write(number, self._waiting)]
            except OSError as error:
                self._fault = describe_stream_error(error)
                return
            self._is_cut = False

    def _rescue(self, number: int) -> None:
        """Take back the end of a log that has been removed, perhaps with its folder."""
        size = os.fstat(number).st_size
        start = max(0, size - self._most)
        self.lost += start
        self._waiting[:0] = os.pread(number, size - start, start)
        self._fault = "it has been removed meanwhile"

    def _store_in(self, folder: str) -> None:
        """Write as much of the end as fits to a new file."""
        stem = self.path.stem if self.path else "postmortem-run"
        number, name = tempfile.mkstemp(prefix=f"{stem[:100]}-end-", suffix=".log", dir=folder)
        left, _ = write_all(number, bytes(self._waiting))
        start = self._waiting.find(b"\n", left - 1) + 1 or left if left else 0
        if left:  # the end says more than the beginning
            os.lseek(number, 0, os.SEEK_SET)
            os.ftruncate(number, 0)
            write_all(number, bytes(self._waiting[start:]))
        os.close(number)
        if start < len(self._waiting):
            del self._waiting[start:]
            self.elsewhere.insert(0, Path(name))
        else:
            Path(name).unlink()
