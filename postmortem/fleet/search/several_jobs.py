"""Refuse a folder or archive given as one job if it certainly holds several.

In: folders; the names of files that came together. Out: nothing, or an error that says how many
jobs there are and which command judges them. Not here: what makes files one job
(`search.run_folders`, `search.grouping`).

Several paths of a command line are one job because their user says so; what a folder or an archive
holds, nobody has looked through. `triage` splits what may be several jobs; here only a certain case
is refused, since one job may have logs of many names. Attempts of one job and runs that a later one
of the same tracker followed belong to it. The rules, of which one suffices:

1. Two ids of a scheduler. Behind a job's own name (`sft_48213_7.out`) the task's number tells none.
2. Two stems with a file of the same process each (`a_rank0`, `b_rank0`).
3. Two folders that hold the same names, and are none of processes.
4. More than 16 names that differ by more than their numbers, or more than 64 that triage parts.
"""

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from postmortem.core.errors import InputError
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import say
from postmortem.fleet.search.finding import find_jobs
from postmortem.fleet.search.job_search import find_jobs_below
from postmortem.fleet.search.listing import FileEntry, Leftovers, Tree
from postmortem.fleet.search.name_parts import parse_file_name
from postmortem.reading.last_run import find_earlier_runs

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
    found = [
        _PossibleJob(draft.scheduler_id, tuple(Path(file.location) for _, file in draft.files))
        for draft in find_jobs_below([_tree_of(names)], Leftovers())
    ]
    jobs = _without_earlier(found, Path())
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
    root = Path(os.path.realpath(place))
    found = [
        _PossibleJob(job.scheduler_id, tuple(Path(file.location) for file in job.files))
        for job in find_jobs([place]).jobs
    ]
    return _without_earlier(found, root)


def _without_earlier(jobs: list[_PossibleJob], root: Path) -> list[_PossibleJob]:
    """Leave out runs that a later one of the same tracker followed."""
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
        tree.files.append(FileEntry(path.name, name, 0, ""))
    return root
