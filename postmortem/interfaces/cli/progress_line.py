"""Show the progress of reading on standard error, and a summary at the end.

In: the sources as they are read. Out: one line that is drawn again on a terminal, one line at the
end. Not here: the report, which alone goes to standard output.
"""

import sys
import time
from typing import Final

from postmortem.api import Report
from postmortem.interfaces.cli.messages import note
from postmortem.report.plain import format_one_line

_FIRST_AFTER: Final = 1.0
"""Seconds before anything is drawn: most logs are read by then."""


_EVERY: Final = 0.2


_NAME: Final = 28
"""Characters of a path, so that the line fits 80 columns and can be wiped."""


_LONG: Final = 5.0
"""Seconds after which the last line is written even where nobody watches."""


class ProgressLine:
    """Call it with what has been read; `close` wipes the drawn line."""

    def __init__(self) -> None:
        """Start the clock."""
        self._start = self._drawn = time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        self._width = 0

    def __call__(self, path: str, size: int, lines: int) -> None:
        """Draw how far the source is: decompressed bytes and lines so far."""
        now = time.monotonic()
        if not self._is_terminal or now - self._start < _FIRST_AFTER or now - self._drawn < _EVERY:
            return
        self._drawn = now
        name = format_one_line(path, 4096)[-_NAME:]
        text = (
            f"{name}: {size / 1e6:,.1f} MB, {lines:,} lines,"
            f" {size / 1e6 / (now - self._start):,.0f} MB/s"
        )
        note("\r" + text.ljust(self._width))
        self._width = len(text)

    def close(self) -> None:
        """Wipe the line."""
        if self._width:
            note("\r" + " " * self._width + "\r")

    def summary(self, report: Report, rules: int) -> str:
        """Give the last line, or an empty string where nobody waited for it."""
        seconds = time.monotonic() - self._start
        if not self._is_terminal and seconds < _LONG:
            return ""
        read = [source for source in report.diagnosis.sources if source.kind != "ignored"]
        return (
            f"{sum(file.bytes for file in read) / 1e6:,.1f} MB,"
            f" {sum(file.lines for file in read):,} lines, {rules:,} rules, {seconds:.2f} s"
        )
