"""Parse cells of a scheduler's record: times, counts, states, exit codes, images, lists of hosts.

In: a cell, as text, number or JSON value. Out: a plain value, None or empty if it is blank; of
Slurm's short form `node[01-03,7],gpu[1-2]a` the names. Not here: which cell is what
(`scheduler.scheduler_records`).
"""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from itertools import product
from typing import Final

from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, say
from postmortem.fleet.scheduler.allocations import BadCell

MOST: Final = 65_536
"""Hosts of one list; more is a mistake or an attack."""
_NO_HOSTS: Final = frozenset({"", "none", "none assigned", "(null)", "n/a", "unknown", "-"})
_PARTS: Final = compile_lazily(r"\[([^\[\]]*)\]")
_RANGE: Final = compile_lazily(r"(\d{1,18})(?:-(\d{1,18}))?\Z", re.ASCII)


def expand_hostlist(text: str) -> tuple[str, ...]:
    """Give the names of a list of hosts, each once, in the order in which they stand.

    Names are parted by commas, semicolons, plus signs or blanks; a name may hold several brackets.
    Leading zeros are kept: `node[08-10]` is node08, node09, node10.

    Raises:
        BadCell: brackets that do not match, a range that is none, more than `MOST` hosts.
    """
    if text.strip().lower() in _NO_HOSTS:
        return ()
    names: dict[str, None] = {}
    for word in _iter_words(text):
        for name in _iter_hosts(word):
            names[name] = None
            if len(names) > MOST:
                raise BadCell(_describe_too_many_hosts())
    return tuple(names)


def get_short_hostname(host: str) -> str:
    """Give the first label of a host's name in lower case, an address as it is."""
    is_address = bool(re.fullmatch(r"[\d.]+|[\da-fA-F:]*:[\da-fA-F:]+", host))
    return host if is_address else host.partition(".")[0].lower()


def _iter_words(text: str) -> Iterator[str]:
    """Yield what stands between separators that are in no brackets."""
    depth, begin = 0, 0
    for place, mark in enumerate(text):
        depth += (mark == "[") - (mark == "]")
        if depth not in {0, 1}:
            raise BadCell(_describe_unmatched_brackets(text))
        if depth == 0 and (mark in ",;+" or mark.isspace()):
            yield text[begin:place]
            begin = place + 1
    if depth:
        raise BadCell(_describe_unmatched_brackets(text))
    yield text[begin:]


def _iter_hosts(word: str) -> Iterator[str]:
    """Yield the names of one word of a list."""
    if not word:
        return
    fixed = _PARTS.split(word)
    choices = [_expand_numbers(inside) for inside in fixed[1::2]]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > MOST:
        raise BadCell(_describe_too_many_hosts())
    for chosen in product(*choices):
        pairs = zip(fixed[2::2], chosen, strict=True)
        yield fixed[0] + "".join(number + rest for rest, number in pairs)


def _expand_numbers(inside: str) -> list[str]:
    """Give the numbers of a bracket, with their leading zeros."""
    numbers: list[str] = []
    for part in inside.split(","):
        found = _RANGE.match(part.strip())
        if not found:
            raise BadCell(_describe_bad_range(inside))
        first, last = found[1], found[2] or found[1]
        if int(last) < int(first) or int(last) - int(first) >= MOST:
            raise BadCell(_describe_bad_range(inside))
        numbers += (f"{n:0{len(first)}d}" for n in range(int(first), int(last) + 1))
    return numbers


def _describe_too_many_hosts() -> Message:
    return say("a list of more than {most} hosts", most=MOST)


def _describe_unmatched_brackets(text: str) -> Message:
    return say("brackets do not match: {text}", text=text[:60])


def _describe_bad_range(inside: str) -> Message:
    return say("not a range of hosts: [{inside}]", inside=inside[:60])


_NOTHING: Final = frozenset({"", "unknown", "none", "n/a", "na", "null", "nan", "(null)", "-"})
_NO_VALUE: Final = frozenset({0xFFFFFFFE, 0xFFFFFFFF})
"""What Slurm writes for "not set" and "infinite"."""
_MOST: Final = 2**53
"""Of anything that is counted; more is no count."""
_LAST: Final = 253_402_300_800.0
"""The year 10000: no job ends later."""
_MILLISECONDS_FROM: Final = 1e11
_ELAPSED: Final = compile_lazily(
    r"(?:(?P<days>\d+)-)?(?:(?P<hours>\d+):)?(?P<minutes>\d+):(?P<seconds>\d+(?:\.\d+)?)\Z"
)
_STATES: Final = {
    **dict.fromkeys(("SUCCEEDED", "SUCCESS", "DONE", "COMPLETE", "FINISHED", "OK"), "COMPLETED"),
    **dict.fromkeys(("FAILURE", "ERROR", "ERRORED", "EXIT", "CRASHED", "STARTFAIL"), "FAILED"),
    **dict.fromkeys(("OOM", "OOMKILLED", "OUT_OF_ME"), "OUT_OF_MEMORY"),
    **dict.fromkeys(("TIMEDOUT", "TIMED_OUT", "TIME_LIMIT"), "TIMEOUT"),
    **dict.fromkeys(("CANCELED", "KILLED", "ABORTED", "DELETED", "STOPPED"), "CANCELLED"),
    **dict.fromkeys(("EVICTED", "PREEMPT"), "PREEMPTED"),
}
"""Other schedulers' words, and cut ones, in Slurm's."""
_GPU: Final = compile_lazily(r"gres/gpu(?P<kind>:[^=,]{1,100})?=(?P<count>\d{1,15})")
_IMAGE: Final = compile_lazily(r"--container-image[= ]['\"]?(?P<image>[^\s'\"]+)")


