"""The files of a watched job; they may appear one after the other.

In: the paths that the user gave. Out: the files, and notes on those that are missing or left
out. Not here: the content of a file (`watch.watched_file`).
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from postmortem.core.errors import InputError, UsageError
from postmortem.core.lines import NOWHERE
from postmortem.core.message import convert_to_message
from postmortem.core.watching import Noted
from postmortem.extraction.literals import Matcher
from postmortem.interfaces.watch.watched_file import WatchedFile
from postmortem.reading.discover import find_candidates
from postmortem.reading.file_names import parse_processes
from postmortem.reading.follow import Unavailable

_MOST: Final = 512
_PATIENCE: Final = 10.0
"""Seconds for which a log may be a folder, a loop of links, or closed to us, as while somebody
moves it."""


class JobFiles:
    """The files of one job, in the order in which they were found."""

    def __init__(self, paths: Sequence[str], machine: Matcher, *, waits: bool) -> None:
        """Look for nothing yet; `waits`: what is not there may still come."""
        self.given, self._machine, self._waits = tuple(paths), machine, waits
        self._files: dict[str, WatchedFile] = {}
        self._unreadable: set[str] = set()
        self._waiting: set[str] = set()
        self._unavailable: dict[str, float] = {}
        """Since when a file could not be read."""

    def __iter__(self) -> Iterator[WatchedFile]:
        """Yield the files that are there now; some may be left out meanwhile."""
        return iter(list(self._files.values()))

    def __getitem__(self, path: str) -> WatchedFile:
        """Give the file at a path."""
        return self._files[path]

    def find(self) -> Iterator[Noted]:
        """Find the files of the job, and say which of them are waited for.

        Raises:
            InputError: a path is missing, and nothing is waited for.
            UsageError: the folders hold more files than can be watched.
        """
        paths = self._paths()
        new = [path for path in paths if path not in self._files and path not in self._unreadable]
        where = parse_processes(paths) if new else {}
        for path in new:
            self._files[path] = WatchedFile(
                self._machine, len(self._files), path, where.get(path, NOWHERE)
            )
        yield from self._missing(is_any=bool(paths))

    def is_available(self, path: str) -> None:
        """Note that a file can be read."""
        self._unavailable.pop(path, None)

    def has_come(self, path: str) -> Iterator[Noted]:
        """Say that a file is there now, if it was waited for."""
        if path in self._waiting:
            self._waiting.discard(path)
            yield Noted("found", path)

    def leave_out(self, file: WatchedFile, error: InputError, now: float) -> Iterator[Noted]:
        """Leave a file of a folder out for good; one that the user named is an error.

        What may pass is waited for.
        """
        since = self._unavailable.setdefault(file.path, now)
        if self._waits and isinstance(error, Unavailable) and now - since < _PATIENCE:
            return
        if file.path in self.given:
            raise error
        self._unreadable.add(file.path)
        del self._files[file.path]
        yield Noted("unreadable", file.path, convert_to_message(error.what))

    def _paths(self) -> list[str]:
        """List the files that are given or lie in the folders that are."""
        paths: list[str] = []
        for path in self.given:
            if path not in self._files and os.path.isdir(path):  # noqa: PTH112 -- never raises
                with suppress(InputError):  # nothing in it yet
                    paths += [found.path for found in find_candidates([path]) if not found.skip]
            else:
                paths.append(path)
        if len(paths) > _MOST:
            raise UsageError(
                f"{len(paths)} files are too many to watch",
                ", ".join(self.given),
                f"name the logs of the job, at most {_MOST}",
            )
        return list(dict.fromkeys(paths))

    def _missing(self, *, is_any: bool) -> Iterator[Noted]:
        """Say, once of each, which paths are not there, or that no folder holds a log."""
        absent = {path for path in self.given if not os.path.exists(path)}  # noqa: PTH110 -- never raises
        if not is_any:
            absent |= set(self.given)
        if absent and not self._waits:
            raise InputError(
                "no such file or folder",
                ", ".join(sorted(absent)),
                "check the path; without --once it is waited for",
            )
        for path in sorted(absent - self._waiting):
            if path not in self._files or not self._files[path].followed.is_there:
                self._waiting.add(path)
                yield Noted("waiting", path)
