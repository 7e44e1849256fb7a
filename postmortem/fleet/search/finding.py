"""Find the jobs in the places that a user names, each once; refuse several given as one.

In: paths and URLs; names of files that came together. Out: `JobsFound`; or an error that says how
many jobs there are and which command judges them. Not here: what makes a folder one job
(`search.run_folders`), which files belong together (`search.grouping`), reading them
(`search.job_content`).

A job's identity is `<scheduler id>.<attempt>` if names hold such an id for certain and no two jobs
share it; else the place of its file or folder, absolute and without login and query. Neither the
order of the places nor naming one twice, or one below another, changes it. Files that are named one
by one are judged by their names as those of a folder, but each is taken, whatever it is called.

Several paths of a command line are one job because their user says so; what a folder or an archive
holds, nobody has looked through. `triage` splits what may be several jobs; as one job only a
certain case is refused, since one job may have logs of many names. Attempts of one job and runs
that a later one of the same tracker followed belong to it. The rules, of which one suffices:

1. Two ids of a scheduler. Behind a job's own name (`sft_48213_7.out`) the task's number is none.
2. Two stems with a file of the same process each (`a_rank0`, `b_rank0`).
3. Two folders that hold the same names, and are none of processes.
4. More than 16 names that differ by more than their numbers, or more than 64 that triage parts.
"""

import os
import shlex
import stat
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from postmortem.core.errors import InputError
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import say
from postmortem.fleet.search.job_search import (
    build_single_file,
    find_jobs_below,
    find_jobs_of_files,
    name_group_files,
)
from postmortem.fleet.search.listing import (
    LeftOut,
    Leftovers,
    Tree,
    escape_location,
    get_parent_folder,
    is_remote,
    list_local_tree,
    remove_location_secrets,
)
from postmortem.fleet.search.name_parts import parse_file_name
from postmortem.fleet.store.stored_rows import FileRow, JobRow
from postmortem.reading.file_names import find_earlier_runs
from postmortem.reading.opener import describe_special_file


class JobsFound(NamedTuple):
    """What was found."""

    jobs: tuple[JobRow, ...]
    """Sorted by identity."""
    left_out: tuple[LeftOut, ...]
    """Sorted by location."""


def find_jobs(places: Sequence[str]) -> JobsFound:
    """Find the jobs in files, folders and URLs.

    Raises:
        InputError: a place does not exist or cannot be opened.
        MissingExtra: a URL needs a package that is not installed.
    """
    left = Leftovers()
    trees, files = _list_local_places([place for place in places if not is_remote(place)], left)
    remote = sorted({place for place in places if is_remote(place)})
    if remote:
        from postmortem.fleet.search.remote_files import list_urls  # noqa: PLC0415 -- an extra

        more_trees, more_files = list_urls(remote, left)
        trees, files = trees + more_trees, files + more_files
    jobs = find_jobs_below(trees, left)
    by_folder: dict[str, list[FileRow]] = defaultdict(list)
    for file in files:
        by_folder[get_parent_folder(file.location)].append(file)
    for folder, entries in sorted(by_folder.items()):
        jobs += find_jobs_of_files(folder, entries)
    return JobsFound(_give_identities(jobs), left.list_all())


def _list_local_places(places: Iterable[str], left: Leftovers) -> tuple[list[Tree], list[FileRow]]:
    """List the local places: folders that lie in no other, and files that lie in none of them."""
    folders, files = set(), {}
    for place in places:
        status = _get_file_status(place)
        path = os.path.realpath(place)
        if stat.S_ISDIR(status.st_mode):
            folders.add(path)
            continue
        why = describe_special_file(status.st_mode)
        if why is not None:
            raise InputError(why, place, "name a log file or a folder with logs")
        files[path] = FileRow(Path(path).name, path, status.st_size, str(status.st_mtime_ns))
    outer = [folder for folder in sorted(folders) if not _is_below_any(folder, folders)]
    trees = [
        list_local_tree(folder, left, lambda path: _is_below_any(path, outer)) for folder in outer
    ]
    return trees, [entry for path, entry in sorted(files.items()) if not _is_below_any(path, outer)]


