"""The distinct processes that one source names.

In: the process that a line names. Out: the process that it counts for. Not here: reading the label
of a line (`reading.prefixes`).
"""

from typing import Final

from postmortem.core.lines import NOWHERE, ProcessId

MOST_PROCESSES: Final = 4096
"""Processes of a source that are told apart; what the others print is of none."""


class ProcessRegistry:
    """The processes that a source has named so far."""

    def __init__(self, where: ProcessId) -> None:
        """Start empty; `where` is the process in the file's name, for lines without a label."""
        self.where = where
        self.strangers = 0
        """Lines of processes that are one too many, so far."""
        self._known: set[ProcessId] = set()

    @property
    def count(self) -> int:
        """How many processes are kept apart so far."""
        return len(self._known)

    def process(self, where: ProcessId) -> ProcessId:
        """Fill in what the file's name tells, and bound how many a hostile log can invent."""
        if self.where != NOWHERE:
            where = where.filled(self.where)
        if where not in self._known:
            if len(self._known) >= MOST_PROCESSES:
                return self.stranger()
            self._known.add(where)
        return where

    def stranger(self) -> ProcessId:
        """Give the process that stands for all those beyond the limit."""
        self.strangers += 1
        return self.where
