"""Locations of files, local paths or URLs, and the listing of a local folder tree.

In: a location; a local folder. Out: what lies above and below a location, the same without what
gives access; `Tree` with size and modification time, and what was left out on the way. Not here:
opening a file, trees elsewhere (`search.remote_files`), which files are a job
(`search.run_folders`).

One look at each file. Links to folders are not followed, as `analyze` does not: so nothing runs in
circles, and a link to a data set does not draw it in. A link to a file is a file, unless what it
leads to lies below a named place anyway.
"""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.core.message import NOTHING, Message, say
from postmortem.fleet.store.stored_rows import FileRow
from postmortem.reading.discover import INSTALLED, PACKAGES
from postmortem.reading.opener import describe_special_file

_SCHEME: Final = compile_lazily(r"(?:[A-Za-z][A-Za-z0-9+.-]{1,30}(?:://|::))")
_LOGIN: Final = compile_lazily(
    r"(?<![A-Za-z0-9+.-])(?P<scheme>(?!abfs|wasb)[A-Za-z][A-Za-z0-9+.-]{1,30}://)[^/]*@"
)
"""In Azure's URLs a container stands before the @."""
_QUERY: Final = compile_lazily(
    r"(?P<url>https?://[^?#:]{0,2000}(?::\d{1,5}[^?#:]{0,2000})?)[?#](?:(?!::).)*"
)


def is_remote(place: str) -> bool:
    """Say whether a place is a URL, or several of them, one within the other."""
    return _SCHEME.match(place) is not None


def remove_location_secrets(location: str) -> str:
    """Give a location without login, query and fragment; a path as it is."""
    if not is_remote(location):
        return location
    return _QUERY.sub(r"\g<url>", _LOGIN.sub(r"\g<scheme>", location))


def extract_path(location: str) -> str:
    """Give what of a location names the file: without what holds it and what a server is asked."""
    if not is_remote(location):
        return location
    head = location.partition("::")[0]
    return head.partition("?")[0] if head.startswith(("http://", "https://")) else head


def extract_name(location: str) -> str:
    """Give the name of a file within its folder."""
    return PurePath(extract_path(location)).name


def join_location(folder: str, name: str) -> str:
    """Give the location of a name within a folder."""
    head, chained, rest = folder.partition("::") if is_remote(folder) else (folder, "", "")
    return f"{head.rstrip('/')}/{name}{chained}{rest}"


def get_parent_folder(location: str) -> str:
    """Give the folder of a file."""
    if not is_remote(location):
        return location.rpartition("/")[0]
    head, chained, rest = location.partition("::")
    return f"{extract_path(head).rpartition('/')[0]}{chained}{rest}"


_DEEPEST: Final = 40
HIDDEN: Final = say("hidden")
_LINK_TO_FOLDER: Final = say("a link to a folder; name the folder itself to have it read")
_FOUND_ELSEWHERE: Final = say("a link to a file that is found itself")
_TOO_DEEP: Final = say("more than {count} folders deep", count=_DEEPEST)
READ_THOUGH_HIDDEN: Final = ".hydra"
_MOST_LISTED: Final = 1000


@dataclass(slots=True)
class Tree:
    """A folder and all below it."""

    name: str
    location: str
    files: list[FileRow] = field(default_factory=list)
    folders: list["Tree"] = field(default_factory=list)

    def order(self) -> None:
        """Sort files and folders by name: the order of a file system is arbitrary."""
        self.files.sort(key=lambda file: file.name)
        self.folders.sort(key=lambda folder: folder.name)


class LeftOut(NamedTuple):
    """A location below what was named that belongs to no job, and why."""

    location: str
    why_en: str
    why_zh: str


class Leftovers:
    """Collects what belongs to no job; beyond a thousand it only counts."""

    def __init__(self) -> None:
        self._listed: list[LeftOut] = []
        self._more = 0

    def add(self, location: str, why: Message) -> None:
        """Note a location with the reason."""
        if len(self._listed) < _MOST_LISTED:
            self._listed.append(LeftOut(escape_location(location), why.text("en"), why.text("zh")))
        else:
            self._more += 1

    def list_all(self) -> tuple[LeftOut, ...]:
        """Give them sorted by location, the count of those that are not listed at the end."""
        found = sorted(self._listed, key=lambda row: row.location)
        if self._more:
            why = say("{count} more", count=self._more)
            found.append(LeftOut("", why.text("en"), why.text("zh")))
        return tuple(found)


def escape_location(location: str) -> str:
    r"""Give a location that every file and terminal takes.

    Bytes that are no UTF-8, line breaks and other control characters stand as `\xe9`.
    """
    if location.isprintable():
        return location
    text = os.fsencode(location).decode("utf-8", "backslashreplace")
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def list_local_tree(folder: str, left: Leftovers, is_below_named: Callable[[str], bool]) -> Tree:
    """List a local folder.

    Args:
        folder: its real, absolute path.
        left: takes what is passed over.
        is_below_named: whether a real path lies below a place that is listed itself.
    """
    return _Lister(left, is_below_named).list_tree(folder, Path(folder).name, 0)


class _Lister:
    def __init__(self, left: Leftovers, is_below_named: Callable[[str], bool]) -> None:
        self._left, self._is_below_named = left, is_below_named

    def list_tree(self, path: str, name: str, depth: int) -> Tree:
        """List a folder and those below it."""
        tree = Tree(name, path)
        try:
            with os.scandir(path) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._left.add(path, _describe_open_error(error))
            return tree
        if depth and any(entry.name == "pyvenv.cfg" for entry in found):
            self._left.add(path, PACKAGES)
            return tree
        for entry in found:
            self._take(entry, tree, depth)
        return tree

    def _take(self, entry: os.DirEntry[str], tree: Tree, depth: int) -> None:
        name = entry.name
        try:
            if entry.is_dir(follow_symlinks=False):
                why = self._against(name, depth)
                if why:
                    self._left.add(entry.path, why)
                else:
                    tree.folders.append(self.list_tree(entry.path, name, depth + 1))
            elif name.startswith("."):
                self._left.add(entry.path, HIDDEN)
            else:
                self._take_file(entry, tree)
        except OSError as error:  # a link that leads nowhere or in a circle, a file that is gone
            self._left.add(entry.path, _describe_open_error(error))

    def _against(self, name: str, depth: int) -> Message:
        if name.startswith(".") and name != READ_THOUGH_HIDDEN:
            return HIDDEN
        if name in INSTALLED:
            return PACKAGES
        return _TOO_DEEP if depth >= _DEEPEST else NOTHING

    def _take_file(self, entry: os.DirEntry[str], tree: Tree) -> None:
        status = entry.stat()
        if stat.S_ISDIR(status.st_mode):
            self._left.add(entry.path, _LINK_TO_FOLDER)
            return
        why = describe_special_file(status.st_mode)
        if (
            why is None
            and entry.is_symlink()
            and self._is_below_named(os.path.realpath(entry.path))
        ):
            why = _FOUND_ELSEWHERE
        if why is not None:
            self._left.add(entry.path, why)
            return
        tree.files.append(FileRow(entry.name, entry.path, status.st_size, str(status.st_mtime_ns)))


def _describe_open_error(error: OSError) -> Message:
    return say("cannot be opened: {why}", why=error.strerror or str(error))
