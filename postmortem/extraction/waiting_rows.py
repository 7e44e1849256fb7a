"""Rows of figures that wait to be put into their series, many at once.

In: columns that have got a row. Out: the same rows in their series, in the order of the log. Not
here: what becomes of their number (`extraction.points`).
"""

from collections.abc import Callable

from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.extraction.facts.columns import Columns


def count_no_rows(_: ProcessId) -> int:
    """Count no rows."""
    return 0


class WaitingRows:
    """The columns of one source that have rows which wait."""

    def __init__(self, note: Callable[[Columns], None]) -> None:
        """Store the callback for rows that are about to go into their series."""
        self._note = note
        self._waiting: dict[ProcessId, dict[int, Columns]] = {}
        """By process."""
        self._writers: dict[int, Columns] = {}
        """The rows that wait for each series."""
        self.count = 0
        """How many rows wait; whoever adds one counts it."""
        self.ahead: Callable[[ProcessId], int] = count_no_rows
        """Counts rows of a process that are given after the line that is read but stand before."""

    def let_wait(self, rows: Columns) -> None:
        """Let rows wait; others that share a series with them go first, so that order is kept."""
        for series in rows.series:
            if series is not None:
                other = self._writers.get(id(series))
                if other is not None and other is not rows:
                    self._flush(other)
                self._writers[id(series)] = rows
        self._waiting.setdefault(rows.where, {})[id(rows)] = rows
        rows.is_waiting = True

    def flush(self) -> None:
        """Put all waiting rows into their series."""
        if self._waiting:
            for of_process in self._waiting.values():
                for rows in of_process.values():
                    self._flush(rows)
            self._waiting.clear()
            self._writers.clear()

    def count_records_of(self, where: ProcessId) -> int:
        """Count the waiting rows of a process: its own and unlabelled ones."""
        ahead = self.ahead(where)
        if where == NOWHERE:  # all of them do
            return ahead + self.count
        waiting = [self._waiting.get(place, {}).values() for place in (where, NOWHERE)]
        return ahead + sum(len(rows) for of_process in waiting for rows in of_process)

    def _flush(self, rows: Columns) -> None:
        if rows.is_waiting:
            self.count -= len(rows)
            self._note(rows)
            rows.flush()
