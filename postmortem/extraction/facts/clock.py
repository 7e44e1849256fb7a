"""The printed clock of a log: when a line was printed, and how long the log went on after it.

In: raw lines with their numbers. Out: `Stamp`s, seconds. Not here: which line is the failure, the
form of prefixes (`reading.prefixes`). A log may print several clocks (with and without a year); two
times are compared only on the same one.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
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
