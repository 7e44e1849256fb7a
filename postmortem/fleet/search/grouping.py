"""Group the log files of one folder into jobs by file name: same stem, other process or stream.

In: a `Tree`. Out: `FolderContent`: its logs in groups, its other files, and the same of its
subfolders. Not here: whether the whole folder is one job (`search.run_folders`), what a name says
(`search.name_parts`).

A word such as `r`, `task` or `stdout` before a number names processes only where the numbers run
from 0 or 1 without a gap, to at most 64; so `task_1` to `task_500` are jobs. A number behind a dot
is a process where at most 64 lie close together, as the ids of processes that start together do.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, say
from postmortem.fleet.search.listing import Leftovers, Tree, extract_path
from postmortem.fleet.search.name_parts import NameParts, parse_file_name
from postmortem.fleet.store.stored_rows import FileRow
from postmortem.reading.non_logs import get_skip_reason

_WEAK: Final = compile_lazily(
    r"\A(?P<before>|.{0,255}?[-_.])"
    r"(?P<word>r|p|n|proc|process|task|pod|server|instance|replica|gpu|device|cuda)"
    r"(?P<between>[-_.]?)(?P<number>\d{1,4})\Z",
    re.IGNORECASE,
)
_OF_STREAM: Final = compile_lazily(
    r"\A(?P<before>|.{0,255}?[-_.])(?P<word>stdout|stderr|out|err)"
    r"(?P<between>[-_.]?)(?P<number>\d{1,4})\Z",
    re.IGNORECASE,
)
_HOST: Final = compile_lazily(r"(?:gpu|dgx|hgx|cn|nid|compute)[-_]?[a-z]?\d{1,6}\Z", re.IGNORECASE)
_PID: Final = compile_lazily(r"\A(?P<before>.{1,255}\.)(?P<number>[1-9]\d{2,6})\Z")
_INDEXED: Final = compile_lazily(
    r"\A(?P<job>.{1,255})-(?P<index>\d{1,5})-(?P<hash>[bcdfghjklmnpqrstvwxz2456789]{5})\Z"
)
"""A pod of an indexed job: Kubernetes' hashes have no vowels, and of the digits not 0, 1 and 3."""
_MOST_WEAK: Final = 64
_SPREAD: Final = 8
"""Times their count that the ids of processes may be apart."""
_UNSPECIFIC: Final = frozenset(
    re.split(
        " ",
        "train training trainer main run job log logs output out err error errors stdout stderr "
        "console nohup launch launcher torchrun agent elastic deepspeed accelerate srun mpirun "
        "slurm gpu gpus nvidia smi dmesg kern kernel syslog messages journal eval evaluation "
        "valid validation val test debug info warning warnings metrics system monitor env "
        "environment pip freeze requirements scheduler sacct scontrol describe events history "
        "usage memory stats status nccl all combined full",
    )
)
"""Words of names that lie in the folder of a job and tell no job from another."""
_NO_LOGS: Final = frozenset(
    {"readme", "license", "licence", "notice", "makefile", "dockerfile", "requirements", "version"}
)
_SUFFIXED: Final = compile_lazily(r"\.[A-Za-z][\w-]{0,11}\Z")
_PLAIN: Final = frozenset({".log", ".out", ".err"})
"""Suffixes that nothing but a log has, and of trackers their own."""
_NOT_BY_NAME: Final = say("by its name no log, and no single job lies in its folder")


class NamedFile(NamedTuple):
    """A file and what its name says."""

    entry: FileRow
    parts: NameParts


Key = tuple[str, int]
"""A scheduler's id with the attempt; or a stem with attempt 0."""


@dataclass(slots=True)
class FolderContent:
    """A folder with its files grouped by name."""

    tree: Tree
    groups: dict[Key, list[NamedFile]] = field(default_factory=dict)
    beside: list[FileRow] = field(default_factory=list)
    """Files that hold settings or figures: part of a job, where the folder is one."""
    folders: list["FolderContent"] = field(default_factory=list)
    has_logs: bool = False
    """Here or below."""

    @property
    def scheduled(self) -> list[Key]:
        """The groups with a scheduler's id."""
        return [key for key in self.groups if key[1]]

    @property
    def plain(self) -> list[Key]:
        """The groups whose stem may identify a job."""
        return [key for key in self.groups if not key[1] and not is_unspecific(key[0])]


def inspect_tree(tree: Tree, left: Leftovers) -> FolderContent:
    """Read the names of a folder and of those below."""
    logs, other_files = split_logs(tree.files, left)
    found = FolderContent(
        tree, group_logs(logs), other_files, [inspect_tree(folder, left) for folder in tree.folders]
    )
    found.has_logs = bool(logs) or any(folder.has_logs for folder in found.folders)
    return found


def split_logs(files: Iterable[FileRow], left: Leftovers) -> tuple[list[NamedFile], list[FileRow]]:
    """Split files into logs and other files of a job; the rest is left out."""
    logs, other_files = [], []
    entries = [*files]
    names = {file.name for file in entries}
    for file in entries:
        parts = parse_file_name(file.name)
        if parts.packed and file.name[: -len(parts.packed)] in names:
            left.add(file.location, _describe_packed_duplicate(parts.packed))
        elif (why := _describe_skip_reason(file, parts)) is not None:
            left.add(file.location, why)
        elif is_log(file.name, parts):
            logs.append(NamedFile(file, parts))
        else:
            other_files.append(file)
    return logs, other_files


def _describe_skip_reason(file: FileRow, parts: NameParts) -> Message | None:
    """Say why a file is not read; None of a log, and of Python, which may be a configuration."""
    if parts.suffix in _PLAIN and "wandb" not in file.location:
        return None
    if file.name.endswith(".py"):
        return None
    return get_skip_reason(PurePath(extract_path(file.location)))


