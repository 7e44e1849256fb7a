"""Pass the records of one file to the detectors of each process.

In: records in the order of their lines. Out: `Sign`s with the process that shows them. Not here:
what a sign is (`watch.loss_signs`, `watch.scaler_signs`, `watch.memory_signs`).
"""

import copy
from collections.abc import Iterator
from typing import Final

from postmortem.core import names
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.watching import MetricRecord, Sign
from postmortem.interfaces.watch.loss_signs import LossSigns
from postmortem.interfaces.watch.memory_signs import MemorySigns
from postmortem.interfaces.watch.scaler_signs import ScalerSigns

_MOST_PROCESSES: Final = 4096


class Signs:
    """All that looks at the records of one file."""

    def __init__(self) -> None:
        """Know no process yet."""
        self._losses: dict[tuple[ProcessId, str], LossSigns] = {}
        self._memory: dict[tuple[ProcessId, str], MemorySigns] = {}
        self._scalers: dict[ProcessId, ScalerSigns] = {}

    def take(
        self, record: MetricRecord, unit: str, capacity: float | None, total: float
    ) -> Iterator[tuple[Sign, ProcessId]]:
        """Look at the next record.

        Of the memory, `unit`, GiB of the device and steps of the run are wanted too.
        """
        where = record.where
        if not self._knows(where):
            return
        for sign in (*self._of_scale(record), *self._of_figures(record, unit, capacity, total)):
            yield sign, where

    def _knows(self, where: ProcessId) -> bool:
        """Register a process unless too many are known already."""
        if where in self._scalers:
            return True
        if len(self._scalers) >= _MOST_PROCESSES:
            return False
        # What the lines without a label have told is of this process too.
        unlabelled = self._scalers.get(NOWHERE)
        self._scalers[where] = ScalerSigns() if unlabelled is None else copy.copy(unlabelled)
        return True

    def _of_scale(self, record: MetricRecord) -> Iterator[Sign]:
        """Hand a record to the scaler of its process; those of all that may be the same see it."""
        where = record.where
        if _is_of_scale_alone(record):
            yield from self._scalers[where].read_event(record)
            return
        for own, scaler in self._scalers.items():
            if own == where or NOWHERE in {own, where}:
                found = list(scaler.pass_by(record))
                yield from found if own == where else ()

    def _of_figures(
        self, record: MetricRecord, unit: str, capacity: float | None, total: float
    ) -> Iterator[Sign]:
        """Hand a record to what looks at the loss and at the memory of its stream."""
        if _is_of_scale_alone(record):
            return
        key = (record.where, record.producer)
        yield from self._losses.setdefault(key, LossSigns()).take(record)
        if names.MEMORY in record.values:
            memory = self._memory.setdefault(key, MemorySigns())
            yield from memory.take(record, unit, capacity, total)


def _is_of_scale_alone(record: MetricRecord) -> bool:
    return record.values.keys() == {names.LOSS_SCALE}
