"""Names under which a job's files are analysed: of the process, not of the job.

In: the files of a job. Out: the same with neutral names, in their order. Not here: which files
there are (`search.job_search`), laying them out (`search.job_content`).

One file is `log.txt`, `log.ipynb`, `rank3.txt`. Of several each is `job/<process><suffix>`; in
place of the job's own id stands %j, of its name %x. A file that was rotated is a part: `log.part1`
is the oldest.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.fleet.search.grouping import NamedFile
from postmortem.fleet.search.listing import FileEntry, escape_location
from postmortem.fleet.search.name_parts import parse_file_name

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
