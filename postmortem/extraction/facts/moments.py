"""The times that lines print, at their head or within, on one axis for the whole job.

In: raw lines. Out: `Moment`s, and the seconds between two of them. Not here: the form of prefixes
(`reading.prefixes`), how far the clocks of two files stand apart (`case.order_of_time`).

A scheduler says when it cancelled a job at the end of its line, `date` and `nvidia-smi` head a dump
with the day of the week, a table of jobs has a column. All of them may be the newest clock of a job
whose own log stopped hours before. Two moments are compared by what both of them tell.
"""

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.facts.clock import parse_time
from postmortem.reading.prefixes import convert_to_seconds, get_time_basis

_DAY: Final = 86_400.0
_HALF_A_YEAR: Final = 183 * _DAY
_LONGEST_OF_DAY: Final = 0.5 * _DAY
"""Beyond it two times of day say nothing: the second may be of the day before."""
_MOST: Final = 400
"""Characters of a line in which a time is looked for."""
_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_ISO: Final = compile_lazily(
    r"(?<![\d-])(?P<date>(?:19|20)\d\d[-/](?:0\d|1[0-2])[-/][0-3]\d)[T _-]"
    r"(?P<clock>[0-2]\d:[0-5]\d(?::[0-5]\d)?)(?![\d:])"
)
_NAMED: Final = compile_lazily(
    r"\b(?:(?P<day0>\d{1,2}) )?(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
    r"(?: {1,2}(?P<day>\d{1,2}))?(?P<year1>,? (?:19|20)\d\d)? (?P<clock>[0-2]\d:[0-5]\d:[0-5]\d)"
    r"(?: (?:AM|PM|[A-Z]{2,5}|[+-]\d{2,4}))?(?P<year2> (?:19|20)\d\d)?",
)


class Moment(NamedTuple):
    """A time that a line prints: when it was printed, or of what it reports."""

    line: int
    time: str
    """As `reading.prefixes` writes it."""

    def basis(self) -> str:
        """Say how much of the time is there."""
        return get_time_basis(self.time) or ""


def iter_timed_lines(tail: tuple[int, str]) -> Iterator[tuple[Moment, str]]:
    """Yield the lines of a text that print a time, each with its own text.

    Args:
        tail: raw number of the first line of the text, and the text.
    """
    first, text = tail
    known = ""
    for number, line in enumerate(text.split("\n"), first):
        time = find_timestamp(line)
        if time is not None:
            time = _add_date(time, known)
            known = time if get_time_basis(time) == "full" else known
            yield Moment(number, time), line


def _add_date(time: str, known: str) -> str:
    """Give a time of day the day of a dated one before it, or the day behind that."""
    if (
        not known
        or get_time_basis(time) != "no-date"
        or (span := compute_seconds_between(known, time)) is None
    ):
        return time
    then = dt.datetime.fromtimestamp(convert_to_seconds(known) + span, dt.timezone.utc)
    return then.strftime("%Y-%m-%dT%H:%M:%S")


def find_timestamp(line: str) -> str | None:
    """Give the time that heads a line with its day, else the latest dated one within it."""
    head = parse_time(line)
    if head is not None and get_time_basis(head) != "no-date":
        return head
    text = line[:_MOST]
    return max(iter_dated_timestamps(text), default=head) if ":" in text else head


def iter_dated_timestamps(text: str) -> Iterator[str]:
    """Yield the dated times anywhere in a text."""
    for match in _ISO.finditer(text):
        time = f"{match['date'].replace('/', '-')}T{_add_missing_seconds(match['clock'])}"
        if convert_to_seconds(time) == convert_to_seconds(time):
            yield time
    for match in _NAMED.finditer(text):
        month, day = _MONTHS.index(match["month"].lower()) + 1, match["day"] or match["day0"]
        if day is None:
            continue
        year = (match["year1"] or match["year2"] or "").strip(", ")
        time = f"{year or '-'}-{month:02d}-{int(day):02d}T{match['clock']}"
        if convert_to_seconds(time) == convert_to_seconds(time):
            yield time


def _add_missing_seconds(clock: str) -> str:
    return clock if clock.count(":") == 2 else f"{clock}:00"


def compute_seconds_between(start: str, end: str) -> float | None:
    """Give the seconds from one time to another, by the parts that both of them print.

    Of two times of day the second is taken for the next that is so, within half a day.

    Returns:
        None where the second is the earlier one, or nothing that both tell compares them.
    """
    bases = {get_time_basis(start), get_time_basis(end)}
    if ("uptime" in bases and bases != {"uptime"}) or None in bases:
        return None
    if bases in ({"full"}, {"uptime"}):
        span = convert_to_seconds(end) - convert_to_seconds(start)
        return span if span >= 0 else None
    if "no-date" in bases:
        span = (convert_to_seconds(end) - convert_to_seconds(start)) % _DAY
        return span if span < _LONGEST_OF_DAY else None
    span = convert_to_seconds(_strip_year(end)) - convert_to_seconds(_strip_year(start))
    if span < -_HALF_A_YEAR:
        span += 366 * _DAY
    return span if span >= 0 else None


def _strip_year(time: str) -> str:
    return time if time.startswith("--") else f"-{time[4:]}"


def find_newest_timestamp(times: Iterable[str], since: str) -> tuple[float, str] | None:
    """Give the time that lies farthest behind another one, with its seconds."""
    spans = [
        (span, time) for time in times if (span := compute_seconds_between(since, time)) is not None
    ]
    return max(spans, default=None)
