"""The state of a training at the start of a step, in host memory.

In: parameters, buffers, optimiser and scaler. Out: a `Snapshot`; a ring of two of them, so that at
least one is as old as wished. Not here: when one is taken, the capsule.

Host memory is taken once and used again. On a CUDA device the weights and the optimiser's state go
over on a stream of their own while the next forward pass runs: they change in the optimiser's step
only, and that waits for the stream (`settle`), the host for nothing.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from postmortem.replay.recorder.host_copies import count_bytes, create_host_buffer, get_local_tensor
from postmortem.replay.recorder.recorded_objects import Subject

_NUMBERS = (bool, int, float, str, type(None))


class Snapshot:
    """What a window begins with."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self.step = -1
        self.tensors: dict[tuple[str, ...], Any] = {}
        self.figures: dict[str, dict[str, Any]] = {}
        """Entries of the optimiser's state that are no tensors, by parameter."""
        self.groups: list[dict[str, Any]] = []
        self.left_out: list[str] = []
        self._done: Any = None

    def take(self, step: int, subject: Subject, most_bytes: int) -> None:
        """Copy the state as it is before a step."""
        self.step, self.left_out = step, []
        self.groups, self.figures = list(subject.get_groups()), {}
        early, late = list(_iter_changing_tensors(subject)), list(self._lasting(subject))
        weights = sum(count_bytes(tensor) for key, tensor in late if key[0] == "weight")
        if sum(count_bytes(tensor) for _, tensor in late) > most_bytes:
            late = [(key, tensor) for key, tensor in late if key[0] == "weight"]
            self.left_out.append("optimizer state: larger than the recorder's memory")
        if weights > most_bytes:
            late = []
            self.left_out.append("weights: larger than the recorder's memory")
        kept = self.tensors
        self.tensors = {}
        self._copy(early, kept)
        self._copy_aside(late, kept)

    def _lasting(self, subject: Subject) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Go through what changes in the optimiser's step only."""
        for name, weight in subject.get_weights():
            yield ("weight", name), get_local_tensor(weight)
        for name, entries in subject.get_optimizer_states():
            for entry, value in entries.items():
                if isinstance(value, torch.Tensor):
                    yield ("state", name, entry), get_local_tensor(value)
                elif isinstance(value, _NUMBERS):
                    self.figures.setdefault(name, {})[entry] = value
                else:
                    self.left_out.append(f"optimizer state of {name}: {entry}")

    def _copy(self, wanted: Iterable[tuple[tuple[str, ...], Any]], kept: dict[Any, Any]) -> None:
        for key, tensor in wanted:
            room = kept.get(key)
            if room is None or room.shape != tensor.shape or room.dtype != tensor.dtype:
                room = create_host_buffer(tensor)
            room.copy_(tensor, non_blocking=True)
            self.tensors[key] = room

    def _copy_aside(self, wanted: list[tuple[tuple[str, ...], Any]], kept: dict[Any, Any]) -> None:
        devices = {tensor.device for _, tensor in wanted if tensor.device.type == "cuda"}
        if len(devices) != 1:
            self._done = None
            self._copy(wanted, kept)
            return
        device = devices.pop()
        aside = torch.cuda.Stream(device)
        aside.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(aside):
            self._copy(wanted, kept)
            self._done = torch.cuda.Event()
            self._done.record(aside)

    def settle(self) -> None:
        """Let the device finish the copies before it changes what is copied."""
        if self._done is not None:
            torch.cuda.current_stream().wait_event(self._done)
            self._done = None


def _iter_changing_tensors(subject: Subject) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Go through what a forward pass, or the scaler, changes as well."""
    for name, buffer in subject.buffers.items():
        yield ("buffer", name), get_local_tensor(buffer)
    for name in ("_scale", "_growth_tracker"):
        tensor = getattr(subject.scaler, name, None)
        if isinstance(tensor, torch.Tensor):
            yield ("scaler", name), tensor


class SnapshotRing:
    """The last two snapshots."""

    def __init__(self, subject: Subject, memory: int) -> None:
        """Take no more host memory than so many bytes."""
        self._subject, self._most = subject, memory // 2
        self._held: list[Snapshot] = []

    @property
    def oldest(self) -> Snapshot | None:
        """The one that a window begins with."""
        return self._held[0] if self._held else None

    @property
    def age_of_newest(self) -> float:
        """The step of the newest, minus infinity before there is one."""
        return self._held[-1].step if self._held else -math.inf

    def take(self, step: int) -> None:
        """Take another, in the memory of the older one if there are two."""
        snapshot = self._held.pop(0) if len(self._held) == 2 else Snapshot()
        snapshot.take(step, self._subject, self._most)
        self._held.append(snapshot)

    def clear(self) -> None:
        """Give the memory back."""
        self._held.clear()

    def settle(self) -> None:
        """See `Snapshot.settle`."""
        for snapshot in self._held:
            snapshot.settle()