def _get_file_status(place: str) -> os.stat_result:
    try:
        return Path(place).stat()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot be opened: {why}", place, "check the path and its permissions"
        ) from error


def _is_below_any(path: str, folders: Iterable[str]) -> bool:
    """Say whether a path lies below one of several folders; none lies below itself."""
    return any(path != folder and path.startswith(folder.rstrip("/") + "/") for folder in folders)


def _give_identities(jobs: list[JobRow]) -> tuple[JobRow, ...]:
    """Give each job its identity in the place of its location."""
    found = []
    for job in _remove_shared_ids(_join_stream_pairs(jobs)):
        number = job.scheduler_id
        where = escape_location(remove_location_secrets(job.identity))
        identity = f"{number}.{job.attempt}" if number else where
        found.append(replace(job, identity=identity, title=escape_location(job.title)))
    return _make_identities_unique(found)


def _join_stream_pairs(jobs: list[JobRow]) -> list[JobRow]:
    """Join a job's output in one folder and its errors in another: `out/x-17.out`, `err/x-17.err`.

    Only where a scheduler's id says so and each holds one stream of the two.
    """
    by_id: dict[tuple[str, int], list[JobRow]] = defaultdict(list)
    for job in jobs:
        by_id[job.scheduler_id, job.attempt].append(job)
    found = by_id.pop(("", 1), [])
    for same in by_id.values():
        logs = [[build_single_file(file) for file in job.files] for job in same]
        streams = sorted("".join({log.parts.stream for log in files}) for files in logs)
        if streams == ["err", "out"]:
            first = min(same, key=lambda job: job.identity)
            found.append(replace(first, files=name_group_files([*logs[0], *logs[1]])))
        else:
            found += same
    return found


def _remove_shared_ids(jobs: list[JobRow]) -> list[JobRow]:
    """Take the id from jobs that share it: of two clusters, or copies."""
    count = Counter((job.scheduler_id, job.attempt) for job in jobs)
    return [
        replace(job, scheduler_id="", attempt=1)
        if count[job.scheduler_id, job.attempt] > 1
        else job
        for job in jobs
    ]


def _make_identities_unique(jobs: list[JobRow]) -> tuple[JobRow, ...]:
    """Tell jobs apart whose places look the same: by a number, in the order of what they are."""
    found: list[JobRow] = []
    count: Counter[str] = Counter()
    for job in sorted(jobs, key=lambda job: (job.identity, job.files[0].location)):
        count[job.identity] += 1
        again = count[job.identity]
        found.append(job if again == 1 else replace(job, identity=f"{job.identity} #{again}"))
    return tuple(sorted(found, key=lambda job: job.identity))


_ARCHIVE: Final = "send the files of one job; `postmortem triage` judges many"
_MOST_NAMES: Final = 16
_MOST_JOBS: Final = 64
_DIGITS: Final = compile_lazily(r"\d+")


class _PossibleJob(NamedTuple):
    """Files that triage takes for one job."""

    scheduler_id: str
    paths: tuple[Path, ...]

    @property
    def certain_id(self) -> str:
        """The scheduler's id, if it identifies a job.

        Behind a number (`worker-00-30102.err`) it may be the id of a process.
        """
        prefix = parse_file_name(self.paths[0].name).prefix
        if prefix[-1:].isdigit():
            return ""
        return self.scheduler_id if prefix.lower() == "slurm" else self.scheduler_id.split("_")[0]

    @property
    def names(self) -> frozenset[str]:
        """The names of its files."""
        return frozenset(path.name for path in self.paths)

    @property
    def skeleton(self) -> str:
        """What it is called by, without numbers."""
        return _DIGITS.sub("#", parse_file_name(self.paths[0].name).stem)


def require_one_job(places: Iterable[str | Path]) -> None:
    """Refuse a folder that holds several jobs; what is no folder is taken as it is.

    Raises:
        InputError: there are several in one of them.
    """
    for folder in places:
        place = os.fspath(folder)
        if Path(place).is_dir():
            jobs = _jobs_in(place)
            if _are_several(jobs):
                raise _refusal(_count(jobs), place, _commands(place, jobs))


