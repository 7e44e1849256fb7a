"""Read from the paths of a job which process, which attempt and which of several runs wrote a file.

In: paths. Out: `ProcessId`, attempt numbers; the files of earlier runs, each with the folder by
which it is analyzed alone. Not here: labels inside the lines (`reading.prefixes`), attempts within
a log (`case.attempts`).

Layouts: torchrun `--redirects` (<dir>/attempt_<n>/<local rank>/stderr.log), mmengine
`<time>_rank3.log`, XTuner `rank3.log`, Slurm `%t` and others that say "rank"; and files that differ
from their siblings by one number only (log-r0.err, log-r1.err; n1.txt, n2.txt; train.4711.log,
train.4712.log).

Only folders that a tracker names by time or number hold several runs: wandb's runs, Lightning's
versions, runs in MLflow's file store, what mmengine, Hydra, TensorBoard and Ultralytics make for
each start.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.log_text import compile_lazily, parse_whole_number
from postmortem.core.message import Message, say

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


_Order = tuple[int, str]
_MOST_META: Final = 4096
_STARTED: Final = compile_lazily(r"^start_time: (\d{1,20})\s*$", re.MULTILINE)


class _Family(NamedTuple):
    """Folders that stand for a run each."""

    parts: tuple[re.Pattern[str], ...]
    """The names of the folder and of those above it that make it one, from above."""
    order: Callable[[Path, str], _Order]
    """When it began, from the folder and its name."""
    depth: int = 1
    """How many of the names tell the run; those above are shared."""


def _order_by_text(folder: Path, name: str) -> _Order:
    """Let names that are times count, with that of the folder above: Hydra's is the day."""
    return 0, f"{folder.parent.name}/{name}"


def _order_by_number(_: Path, name: str) -> _Order:
    digits = re.search(r"\d+\Z", name)
    return (int(digits[0]) if digits else 1), ""


def _order_by_time(_: Path, name: str) -> _Order:
    return 0, name.removeprefix("offline-")


def _order_by_meta(folder: Path, _: str) -> _Order:
    """Read when a run of MLflow began."""
    try:
        with (folder / "meta.yaml").open(encoding="utf-8", errors="replace") as file:
            began = _STARTED.search(file.read(_MOST_META))
    except OSError:
        began = None
    return (int(began[1]) if began else 0), ""


def _order_by_event(folder: Path, _: str) -> _Order:
    """Read when TensorBoard's first file of a run was begun off its name."""
    times = [
        re.search(r"\.tfevents\.(\d{1,12})\.", file.name) for file in folder.glob("*.tfevents.*")
    ]
    return min((int(match[1]) for match in times if match), default=0), ""


def _build_family(
    *parts: str, order: Callable[[Path, str], _Order] = _order_by_text, depth: int = 1
) -> _Family:
    return _Family(tuple(compile_lazily(rf"(?:{part})\Z") for part in parts), order, depth)


_FAMILIES: Final = (
    _build_family("wandb", r"(?:offline-)?run-\d{8}_\d{6}-\w{1,64}", order=_order_by_time),
    _build_family(r"version_\d{1,6}", order=_order_by_number),
    _build_family("mlruns", r"[^/]{1,100}", "[0-9a-f]{32}", order=_order_by_meta, depth=2),
    _build_family(r"\d{8}_\d{6}"),
    _build_family(r"\d{4}-\d\d-\d\d", r"\d\d-\d\d-\d\d", depth=2),
    _build_family("runs", r"[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_.{1,200}", order=_order_by_event),
    _build_family("runs", r"[a-z]{1,20}", r"train\d{0,5}", order=_order_by_number),
)


def find_earlier_runs(paths: Iterable[Path], folder: Path) -> dict[Path, Message]:
    """Give the files of earlier runs in the same folder, each with the reason."""
    groups: dict[tuple[int, Path], dict[Path, list[Path]]] = defaultdict(lambda: defaultdict(list))
    for path in paths:
        for number, family in enumerate(_FAMILIES):
            for run in _find_runs_above(path, folder, family):
                shared = run.parents[family.depth - 1]
                groups[number, shared][run].append(path)
    earlier: dict[Path, Message] = {}
    for (number, _), runs in groups.items():
        order = _FAMILIES[number].order
        if len(runs) > 1:
            ranked = sorted(runs, key=lambda run: (order(run, run.name), str(run)))
            for run in ranked[:-1]:
                why = say(
                    "of an earlier run; for that one, analyze {folder}",
                    folder=str(run),
                )
                earlier |= dict.fromkeys(runs[run], why)
    return earlier


def is_run_folder(folder: Path) -> bool:
    """Say whether a folder is called as a tracker calls that of a single run."""
    return any(_is_of(folder, family) for family in _FAMILIES)


def sort_folders(folders: Iterable[Path]) -> list[Path]:
    """Sort run folders that lie side by side by when they began, as far as names and files tell."""

    def began(folder: Path) -> tuple[_Order, str]:
        order = next(
            (family.order for family in _FAMILIES if _is_of(folder, family)), _order_by_text
        )
        return order(folder, folder.name), str(folder)

    return sorted(folders, key=began)


def _is_of(folder: Path, family: _Family) -> bool:
    names = folder.parts[-len(family.parts) :]
    return len(names) == len(family.parts) and all(
        pattern.match(name) for pattern, name in zip(family.parts, names, strict=True)
    )


def _find_runs_above(path: Path, folder: Path, family: _Family) -> list[Path]:
    """Give the folders above a file, below or at the named one, that stand for a run."""
    found = []
    for above in path.parents:
        if above == folder:
            break
        if _is_of(above, family):
            found.append(above)
    return found
