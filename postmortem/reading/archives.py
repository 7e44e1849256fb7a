"""Count and hash the bytes of a stored log while they are read, and unpack them.

In: a binary file. Out: `Stored`, and what reads an archive of a kind. Not here: opening files, what
is said of a broken archive (`reading.opener`).
"""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from typing import Any, Final

from xxhash import xxh3_128

from postmortem.reading.sources import Readable

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
