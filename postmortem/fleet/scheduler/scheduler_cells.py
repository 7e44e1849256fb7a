"""Parse cells of a scheduler's record: times, counts, states, exit codes, images.

In: a cell, as text, number or JSON value. Out: a plain value, None or empty if it is blank.
Not here: which cell is what (`scheduler.slurm_json`, `scheduler.scheduler_table`).
"""

import math
import re
from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import say
from postmortem.fleet.scheduler.allocations import BadCell

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
