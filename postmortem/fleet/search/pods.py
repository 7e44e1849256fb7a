"""Logs as Kubernetes keeps them on a node: the pods of one job are grouped.

In: folders `<namespace>_<pod>_<uid>` below /var/log/pods, files
`<pod>_<namespace>_<container>-<id>.log` below /var/log/containers. Out: for each job where it is,
its title, its files, an id and an attempt. Not here: other folders (`search.run_folders`).

The owner of a pod is read off its name: `<job>-worker-0`, `<job>-master-0`; `<job>-3-x7k2p` of an
indexed job. `<job>-x7k2p` alone does not tell whether it is a further process, a retry or another
job of one template, so it is a job by itself. Restarts of a container and pods that took the place
of others are attempts within the job. What runs in kube-system is nobody's training; it is taken
though, since only its log can tell.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.fleet.search.grouping import FolderContent, NamedFile
from postmortem.fleet.search.listing import FileEntry, escape_location
from postmortem.fleet.search.locations import get_parent_folder, join_location

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

PodJob = tuple[str, str, list[tuple[str, FileEntry]], str, int]
"""Where, title, files with neutral names, scheduler's id, attempt."""


class _PodFile(NamedTuple):
    """A file of a pod."""

    pod: str
    uid: str
    container: str
    restart: int
    rest: str
    """Behind the suffix: what rotation added."""
    entry: FileEntry
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

    def list_jobs(self) -> Iterator[PodJob]:
        """Give each job with the pods that it had."""
        for (space, owner), files in sorted(self._jobs.items()):
            name = owner.split(" ", maxsplit=1)[0]
            pods = {(file.pod, file.uid) for file in files}
            uid = files[0].uid if len(pods) == 1 else ""
            where = join_location(files[0].folder, f"{space}_{name}*")
            yield where, f"{space}/{name}", _name_pod_files(files), uid, 1


def _name_pod_files(files: list[_PodFile]) -> list[tuple[str, FileEntry]]:
    """Name files by attempt, process and container."""
    attempts = _count_attempts(files)
    several = len({*attempts.values()}) > 1
    processes = {_process(file.pod) for file in files}
    found: dict[str, FileEntry] = {}
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
        return [("log.txt", next(iter(found.values())))]
    return sorted(found.items())


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
