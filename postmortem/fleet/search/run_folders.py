"""Whether a folder is one job or a folder of jobs, by names alone.

In: `FolderContent`s. Out: yes or no. Not here: which files of a folder of jobs belong together
(`search.grouping`).

The rules, the first that holds decides:

1. Files of two scheduler's ids, or process files of two stems (`a_rank0`, `b_rank0`), make it a
   folder of jobs.
2. What a tool leaves in the folder of a run makes it one job: trainer_state.json (also in a
   checkpoint below), hparams.yaml, a `.hydra` or `attempt_<n>` folder, event files of TensorBoard
   where no two logs are told apart by name; or it is called as a tracker calls a run's folder.
3. Folders below that are called after processes (rank0, node-2; 0, 1, ... with stdout and stderr)
   and repeat a name make it one job, unless logs of several names lie beside them.
4. One log, or several with unspecific names, beside nothing but trackers' folders (wandb,
   lightning_logs) or a single run's folder belong to that run.
5. Any other folder with logs in folders below is a folder of jobs.
6. Names that are unspecific (train.log, gpu.log), but for one at most, are one job's; so are files
   with nothing but a process in their name, if no more other logs lie beside them.
7. Folders side by side that hold the same names, two at least, are a job each.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.fleet.search.grouping import FolderContent, is_unspecific
from postmortem.fleet.search.locations import extract_path
from postmortem.reading.file_names import parse_attempts, process_words
from postmortem.reading.last_run import is_run_folder, sort_folders

_STATE: Final = frozenset({"trainer_state.json", "hparams.yaml"})
_CHECKPOINT: Final = compile_lazily(r"checkpoint-\d{1,12}\Z")
_TRACKERS: Final = frozenset(
    {"wandb", "lightning_logs", "mlruns", "runs", "tb_logs", "tensorboard", "tensorboard_logs"}
)
_REDIRECTED: Final = frozenset({"", "error"})
_DIGITS: Final = compile_lazily(r"\d+")
_MOST_LOCAL: Final = 64
_FEWEST_LETTERS: Final = 3
"""Of a folder's name that is looked for within those of its files."""

Signature = frozenset[tuple[str, int]]


def is_marked(folder: FolderContent) -> bool:
    """Say whether a tool left in a folder what it leaves in that of a single run."""
    names = {file.name for file in folder.beside}
    if not _STATE.isdisjoint(names):
        return True
    for below in folder.folders:
        name = below.tree.name
        if name == ".hydra" or (parse_attempts([name]) and below.has_logs):
            return True
        if _CHECKPOINT.match(name) and any(
            file.name == "trainer_state.json" for file in below.beside
        ):
            return True
    return len(folder.plain) < 2 and any("tfevents" in name for name in names)


def has_job_content(folder: FolderContent) -> bool:
    """Say whether a folder holds anything that could be of a job, here or below."""
    return (
        folder.has_logs
        or is_marked(folder)
        or any(has_job_content(child) for child in folder.folders)
    )


def is_one_job(folder: FolderContent, *, is_like_siblings: bool = False) -> bool:
    """Say whether all of a folder is one job."""
    below = [child for child in folder.folders if has_job_content(child)]
    if len(folder.scheduled) > 1 or _process_stems(folder) > 1:
        return False
    if is_marked(folder) or (_is_called_a_run(folder) and not any(map(is_marked, below))):
        return True
    if below:
        return _is_of_processes(folder, below) or _has_its_run_below(folder, below)
    return _is_by_names(folder, is_like_siblings=is_like_siblings)


def _is_called_a_run(folder: FolderContent) -> bool:
    return is_run_folder(Path(extract_path(folder.tree.location))) and (
        folder.has_logs or bool(folder.beside)
    )


def _process_stems(folder: FolderContent) -> int:
    """Count the stems that identify a job and have files of several processes."""
    return sum(
        not is_unspecific(stem)
        and len({log.parts.process for log in logs if log.parts.process}) > 1
        for (stem, attempt), logs in folder.groups.items()
        if not attempt
    )