def _describe_packed_duplicate(packed: str) -> Message:
    return say(
        "the same file lies beside it unpacked ({suffix})",
        suffix=packed,
    )


def exclude_files(files: Iterable[FileRow], left: Leftovers) -> None:
    """Leave out files that cannot be assigned to one of several jobs."""
    for file in files:
        left.add(
            file.location, get_skip_reason(PurePath(extract_path(file.location))) or _NOT_BY_NAME
        )


def is_log(name: str, parts: NameParts) -> bool:
    """Say whether a file is a log by its name: a suffix of text, or none, or a scheduler's."""
    if name.split(".", maxsplit=1)[0].lower() in _NO_LOGS or "tfevents" in name:
        return False
    if parts.suffix or parts.scheduler_id:
        return True
    if get_skip_reason(PurePath(name)) is not None:
        return False
    return _SUFFIXED.search(parts.stem) is None


def is_unspecific(stem: str) -> bool:
    """Say whether a name describes the content and not the job: `train`, `gpu-usage`."""
    words = [word for word in re.split(r"[-_. ]+", stem.lower()) if word]
    return all(word in _UNSPECIFIC for word in words)


def group_logs(logs: Iterable[NamedFile]) -> dict[Key, list[NamedFile]]:
    """Group the logs of a folder: by scheduler's id, else by what is left of their names."""
    plain, found = [], defaultdict(list)
    for log in logs:
        parts = log.parts
        if parts.scheduler_id:
            found[parts.scheduler_id, parts.attempt].append(log)
        else:
            plain.append(log)
    for pattern, is_family in (
        (_OF_STREAM, _is_consecutive),
        (_WEAK, _is_consecutive),
        (_PID, _is_close_together),
    ):
        plain = _join_numbered_logs(plain, pattern, is_family)
    for pattern in (_INDEXED, _HOST):
        plain = _join_numbered_logs(plain, pattern, _has_several_names)
    for stem, same in _group_by_stem(plain).items():
        found[stem, 0] += same
    return dict(sorted(found.items()))


def _group_by_stem(logs: Iterable[NamedFile]) -> dict[str, list[NamedFile]]:
    """Group by stem.

    A process in a name counts only if another file of the stem names another: `oom-worker-0`
    alone is the name of a job.
    """
    found: dict[str, list[NamedFile]] = defaultdict(list)
    for log in logs:
        found[log.parts.stem].append(log)
    for stem, same in [*found.items()]:
        processes = {log.parts.process for log in same}
        if not is_unspecific(stem) and len(processes) == 1 and processes != {""}:
            del found[stem]
            for log in same:
                whole = log.parts.base if len(same) == 1 else f"{stem}-{log.parts.process}"
                found[whole].append(log._replace(parts=log.parts._replace(stem=whole, process="")))
    return found


def _join_numbered_logs(
    logs: list[NamedFile], pattern: re.Pattern[str], is_family: Callable[[list[str]], bool]
) -> list[NamedFile]:
    """Take what differs by a number behind a word for processes, where the numbers are such."""
    families: dict[tuple[str, str], list[int]] = defaultdict(list)
    matches: dict[int, re.Match[str]] = {}
    for place, log in enumerate(logs):
        match = None if log.parts.process else pattern.match(_get_stem_with_stream(log, pattern))
        if match is not None:
            matches[place] = match
            groups = match.groupdict()
            before = groups.get("before", groups.get("job", ""))
            families[before, groups.get("word", "").lower()].append(place)
    changed = [*logs]
    for (before, word), places in families.items():
        numbers = [matches[place].groupdict().get("number", matches[place][0]) for place in places]
        if is_family(numbers) and (
            is_family is not _has_several_names or _is_complete_family(places, logs, before)
        ):
            for place in places:
                changed[place] = _as_process(logs[place], matches[place], before, word)
    return changed


def _get_stem_with_stream(log: NamedFile, pattern: re.Pattern[str]) -> str:
    """Give the stem; for streams with a number the name itself, of which the stem lost the word."""
    if pattern is not _OF_STREAM:
        return log.parts.stem
    name = log.entry.name
    for ending in (log.parts.packed, log.parts.suffix):
        name = name[: -len(ending)] if ending else name
    return name


def _as_process(log: NamedFile, match: re.Match[str], before: str, word: str) -> NamedFile:
    groups = match.groupdict()
    process = groups.get("number") or match[0]
    if word:
        process = f"{word}{groups['between']}{groups['number']}"
    elif "index" in groups:
        process = f"node-{groups['index']}"
    return log._replace(parts=log.parts._replace(stem=before.strip("-_."), process=process))


def _is_consecutive(numbers: list[str]) -> bool:
    """Say whether numbers run from 0 or 1 without a gap."""
    values = {int(number) for number in numbers}
    first = min(values)
    is_whole = values == set(range(first, first + len(values)))
    return first < 2 and is_whole and 1 < len(values) <= _MOST_WEAK


def _is_close_together(numbers: list[str]) -> bool:
    """Say whether numbers are ids of processes that were started together."""
    values = {int(number) for number in numbers}
    return 1 < len(values) <= _MOST_WEAK and max(values) - min(values) <= _SPREAD * len(values)


def _has_several_names(names: list[str]) -> bool:
    return len({*names}) > 1


def _is_complete_family(places: list[int], logs: list[NamedFile], before: str) -> bool:
    """Say whether no other log name begins so, except unspecific ones."""
    rest = [log.parts.stem for place, log in enumerate(logs) if place not in {*places}]
    return not any(stem.startswith(before) and not is_unspecific(stem) for stem in rest)
