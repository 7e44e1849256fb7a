"""Read from the paths of a job which process wrote a file, and in which attempt.

In: paths. Out: `ProcessId`, attempt numbers. Not here: labels inside the lines
(`reading.prefixes`). Layouts: torchrun `--redirects` (<dir>/attempt_<n>/<local rank>/stderr.log),
mmengine `<time>_rank3.log`, XTuner `rank3.log`, Slurm `%t` and others that say "rank"; and files
that differ from their siblings by one number only (log-r0.err, log-r1.err; n1.txt, n2.txt;
train.4711.log, train.4712.log).
"""

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.numerals import parse_whole_number

_RANK: Final = compile_lazily(
    r"(?<!lora)(?<!low)(?:^|[_.\-])(?:global_?)?rank[_-]?(\d{1,5})(?=$|[_.\-])", re.IGNORECASE
)
_LOCAL: Final = compile_lazily(r"(?:^|[_.\-])local_?rank[_-]?(\d{1,4})(?=$|[_.\-])", re.IGNORECASE)
_NODE: Final = compile_lazily(
    r"(?:^|[_.\-])((?:node|host|worker)[_-]?\d{1,5})(?=$|[_.\-])", re.IGNORECASE
)
_ATTEMPT: Final = compile_lazily(
    r"(?:^|[_.\-])(?:attempt|restart)[_-]?(\d{1,4})(?=$|[_.\-])", re.IGNORECASE
)
_NUMBER: Final = compile_lazily(r"\d+")
_WORD: Final = compile_lazily(r"([A-Za-z]*)[_.\-]?$")
_RANK_WORDS: Final = frozenset(
    {"r", "p", "proc", "process", "task", "out", "err", "stdout", "stderr", "dump"}
)
_NODE_WORDS: Final = frozenset({"n", "machine", "server", "instance", "pod", "replica"})
_ROLE: Final = compile_lazily(
    r"(?:^|[_.\-])((?:machine|master|chief|launcher)[_-]?\d{1,5})(?=$|[_.\-])", re.IGNORECASE
)
_NODE_LETTER: Final = compile_lazily(r"(?:node|host|machine|server)[_-][a-z]\Z", re.IGNORECASE)
_OF_MACHINE: Final = compile_lazily(
    r"(?:^|[_.\-])(?:dmesg|kern(?:el)?|syslog|messages|journal(?:ctl)?|nvidia-smi|ipmi|sel)"
    r"(?=$|[_.\-])",
    re.IGNORECASE,
)
"""What a log of a machine is called; the rest of its name may be the machine's."""
_HOST: Final = compile_lazily(r"[A-Za-z][A-Za-z\d]{0,30}(?:[-.][A-Za-z\d]{1,30}){0,6}\Z")
_JOB_WORDS: Final = frozenset(
    {"slurm", "job", "run", "exp", "version", "step", "iter", "checkpoint"}
)
_PID: Final = compile_lazily(r"[1-9]\d{3,6}\Z")
_DATED: Final = compile_lazily(r"\d{4,}[_.\-]?$")
_COPIES: Final = 2
_BEHIND_NUMBER: Final = compile_lazily(r"\d[_.\-]$")


def process_of_file(path: str) -> ProcessId:
    """Read rank, local rank and node off a file's name and folder."""
    *folders, name = Path(path).parts[-3:] or ("",)
    local = _LOCAL.search(name)
    rank = None if local else _find_first(_RANK, (name, *folders))
    node = _find_first(_NODE, (name, *folders))
    local_rank = int(local[1]) if local else _parse_redirect_rank(folders, name)
    if rank is None and local_rank is None and node is None:
        return NOWHERE
    return ProcessId(None if rank is None else int(rank), local_rank, node, None)


def _find_first(pattern: re.Pattern[str], parts: Iterable[str]) -> str | None:
    """Give what a pattern finds in the first part in which it finds anything."""
    return next((match[1] for part in parts if (match := pattern.search(part))), None)


def _parse_redirect_rank(folders: Sequence[str], name: str) -> int | None:
    """Read the local rank off the folder into which torchrun redirects."""
    is_stream = name.split(".", maxsplit=1)[0] in {"stderr", "stdout", "error"}
    return (
        parse_whole_number(folders[-1])
        if is_stream and folders and folders[-1].isdecimal()
        else None
    )