def _is_of_processes(folder: FolderContent, below: list[FolderContent]) -> bool:
    """Say whether the folders below are the processes of one job."""
    if len(folder.plain) + len(folder.scheduled) > 1:
        return False
    is_named = all(_is_called_a_process(child) for child in below)
    if not is_named and not _has_redirected_ranks(below):
        return False
    shared = frozenset.intersection(*(_collect_stems(child) for child in below))
    return bool(shared) and not any(child.scheduled for child in below)


def _is_called_a_process(folder: FolderContent) -> bool:
    rest, words = process_words(folder.tree.name)
    return rest == "" and bool(words)


def _has_redirected_ranks(below: list[FolderContent]) -> bool:
    """Say whether the folders are local ranks into which torchrun redirects."""
    names = {child.tree.name for child in below}
    return (
        names == {str(number) for number in range(len(below))}
        and len(below) <= _MOST_LOCAL
        and all({key[0] for key in child.groups} <= _REDIRECTED and child.groups for child in below)
        and all(log.parts.stream for child in below for log in child.groups.get(("", 0), ()))
    )


def _collect_stems(folder: FolderContent) -> frozenset[str]:
    found = {stem for stem, attempt in folder.groups if not attempt}
    for child in folder.folders:
        found |= _collect_stems(child)
    return frozenset(found)


def _has_its_run_below(folder: FolderContent, below: list[FolderContent]) -> bool:
    """Say whether the subfolders belong to experiment trackers or to the one run of these logs."""
    if not folder.groups or len(folder.plain) + len(folder.scheduled) > 1:
        return False
    return all(child.tree.name in _TRACKERS for child in below) or (
        len(below) == 1 and is_one_job(below[0])
    )


def _is_by_names(folder: FolderContent, *, is_like_siblings: bool) -> bool:
    """Say whether the logs of a folder without others below are one job."""
    if not folder.groups:
        return False
    specific = len(folder.plain) + len(folder.scheduled)
    of_folder = folder.groups.get(("", 0), [])
    processes = {log.parts.process for log in of_folder if log.parts.process}
    if is_like_siblings and len(folder.groups) > 1:
        return True
    if specific < 2:
        is_several = not specific and any(len(logs) > 1 for logs in folder.groups.values())
        return bool(len(folder.groups) > 1 or folder.beside or of_folder or is_several)
    return len(processes) >= specific


def find_repeated_folders(folders: Iterable[FolderContent]) -> list[bool]:
    """Say of each of several folders side by side whether another holds the same names."""
    signatures = [_compute_signature(folder) for folder in folders]
    count = Counter(signatures)
    return [bool(signature) and count[signature] > 1 for signature in signatures]


def _compute_signature(folder: FolderContent) -> Signature:
    """Give the names of a folder's logs; none if they number jobs or hold scheduler ids."""
    own = folder.tree.name
    stems = [
        stem.replace(own, "%x") if len(own) >= _FEWEST_LETTERS else stem
        for stem, _ in folder.groups
    ]
    skeletons = {_DIGITS.sub("#", stem) for stem in stems}
    if folder.scheduled or len(stems) < 2 or len(skeletons) < len(stems):
        return frozenset()
    return frozenset((stem, 0) for stem in stems)


def list_earlier_runs(folder: FolderContent) -> list[FolderContent]:
    """List the runs within a job's folder that another of the same tracker followed."""
    found: list[FolderContent] = []
    runs = {
        Path(extract_path(child.tree.location)): child
        for child in folder.folders
        if _is_called_a_run(child)
    }
    if len(runs) > 1:
        found = [runs[path] for path in sort_folders(runs)[:-1]]
    for child in folder.folders:
        if not any(child is other for other in found):
            found += list_earlier_runs(child)
    return found
