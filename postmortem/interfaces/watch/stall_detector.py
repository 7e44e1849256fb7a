"""Detect a job that is silent for too long or stays at one step.

In: what is read from its files, as it comes. Out: signs that it is silent, or stays at one step.
Not here: how long a silence may be (`watch.pace`).
"""

import math
from collections.abc import Callable, Iterable
from typing import Final

from postmortem.core.lines import ProcessId
from postmortem.core.message import say
from postmortem.core.watching import Sign
from postmortem.diagnosis.detectors import stalled_output as silence
from postmortem.interfaces.watch.pace import Pace
from postmortem.interfaces.watch.watched_file import WatchedFile

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
        shape = silence.detect_stall_after_record(file.live.get_tail(), file.index, last, limit)
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
