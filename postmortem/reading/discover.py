"""Choose the files of a folder that belong to a job; give the reason for the others.

In: the paths and streams that a user gave. Out: `Candidate`s in a fixed order. Not here: opening
them.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from postmortem.core.errors import InputError
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, say
from postmortem.reading.file_names import find_earlier_runs
from postmortem.reading.non_logs import get_skip_reason, is_python_dump
from postmortem.reading.opener import describe_special_file
from postmortem.reading.sources import Origin, is_file, name_of

_DIGITS: Final = compile_lazily(r"([0-9]+)")
_MOST_FILES: Final = 4096
_MOST_LISTED: Final = 500
"""Files that are not read and are listed one by one; the others are counted."""
_TOO_MANY: Final = say("more than {count} files in one job", count=_MOST_FILES)


_MOST_SEEN: Final = 100_000
"""Files of a folder that are looked at by name."""
_TOO_LARGE: Final = say(
    "the folder holds more than {count:,} files; the rest was not looked at",
    count=_MOST_SEEN,
)
_OUTSIDE: Final = say("a link that leads out of the folders that may be read")
_READ_THOUGH_HIDDEN: Final = frozenset({".hydra"})
INSTALLED: Final = frozenset({"site-packages", "node_modules", "__pycache__"})
PACKAGES: Final = say("installed packages, no logs")
_DUMP_HEAD: Final = 4096
"""Bytes of a Python file by which a dumped configuration is told from code."""


class Candidate(NamedTuple):
    """What may belong to the job's log."""

    origin: Origin
    skip: Message | None
    """Why it is not read; None if it is."""

    @property
    def path(self) -> str:
        """Give the name to be shown."""
        return name_of(self.origin)


def _is_there(path: str) -> bool:
    """Say whether a path leads anywhere; one that no system takes (far too long) does not."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def find_candidates(
    origins: Iterable[Origin], within: Sequence[Path] | None = None
) -> Iterator[Candidate]:
    """List the files and streams of the job in a fixed order.

    Args:
        origins: what the user gave.
        within: the only folders, as `Path.resolve` gives them, that links in a folder may lead to;
            None for no limit.

    Raises:
        InputError: a path does not exist, or a folder holds nothing that could be a log.
    """
    for origin in origins:
        path = name_of(origin)
        if is_file(origin) and not _is_there(path):
            raise InputError("no such file or folder", path, "check the path")
        if not is_file(origin) or not Path(path).is_dir():
            yield Candidate(origin, None)
            continue
        found = list(_walk(Path(path), within))
        if not any(not candidate.skip for candidate in found):
            raise InputError(
                "the folder holds no logs",
                path,
                "name the log file itself, or a folder with text logs in it",
            )
        yield from found


def _walk(folder: Path, within: Sequence[Path] | None) -> Iterator[Candidate]:
    found = _FilesBelow(folder)
    earlier = find_earlier_runs(found.files, folder)
    taken = left = 0
    for path in sorted(found.files, key=_build_sort_key):
        why = earlier.get(path) or (_TOO_MANY if taken >= _MOST_FILES else None)
        why = why or (None if is_link_into(path, within) else _OUTSIDE) or _get_skip_reason(path)
        taken, left = taken + (why is None), left + (why is not None)
        if why is None or left <= _MOST_LISTED:
            yield Candidate(str(path), why)
    if left > _MOST_LISTED:
        yield Candidate(
            str(folder),
            say(
                "{count} more files that are not read",
                count=left - _MOST_LISTED,
            ),
        )
    yield from found.passed_over
    for error in found.refused:
        if error.filename == str(folder):
            raise InputError(
                f"the folder cannot be opened: {error.strerror}", folder, "check its permissions"
            ) from error
        yield Candidate(str(error.filename), _describe_open_error(error))


class _FilesBelow:
    """The files below a folder, as far as it is gone through."""

    def __init__(self, folder: Path) -> None:
        self.files: list[Path] = []
        self.passed_over: list[Candidate] = []
        self.refused: list[OSError] = []
        for root, folders, names in os.walk(folder, onerror=self.refused.append):
            self._pass_over(root, folders)
            folders[:] = sorted(
                name for name in folders if not name.startswith(".") or name in _READ_THOUGH_HIDDEN
            )
            self.files += [Path(root, name) for name in names if not name.startswith(".")]
            if len(self.files) > _MOST_SEEN:
                self.passed_over.append(Candidate(str(folder), _TOO_LARGE))
                break

    def _pass_over(self, root: str, folders: list[str]) -> None:
        """Leave out the folders of installed packages."""
        for name in [*folders]:
            is_installed = name in INSTALLED or Path(root, name, "pyvenv.cfg").is_file()
            if is_installed:
                folders.remove(name)
                self.passed_over.append(Candidate(str(Path(root, name)), PACKAGES))


def is_link_into(path: Path, folders: Sequence[Path] | None) -> bool:
    """Say whether a file that is a link leads into one of these folders; any other file does."""
    if folders is None or not path.is_symlink():
        return True
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):  # nowhere, or in a circle: told where it is opened
        return True
    return any(target.is_relative_to(folder) for folder in folders)


def _build_sort_key(path: Path) -> list[list[tuple[bool, int, str]]]:
    """Give what paths sort by: rank2 stands before rank10."""
    return [
        [
            (bool(_DIGITS.fullmatch(piece)), int(piece) if _DIGITS.fullmatch(piece) else 0, piece)
            for piece in _DIGITS.split(part)
        ]
        for part in path.parts
    ]


def _describe_open_error(error: OSError) -> Message:
    return say("cannot be opened: {why}", why=error.strerror)


def _get_skip_reason(path: Path) -> Message | None:
    """Say why a file is not read; None if it is."""
    why = get_skip_reason(path)
    if why is not None and not (path.suffix == ".py" and is_configuration(path)):
        return why
    try:
        status = path.stat()
    except OSError as error:  # a link that leads nowhere, or in a circle
        return _describe_open_error(error)
    return describe_special_file(status.st_mode) or (None if status.st_size else say("empty"))


def is_configuration(path: Path) -> bool:
    """Say whether a Python file is a dumped configuration; only the beginning is looked at."""
    try:
        with path.open("rb") as file:
            return is_python_dump(file.read(_DUMP_HEAD).decode("utf-8", "replace"))
    except OSError:
        return False
