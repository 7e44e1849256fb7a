"""Follow a file that grows, is truncated or is replaced under its name, as `tail -F` does.

In: a path that may not exist yet. Out: UTF-8 bytes as they are added, and `Change`s, behind which
the file is read from its beginning. Not here: waiting between two looks (`watch.watcher`), lines.

A look costs a few system calls. That the file began anew is told by its identity, its size, and the
last bytes that were read: one that was emptied and has grown beyond where we stood holds others
there.
"""

import codecs
import os
import stat
from collections.abc import Iterator
from enum import Enum
from io import FileIO
from pathlib import Path
from typing import Final

from postmortem.core.errors import InputError
from postmortem.reading.decode import detect
from postmortem.reading.sources import detect_archive_type

_PIECE: Final = 8 << 20
_MARK: Final = 64
_ENOUGH: Final = 64
"""Bytes that tell an encoding; a whole line is enough too."""


class Change(Enum):
    """What became of the file."""

    FOUND = "found"
    TRUNCATED = "truncated"
    ROTATED = "rotated"


class Unavailable(InputError):  # noqa: N818 -- what became of the file
    """The file cannot be read now; that may pass."""


class FollowedFile:
    """A file as it grows."""

    def __init__(self, path: str) -> None:
        """Take the name; the file need not be there."""
        self.path = path
        self.modified = 0.0
        """When it was last written to, by its own clock."""
        self._file: FileIO | None = None
        self._identity = (0, 0)
        self._start_over()

    def _start_over(self) -> None:
        self._position = 0
        self._mark = b""
        """The last bytes that were read."""
        self._encoding = ""
        self._decoder: codecs.IncrementalDecoder | None = None

    @property
    def is_there(self) -> bool:
        """True once the file was found."""
        return self._file is not None

    def read_news(self) -> Iterator[bytes | Change]:
        """Yield what was added since the last call, and what became of the file.

        Raises:
            Unavailable: it is a folder, or may not be read; the next call goes on where this
                one stopped.
            InputError: it is packed or binary.
        """
        try:
            yield from self._read_news()
        except Unavailable:
            raise
        except InputError:
            self.close()
            raise
        except OSError as error:  # what is mounted there has gone
            self.close()
            raise self._unavailable(f"cannot be read: {error.strerror}") from error

    def _read_news(self) -> Iterator[bytes | Change]:
        try:
            found = os.stat(self.path)  # noqa: PTH116 -- the identity of what bears the name now
        except FileNotFoundError:
            # the old file may have been renamed with its last lines unread
            yield from self._read_added()
            return
        except OSError as error:
            yield from self._read_added()
            raise self._unavailable(f"cannot be read: {error.strerror}") from error
        if stat.S_ISDIR(found.st_mode):
            yield from self._read_added()
            raise self._unavailable("this is a folder")
        if self._file is not None and (found.st_dev, found.st_ino) != self._identity:
            yield from self._read_added()
            self.close()
            yield Change.ROTATED
        if self._file is None and self._open():
            yield Change.FOUND
        if self._has_begun_anew():
            self._start_over()
            yield Change.TRUNCATED
        yield from self._read_added()

    def close(self) -> None:
        """Release the file."""
        if self._file is not None:
            self._file.close()
        self._file = None
        self._start_over()

    def _open(self) -> bool:
        try:
            file = Path(self.path).open("rb", buffering=0)  # noqa: SIM115 -- closed by `close`
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unavailable(f"cannot be opened: {error.strerror}") from error
        status = os.fstat(file.fileno())
        self._file, self._identity = file, (status.st_dev, status.st_ino)
        return True

    def _unavailable(self, what: str) -> Unavailable:
        return Unavailable(what, self.path, "name the log file that grows; check its permissions")

    def _has_begun_anew(self) -> bool:
        if self._file is None or not self._position:
            return False
        if os.fstat(self._file.fileno()).st_size < self._position:
            return True
        self._file.seek(self._position - len(self._mark))
        return self._file.read(len(self._mark)) != self._mark

    def _read_added(self) -> Iterator[bytes]:
        if self._file is None:
            return
        self.modified = os.fstat(self._file.fileno()).st_mtime
        while True:
            self._file.seek(self._position)
            raw = self._file.read(_PIECE)
            if not self._position and (kind := detect_archive_type(raw)) is not None:
                raise InputError(
                    f"this is a {kind} archive, which does not grow line by line",
                    self.path,
                    f"watch the log itself, or read it once with: postmortem analyze {self.path}",
                )
            if not raw or (not self._encoding and len(raw) < _ENOUGH and b"\n" not in raw):
                return
            skip = 0 if self._encoding else self._detect_encoding(raw)
            self._position += len(raw)
            self._mark = (self._mark + raw[-_MARK:])[-_MARK:]
            yield self._utf8(raw[skip:])

    def _detect_encoding(self, raw: bytes) -> int:
        self._encoding, skip = detect(raw[: 1 << 20], self.path)
        self._decoder = (
            None
            if self._encoding == "utf-8"
            else codecs.getincrementaldecoder(self._encoding)("replace")
        )
        return skip

    def _utf8(self, raw: bytes) -> bytes:
        if self._decoder is not None:
            return self._decoder.decode(raw).encode("utf-8", "replace")
        return raw.replace(
            b"\0", b""
        )  # a hole: the file was emptied while its writer went on behind its old end
