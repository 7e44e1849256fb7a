"""Assign each file of a folder tree to one job, or leave it out.

In: trees of folders. Out: `Draft`s: files with neutral names, and what the job is called by. Not
here: the rules (`search.run_folders`, `search.grouping`, `search.pods`), identities
(`search.finding`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from postmortem.fleet.search import neutral_names
from postmortem.fleet.search.grouping import (
    FolderContent,
    Key,
    NamedFile,
    exclude_files,
    group_logs,
    inspect_tree,
)
from postmortem.fleet.search.listing import FileEntry, Leftovers, Tree
from postmortem.fleet.search.locations import (
    extract_path,
    get_parent_folder,
    is_remote,
    join_location,
)
from postmortem.fleet.search.name_parts import parse_file_name
from postmortem.fleet.search.pods import Pods, is_pod_folder
from postmortem.fleet.search.run_folders import (
    find_repeated_folders,
    is_one_job,
    list_earlier_runs,
)
from postmortem.reading.discover import is_configuration
from postmortem.reading.unread_files import get_skip_reason


class Draft(NamedTuple):
    """A job that was found, before it has its identity."""

    location: str
    """Of its one file or folder; with `*` behind what its files begin with, if they are several."""
    title: str
    files: list[tuple[str, FileEntry]]
    scheduler_id: str = ""
    attempt: int = 1


def find_jobs_below(trees: Sequence[Tree], left: Leftovers) -> list[Draft]:
    """Find the jobs of folders; those that lie side by side are compared with each other."""
    found = [inspect_tree(tree, left) for tree in trees]
    by_parent: dict[str, list[FolderContent]] = defaultdict(list)
    for draft in found:
        by_parent[get_parent_folder(draft.tree.location)].append(draft)
    search = _Search(left)
    for siblings in by_parent.values():
        search.take_all(siblings)
    return search.drafts


class _Search:
    def __init__(self, left: Leftovers) -> None:
        self.drafts: list[Draft] = []
        self._left = left

    def take_all(self, folders: list[FolderContent]) -> None:
        """Take folders that lie side by side."""
        pods = Pods()
        for folder, is_like_siblings in zip(folders, find_repeated_folders(folders), strict=True):
            if is_pod_folder(folder.tree.name):
                pods.add_folder(folder)
            elif is_one_job(folder, is_like_siblings=is_like_siblings):
                self._take_run(folder)
            else:
                self._take_jobs(folder)
        self._take_pods(pods)

    def _take_run(self, folder: FolderContent) -> None:
        """Take a folder as one job, and runs before it as theirs."""
        earlier = list_earlier_runs(folder)
        aside = {earlier_run.tree.location for earlier_run in earlier}
        for earlier_run in earlier:
            self._take_run(earlier_run)
        files = [*_iter_run_files(folder, "", aside, self._left)]
        if not files:
            return
        tree = folder.tree
        ids = {key for key in folder.groups if key[1]}
        number, attempt = ids.pop() if len(ids) == 1 else ("", 1)
        named = neutral_names.name_folder_files(files, tree.name, number)
        self.drafts.append(Draft(tree.location, tree.name, named, number, attempt))

    def _take_jobs(self, folder: FolderContent) -> None:
        """Take a folder's files by their names, and its folders each by itself."""
        pods = Pods()
        other_files = [*folder.beside]
        for key, logs in folder.groups.items():
            rest = pods.take_containers(logs)
            if not rest:
                continue
            dumps = [file for file in other_files if key[0] and file.name == f"{key[0]}.env"]
            other_files = [file for file in other_files if file not in dumps]
            self.drafts.append(_build_draft(folder.tree.location, key, rest, dumps))
        self._take_pods(pods)
        exclude_files(other_files, self._left)
        self.take_all(folder.folders)

    def _take_pods(self, pods: Pods) -> None:
        for job in pods.list_jobs():
            self.drafts.append(Draft(*job))


def _build_draft(folder: str, key: Key, logs: list[NamedFile], dumps: list[FileEntry]) -> Draft:
    """Make a job of files that belong together by their names."""
    stem, attempt = key
    named = neutral_names.name_group_files(logs, dumps)
    if attempt:
        prefix = logs[0].parts.prefix
        location = (
            join_location(folder, f"{prefix}-{stem}*") if len(logs) > 1 else logs[0].entry.location
        )
        title = stem if prefix in {"", "slurm"} else f"{prefix} {stem}"
        return Draft(location, title, named, stem, attempt)
    main = logs[0]
    is_alone = len(logs) == 1 and not main.parts.process and not main.parts.turn
    location = main.entry.location if is_alone else join_location(folder, f"{stem}*")
    title = main.entry.name if is_alone else stem or PurePath(extract_path(folder)).name
    return Draft(location, title, named)


def _iter_run_files(
    folder: FolderContent, path: str, aside: set[str], left: Leftovers
) -> Iterator[tuple[str, FileEntry]]:
    """Give the files of a run's folder that may be read, each with its path below it."""
    for logs in folder.groups.values():
        yield from ((path + log.entry.name, log.entry) for log in logs)
    for entry in folder.beside:
        is_local = not is_remote(entry.location)
        why = get_skip_reason(PurePath(extract_path(entry.location)))
        if why is None or (is_local and is_configuration(Path(entry.location))):
            yield path + entry.name, entry
        else:
            left.add(entry.location, why)
    for inner in folder.folders:
        if inner.tree.location not in aside:
            yield from _iter_run_files(inner, f"{path}{inner.tree.name}/", aside, left)


def build_single_file(entry: FileEntry) -> NamedFile:
    """Read the name of a file that was named itself: it is a log whatever it is called."""
    return NamedFile(entry, parse_file_name(entry.name))


def find_jobs_of_files(folder: str, entries: Iterable[FileEntry]) -> list[Draft]:
    """Find the jobs of files of one folder that were named themselves, such as by `logs/*.log`."""
    pods = Pods()
    found = []
    for key, logs in group_logs(map(build_single_file, entries)).items():
        rest = pods.take_containers(logs)
        if rest:
            found.append(_build_draft(folder, key, rest, []))
    return found + [Draft(*job) for job in pods.list_jobs()]