def require_one_upload(names: Iterable[str]) -> None:
    """Refuse files that came together under names of several jobs.

    Raises:
        InputError: there are several.
    """
    jobs = _list_possible_jobs(find_jobs_below([_tree_of(names)], Leftovers()), Path())
    if _are_several(jobs):
        raise _refusal(_count(jobs), "", _ARCHIVE)


def require_one_unpacked(folder: str) -> None:
    """Refuse an archive, unpacked into a folder, that holds several jobs.

    Raises:
        InputError: there are several.
    """
    jobs = _jobs_in(folder)
    if _are_several(jobs):
        raise _refusal(_count(jobs), folder, _ARCHIVE)


def _jobs_in(place: str) -> list[_PossibleJob]:
    """List what triage parts in a folder."""
    return _list_possible_jobs(find_jobs([place]).jobs, Path(os.path.realpath(place)))


def _list_possible_jobs(found: Iterable[JobRow], root: Path) -> list[_PossibleJob]:
    """Give the jobs but for runs that a later one of the same tracker followed."""
    jobs = [
        _PossibleJob(job.scheduler_id, tuple(Path(file.location) for file in job.files))
        for job in found
    ]
    earlier = find_earlier_runs((path for job in jobs for path in job.paths), root)
    return [job for job in jobs if any(path not in earlier for path in job.paths)]


def _are_several(jobs: Sequence[_PossibleJob]) -> bool:
    """Say whether these can only be several jobs."""
    if len({job.certain_id for job in jobs if job.certain_id}) > 1:
        return True
    plain = [job for job in jobs if not job.certain_id]
    if len(plain) > _MOST_JOBS or len({job.skeleton for job in plain}) > _MOST_NAMES:
        return True
    return _share_a_process(plain) or _are_alike(plain)


def _share_a_process(jobs: Iterable[_PossibleJob]) -> bool:
    """Say whether two jobs of one folder have a file of the same process."""
    processes = Counter(
        (path.parent, process)
        for job in jobs
        for path, process in {
            (job.paths[0], parse_file_name(path.name).process)
            for path in job.paths
            if len(job.paths) > 1
        }
        if process
    )
    return any(count > 1 for count in processes.values())


def _are_alike(jobs: Iterable[_PossibleJob]) -> bool:
    """Say whether files of the same names lie in several folders."""
    names = Counter(names for names, _ in {(job.names, job.paths[0].parent) for job in jobs})
    return any(count > 1 for count in names.values())


def _count(jobs: Iterable[_PossibleJob]) -> int:
    """Count the jobs, attempts of one being one."""
    return len({job.certain_id or str(job.paths[0]) for job in jobs})


def _refusal(count: int, where: str, mend: str) -> InputError:
    return InputError(
        say(
            "{count} jobs, and one can be judged at a time",
            count=count,
        ),
        where,
        mend,
    )


def _commands(place: str, jobs: Sequence[_PossibleJob]) -> str:
    """Name the commands that fit: for all of them, for one, for what a user knows to be one."""
    root = os.path.realpath(place)
    files = [os.path.relpath(path, root) for path in jobs[0].paths]
    shown = shlex.quote(str(Path(place, os.path.commonpath(files) or files[0])))
    return (
        f"judge each: postmortem triage {shlex.quote(place)} --out triage; or one of them: "
        f"postmortem analyze {shown}; the files of one job can be named one by one"
    )


def _tree_of(names: Iterable[str]) -> Tree:
    """Lay out names as a folder would hold them."""
    root = Tree("", "")
    for name in names:
        path, tree = PurePath(name), root
        for part in path.parts[:-1]:
            inner = next((folder for folder in tree.folders if folder.name == part), None)
            if inner is None:
                inner = Tree(part, f"{tree.location}/{part}".lstrip("/"))
                tree.folders.append(inner)
            tree = inner
        tree.files.append(FileRow(path.name, name, 0, ""))
    return root
