"""Restrict the files that an assistant may read to the folders that its user allows.

In: folders, a path as an assistant names it. Out: a path that can be read, or a refusal. Not here:
who allows which folder (`mcp.server`), links within a folder (`reading.discover`).

A path is judged by its target, with links and `..` resolved. Whether a path outside exists is not
revealed. Names that begin with a dot are not read below an allowed folder, as in any folder that is
analysed: keys and credentials have such names.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from postmortem.core.errors import InputError, UsageError
from postmortem.core.log_text import compile_lazily

_MACHINE: Final = (Path("/proc"), Path("/sys"), Path("/dev"))
"""What a system shows of itself there is no log, and may hold secrets."""
_READ_THOUGH_HIDDEN: Final = frozenset({".hydra"})
_LONGEST: Final = 4096
_PLAIN: Final = compile_lazily(r"[\w./\\:~@+=,-]{1,200}")
"""A path that can be repeated in a refusal: no sentence hides in it."""


@dataclass(frozen=True, slots=True)
class AllowedFolders:
    """Folders that may be read, with everything below them."""

    folders: tuple[Path, ...]
    """Resolved: no link and no `..` is in them."""

    @classmethod
    def of(cls, named: Iterable[Path]) -> "AllowedFolders":
        """Take folders as they are named; one that does not exist allows nothing."""
        found = [
            path
            for folder in named
            if (path := _resolve_path(folder)) is not None and path.exists()
        ]
        return cls(tuple(dict.fromkeys(found)))

    def locate(self, named: str) -> str:
        """Give the path to read; a relative one is looked for below each folder in turn.

        Raises:
            InputError: it leads out of the folders, or to nothing.
            UsageError: no folder is allowed.
        """
        if not self.folders:
            raise UsageError(
                "no folder may be read",
                "",
                "pass the log as text, or have the server started with --root DIR",
            )
        shown = named if _PLAIN.fullmatch(named) else "a path with unusual characters in it"
        if not named.strip() or "\0" in named or len(named) > _LONGEST:
            raise InputError("this is no path", shown, "name a file or folder")
        places = list(dict.fromkeys(folder / named for folder in self.folders))
        inside = [path for path in places if self._is_inside(path)]
        found = next((path for path in inside if path.exists()), None)
        if found is not None:
            return str(found)
        if inside == places:
            raise InputError("no such file or folder", shown, f"looked below {self}")
        raise InputError(
            "this path may not be read: it leads out of the allowed folders, or has a hidden name"
            " in it",
            shown,
            f"allowed is what lies below {self}; more: postmortem mcp --root DIR",
        )

    def __str__(self) -> str:
        """Name the folders."""
        return ", ".join(str(folder) for folder in self.folders)

    def _is_inside(self, path: Path) -> bool:
        """Say whether a path leads below an allowed folder, through no hidden name."""
        target = _resolve_path(path)
        if target is None:
            return False
        if any(
            target.is_relative_to(system_folder) and not self._names(system_folder)
            for system_folder in _MACHINE
        ):
            return False
        return any(
            target.is_relative_to(folder) and not _is_hidden(target.relative_to(folder))
            for folder in self.folders
        )

    def _names(self, place: Path) -> bool:
        """Say whether the user has allowed this place, or something in it, by name."""
        return any(folder.is_relative_to(place) for folder in self.folders)


def _resolve_path(path: Path) -> Path | None:
    """Follow links and `..`; None of a circle and of what no system takes."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") and part not in _READ_THOUGH_HIDDEN for part in path.parts)