def process_words(name: str) -> tuple[str, tuple[str, ...]]:
    """Part a name, without its suffixes, into what is left of it and the words of the process.

    `bert_node1_rank3` gives `bert` and the words `rank3`, `node1`: files of one job differ in these
    and in nothing else. Only words that name a process whatever lies beside it.
    """
    words = []
    for pattern in (_LOCAL, _RANK, _NODE, _ROLE):
        while match := pattern.search(name):
            words.append(match[0].strip("_.-").lower())
            name = name[: match.start()] + name[match.end() :]
    if not words and _NODE_LETTER.match(name):
        return "", (name.lower(),)
    return name.strip("_.-"), tuple(words)


def parse_processes(paths: Sequence[str]) -> dict[str, ProcessId]:
    """Read the processes off the names of a job's files.

    A bare number counts where it alone tells siblings apart, and a folder that all share tells
    nothing.
    """
    shared = _find_shared_folder(paths)
    found = {path: process_of_file(path.removeprefix(shared)) for path in paths}
    _add_by_sibling_number(paths, found)
    for path in paths:
        stem = Path(path).name.split(".")[0]
        if found[path] == NOWHERE and _NODE_LETTER.match(stem):
            found[path] = ProcessId(node=stem)
        if found[path] == NOWHERE and (host := _parse_machine(Path(path).name)):
            found[path] = ProcessId(node=host)
    return found


def _parse_machine(name: str) -> str | None:
    """Read the host from the name of a machine's log: the name without the kind of log."""
    stem = re.sub(r"(?:\.(?:txt|log|out|gz|xz|zst|bz2|\d))+\Z", "", name, flags=re.IGNORECASE)
    if _OF_MACHINE.search(stem) is None:
        return None
    rest = _OF_MACHINE.sub("", stem).strip("_.-")
    is_host = _HOST.match(rest) and any(part.isdigit() for part in rest)
    return rest if is_host else None


def _find_shared_folder(paths: Sequence[str]) -> str:
    """Give the folder that several files lie in, with its separator."""
    try:
        shared = (
            os.path.commonpath([str(Path(path).parent) for path in paths]) if len(paths) > 1 else ""
        )
    except ValueError:  # of two drives, or with and without a root
        return ""
    return f"{shared}{os.sep}" if shared else ""


def _add_by_sibling_number(paths: Sequence[str], found: dict[str, ProcessId]) -> None:
    """Read the processes of files that differ from their siblings by one number only."""
    families: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for path in paths:
        name = Path(path).name
        folder = str(Path(path).parent)
        if found[path] != NOWHERE:
            continue
        for match in _NUMBER.finditer(name):
            families[folder, f"{name[: match.start()]}#{name[match.end() :]}"].append(
                (path, match[0])
            )
    for (_, skeleton), members in families.items():
        numbers = {number for _, number in members}
        if len(numbers) < _COPIES:
            continue
        is_count = _is_task_count(skeleton, numbers)
        for path, number in members:
            if found[path] == NOWHERE:
                where = _infer_by_word(skeleton, number)
                found[path] = (
                    ProcessId(rank=int(number)) if where == NOWHERE and is_count else where
                )


def _is_task_count(skeleton: str, numbers: Collection[str]) -> bool:
    """Say whether numbers behind another number (`job-7731-0.out`) count the tasks of a job.

    From 0 on and without a gap; those of Slurm's own names count the jobs of an array.
    """
    is_behind_number = _BEHIND_NUMBER.search(skeleton.split("#", maxsplit=1)[0]) is not None
    is_whole = {parse_whole_number(number) for number in numbers} == set(range(len(numbers)))
    return is_behind_number and is_whole and not skeleton.startswith("slurm")


def _infer_by_word(skeleton: str, number: str) -> ProcessId:
    """Say what a number means by the word before it; one that looks like a process id is one."""
    before = skeleton.split("#", maxsplit=1)[0]
    match = _WORD.search(before)
    word = match[1].lower() if match else ""
    if word in _RANK_WORDS:
        return ProcessId(rank=parse_whole_number(number))
    if word in _NODE_WORDS:
        return ProcessId(node=f"{before.lstrip('_.-')}{number}")
    is_pid = _PID.match(number) and word not in _JOB_WORDS and not _DATED.search(before)
    return ProcessId(pid=int(number)) if is_pid else NOWHERE


def parse_attempts(paths: Iterable[str]) -> dict[str, int]:
    """Read the attempt off the folders of files (torchrun's attempt_0, attempt_1, ...).

    Files that name none are left out.
    """
    found = {}
    for path in paths:
        match = next(
            (match for part in reversed(Path(path).parts[-4:]) if (match := _ATTEMPT.search(part))),
            None,
        )
        if match:
            found[path] = int(match[1])
    return found
