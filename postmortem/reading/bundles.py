"""Unpack a zip or tar that holds a folder of files.

In: the bytes of one, an empty folder, bounds. Out: the files in it. Not here: which of them are
logs (`reading.discover`), what they hold.

Nothing of it is believed: bytes count as they come out, names become plain paths below the folder,
and what is no regular file (a link, a device) is passed over.
"""

import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, NamedTuple

from postmortem.core.errors import InputError
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import say
from postmortem.reading.opener import open_log
from postmortem.reading.sources import Stream, Unpacking, fill

_TAR_MARK: Final = (257, b"ustar")
_BLOCK: Final = 512
_PIECE: Final = 1 << 20
_ZIPS: Final = (b"PK\x03\x04", b"PK\x05\x06")
_LONGEST_PART: Final = 120
_DEEPEST: Final = 16
_PART: Final = compile_lazily(r"[^\w.+=@#%,~ -]")
_BROKEN: Final = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,  # a password is needed
    NotImplementedError,  # a way of packing that the library does not know
    ValueError,
)


class _Member(NamedTuple):
    name: str
    packed: int | None
    """Bytes in the bundle; None if it is not packed by itself."""
    open: Callable[[], IO[bytes]]


def is_bundle(name: str, content: bytes) -> bool:
    """Say whether these bytes are a zip or a tar, also a packed one."""
    if content.startswith(_ZIPS):
        return True
    try:
        head = fill(open_log(Stream(name, content)), _BLOCK)
    except InputError:
        return False
    place, mark = _TAR_MARK
    return head[place:].startswith(mark)


def unpack_bundle(name: str, content: bytes, folder: Path, unpacking: Unpacking, most: int) -> None:
    """Write the files of a bundle below a folder.

    Args:
        name: of the bundle, for messages.
        content: its bytes.
        folder: empty.
        unpacking: to how much it may unpack; no more is written.
        most: files that it may hold.

    Raises:
        InputError: it is broken, or holds more files than it may.
    """
    written: set[Path] = set()
    try:
        with TemporaryFile(dir=folder.parent) as unpacked:
            for count, member in enumerate(_iter_members(name, content, unpacking, unpacked), 1):
                if count > most:
                    raise _build_too_many_error(name, most)
                path = _find_free_path(folder / make_plain_path(member.name), written)
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(member, path, unpacking)
                if unpacking.is_exceeded:
                    return
    except _BROKEN as error:
        raise InputError(
            say("the archive cannot be read: {why}", why=error),
            name,
            "pack it again, without a password",
        ) from error


def _iter_members(
    name: str, content: bytes, unpacking: Unpacking, unpacked: IO[bytes]
) -> Iterator[_Member]:
    if content.startswith(_ZIPS):
        with zipfile.ZipFile(io.BytesIO(content)) as bundle:
            for member in bundle.infolist():
                if not member.is_dir() and not _is_link(member):
                    yield _Member(
                        member.filename, member.compress_size, partial(bundle.open, member)
                    )
        return
    opened = open_log(Stream(name, content), unpacking)
    while piece := opened.read(_PIECE):
        unpacked.write(piece)
    if unpacking.is_exceeded:
        return
    unpacked.seek(0)
    with tarfile.open(fileobj=unpacked, mode="r:") as archive:
        for entry in archive:
            # A sparse file is mostly holes, which take no room in the bundle.
            if (
                entry.isreg()
                and not entry.issparse()
                and (file := archive.extractfile(entry)) is not None
            ):
                yield _Member(entry.name, None, lambda file=file: file)  # type: ignore[misc]


def _is_link(member: zipfile.ZipInfo) -> bool:
    return (member.external_attr >> 28) == 0o12


def _write(member: _Member, path: Path, unpacking: Unpacking) -> None:
    """Write a file, and count what comes out of it."""
    size = 0
    with member.open() as source, path.open("xb") as target:
        while piece := source.read(_PIECE):
            size += len(piece)
            if member.packed is not None and not unpacking.takes(len(piece), size, member.packed):
                return
            target.write(piece)


def make_plain_path(name: str) -> str:
    """Make a path below a folder of whatever name a file was given."""
    parts = [_PART.sub("_", part)[-_LONGEST_PART:] for part in re.split(r"[/\\]", name)]
    return "/".join([part for part in parts if part.strip(". ")][-_DEEPEST:]) or "log"


def _find_free_path(path: Path, written: set[Path]) -> Path:
    """Give a path that is taken neither by a file nor by a folder of another file."""
    taken, count = path, 1
    while taken in written or any(taken in path.parents for path in written):
        count += 1
        taken = path.with_name(f"{path.stem}-{count}{path.suffix}")
    written.add(taken)
    return taken


def _build_too_many_error(name: str, most: int) -> InputError:
    return InputError(
        say("more than {most} files in it", most=most),
        name,
        "pack fewer files",
    )
