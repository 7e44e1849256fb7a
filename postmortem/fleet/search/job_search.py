"""Assign each file of a folder tree to one job under a neutral name, or leave it out.

In: trees of folders. Out: jobs whose files have neutral names; as identity each has the location of
its files, with `*` behind what they begin with if they are several. Not here: the rules
(`search.run_folders`, `search.grouping`), identities (`search.finding`), laying the files out
(`search.job_content`).

A neutral name is that of the process, not of the job. One file is `log.txt`, `log.ipynb`,
`rank3.txt`. Of several each is `job/<process><suffix>`; in place of the job's own id stands %j, of
its name %x. A file that was rotated is a part: `log.part1` is the oldest.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Final

from postmortem.fleet.search.grouping import (
    FolderContent,
    Key,
    NamedFile,
    exclude_files,
    group_logs,
    inspect_tree,
)
from postmortem.fleet.search.listing import (
    Leftovers,
    Tree,
    escape_location,
    extract_name,
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
from postmortem.fleet.store.stored_rows import FileRow, JobRow
from postmortem.reading.discover import is_configuration
from postmortem.reading.non_logs import get_skip_reason

_KINDS: Final = frozenset({".jsonl", ".ipynb"})
_STREAM_WORDS: Final = {"out": "stdout", "err": "stderr"}
_FEWEST_LETTERS: Final = 3
"""Of a job's name that is replaced within other names: a shorter one is found by chance."""


def name_group_files(
    logs: Sequence[NamedFile], other_files: Iterable[FileRow] = ()
) -> tuple[FileRow, ...]:
    """Give neutral names to a job's files where its folder holds files of other jobs.

    Args:
        logs: one job's.
        other_files: dumps of its environment.
    """
    others = [*other_files]
    if len(logs) + len(others) == 1:
        return (_name_single_file(logs[0]),)
    turns = _order_rotated_parts(logs)
    named = [
        log.entry._replace(name=f"job/{_format_log_name(log, turns.get(log.entry.location, 0))}")
        for log in logs
    ]
    return _make_names_unique([*named, *(entry._replace(name="job/log.env") for entry in others)])


def name_folder_files(files: Sequence[FileRow], own: str, scheduler_id: str) -> tuple[FileRow, ...]:
    """Name the files of a run's folder: as they lie there.

    Args:
        files: each under its path below the folder.
        own: the folder's name.
        scheduler_id: the job's; empty if it has none.
    """
    if len(files) == 1:
        return (_name_single_file(build_single_file(files[0])),)
    named = []
    for file in files:
        text = escape_location(file.name)
        if scheduler_id:
            text = text.replace(scheduler_id, "%j")
        if len(own) >= _FEWEST_LETTERS:
            text = text.replace(escape_location(own), "%x")
        named.append(file._replace(name=f"job/{text}"))
    return _make_names_unique(named)


def _name_single_file(log: NamedFile) -> FileRow:
    """Name the only file of a job: what it is, in which process."""
    parts = log.parts
    name = log.entry.name
    ending = parts.suffix if parts.suffix in _KINDS else ".txt"
    if not parts.suffix and not parts.scheduler_id and "." in name and not parts.process:
        ending = f".{escape_location(name).removesuffix(parts.packed).rpartition('.')[2].lower()}"
    return log.entry._replace(name=f"{parts.process or 'log'}{ending}{parts.packed}")


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


def _make_names_unique(named: Iterable[FileRow]) -> tuple[FileRow, ...]:
    """Number the second and further of files that would have one name; sort by name."""
    count: Counter[str] = Counter()
    found = []
    for file in sorted(named):
        name = file.name
        count[name] += 1
        stem, dot, suffix = name.rpartition(".")
        again = f"{stem}-{count[name]}{dot}{suffix}" if dot else f"{name}-{count[name]}"
        found.append(file if count[name] == 1 else file._replace(name=again))
    return tuple(sorted(found))


def find_jobs_below(trees: Sequence[Tree], left: Leftovers) -> list[JobRow]:
    """Find the jobs of folders; those that lie side by side are compared with each other."""
    found = [inspect_tree(tree, left) for tree in trees]
    by_parent: dict[str, list[FolderContent]] = defaultdict(list)
    for folder in found:
        by_parent[get_parent_folder(folder.tree.location)].append(folder)
    search = _Search(left)
    for siblings in by_parent.values():
        search.take_all(siblings)
    return search.jobs


class _Search:
    def __init__(self, left: Leftovers) -> None:
        self.jobs: list[JobRow] = []
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
        self.jobs += pods.list_jobs()

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
        self.jobs.append(JobRow(tree.location, tree.name, named, number, attempt))

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
            self.jobs.append(_build_job(folder.tree.location, key, rest, dumps))
        self.jobs += pods.list_jobs()
        exclude_files(other_files, self._left)
        self.take_all(folder.folders)


def _build_job(folder: str, key: Key, logs: list[NamedFile], dumps: list[FileRow]) -> JobRow:
    """Make a job of files that belong together by their names."""
    stem, attempt = key
    named = name_group_files(logs, dumps)
    if attempt:
        prefix = logs[0].parts.prefix
        location = (
            join_location(folder, f"{prefix}-{stem}*") if len(logs) > 1 else logs[0].entry.location
        )
        title = stem if prefix in {"", "slurm"} else f"{prefix} {stem}"
        return JobRow(location, title, named, stem, attempt)
    main = logs[0]
    is_alone = len(logs) == 1 and not main.parts.process and not main.parts.turn
    location = main.entry.location if is_alone else join_location(folder, f"{stem}*")
    title = main.entry.name if is_alone else stem or PurePath(extract_path(folder)).name
    return JobRow(location, title, named)


def _iter_run_files(
    folder: FolderContent, path: str, aside: set[str], left: Leftovers
) -> Iterator[FileRow]:
    """Give the files of a run's folder that may be read, each under its path below it."""
    for logs in folder.groups.values():
        yield from (log.entry._replace(name=path + log.entry.name) for log in logs)
    for entry in folder.beside:
        is_local = not is_remote(entry.location)
        why = get_skip_reason(PurePath(extract_path(entry.location)))
        if why is None or (is_local and is_configuration(Path(entry.location))):
            yield entry._replace(name=path + entry.name)
        else:
            left.add(entry.location, why)
    for inner in folder.folders:
        if inner.tree.location not in aside:
            yield from _iter_run_files(inner, f"{path}{inner.tree.name}/", aside, left)


def build_single_file(file: FileRow) -> NamedFile:
    """Read the name that a file has in its folder: it is a log whatever it is called."""
    name = extract_name(file.location)
    return NamedFile(file._replace(name=name), parse_file_name(name))


def find_jobs_of_files(folder: str, entries: Iterable[FileRow]) -> list[JobRow]:
    """Find the jobs of files of one folder that were named themselves, such as by `logs/*.log`."""
    pods = Pods()
    found = []
    for key, logs in group_logs(map(build_single_file, entries)).items():
        rest = pods.take_containers(logs)
        if rest:
            found.append(_build_job(folder, key, rest, []))
    return [*found, *pods.list_jobs()]
