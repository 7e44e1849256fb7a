"""Find the jobs in the places that a user names: each once, with a stable identity.

In: paths and URLs. Out: `JobsFound`. Not here: what makes a folder one job (`search.run_folders`),
which files belong together (`search.grouping`), reading them (`search.job_content`).

A job's identity is `<scheduler id>.<attempt>` if names hold such an id for certain and no two
jobs share it; else the place of its file or folder, absolute and without login and query. Neither
the order of the places nor naming one twice, or one below another, changes it. Files that are named
one by one are judged by their names as those of a folder, but each is taken, whatever it is called.
"""

import os
import stat
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from postmortem.core.errors import InputError
from postmortem.fleet.found_jobs import FoundJob, JobFile, LeftOut
from postmortem.fleet.search.job_search import (
    Draft,
    build_single_file,
    find_jobs_below,
    find_jobs_of_files,
)
from postmortem.fleet.search.listing import (
    FileEntry,
    Leftovers,
    Tree,
    escape_location,
    list_local_tree,
)
from postmortem.fleet.search.locations import get_parent_folder, is_remote, remove_location_secrets
from postmortem.fleet.search.neutral_names import name_group_files
from postmortem.reading.opener import describe_special_file


class JobsFound(NamedTuple):
    """What was found."""

    jobs: tuple[FoundJob, ...]
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
    drafts = find_jobs_below(trees, left)
    by_folder: dict[str, list[FileEntry]] = defaultdict(list)
    for file in files:
        by_folder[get_parent_folder(file.location)].append(file)
    for folder, entries in sorted(by_folder.items()):
        drafts += find_jobs_of_files(folder, entries)
    return JobsFound(_build_jobs(drafts), left.list_all())


def _list_local_places(
    places: Iterable[str], left: Leftovers
) -> tuple[list[Tree], list[FileEntry]]:
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
        files[path] = FileEntry(Path(path).name, path, status.st_size, str(status.st_mtime_ns))
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


def _build_jobs(drafts: list[Draft]) -> tuple[FoundJob, ...]:
    """Give each job its identity."""
    jobs = []
    for draft in _remove_shared_ids(_join_stream_pairs(drafts)):
        where = escape_location(remove_location_secrets(draft.location))
        number = draft.scheduler_id
        jobs.append(
            FoundJob(
                f"{number}.{draft.attempt}" if number else where,
                escape_location(draft.title),
                tuple(
                    JobFile(name, entry.location, entry.size, entry.stamp)
                    for name, entry in draft.files
                ),
                number,
                draft.attempt,
            )
        )
    return _make_identities_unique(jobs)


def _join_stream_pairs(drafts: list[Draft]) -> list[Draft]:
    """Join a job's output in one folder and its errors in another: `out/x-17.out`, `err/x-17.err`.

    Only where a scheduler's id says so and each holds one stream of the two.
    """
    by_id: dict[tuple[str, int], list[Draft]] = defaultdict(list)
    for draft in drafts:
        by_id[draft.scheduler_id, draft.attempt].append(draft)
    found = by_id.pop(("", 1), [])
    for same in by_id.values():
        logs = [[build_single_file(entry) for _, entry in draft.files] for draft in same]
        streams = sorted("".join({log.parts.stream for log in files}) for files in logs)
        if streams == ["err", "out"]:
            first = min(same, key=lambda draft: draft.location)
            found.append(first._replace(files=name_group_files([*logs[0], *logs[1]])))
        else:
            found += same
    return found


def _remove_shared_ids(drafts: list[Draft]) -> list[Draft]:
    """Take the id from jobs that share it: of two clusters, or copies."""
    count = Counter((draft.scheduler_id, draft.attempt) for draft in drafts)
    return [
        draft._replace(scheduler_id="", attempt=1)
        if count[draft.scheduler_id, draft.attempt] > 1
        else draft
        for draft in drafts
    ]


def _make_identities_unique(jobs: list[FoundJob]) -> tuple[FoundJob, ...]:
    """Tell jobs apart whose places look the same: by a number, in the order of what they are."""
    found: list[FoundJob] = []
    count: Counter[str] = Counter()
    for job in sorted(jobs, key=lambda job: (job.identity, job.files[0].location)):
        count[job.identity] += 1
        again = count[job.identity]
        found.append(job if again == 1 else replace(job, identity=f"{job.identity} #{again}"))
    return tuple(sorted(found, key=lambda job: job.identity))
