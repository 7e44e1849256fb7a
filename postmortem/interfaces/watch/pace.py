"""How long a run may be silent before it counts as stalled, by its own pace.

In: when something was written, and how many records. Out: a limit in seconds. Not here: the clock.

A run is silent while it evaluates, saves or compiles. So the limit is many times its usual distance
of records, and three times its longest silence so far; never below eight minutes: PyTorch's
collectives time out after ten, and the warning is to come first. Before the pace is known, an hour.
"""

import itertools
import math
import statistics
from collections import deque
from collections.abc import Iterable
from typing import Final

from postmortem.extraction.facts.clock import parse_time
from postmortem.reading.prefixes import convert_to_seconds, get_time_basis

FLOOR: Final = 480.0
FIRST: Final = 3600.0
"""Before the pace is known: models are downloaded, data is prepared, kernels are compiled, and the
first record may come after an epoch."""
_KNOWN: Final = 3
"""Times that records have come while we watched: less does not tell a pace, since a program that
writes into a file may do so in large pieces."""
_TIMES: Final = 30
_LONGEST: Final = 3
_LOOKED_AT: Final = 2000
"""Last lines of what was there before the watch began."""


class Pace:
    """The pace of a job."""

    def __init__(self, stall: float | None = None) -> None:
        """Know nothing yet; `stall` is a limit that the user has set, 0 for none."""
        self._fixed = stall
        self._looks = 0
        """How often records have come."""
        self._last = math.nan
        self._gaps: deque[float] = deque(maxlen=200)
        """Seconds a record, between the last times that records have come."""
        self._usual = math.nan
        """The same, as the log's own clock tells it of the time before the watch."""
        self._longest = 0.0

    def record_output(self, now: float, silence: float, records: int) -> None:
        """Take note that something was written, after how much silence, with how many records."""
        self._longest = max(self._longest, silence)
        if records:
            if self._looks:
                self._gaps.append((now - self._last) / records)
            self._last, self._looks = now, self._looks + 1

    def learn(self, lines: Iterable[str]) -> None:
        """Learn from lines that were written before the watch began, by their printed clock."""
        printed = [
            time for line in [*lines][-_LOOKED_AT:] if (time := parse_time(line)) is not None
        ]
        basis = max(
            {get_time_basis(time) for time in printed},
            key=[get_time_basis(time) for time in printed].count,
            default=None,
        )  # a log may print several clocks
        times = [convert_to_seconds(time) for time in printed if get_time_basis(time) == basis]
        gaps = [later - earlier for earlier, later in itertools.pairwise(times) if later >= earlier]
        if gaps:
            self._longest, self._usual = max(self._longest, *gaps), statistics.median(gaps)

    def get_usual(self) -> float:
        """Give the usual distance of records in seconds; NaN if it is not known."""
        return statistics.median(self._gaps) if self._gaps else self._usual

    def get_limit(self) -> float:
        """Give the silence from which on the run is said to stand still."""
        if self._fixed is not None:
            return self._fixed or math.inf
        usual = self.get_usual()
        floor = FIRST if self._looks < _KNOWN else FLOOR
        return max(floor, 0.0 if math.isnan(usual) else _TIMES * usual, _LONGEST * self._longest)
