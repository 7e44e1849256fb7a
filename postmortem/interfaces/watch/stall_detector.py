"""Detect a job that is silent for too long, by its own pace, or stays at one step.

In: what is read from its files, as it comes, and when. Out: signs that it is silent, or stays at
one step. Not here: the clock, the end of a run (`watch.watcher`).

A run is silent while it evaluates, saves or compiles. So the limit is many times its usual distance
of records, and three times its longest silence so far; never below eight minutes: PyTorch's
collectives time out after ten, and the warning is to come first. Before the pace is known, an hour.
"""

import itertools
import math
import statistics
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from postmortem.core.diagnosis import Sign
from postmortem.core.findings import ProcessId
from postmortem.core.message import say
from postmortem.diagnosis.detectors.progress_lines import detect_stall_after_record
from postmortem.extraction.facts.clock import parse_time
from postmortem.interfaces.watch.watched_file import WatchedFile
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


_QUIET: Final = 30.0
"""Seconds of quiet behind a line that ends runs; a launcher that starts anew is sooner at it."""
_QUIET_TIMES: Final = 5


class StallDetector:
    """When a job last wrote output, by its printed clock and by ours."""

    def __init__(self, stall: float | None, now: Callable[[], float]) -> None:
        """Know nothing yet; `stall` is a limit that the user has set, 0 for none."""
        self._pace, self._now = Pace(stall), now
        self.last = math.nan
        """When it last wrote; NaN if it never did."""
        self._before, self._records = math.nan, 0
        """The same before this look, and the records of this look."""
        self._silent_from = math.nan
        """The last word before a silence that was told."""

    def begin_look(self) -> None:
        """Take note that all files are looked at once more."""
        self._before, self._records = self.last, 0

    def note_output(self, file: WatchedFile, records: int) -> None:
        """Record that output was written, and how many records it held.

        Output from before the watch gives the pace by its printed timestamps.
        """
        self._records += records
        if not math.isnan(self._before):
            self.last = self._now()
            return
        self._pace.learn(file.live.get_tail()[1].split("\n"))
        last = -math.inf if math.isnan(self.last) else self.last
        self.last = max(last, min(file.followed.modified, self._now()))

    def has_new_output(self) -> bool:
        """Say whether this look found new output, and update the pace; False for the first look."""
        if math.isnan(self._before) or not self.last > self._before:
            return False
        self._pace.record_output(self._now(), self.last - self._before, self._records)
        return True

    def has_broken_silence(self) -> bool:
        """Say, once, whether a reported silence is over."""
        was_silent = not math.isnan(self._silent_from)
        self._silent_from = math.nan
        return was_silent

    def find_same_step(self, file: WatchedFile) -> tuple[Sign, ProcessId] | None:
        """Find a file whose lines go on while no record has come for longer than a silence."""
        limit = self._pace.get_limit()
        if self._records or math.isinf(limit) or (last := file.get_last_record()) is None:
            return None
        shape = detect_stall_after_record(file.live.get_tail(), file.index, last, limit)
        if shape is None or shape.id != "same-step":
            return None
        return Sign("same-step", shape.message, shape.line), shape.where

    def find_stall(self, files: Iterable[WatchedFile]) -> tuple[WatchedFile, Sign] | None:
        """Find, once, that nothing is written any more; the file that was written last shows it."""
        silent = self.measure_silence()
        if not silent >= self._pace.get_limit() or not math.isnan(self._silent_from):
            return None
        self._silent_from = self.last
        usual = self._pace.get_usual()
        message = say("nothing written for {silent:.0f} s", silent=silent)
        if not math.isnan(usual):
            message = say(
                "{said}; records had come every {usual:.2g} s",
                said=message,
                usual=max(usual, 0.01),
            )
        there = [file for file in files if file.followed.is_there]
        file = max(there, key=lambda file: file.followed.modified)
        return file, Sign("stall", message, file.live.get_last_number(), file.last_step)

    def measure_silence(self) -> float:
        """Give the seconds since anything was written; NaN if nothing ever was."""
        return self._now() - self.last

    def is_quiet(self, least: float = _QUIET) -> bool:
        """Say whether it has been quiet for so many seconds, and for some of its own intervals."""
        usual = self._pace.get_usual()
        return self.measure_silence() >= max(
            least, _QUIET, 0.0 if math.isnan(usual) else _QUIET_TIMES * usual
        )
