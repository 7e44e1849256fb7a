"""Select the last run of a folder in which a tracker keeps several.

In: the paths below a folder. Out: the files of earlier runs, each with the folder by which it is
analyzed alone. Not here: attempts within a job (`reading.file_names`, `case.attempts`).

Only folders count that a tracker names by time or number: wandb's runs, Lightning's versions, runs
in MLflow's file store, what mmengine, Hydra, TensorBoard and Ultralytics make for each start.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import Message, say

_Order = tuple[int, str]
_MOST_META: Final = 4096
_STARTED: Final = compile_lazily(r"^start_time: (\d{1,20})\s*$", re.MULTILINE)


class _Family(NamedTuple):
    """Folders that stand for a run each."""

    parts: tuple[re.Pattern[str], ...]
    """The names of the folder and of those above it that make it one, from above."""
    order: Callable[[Path, str], _Order]
    """When it began, from the folder and its name."""
    depth: int = 1
    """How many of the names tell the run; those above are shared."""


def _order_by_text(folder: Path, name: str) -> _Order:
    """Let names that are times count, with that of the folder above: Hydra's is the day."""
    return 0, f"{folder.parent.name}/{name}"


def _order_by_number(_: Path, name: str) -> _Order:
    digits = re.search(r"\d+\Z", name)
    return (int(digits[0]) if digits else 1), ""


def _order_by_time(_: Path, name: str) -> _Order:
    return 0, name.removeprefix("offline-")


def _order_by_meta(folder: Path, _: str) -> _Order:
    """Read when a run of MLflow began."""
    try:
        with (folder / "meta.yaml").open(encoding="utf-8", errors="replace") as file:
            began = _STARTED.search(file.read(_MOST_META))
    except OSError:
        began = None
    return (int(began[1]) if began else 0), ""


def _order_by_event(folder: Path, _: str) -> _Order:
    """Read when TensorBoard's first file of a run was begun off its name."""
    times = [
        re.search(r"\.tfevents\.(\d{1,12})\.", file.name) for file in folder.glob("*.tfevents.*")
    ]
    return min((int(match[1]) for match in times if match), default=0), ""


def _build_family(
    *parts: str, order: Callable[[Path, str], _Order] = _order_by_text, depth: int = 1
) -> _Family:
    return _Family(tuple(compile_lazily(rf"(?:{part})\Z") for part in parts), order, depth)


_FAMILIES: Final = (
    _build_family("wandb", r"(?:offline-)?run-\d{8}_\d{6}-\w{1,64}", order=_order_by_time),
    _build_family(r"version_\d{1,6}", order=_order_by_number),
    _build_family("mlruns", r"[^/]{1,100}", "[0-9a-f]{32}", order=_order_by_meta, depth=2),
    _build_family(r"\d{8}_\d{6}"),
    _build_family(r"\d{4}-\d\d-\d\d", r"\d\d-\d\d-\d\d", depth=2),
    _build_family("runs", r"[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_.{1,200}", order=_order_by_event),
    _build_family("runs", r"[a-z]{1,20}", r"train\d{0,5}", order=_order_by_number),
)


def find_earlier_runs(paths: Iterable[Path], folder: Path) -> dict[Path, Message]:
    """Give the files of earlier runs in the same folder, each with the reason."""
    groups: dict[tuple[int, Path], dict[Path, list[Path]]] = defaultdict(lambda: defaultdict(list))
    for path in paths:
        for number, family in enumerate(_FAMILIES):
            for run in _find_runs_above(path, folder, family):
                shared = run.parents[family.depth - 1]
                groups[number, shared][run].append(path)
    earlier: dict[Path, Message] = {}
    for (number, _), runs in groups.items():
        order = _FAMILIES[number].order
        if len(runs) > 1:
            ranked = sorted(runs, key=lambda run: (order(run, run.name), str(run)))
            for run in ranked[:-1]:
                why = say(
                    "of an earlier run; for that one, analyze {folder}",
                    folder=str(run),
                )
                earlier |= dict.fromkeys(runs[run], why)
    return earlier


def is_run_folder(folder: Path) -> bool:
    """Say whether a folder is called as a tracker calls that of a single run."""
    return any(_is_of(folder, family) for family in _FAMILIES)


def sort_folders(folders: Iterable[Path]) -> list[Path]:
    """Sort run folders that lie side by side by when they began, as far as names and files tell."""

    def began(folder: Path) -> tuple[_Order, str]:
        order = next(
            (family.order for family in _FAMILIES if _is_of(folder, family)), _order_by_text
        )
        return order(folder, folder.name), str(folder)

    return sorted(folders, key=began)


def _is_of(folder: Path, family: _Family) -> bool:
    names = folder.parts[-len(family.parts) :]
    return len(names) == len(family.parts) and all(
        pattern.match(name) for pattern, name in zip(family.parts, names, strict=True)
    )


def _find_runs_above(path: Path, folder: Path, family: _Family) -> list[Path]:
    """Give the folders above a file, below or at the named one, that stand for a run."""
    found = []
    for above in path.parents:
        if above == folder:
            break
        if _is_of(above, family):
            found.append(above)
    return found