def convert_cell_to_text(cell: object) -> str:
    """Give a cell as text; what stands for nothing, and what is no text, as an empty one."""
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return ""
    text = str(cell).strip()
    return "" if text.lower() in _NOTHING else text


def parse_number(cell: object) -> float | None:
    """Give a cell as a number: plain, as text, or as `{set, infinite, number}`.

    Raises:
        BadCell: it is text that is no number.
    """
    if isinstance(cell, Mapping):
        is_set = cell.get("set", True) and not cell.get("infinite")
        return parse_number(cell.get("number")) if is_set else None
    text = convert_cell_to_text(cell)
    try:
        value = float(text) if text else math.nan
    except ValueError:
        raise BadCell(say("not a number: {text}", text=text[:60])) from None
    return None if not math.isfinite(value) or value in _NO_VALUE else value


def parse_whole_number(cell: object) -> int | None:
    """Give a cell as a whole number that is not negative.

    Raises:
        BadCell: it is another number, or none.
    """
    value = parse_number(cell)
    if value is None:
        return None
    if not 0 <= value < _MOST or value != int(value):
        raise BadCell(say("not a count: {text}", text=convert_cell_to_text(cell)[:60]))
    return int(value)


def parse_timestamp(
    cell: object, zone: tzinfo | None, *, after: float | None = None
) -> float | None:
    """Give a time in UTC seconds.

    Args:
        cell: seconds or milliseconds since 1970, or a date and time of ISO 8601.
        zone: of a time without one; None is this machine's.
        after: it cannot have been before this; decides the hour that comes twice in autumn.

    Raises:
        BadCell: it is text that is no time.
    """
    seconds = _parse_seconds(cell, zone, after)
    if seconds is not None and not 0 <= seconds < _LAST:
        raise _build_time_error(convert_cell_to_text(cell))
    return seconds or None


def _parse_seconds(cell: object, zone: tzinfo | None, after: float | None) -> float | None:
    text = convert_cell_to_text(cell)
    if isinstance(cell, Mapping) or re.fullmatch(r"\d+(?:\.\d+)?", text):
        seconds = parse_number(cell)
        if seconds and seconds >= _MILLISECONDS_FROM:
            seconds /= 1000
        return seconds
    if not text:
        return None
    moment = _parse_datetime(text)
    if moment.tzinfo is not None:
        return moment.timestamp()
    placed = [_convert_to_timestamp(moment.replace(fold=fold), zone) for fold in (0, 1)]
    return placed[1] if after is not None and placed[0] < after <= placed[1] else placed[0]


def _parse_datetime(text: str) -> datetime:
    text = re.sub(r"\s*(?:Z|UTC)\Z", "+00:00", text.replace("/", "-"))
    try:
        return datetime.fromisoformat(re.sub(r"(\.\d{3})\d*|\.\d+", r"\1", text))
    except ValueError:
        raise _build_time_error(text) from None


def _convert_to_timestamp(moment: datetime, zone: tzinfo | None) -> float:
    try:
        return (moment if zone is None else moment.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError, OSError):
        raise _build_time_error(str(moment)) from None


def _build_time_error(text: str) -> BadCell:
    return BadCell(say("not a time: {text}", text=text[:60]))


def parse_duration(cell: object) -> float | None:
    """Give seconds: a number, or `days-hours:minutes:seconds`.

    Raises:
        BadCell: it is text that is neither.
    """
    found = _ELAPSED.match(convert_cell_to_text(cell))
    if not found:
        seconds = parse_number(cell)
        return None if seconds is None or seconds < 0 else seconds
    days, hours, minutes, seconds = (float(found[name] or 0) for name in _ELAPSED.groupindex)
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def state_of(cell: object) -> str:
    """Give a state in Slurm's words: of a list the first, of `CANCELLED by 1000` the first word."""
    first = next(iter(cell), "") if isinstance(cell, list) else cell
    words = (
        convert_cell_to_text(first)
        .upper()
        .rstrip("+")
        .split(" BY ")[0]
        .replace(" ", "_")
        .replace("-", "_")
    )
    return _STATES.get(words, words)


def count_gpus(resources: object) -> int | None:
    """Count the GPUs in trackable resources: `cpu=8,gres/gpu=4`, or a list of records.

    If kinds of GPUs are listed besides the total, the total counts. None if nothing is listed.
    """
    if isinstance(resources, list):
        resources = ",".join(
            _format_resource(entry) for entry in resources if isinstance(entry, Mapping)
        )
    text = convert_cell_to_text(resources)
    if not text:
        return None
    found = list(_GPU.finditer(text))
    of_all = [int(match["count"]) for match in found if not match["kind"]]
    return max(of_all) if of_all else sum(int(match["count"]) for match in found)


def _format_resource(entry: Mapping[str, object]) -> str:
    name = convert_cell_to_text(entry.get("name"))
    kind = convert_cell_to_text(entry.get("type")) + (f"/{name}" if name else "")
    return f"{kind}={parse_whole_number(entry.get('count')) or 0}"


def format_exit_code(cell: object) -> str:
    """Format an exit code as `code:signal`; a text is kept as it is."""
    if not isinstance(cell, Mapping):
        return convert_cell_to_text(cell)
    code, signal = cell.get("return_code"), cell.get("signal")
    if isinstance(signal, Mapping):
        signal = signal.get("signal_id", signal.get("id"))
    codes = parse_whole_number(code), parse_whole_number(signal)
    return "" if codes == (None, None) else f"{codes[0] or 0}:{codes[1] or 0}"


def extract_image(container: object, command: object) -> str:
    """Give the container image: from its cell, else from the command that submitted the job."""
    match = _IMAGE.search(convert_cell_to_text(command))
    return match["image"] if match else convert_cell_to_text(container)
