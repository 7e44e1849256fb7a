"""Parse the name of a log: the job's stem, the process, the stream, the scheduler's id.

In: a file's name. Out: `NameParts`. Not here: which files together are a job (`search.run_folders`,
`search.grouping`), words that always name a process (`reading.file_names`).

An id of a scheduler is given only where it is certain: Slurm's own `slurm-48213.out` and
`slurm-48213_7.out`; five digits and more in `<name>-48213.out`, `.err` and `<name>_48213.log`;
PBS's `<name>.o48213`. A date, a clock, and a number behind a word such as seed, step or port is no
id.
"""

import functools
import re
from typing import Final, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.reading.file_names import process_words

_PACKED: Final = compile_lazily(r"\.(?:gz|bz2|xz|zst)\Z", re.IGNORECASE)
_TEXT: Final = r"\.(?:log|out|err|txt|stdout|stderr|output)"
_SUFFIX: Final = compile_lazily(rf"(?:{_TEXT}|\.jsonl|\.ipynb)\Z", re.IGNORECASE)
_TURNED: Final = compile_lazily(
    rf"(?P<base>.+{_TEXT})[.-](?P<turn>\d{{1,3}}|\d{{8}}(?:[-T]?\d{{4,10}})?"
    r"|\d{4}-\d\d-\d\d(?:[-_T]\d\d.{0,12})?|old|bak|prev)\Z",
    re.IGNORECASE,
)
"""A file that was rotated: its number, the greater the older, or the day."""
_OF_PBS: Final = compile_lazily(
    r"(?P<name>.+)\.(?P<stream>[oe])(?P<id>\d{1,9})(?:[.-](?P<task>\d{1,6}))?\Z"
)
_OF_SLURM: Final = compile_lazily(
    r"slurm[-_.](?P<id>\d{1,10}(?:_\d{1,7})?)(?:[-_.](?P<rest>.*))?\Z", re.IGNORECASE
)
_NUMBERED: Final = compile_lazily(
    r"(?:(?P<name>.*?)[-_.])??(?P<id>[1-9]\d{4,8}(?:_\d{1,7})?)(?:[-_.](?P<rest>\D.*|\d{1,4}))?\Z"
)
_COUNTS: Final = compile_lazily(
    r"(?:^|[-_.])(?:seed|step|steps|iter|epoch|version|checkpoint|ckpt|port|pid|lr|bs|batch|size"
    r"|dim|len|length|samples?|tokens|max|min|vocab|hidden|width|v)\Z",
    re.IGNORECASE,
)
"""Before a number that is none of a scheduler."""
_DAY: Final = compile_lazily(r"(?:^|\D)(?:(?:19|20)\d\d[-_.]?[01]\d[-_.]?[0-3]\d)\Z")
_NO_ID: Final = compile_lazily(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:_\d+)?\Z")
_STREAM: Final = compile_lazily(
    r"(?:^|[-_.])(?P<stream>stdout|stderr|out|err)(?=$|[-_.])", re.IGNORECASE
)
_AGAIN: Final = compile_lazily(
    r"(?:^|[-_.])(?P<word>restart|requeue|attempt|try|r)[-_.]?(?P<count>\d{1,3})(?=$|[-_.])",
    re.IGNORECASE,
)
_STREAMS: Final = {
    "o": "out",
    "e": "err",
    "stdout": "out",
    "stderr": "err",
    "out": "out",
    "err": "err",
}


class NameParts(NamedTuple):
    """What a name says."""

    stem: str
    """What is left when all else is taken away: the job's, where several lie in a folder."""
    base: str = ""
    """The name without suffixes, whatever it tells."""
    process: str = ""
    """`rank3`, `node-2.rank3`; empty where it tells none."""
    stream: str = ""
    """`out` or `err`, as a word or as the suffix; else empty."""
    suffix: str = ""
    """Of the kind: `.log`, `.jsonl`; in lower case."""
    packed: str = ""
    """`.gz` and its like."""
    turn: str = ""
    """What rotation put behind the name."""
    scheduler_id: str = ""
    prefix: str = ""
    """Before the scheduler's id: `slurm`, or the job's name."""
    attempt: int = 1
    """Of a job with a scheduler's id."""


@functools.lru_cache(maxsize=1 << 14)
def parse_file_name(name: str) -> NameParts:
    """Read a file's name."""
    packed = _PACKED.search(name)
    base = name[: packed.start()] if packed else name
    turned = _TURNED.match(base)
    base, turn = (turned["base"], turned["turn"]) if turned else (base, "")
    kept = NameParts("", packed=packed[0].lower() if packed else "", turn=turn)
    if pbs := _OF_PBS.match(base):
        number = pbs["id"] + (f"_{pbs['task']}" if pbs["task"] else "")
        return kept._replace(
            prefix=pbs["name"], scheduler_id=number, stream=_STREAMS[pbs["stream"]]
        )
    suffix = _SUFFIX.search(base)
    base = base[: suffix.start()] if suffix else base
    ending = suffix[0].lower() if suffix else ""
    kept = kept._replace(suffix=ending, stream=_STREAMS.get(ending[1:], ""))
    kept = kept._replace(base=base)
    return _parse_scheduler_name(base, kept) or _parse_plain_name(base, kept)


def _parse_plain_name(base: str, kept: NameParts) -> NameParts:
    """Read what has no scheduler's id."""
    stem, words = process_words(base)
    if words and (suffix := _SUFFIX.search(stem)):  # train.log.rank3
        stem = stem[: suffix.start()]
        kept = kept._replace(suffix=suffix[0].lower())
    stream = _STREAM.search(stem)
    if stream is not None:
        stem = (stem[: stream.start()] + stem[stream.end() :]).strip("_.-")
        kept = kept._replace(stream=_STREAMS[stream["stream"].lower()])
    return kept._replace(stem=stem, process=".".join(words))


def _parse_scheduler_name(base: str, kept: NameParts) -> NameParts | None:
    """Read a name with a scheduler's id in it; None where that is not certain."""
    own = _OF_SLURM.match(base)
    match = own or _NUMBERED.match(base)
    if match is None:
        return None
    prefix = "slurm" if own else match["name"] or ""
    if not own and not _is_certain(prefix, match["id"], base[: match.start("id")][-1:], kept):
        return None
    rest, attempt = _split_attempt(match["rest"] or "")
    left = _parse_plain_name(rest, kept)
    process = left.process or (f"task{left.stem}" if left.stem.isdecimal() else "")
    if left.stem and not process:
        if not own:
            return None
        process = left.stem  # the name of a node
    return left._replace(
        stem="", process=process, scheduler_id=match["id"], prefix=prefix, attempt=attempt
    )


def _split_attempt(rest: str) -> tuple[str, int]:
    """Part what stands behind an id from the attempt: a first restart is the second attempt."""
    again = _AGAIN.search(rest)
    if again is None:
        return rest, 1
    is_counted = again["word"].lower() in {"attempt", "try"}
    rest = (rest[: again.start()] + rest[again.end() :]).strip("_.-")
    return rest, max(1, int(again["count"]) + (not is_counted))


def _is_certain(prefix: str, number: str, before: str, kept: NameParts) -> bool:
    """Say whether a number within a name can only be a scheduler's id."""
    if _NO_ID.match(number) or _COUNTS.search(prefix) or _DAY.search(prefix):
        return False
    if kept.suffix in {".out", ".err"}:
        return True
    return kept.suffix in {".log", ".txt"} and prefix != "" and before in {"-", "_"}
