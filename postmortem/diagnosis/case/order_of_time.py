"""One clock for the files of a job.

Printed times as seconds, and how far the clocks of two files stand apart.

In: printed times with their places, and the first and last lines of each source. Out: `Clock`, a
key that events sort by. Not here: which event is the failure (`case.order`), how long a log went on
behind a line (`facts.clock`).

Within a file its own order counts. Over files events are ordered by the printed time that stands
nearest before them, if every file that may hold the failure has such times. Files that log the same
steps show how far their clocks stand apart: ranks take their steps together.
"""

import bisect
import math
import re
import statistics
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.reading.prefixes import clean, convert_to_seconds, get_time_basis

HALF_A_DAY: Final = 43_200.0
A_DAY: Final = 86_400.0
LEAST_SKEW: Final = 5.0
"""Seconds; below, ranks that take turns or lines that wait in a buffer explain the difference."""
LEAST_SHARED: Final = 3
AGREE: Final = 0.2
"""Share of the skew (at least a second) within which most of the shared steps must agree."""
MOST: Final = 0.7
"""Share of the shared steps that are most of them."""
_STEP: Final = compile_lazily(
    r"(?:^|[^a-z])((?:step|iter(?:ation)?|batch)\W{0,4}\d+)", re.IGNORECASE
)
_SPACE: Final = compile_lazily(r"\W+")


class _PrintedTime(NamedTuple):
    """A printed time."""

    offset: int
    """Byte offset in its source."""
    seconds: float
    is_dated: bool


def _parse_time(time: str) -> tuple[float, bool] | None:
    """Give a printed time as seconds and whether its day is known.

    None for an uptime, which no other file shares, and for what cannot be read.
    """
    basis, value = get_time_basis(time), convert_to_seconds(time)
    return None if basis == "uptime" or math.isnan(value) else (value, basis != "no-date")


class Clock:
    """Orders events over the sources of a job."""

    def __init__(
        self,
        times: Iterable[tuple[int, int, str | None]],
        skews: Mapping[int, float],
        needed: Iterable[int],
    ) -> None:
        """Take printed times.

        Args:
            times: (source, byte offset, printed time).
            skews: seconds by which a source's clock is ahead.
            needed: the sources that may hold the failure; without times in one of them the clock is
                of no use.
        """
        found = _read(times)
        wanted = set(needed)
        self._times: dict[int, list[tuple[int, float]]] = {}
        self.is_of_use = len(wanted) > 1 and wanted <= set(found)
        if not self.is_of_use:
            return
        has_days = all(_has_only_dated_times(found[source]) for source in wanted)
        for source, printed in found.items():
            if not has_days or _has_only_dated_times(printed):
                places = [
                    (time.offset, time.seconds - skews.get(source, 0.0)) for time in sorted(printed)
                ]
                self._times[source] = places if has_days else _add_days_after_midnight(places)
        if not has_days:
            reach = [value for source in wanted for _, value in self._times[source]]
            self.is_of_use = max(reach) - min(reach) < HALF_A_DAY

    def key(self, source: int, offset: int) -> tuple[float, int, int]:
        """Give what events sort by."""
        if not self.is_of_use:
            return (0.0, source, offset)
        times = self._times.get(source)
        if not times:
            return (float("-inf"), source, offset)
        index = bisect.bisect_right(times, (offset, float("inf")))
        return (times[max(0, index - 1)][1], source, offset)

    def may_precede(
        self, place: tuple[int, int], other: tuple[int, int], passed: float = 0.0
    ) -> bool:
        """Say whether a place (source, byte offset) may lie before one in another file.

        Unless the clock says no, so many seconds having passed there since the last printed time.
        """
        return self.key(*place)[0] <= self.key(*other)[0] + passed


def _read(times: Iterable[tuple[int, int, str | None]]) -> dict[int, list[_PrintedTime]]:
    """Give the printed times of each source that can be compared with those of another."""
    found: dict[int, list[_PrintedTime]] = {}
    for source, offset, time in times:
        if time is not None and (parsed := _parse_time(time)) is not None:
            found.setdefault(source, []).append(_PrintedTime(offset, *parsed))
    return found


def _has_only_dated_times(printed: Iterable[_PrintedTime]) -> bool:
    return all(time.is_dated for time in printed)


def _add_days_after_midnight(places: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Give times of day, undated, with a day more behind each midnight."""
    days, last, found = 0.0, None, []
    for offset, value in places:
        time = value % A_DAY
        if last is not None and time < last - HALF_A_DAY:
            days += A_DAY
        last = time
        found.append((offset, time + days))
    return found


def estimate_clock_skews(ends: Mapping[int, Iterable[str]]) -> dict[int, float]:
    """Find clocks that stand apart.

    Args:
        ends: by source, texts of its first and last lines.

    Returns:
        Seconds by which a source is ahead of the first one that it shares steps with; sources in
        step are left out.
    """
    steps = {source: _find_first_step_times(texts) for source, texts in sorted(ends.items())}
    apart: dict[int, float] = {}
    clocks: list[dict[str, float]] = []  # few, however many sources go by them
    for source, own in steps.items():
        for its in clocks:
            ahead = _estimate_clock_offset(own, its)
            if ahead is not None:
                apart[source] = ahead
                if not ahead:
                    its.update({step: at for step, at in own.items() if step not in its})
                break
        else:
            clocks.append({**own})
    return {source: ahead for source, ahead in apart.items() if ahead}


def _estimate_clock_offset(mine: Mapping[str, float], its: Mapping[str, float]) -> float | None:
    """Give the seconds by which one is ahead of another, if most of the shared steps say so.

    0 if they are in step; None if the steps do not tell.
    """
    shared = [time - its[step] for step, time in mine.items() if step in its]
    if len(shared) < LEAST_SHARED:
        return None
    ahead = statistics.median(shared)
    near = max(1.0, AGREE * abs(ahead))
    agreeing = [apart for apart in shared if abs(apart - ahead) <= near]
    if len(agreeing) <= MOST * len(shared):
        return None
    return ahead if abs(ahead) >= LEAST_SKEW else 0.0


def _find_first_step_times(texts: Iterable[str]) -> dict[str, float]:
    """Give when each step was first printed."""
    found: dict[str, float] = {}
    for line in (line for text in texts for line in text.splitlines()):
        if _STEP.search(line) is None:
            continue
        peeled = clean(line, srun=True)
        read = _parse_time(peeled.time) if peeled.time else None
        if read is not None and (match := _STEP.search(peeled.text)):
            found.setdefault(_SPACE.sub(" ", match[1].lower()), read[0])
    return found
