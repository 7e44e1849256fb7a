"""Show the progress of a triage on standard error: work done, speed, time left.

In: counts. Out: one line that is drawn again on a terminal, a line now and then elsewhere. Not
here: counting (`fleet.judging_jobs`).
"""

import sys
import time
from typing import Final

from postmortem.interfaces.cli.messages import note, print_message

_ON_TERMINAL, _ELSEWHERE = 0.2, 30.0
_HOUR, _MINUTE = 3600, 60
_EACH: Final = 300_000
"""Bytes that are read in the time that a job costs beside its reading."""
_STAGES: Final = {
    "finding": "finding jobs",
    "reading": "reading",
    "judging": "judging",
    "reports": "writing reports",
}


class TriageProgress:
    """Call it with what is done; `close` wipes the drawn line."""

    def __init__(self) -> None:
        """Start the clock."""
        self._start = self._last_report = time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        self._stage = ""
        self._width = 0

    def __call__(self, stage: str, done: int, tasks: int, size: int, whole: int) -> None:
        """Tell how far a stage is: tasks and bytes, done and in all."""
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._start, self._last_report = stage, now, now
        if now - self._last_report < (_ON_TERMINAL if self._is_terminal else _ELSEWHERE):
            return
        self._last_report = now
        text = format_progress_line(
            _STAGES.get(stage, stage), done, tasks, size, whole, now - self._start
        )
        if self._is_terminal:
            note("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            print_message(text)

    def close(self) -> None:
        """Wipe the line."""
        if self._width:
            note("\r" + " " * self._width + "\r")


def format_progress_line(
    stage: str, done: int, tasks: int, size: int, whole: int, seconds: float
) -> str:
    """Format the progress; the remaining time is estimated from bytes plus a share for each job."""
    text = f"{stage}: {done:,} of {tasks:,}"
    if seconds <= 0 or not done:
        return text
    text += f", {done / seconds:,.1f} jobs/s, {size / 1e6 / seconds:,.1f} MB/s"
    share = (size + done * _EACH) / (whole + tasks * _EACH)
    return f"{text}, {_format_duration(seconds * (1 / share - 1))} left" if share else text


def _format_duration(seconds: float) -> str:
    whole = round(seconds)
    if whole >= _HOUR:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE:02d} min"
    return f"{whole // _MINUTE} min {whole % _MINUTE:02d} s" if whole >= _MINUTE else f"{whole} s"
