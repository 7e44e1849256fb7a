"""The times that a log prints: the clock of its lines, and moments on one axis for the whole job.

In: raw lines with their numbers. Out: `Stamp`s and the seconds between them, which are compared
only on the same clock (a log may print several, with and without a year); `Moment`s at the head of
a line or within it, and the seconds between two of them. Not here: which line is the failure, the
form of prefixes (`reading.prefixes`), how far the clocks of two files stand apart
(`case.order_of_time`).

A scheduler says when it cancelled a job at the end of its line, `date` and `nvidia-smi` head a dump
with the day of the week, a table of jobs has a column. All of them may be the newest clock of a job
whose own log stopped hours before. Two moments are compared by what both of them tell.
"""

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.reading.prefixes import clean, convert_to_seconds, get_time_basis

_PREFIX: Final = 200
"""Characters of a line in which its clock stands."""
_NEAR_SECONDS: Final = 60.0
_NEAR_SHARE: Final = 0.1
_YEAR: Final = 366 * 86400.0

_SHORT: Final = compile_lazily(
    r"\s{0,4}\[?(?:(?P<year>2\d)[-/])?(?P<month>0\d|1[0-2])[-/](?P<day>[0-2]\d|3[01])"
    r"[ T_-](?P<clock>[0-2]\d:[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?)(?![\d:])"
)
"""A stamp without a year, or with two digits of it, in front of what a logger prints."""


class Stamp(NamedTuple):
    """A line with a clock."""

    line: int
    time: str


def parse_stamps(first: int, lines: Iterable[str]) -> list[Stamp]:
    """Read the clocks of consecutive raw lines, the first of which has the number `first`."""
    return [
        Stamp(number, time)
        for number, line in enumerate(lines, first)
        if (time := parse_time(line)) is not None
    ]


def parse_time(line: str) -> str | None:
    """Give the time that a raw line prints, be it behind a task number, if it can be read."""
    line = line[:_PREFIX]
    if ":" not in line and "[" not in line:  # no clock, no seconds since the start
        return None
    cleaned = clean(line, srun=True)
    time = cleaned.time or _parse_bare_stamp(cleaned.text)
    return None if time is None or math.isnan(convert_to_seconds(time)) else time


def _parse_bare_stamp(text: str) -> str | None:
    """Read a stamp that no form of prefix takes off, since the line's format begins with it."""
    found = _SHORT.match(text)
    if found is None:
        return None
    year = f"20{found['year']}" if found["year"] else "-"
    clock = found["clock"].replace(",", ".")
    return f"{year}-{found['month']}-{found['day']}T{clock}"


def get_time_at(known: Sequence[Stamp], line: int) -> str | None:
    """Give the time that a line itself prints."""
    return next((stamp.time for stamp in known if stamp.line == line), None)


def compute_seconds_after(near: Sequence[Stamp], line: int, ends: Iterable[str]) -> float | None:
    """Compute how long a log went on after a line.

    Args:
        near: clocks of lines around it, in any order.
        line: raw line number; if it prints no clock of its own, its neighbours must agree within a
            minute or a tenth of the answer.
        ends: the last clocks of the log, and of other files of the job.

    Returns:
        Seconds to the latest end on the same clock; None where the clocks do not tell.
    """
    answers = [
        answer
        for basis in ("full", "no-year", "no-date", "uptime")
        if (
            answer := _compute_elapsed(
                [stamp for stamp in near if get_time_basis(stamp.time) == basis],
                line,
                [end for end in ends if get_time_basis(end) == basis],
            )
        )
        is not None
    ]
    return answers[0] if answers else None


def _compute_elapsed(near: Sequence[Stamp], line: int, ends: Sequence[str]) -> float | None:
    """Compute how long a log went on after a line, with all times on one clock."""
    before = max((stamp for stamp in near if stamp.line <= line), default=None)
    if before is None:
        return None
    spans = [span for end in ends if (span := _compute_span(before.time, end)) is not None]
    longest = max(spans, default=None)
    if longest is None or before.line == line:
        return longest
    after = min((stamp for stamp in near if stamp.line > line), default=None)
    gap = _compute_span(before.time, after.time) if after is not None else None
    is_known = gap is not None and gap <= max(_NEAR_SECONDS, _NEAR_SHARE * longest)
    return longest if is_known else None


def _compute_span(start: str, end: str) -> float | None:
    """Give the seconds between two times of one clock; None if the second is the earlier one."""
    span = convert_to_seconds(end) - convert_to_seconds(start)
    if span < 0 and get_time_basis(start) == "no-year" and span + _YEAR < _YEAR / 2:
        span += _YEAR
    return span if span >= 0 else None


_DAY: Final = 86_400.0
_HALF_A_YEAR: Final = 183 * _DAY
_LONGEST_OF_DAY: Final = 0.5 * _DAY
"""Beyond it two times of day say nothing: the second may be of the day before."""
_LONGEST_HEAD: Final = 400
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
    text = line[:_LONGEST_HEAD]
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
