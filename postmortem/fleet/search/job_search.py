"""Assign each file of a folder tree to one job under a neutral name, or leave it out.

In: trees of folders. Out: `Draft`s: files with neutral names, and what the job is called by. Not
here: the rules (`search.run_folders`, `search.grouping`), identities (`search.finding`), laying the
files out (`search.job_content`).

A neutral name is that of the process, not of the job. One file is `log.txt`, `log.ipynb`,
`rank3.txt`. Of several each is `job/<process><suffix>`; in place of the job's own id stands %j, of
its name %x. A file that was rotated is a part: `log.part1` is the oldest.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from postmortem.fleet.search.grouping import (
    FolderContent,
    Key,
    NamedFile,
    exclude_files,
    group_logs,
    inspect_tree,
)
from postmortem.fleet.search.listing import (
    FileEntry,
    Leftovers,
    Tree,
    escape_location,
    extract_path,
    get_parent_folder,
    is_remote,
    join_location,
)
from postmortem.fleet.search.name_parts import parse_file_name
from postmortem.fleet.search.run_folders import (
    Pods,
    find_repeated_folders,
    is_one_job,
    is_pod_folder,
    list_earlier_runs,
)
from postmortem.reading.discover import is_configuration
from postmortem.reading.non_logs import get_skip_reason

Named = tuple[str, FileEntry]
"""A neutral name and the file."""
_KINDS: Final = frozenset({".jsonl", ".ipynb"})
_STREAM_WORDS: Final = {"out": "stdout", "err": "stderr"}
_FEWEST_LETTERS: Final = 3
"""Of a job's name that is replaced within other names: a shorter one is found by chance."""


def name_group_files(
    logs: Sequence[NamedFile], other_files: Iterable[FileEntry] = ()
) -> list[Named]:
    """Give neutral names to a job's files where its folder holds files of other jobs.

    Args:
        logs: one job's.
        other_files: dumps of its environment.
    """
    others = [*other_files]
    if len(logs) + len(others) == 1:
        return [(_name_single_file(logs[0]), logs[0].entry)]
    turns = _order_rotated_parts(logs)
    named = [
        (f"job/{_format_log_name(log, turns.get(log.entry.location, 0))}", log.entry)
        for log in logs
    ]
    named += [("job/log.env", entry) for entry in others]
    return _make_names_unique(named)


def name_folder_files(
    files: Iterable[tuple[str, FileEntry]], own: str, scheduler_id: str
) -> list[Named]:
    """Name the files of a run's folder: as they lie there.

    Args:
        files: each with its path below the folder.
        own: the folder's name.
        scheduler_id: the job's; empty if it has none.
    """
    found = [*files]
    if len(found) == 1:
        entry = found[0][1]
        return [(_name_single_file(NamedFile(entry, parse_file_name(entry.name))), entry)]
    named = []
    for path, entry in found:
        text = escape_location(path)
        if scheduler_id:
            text = text.replace(scheduler_id, "%j")
        if len(own) >= _FEWEST_LETTERS:
            text = text.replace(escape_location(own), "%x")
        named.append((f"job/{text}", entry))
    return _make_names_unique(named)


def _name_single_file(log: NamedFile) -> str:
    """Name the only file of a job: what it is, in which process."""
    parts = log.parts
    name = log.entry.name
    ending = parts.suffix if parts.suffix in _KINDS else ".txt"
    if not parts.suffix and not parts.scheduler_id and "." in name and not parts.process:
        ending = f".{escape_location(name).removesuffix(parts.packed).rpartition('.')[2].lower()}"
    return f"{parts.process or 'log'}{ending}{parts.packed}"


def _format_log_name(log: NamedFile, turn: int) -> str:
    parts = log.parts
    stream = parts.stream
    if not parts.scheduler_id:
        base = "log"
    else:
        base = "slurm-%j" if parts.prefix.lower() == "slurm" else "%x-%j"
    words = [] if base == "log" and parts.process else [base]
    words += [parts.process] if parts.process else []
    suffix = parts.suffix or (f".{stream}" if stream else "")
    if stream and suffix not in {".out", ".err"} and stream not in parts.process:
        words.append(_STREAM_WORDS[stream])
    part = f".part{turn}" if turn else ""
    return f"{escape_location('-'.join(words))}{part}{suffix}{parts.packed}"


def _order_rotated_parts(logs: Iterable[NamedFile]) -> dict[str, int]:
    """Number the parts of each log that was rotated, from the oldest on."""
    families: dict[tuple[str, ...], list[NamedFile]] = defaultdict(list)
    for log in logs:
        parts = log.parts
        families[parts.process, parts.stream, parts.suffix].append(log)
    return {
        log.entry.location: place
        for family in families.values()
        if any(log.parts.turn for log in family)
        for place, log in enumerate(sorted(family, key=_get_rotation_order), 1)
    }


def _get_rotation_order(log: NamedFile) -> tuple[bool, int, str]:
    """Sort the oldest first: dates upwards, numbers downwards, the file that is written on last."""
    turn = log.parts.turn
    is_number = turn.isdecimal() and len(turn) < 4
    return turn == "", -int(turn) if is_number else 0, turn


def _make_names_unique(named: list[Named]) -> list[Named]:
    """Number the second and further of files that would have one name; sort by name."""
    count: Counter[str] = Counter()
    found = []
    for name, entry in sorted(named, key=lambda item: (item[0], item[1].location)):
        count[name] += 1
        stem, dot, suffix = name.rpartition(".")
        again = f"{stem}-{count[name]}{dot}{suffix}" if dot else f"{name}-{count[name]}"
        found.append((name if count[name] == 1 else again, entry))
    return sorted(found)


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
        named = name_folder_files(files, tree.name, number)
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
    named = name_group_files(logs, dumps)
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
