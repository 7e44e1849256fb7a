"""Which folders are one job: by names alone, and the pods of a job as Kubernetes keeps them.

In: `FolderContent`s; folders `<namespace>_<pod>_<uid>` below /var/log/pods, files
`<pod>_<namespace>_<container>-<id>.log` below /var/log/containers. Out: yes or no; for each job of
pods where it is, its title, its files, an id and an attempt. Not here: which files of a folder of
jobs belong together (`search.grouping`).

The rules for a folder, the first that holds decides:

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

The owner of a pod is read off its name: `<job>-worker-0`, `<job>-master-0`; `<job>-3-x7k2p` of an
indexed job. `<job>-x7k2p` alone does not show whether it is a further process, a retry or another
job of one template, so it is a job by itself. Restarts of a container and pods that took the place
of others are attempts within the job. What runs in kube-system is nobody's training; it is taken
though, since only its log can show that.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.fleet.search.grouping import FolderContent, NamedFile, is_unspecific
from postmortem.fleet.search.listing import (
    escape_location,
    extract_path,
    get_parent_folder,
    join_location,
)
from postmortem.fleet.store.stored_rows import FileRow, JobRow
from postmortem.reading.file_names import is_run_folder, parse_attempts, process_words, sort_folders

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


_FOLDER: Final = compile_lazily(
    r"(?P<space>[a-z0-9-]{1,63})_(?P<pod>[a-z0-9.-]{1,253})_"
    r"(?P<uid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})\Z"
)
_FILE: Final = compile_lazily(
    r"(?P<pod>[a-z0-9.-]{1,253})_(?P<space>[a-z0-9-]{1,63})_(?P<container>[a-z0-9-]{1,63})-"
    r"(?P<id>[0-9a-f]{64})\.log\Z"
)
_ROLE: Final = compile_lazily(
    r"(?P<job>.+)-(?P<role>worker|master|launcher|chief|ps|head|node)(?:-(?P<index>\d{1,5}))?"
    r"(?:-[bcdfghjklmnpqrstvwxz2456789]{5})?\Z"
)
_INDEX: Final = compile_lazily(
    r"(?P<job>.+)-(?P<index>\d{1,5})(?:-[bcdfghjklmnpqrstvwxz2456789]{5})\Z"
)
_TURN: Final = compile_lazily(r"(?P<restart>\d{1,6})\.log(?P<rest>.*)\Z")


class _PodFile(NamedTuple):
    """A file of a pod."""

    pod: str
    uid: str
    container: str
    restart: int
    rest: str
    """Behind the suffix: what rotation added."""
    entry: FileRow
    folder: str


def is_pod_folder(name: str) -> bool:
    """Say whether a folder is called as the kubelet calls that of a pod."""
    return _FOLDER.match(name) is not None


class Pods:
    """Collects the files of pods that lie side by side."""

    def __init__(self) -> None:
        self._jobs: dict[tuple[str, str], list[_PodFile]] = defaultdict(list)

    def add_folder(self, folder: FolderContent) -> None:
        """Take all of a pod's folder."""
        match = _FOLDER.match(folder.tree.name)
        assert match is not None, folder.tree.name  # noqa: S101
        above = get_parent_folder(folder.tree.location)
        for inner in folder.folders:
            logs = [log for group in inner.groups.values() for log in group]
            for entry in [log.entry for log in logs] + inner.beside:
                turn = _TURN.match(entry.name)
                restart, rest = (int(turn["restart"]), turn["rest"]) if turn else (0, "")
                self._add(
                    match["space"],
                    _PodFile(
                        match["pod"], match["uid"], inner.tree.name, restart, rest, entry, above
                    ),
                )

    def take_containers(self, logs: list[NamedFile]) -> list[NamedFile]:
        """Take the files of containers; give what is left."""
        rest = []
        for log in logs:
            match = _FILE.match(log.entry.name)
            if match is None:
                rest.append(log)
                continue
            above = get_parent_folder(log.entry.location)
            self._add(
                match["space"],
                _PodFile(match["pod"], "", match["container"], 0, "", log.entry, above),
            )
        return rest

    def _add(self, space: str, pod_file: _PodFile) -> None:
        match = _ROLE.match(pod_file.pod) or _INDEX.match(pod_file.pod)
        owner = match["job"] if match else f"{pod_file.pod} {pod_file.uid}"
        self._jobs[space, owner].append(pod_file)

    def list_jobs(self) -> Iterator[JobRow]:
        """Give each job with the pods that it had."""
        for (space, owner), files in sorted(self._jobs.items()):
            name = owner.split(" ", maxsplit=1)[0]
            pods = {(file.pod, file.uid) for file in files}
            uid = files[0].uid if len(pods) == 1 else ""
            where = join_location(files[0].folder, f"{space}_{name}*")
            yield JobRow(where, f"{space}/{name}", _name_pod_files(files), uid)


def _name_pod_files(files: list[_PodFile]) -> tuple[FileRow, ...]:
    """Name files by attempt, process and container."""
    attempts = _count_attempts(files)
    several = len({*attempts.values()}) > 1
    processes = {_process(file.pod) for file in files}
    found: dict[str, FileRow] = {}
    for entry in sorted(files, key=lambda file: (file.pod, file.uid, file.entry.location)):
        folders = [f"attempt_{attempts[entry.entry.location]}"] if several else []
        folders += [_process(entry.pod)] if len(processes) > 1 else []
        base = "/".join(["job", *folders, escape_location(entry.container)])
        name, place = f"{base}.log{entry.rest}", 1
        while name in found:
            place += 1
            name = f"{base}-{place}.log{entry.rest}"
        found[name] = entry.entry
    if len(found) == 1:
        return (files[0].entry._replace(name="log.txt"),)
    return tuple(file._replace(name=name) for name, file in sorted(found.items()))


def _process(pod: str) -> str:
    """Name the process of a pod as logs of processes are called."""
    match = _ROLE.match(pod) or _INDEX.match(pod)
    if match is None:
        return ""
    groups = match.groupdict()
    return f"{groups.get('role') or 'node'}-{groups['index'] or 0}"


def _count_attempts(files: list[_PodFile]) -> dict[str, int]:
    """Count the attempts by location: pods that followed each other, and restarts of a container.

    Pods are ordered by the times at which their logs were written.
    """
    began: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for file in files:
        pods = began[_process(file.pod)]
        pod = (file.pod, file.uid)
        stamp = file.entry.stamp.rjust(32, "0")
        pods[pod] = min(pods.get(pod, stamp), stamp)
    place = {
        pod: number
        for pods in began.values()
        for number, pod in enumerate(sorted(pods, key=lambda pod: (pods[pod], pod)))
    }
    steps = sorted({(place[file.pod, file.uid], file.restart) for file in files})
    return {
        file.entry.location: steps.index((place[file.pod, file.uid], file.restart))
        for file in files
    }
