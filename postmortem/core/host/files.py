"""Write a file completely or not at all.

In: a path as a user names it, and bytes. Out: the file. Not here: what stands in it, and saying
what went wrong.

The bytes go to a new file beside the old one, which then takes its name: a full disk leaves the old
one as it was. What is no regular file (a device, a pipe, an open file under /dev/fd) is written to
directly.
"""

import errno
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from postmortem.core.host.streams import write_all
from postmortem.core.lazy_regex import compile_lazily

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
