"""List and open remote files through fsspec.

In: URLs such as `s3://bucket/logs`, `https://host/run.log`, `zip://*.log::s3://bucket/a.zip`. Out:
trees and files with size and stamp; open files. Not here: local paths, which need no fsspec
(`search.listing`), what makes a job (`search.run_folders`).

fsspec is chosen because every storage that clusters use has a driver for it. Nothing is copied to
this machine: a file is read in blocks. No message holds a login or a query.
"""

import io
import posixpath
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final, TypeVar

from postmortem.core.errors import InputError, MissingExtra, PostmortemError, install_hint
from postmortem.core.message import say
from postmortem.fleet.search.listing import (
    HIDDEN,
    READ_THOUGH_HIDDEN,
    Leftovers,
    Tree,
    extract_path,
    remove_location_secrets,
)
from postmortem.fleet.store.stored_rows import FileRow
from postmortem.reading.discover import INSTALLED, PACKAGES

_Result = TypeVar("_Result")
_STAMPS: Final = (
    "ETag",
    "etag",
    "md5Hash",
    "crc32c",
    "checksum",
    "LastModified",
    "last_modified",
    "mtime",
    "updated",
    "modified",
    "date_time",
    "created",
)
"""What storages call that which changes with the content, the surest first."""
_BUFFER: Final = 1 << 20
_GLOB: Final = frozenset("*?[")


def list_urls(urls: Iterable[str], left: Leftovers) -> tuple[list[Tree], list[FileRow]]:
    """List URLs: folders with all below them, and files.

    Raises:
        InputError: one does not exist or cannot be opened.
        MissingExtra: a package for its protocol is not installed.
    """
    trees: dict[str, Tree] = {}
    files: dict[str, FileRow] = {}
    for url in urls:
        for one in _call_storage(url, lambda url=url: _expand_pattern(url)):  # type: ignore[misc]  # bound now
            found = _call_storage(url, lambda one=one: _list_url(one, left))  # type: ignore[misc]
            if isinstance(found, Tree):
                trees[found.location] = found
            else:
                files[found.location] = found
    outer = [one for one in sorted(trees) if not _is_below_any(one, trees)]
    return [trees[one] for one in outer], [
        file for url, file in sorted(files.items()) if not _is_below_any(url, outer)
    ]


def open_remote(url: str) -> BinaryIO:
    """Open a file elsewhere, to be read in blocks.

    Raises:
        InputError: it is gone or cannot be read.
        MissingExtra: a package for its protocol is not installed.
    """

    def opened() -> BinaryIO:
        files, path = _open_file_system(url)
        return io.BufferedReader(_HeldFile(files.open(path, "rb"), files), _BUFFER)

    return _call_storage(url, opened)


class _HeldFile(io.RawIOBase):
    """An open file with the storage that it is of: an archive closes when nobody holds it."""

    def __init__(self, stream: Any, files: Any) -> None:
        super().__init__()
        self._stream, self._files = stream, files

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read up to the buffer's length; 0 at the end."""
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._stream.close()
        super().close()


def convert_storage_error(url: str, error: Exception) -> PostmortemError:
    """Say what went wrong with a URL, without what gives access to it."""
    if isinstance(error, PostmortemError):
        return error
    shown = remove_location_secrets(url)
    if isinstance(error, ImportError):
        missing = error.name or "a package for its protocol"
        return MissingExtra(
            say("reading it needs {what}", what=missing),
            shown,
            f"{install_hint('triage')}; and the driver that fsspec names for it,"
            " such as s3fs, gcsfs or aiohttp",
        )
    if isinstance(error, FileNotFoundError):
        return InputError(say("not found"), shown, "check the address")
    if isinstance(error, PermissionError):
        return InputError(say("access denied"), shown, "check the credentials")
    return InputError(
        say("cannot be read: {kind}", kind=type(error).__name__),
        shown,
        "check the address and the credentials",
    )


def _call_storage(url: str, question: Callable[[], _Result]) -> _Result:
    """Call a storage driver; its errors are reported without secrets.

    Drivers raise errors of their own kinds: all that is known is the URL.
    """
    try:
        return question()
    except Exception as error:  # noqa: BLE001 -- of drivers that are not known
        raise convert_storage_error(url, error) from None


def _open_file_system(url: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs  # noqa: PLC0415 -- an extra

    files, path = url_to_fs(url)
    return files, path


def _expand_pattern(url: str) -> list[str]:
    """Give the URLs that a pattern stands for."""
    head, chained, rest = url.partition("::")
    scheme, parted, path = head.partition("://")
    if _GLOB.isdisjoint(path.partition("?")[0] if scheme in {"http", "https"} else path):
        return [url]
    files, pattern = _open_file_system(url)
    begin = min(path.find(letter) for letter in _GLOB if letter in path)
    fixed = path[:begin].rpartition("/")[0]
    root = _open_file_system(f"{scheme}{parted}{fixed}{chained}{rest}")[1].rstrip("/")
    found = [
        f"{scheme}{parted}{posixpath.join(fixed, name[len(root) :].lstrip('/'))}{chained}{rest}"
        for name in files.glob(pattern)
    ]
    if not found:
        raise FileNotFoundError(url)
    return sorted(found)


def _list_url(url: str, left: Leftovers) -> Tree | FileRow:
    files, path = _open_file_system(url)
    head, chained, rest = url.partition("::")
    about = files.info(path)
    if about.get("type") != "directory":
        return _build_entry(PurePosixPath(extract_path(url)).name, url, about)
    below = files.find(path, detail=True)
    root = path.rstrip("/")
    tree = Tree(PurePosixPath(root).name, f"{head.rstrip('/')}{chained}{rest}")
    folders = {"": tree}
    for name, about in sorted(below.items()):
        inner = name[len(root) :].lstrip("/") if name.startswith(root) else name
        if about.get("type") == "directory" or not inner:
            continue
        location = f"{head.rstrip('/')}/{inner}{chained}{rest}"
        why = _describe_skip_reason(inner)
        if why is not None:
            left.add(remove_location_secrets(location), why)
            continue
        folder = _get_folder(posixpath.dirname(inner), folders, head.rstrip("/"), chained + rest)
        folder.files.append(_build_entry(posixpath.basename(inner), location, about))
    return tree


def _describe_skip_reason(inner: str) -> Any:
    """Say why a file is passed over by the folders that it lies in; None if it is not."""
    *above, name = inner.split("/")
    if name.startswith(".") or any(
        part.startswith(".") and part != READ_THOUGH_HIDDEN for part in above
    ):
        return HIDDEN
    return PACKAGES if not INSTALLED.isdisjoint(above) else None


def _get_folder(inner: str, folders: dict[str, Tree], head: str, tail: str) -> Tree:
    """Give the folder of a path, made with those above it."""
    if inner not in folders:
        above = _get_folder(posixpath.dirname(inner), folders, head, tail)
        folders[inner] = Tree(posixpath.basename(inner), f"{head}/{inner}{tail}")
        above.folders.append(folders[inner])
    return folders[inner]


def _build_entry(name: str, location: str, about: Mapping[str, Any]) -> FileRow:
    stamp = next((about[key] for key in _STAMPS if about.get(key)), "")
    if isinstance(stamp, datetime):  # of one storage, asked otherwise, a number
        stamp = stamp.timestamp()
    return FileRow(name, location, int(about.get("size") or 0), str(stamp))


def _is_below_any(url: str, folders: Iterable[str]) -> bool:
    return any(
        url != folder and extract_path(url).startswith(extract_path(folder).rstrip("/") + "/")
        for folder in folders
        if url.partition("::")[2] == folder.partition("::")[2]
    )
