"""Detect the end of a watched run.

In: its output times and its files. Out: the analysis of a run that is over. Not here: which
lines may end a run (`watch.growing_file`).

A line alone does not decide it: after one that may have ended the run, and some silence, the log is
analysed as by `postmortem analyze`.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from postmortem import pipeline
from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import InputError
from postmortem.interfaces.watch.job_files import JobFiles
from postmortem.interfaces.watch.stall_detector import StallDetector

_QUIET_LAST_STEP: Final = 300.0
"""Seconds of quiet behind the last step alone: what comes then, evaluating and saving, may fail
yet."""
_OVER: Final = frozenset({"completed", "failed"})


class RunEnd:
    """The end of a run: whether it may have come, and when that was looked into."""

    def __init__(self, files: JobFiles, patterns: Sequence[Path]) -> None:
        """Take what is analysed, and how."""
        self._files, self._patterns = files, tuple(patterns)
        self.may_have_come = False
        """True behind a line that may have ended the run, until the log was analysed."""
        self._analysed = math.nan
        """The last word behind which the log was analysed."""

    def get_analysis(self, stalls: StallDetector, *, waits: bool) -> Analysis | None:
        """Give the analysis of a run that is over; `waits`: not before some quiet."""
        is_at_last_step = any(file.is_at_last_step() for file in self._files)
        if not (self.may_have_come or is_at_last_step) or self._analysed == stalls.last:
            return None
        if waits and not stalls.is_quiet(0.0 if self.may_have_come else _QUIET_LAST_STEP):
            return None
        self.may_have_come, self._analysed = False, stalls.last
        try:
            found = pipeline.run_pipeline(self._files.given, patterns=self._patterns)
        except InputError:
            return None
        return found if found.outcome in _OVER else None
