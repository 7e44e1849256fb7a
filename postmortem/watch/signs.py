"""Which sign belongs to whom.

The records of one file, handed to what looks at losses, scalers and memory of each process.

In: records in the order of their lines. Out: `Sign`s with the process that shows them. Not here:
what a sign is (`watch.losses`, `watch.scaler`, `watch.memory`).
"""

import copy
from collections.abc import Iterator
from typing import Final

from postmortem import names
from postmortem.model.lines import NOWHERE, Where
from postmortem.model.watching import Record, Sign
from postmortem.watch.losses import LossSigns
from postmortem.watch.memory import MemorySigns
from postmortem.watch.scaler import ScalerSigns

_MOST_PROCESSES: Final = 4096


class Signs:
    """All that looks at the records of one file."""

    def __init__(self) -> None:
        """Know no process yet."""
        self._losses: dict[tuple[Where, str], LossSigns] = {}
        self._memory: dict[tuple[Where, str], MemorySigns] = {}
        self._scalers: dict[Where, ScalerSigns] = {}

    def take(
        self, record: Record, unit: str, capacity: float | None, total: float
    ) -> Iterator[tuple[Sign, Where]]:
        """Look at the next record.

        Of the memory, `unit`, GiB of the device and steps of the run are wanted too.
        """
        key, where = (record.where, record.producer), record.where
        if len(self._scalers) >= _MOST_PROCESSES and where not in self._scalers:
            return
        if (
            where not in self._scalers
        ):  # what the lines without a label have told is of this process too
            self._scalers[where] = (
                copy.copy(self._scalers[NOWHERE]) if NOWHERE in self._scalers else ScalerSigns()
            )
        if record.values.keys() == {names.LOSS_SCALE}:
            yield from ((sign, where) for sign in self._scalers[where].event(record))
            return
        for own, scaler in self._scalers.items():
            if own == where or NOWHERE in {own, where}:
                found = list(scaler.pass_by(record))
                yield from ((sign, where) for sign in found if own == where)
        yield from (
            (sign, where) for sign in self._losses.setdefault(key, LossSigns()).take(record)
        )
        if names.MEMORY in record.values:
            yield from (
                (sign, where)
                for sign in self._memory.setdefault(key, MemorySigns()).take(
                    record, unit, capacity, total
                )
            )
