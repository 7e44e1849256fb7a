"""The GPUs of a job: names, how many of each, memory and compute capability.

In: facts `gpu_name`, `gpu_count`, `gpu_memory_mib`, `gpu_memory_gib`, `gpu_capability` in the order
of their lines. Out: `Gpu`s. Not here: the rules that read them (`patterns/formats`), the table of
known GPUs (`patterns/gpus.yaml`).

A figure belongs to the name that stands last before it in the same list; one without a name holds
for all.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core.findings import Gpu
from postmortem.core.log_text import parse_number

_MOST: Final = 2000
_SAME_LIST: Final = 4
"""Lines between two GPUs of one list; a name that comes again later is another rank's dump."""
_SAME_CARD: Final = 60
"""Lines between a name and its figures: `nvidia-smi -q` prints a page about each card."""
_CAPABILITIES: Final = (2.0, 20.0)
_UNKNOWN: Final[Mapping[str, Any]] = {"memory_gib": None, "capability": None}
"""Stands for the row of a GPU that the table does not know."""


class GpuName(NamedTuple):
    """Where and how surely a GPU was named."""

    strength: int
    source: int
    line: int


class Cards:
    """What is known of the GPUs."""

    def __init__(self) -> None:
        """Start without any."""
        self.names: dict[str, GpuName] = {}
        """The strongest sighting of each name."""
        self.counts: dict[str, int] = {}
        self.memory: dict[str, float] = {}
        """GiB by name; under the empty name what was printed without one."""
        self.capability: dict[str, float] = {}
        self._sightings: dict[str, GpuName] = {}
        self._last: tuple[str, GpuName] | None = None
        self._announced: tuple[int, GpuName] | None = None

    def add(self, what: str, value: str, strength: int, source: int, line: int) -> None:
        """Take one fact; `what` is its name without `gpu_`, value a printed text."""
        here = GpuName(strength, source, line)
        if what == "name":
            self._name(value, here)
            return
        figure = parse_number(value)
        if figure is None:
            return
        if what == "count":
            self._count(max(1, int(figure)), here)
        elif what in {"memory_mib", "memory_gib"}:
            name, gib = self._find_owner(here), figure / 1024 if what == "memory_mib" else figure
            self.memory[name] = max(self.memory.get(name, 0.0), gib)
        elif what == "capability" and _CAPABILITIES[0] <= figure < _CAPABILITIES[1]:
            self.capability.setdefault(self._find_owner(here), figure)

    def _name(self, name: str, here: GpuName) -> None:
        known = self.names.get(name)
        if known is None and len(self.names) >= _MOST:
            return
        if known is None or here.strength > known.strength:
            self.names[name] = here
        sighting = self._sightings.get(name)
        if sighting is None:
            self.counts[name] = 1
            if self._announced is not None and _is_near(self._announced[1], here, _SAME_CARD):
                self.counts[name] = self._announced[0]
        elif sighting.source == here.source and 0 < here.line - sighting.line <= _SAME_LIST:
            self.counts[name] += 1
        if sighting is None or here.line - sighting.line <= _SAME_LIST:
            self._sightings[name] = here
        self._last, self._announced = (name, here), None

    def _count(self, count: int, here: GpuName) -> None:
        if self.names:
            self.counts[next(reversed(self.names))] = count
        else:
            self._announced = (count, here)

    def _find_owner(self, here: GpuName) -> str:
        return (
            self._last[0]
            if self._last is not None
            and _is_near(self._last[1], here, _SAME_CARD)
            and here.strength >= self._last[1].strength
            else ""
        )

    def largest_gib(self) -> float | None:
        """Give the printed memory of the largest GPU."""
        return max(self.memory.values(), default=None)

    def merge(self, other: "Cards") -> None:
        """Take what another part of the job has gathered."""
        for name, sighting in other.names.items():
            if name not in self.names or sighting.strength > self.names[name].strength:
                self.names[name] = sighting
            self.counts[name] = max(self.counts.get(name, 0), other.counts.get(name, 0))
        for name, gib in other.memory.items():
            self.memory[name] = max(self.memory.get(name, 0.0), gib)
        for name, capability in other.capability.items():
            self.capability.setdefault(name, capability)

    def models(self, table: Sequence[Mapping[str, Any]]) -> tuple[Gpu, ...]:
        """Look the printed names up in the table.

        One entry a model, of the most surely printed names only.
        """
        found: dict[str, Gpu] = {}
        strongest = max((sighting.strength for sighting in self.names.values()), default=0)
        names = [name for name, sighting in self.names.items() if sighting.strength == strongest]
        for name in names:
            known = next(
                (row for row in table if re.search(row["match"], name, re.IGNORECASE)), _UNKNOWN
            )
            label = known.get("name", name)
            found[label] = Gpu(
                label,
                max(self.counts.get(name, 1), found[label].count if label in found else 0),
                self._get_memory(name, names) or known["memory_gib"],
                self.capability.get(name) or known["capability"] or self._get_capability(names),
            )
        if not found and "" in self.capability:
            return (Gpu("GPU", 1, self.memory.get(""), self.capability[""]),)
        return tuple(found.values())

    def _get_memory(self, name: str, names: Sequence[str]) -> float | None:
        """Give what is printed of a GPU's memory, in GiB.

        What was printed without a name holds if there is one name only, or none has its own.
        """
        holds_for_all = len(names) == 1 or not set(names) & set(self.memory)
        return self.memory.get(name) or (self.memory.get("") if holds_for_all else None)

    def _get_capability(self, names: Sequence[str]) -> float | None:
        """Give the capability that was printed without a name, if there is one name only."""
        return self.capability.get("") if len(names) == 1 else None


def _is_near(first: GpuName, second: GpuName, most: int) -> bool:
    """Say whether a line stands at most so many lines behind another one of its source."""
    return first.source == second.source and 0 <= second.line - first.line <= most
