"""Find the folders of rules that paths belong to, and which of their files are meant.

In: paths of folders of rules, or of files and folders within them. Out: `RuleSelection`. Not here:
what is in the files (`rules.check`).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from postmortem.core.errors import UsageError
from postmortem.rules.compile import KINDS
from postmortem.rules.schema import TABLES


class RuleSelection(NamedTuple):
    """Files to check, each within a whole folder of rules."""

    folders: tuple[Path, ...]
    """Folders of rules, which hold `signatures`, `fixes` and so on."""
    files: frozenset[str]
    """Names of files as compiled rules give them: `exceptions/tables.yaml`, `metrics.yaml`."""


def select_rules(paths: Iterable[Path]) -> RuleSelection:
    """Select all rules of these folders, or those of single files and folders within one.

    Raises:
        UsageError: a file is within no folder of rules.
    """
    folders: dict[Path, None] = {}
    files: set[str] = set()
    for path in paths:
        folder = _find_rules_folder(path)
        folders[folder] = None
        meant = path if folder == path or path.is_absolute() else path.absolute()
        found = sorted(meant.rglob("*.yaml")) if meant.is_dir() else [meant]
        files.update(file.relative_to(folder).as_posix() for file in found)
    return RuleSelection(tuple(folders), frozenset(files))


def _find_rules_folder(path: Path) -> Path:
    """Give the folder that holds `signatures`, `fixes` and so on for a path within it."""
    if path.is_dir() and any((path / kind).is_dir() for kind in KINDS):
        return path
    whole = path.absolute()
    for inner in (whole, *whole.parents):
        if inner.name in KINDS:
            return inner.parent
    if path.is_dir():
        return path
    if path.suffix == ".yaml" and path.stem in TABLES:
        return whole.parent
    raise UsageError(
        "this is no file of rules",
        path,
        f"name one within {', '.join(KINDS[:-1])} or {KINDS[-1]} of a folder of rules",
    )
