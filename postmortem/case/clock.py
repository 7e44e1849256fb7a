"""One clock for the files of a job.

Printed times as seconds, and how far the clocks of two files stand apart.

In: printed times with their places, and the first and last lines of each source. Out: `Clock`, a
key that events sort by. Not here: which event is the failure (`inference.order`).

Within a file its own order counts. Over files events are ordered by the printed time that stands
nearest before them, if every file that may hold the failure has such times. Files that log the same
steps show how far their clocks stand apart: ranks take their steps together.
"""

import bisect
import itertools
import math
import re
import statistics
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from postmortem.reading.prefixes import clean, seconds, time_basis

HALF_A_DAY: Final = 43_200.0
A_DAY: Final = 86_400.0
LEAST_SKEW: Final = 5.0
"""Seconds; below, ranks that take turns or lines that wait in a buffer explain the difference."""
LEAST_SHARED: Final = 3
AGREE: Final = 0.2
"""Share of the skew (at least a second) within which most of the shared steps must agree."""
_STEP: Final = re.compile(r"(?:^|[^a-z])((?:step|iter(?:ation)?|batch)\W{0,4}\d+)", re.IGNORECASE)
_SPACE: Final = re.compile(r"\W+")


class Stamp(NamedTuple):
    """A printed time."""

    offset: int
    """Byte offset in its source."""
    seconds: float
    is_dated: bool


def _told(time: str) -> tuple[float, bool] | None:
    """Give a printed time as seconds and whether its day is known.

    None for an uptime, which no other file shares, and for what cannot be read.
    """
    basis, value = time_basis(time), seconds(time)
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
        self._stamps: dict[int, list[tuple[int, float]]] = {}
        found: dict[int, list[Stamp]] = {}
        for source, offset, time in times:
            if time is not None and (one := _told(time)) is not None:
                found.setdefault(source, []).append(Stamp(offset, *one))
        wanted = set(needed)
        self.is_of_use = len(wanted) > 1 and wanted <= set(found)
        if not self.is_of_use:
            return
        has_days = all(stamp.is_dated for source in wanted for stamp in found[source])
        for source, stamps in found.items():
            if has_days and not all(stamp.is_dated for stamp in stamps):
                continue
            places = [
                (stamp.offset, stamp.seconds - skews.get(source, 0.0)) for stamp in sorted(stamps)
            ]
            self._stamps[source] = places if has_days else _through_the_day(places)
        if not has_days:
            reach = [value for source in wanted for _, value in self._stamps[source]]
            self.is_of_use = max(reach) - min(reach) < HALF_A_DAY

    def key(self, source: int, offset: int) -> tuple[float, int, int]:
        """Give what events sort by."""
        stamps = self._stamps.get(source)
        if not self.is_of_use or not stamps:
            return (0.0 if not self.is_of_use else float("-inf"), source, offset)
        index = bisect.bisect_right(stamps, (offset, float("inf")))
        return (stamps[max(0, index - 1)][1], source, offset)

    def may_precede(
        self, one: tuple[int, int], other: tuple[int, int], passed: float = 0.0
    ) -> bool:
        """Say whether a place (source, byte offset) may lie before one in another file.

        Unless the clock says no, so many seconds having passed there since the last printed time.
        """
        return self.key(*one)[0] <= self.key(*other)[0] + passed


def _through_the_day(places: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Give times of day, undated, with a day more behind each midnight."""
    days, last, found = 0.0, None, []
    for offset, value in places:
        time = value % A_DAY
        if last is not None and time < last - HALF_A_DAY:
            days += A_DAY
        last = time
        found.append((offset, time + days))
    return found


def skews(ends: Mapping[int, Iterable[str]]) -> dict[int, float]:
    """Find clocks that stand apart.

    Args:
        ends: by source, texts of its first and last lines.

    Returns:
        Seconds by which a source is ahead of the first one that it shares steps with; sources in
        step are left out.
    """
    steps = {source: _steps(texts) for source, texts in ends.items()}
    found: dict[int, float] = {}
    for first, second in itertools.combinations(sorted(steps), 2):
        if second in found or first in found:
            continue
        shared = [
            steps[second][key] - steps[first][key] for key in steps[first] if key in steps[second]
        ]
        if len(shared) < LEAST_SHARED:
            continue
        ahead = statistics.median(shared)
        agreeing = [value for value in shared if abs(value - ahead) <= max(1.0, AGREE * abs(ahead))]
        if abs(ahead) >= LEAST_SKEW and len(agreeing) > 0.7 * len(shared):
            found[second] = ahead
    return found


def _steps(texts: Iterable[str]) -> dict[str, float]:
    """Give when each step was first printed."""
    found: dict[str, float] = {}
    for line in (line for text in texts for line in text.splitlines()):
        if not (match := _STEP.search(line)):
            continue
        one = clean(line, srun=True)
        read = _told(one.time) if one.time else None
        if read is not None and (match := _STEP.search(one.text)):
            found.setdefault(_SPACE.sub(" ", match[1].lower()), read[0])
    return found
