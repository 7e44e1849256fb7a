"""What is recorded of a training: its objects without wrappers, snapshots of them in host memory.

In: what a training loop holds: a model, its optimiser and scaler. Out: the bare parts and their
names; a `Snapshot`, and a ring of two of them, so that at least one is as old as wished; copies on
the CPU, none sharing memory with another. Not here: when one is taken, the capsule.

Host memory is taken once and used again. On a CUDA device the weights and the optimiser's state go
over on a stream of their own while the next forward pass runs: they change in the optimiser's step
only, and that waits for the stream (`settle`), the host for nothing. A copy from a CUDA device goes
into pinned memory and is finished some time later: wait for the device before reading it.
"""

import math
import random
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import torch

_PLAIN = (bool, int, float, str, type(None))


def strip_model_wrappers(model: Any) -> Any:
    """Take a model out of DDP, DataParallel, torch.compile and the like."""
    for _ in range(8):
        if isinstance(getattr(model, "_orig_mod", None), torch.nn.Module):
            model = model._orig_mod  # noqa: SLF001 -- torch.compile has no other way
        elif "parallel" in type(model).__module__ and hasattr(model, "module"):
            model = model.module
        else:
            return model
    return model


def strip_optimizer_wrappers(optimizer: Any) -> Any:
    """Take an optimiser out of the wrappers of Accelerate, Lightning, mmengine and the like."""
    for _ in range(8):
        if isinstance(optimizer, torch.optim.Optimizer) and type(optimizer).__module__.startswith(
            "torch.optim"
        ):
            return optimizer
        inner = getattr(optimizer, "optimizer", None)
        if not isinstance(inner, torch.optim.Optimizer):
            return optimizer
        optimizer = inner
    return optimizer


class Subject:
    """A training's parts."""

    def __init__(self, model: Any, optimizer: Any, scaler: Any) -> None:
        """Find the parts and their names."""
        self.outer = model
        self.model = strip_model_wrappers(model)
        self.optimizer = strip_optimizer_wrappers(optimizer)
        is_on = scaler is not None and getattr(scaler, "is_enabled", lambda: True)()
        self.scaler = scaler if is_on else None
        self.trainable: dict[str, Any] = {}
        self.frozen: dict[str, Any] = {}
        self.tied: list[tuple[str, str]] = []
        self.buffers = dict(self.model.named_buffers())
        self._sort()
        self.names = {id(value): name for name, value in (self.trainable | self.frozen).items()}

    def _sort(self) -> None:
        first: dict[int, str] = {}
        for name, parameter in self.model.named_parameters(remove_duplicate=False):
            if id(parameter) in first:
                self.tied.append((first[id(parameter)], name))
                continue
            first[id(parameter)] = name
            (self.trainable if parameter.requires_grad else self.frozen)[name] = parameter

    @property
    def device(self) -> Any:
        """Where the first parameter lies."""
        for parameter in (*self.trainable.values(), *self.frozen.values()):
            return parameter.device
        return torch.device("cpu")

    @property
    def is_in_parts(self) -> bool:
        """Whether this process holds a part of the weights only, as FSDP has it."""
        kinds = {type(parameter).__name__ for parameter in self.trainable.values()}
        return bool(kinds & {"FlatParameter", "DTensor"})

    def get_weights(self) -> Iterator[tuple[str, Any]]:
        """Give what is trained."""
        yield from self.trainable.items()

    def get_groups(self) -> Iterator[dict[str, Any]]:
        """Give the optimiser's groups with the names of their parameters and plain figures."""
        for group in getattr(self.optimizer, "param_groups", ()):
            named = [self.names.get(id(param)) for param in group["params"]]
            figures = {
                key: _convert_value(value)
                for key, value in group.items()
                if key != "params" and isinstance(_convert_value(value), (*_PLAIN, list))
            }
            yield {"parameters": [name for name in named if name is not None], **figures}

    def get_optimizer_states(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give what the optimiser keeps for each parameter."""
        for parameter, entries in dict(getattr(self.optimizer, "state", {})).items():
            name = self.names.get(id(parameter))
            if name is not None and isinstance(entries, dict):
                yield name, entries

    def get_rates(self) -> tuple[float, ...]:
        """Give the learning rate of each group, the device not asked."""
        rates = (group.get("lr") for group in getattr(self.optimizer, "param_groups", ()))
        return tuple(float(rate) for rate in rates if _is_on_cpu(rate))


def _convert_value(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_convert_value(item) for item in value]
    if isinstance(value, torch.Tensor) and value.numel() == 1 and value.device.type == "cpu":
        return value.item()
    return value


def _is_on_cpu(rate: Any) -> bool:
    return not isinstance(rate, torch.Tensor) or rate.device.type == "cpu"


def get_local_tensor(tensor: Any) -> Any:
    """Give a tensor without its history; of one that is sharded over devices the part held here."""
    plain = tensor.detach()
    return plain.to_local() if hasattr(plain, "to_local") else plain


def to_host(tensor: Any) -> Any:
    """Copy a tensor into new host memory."""
    source = get_local_tensor(tensor)
    if source.device.type == "cpu":
        return source.clone(memory_format=torch.contiguous_format)
    return source.contiguous().to("cpu", non_blocking=True)


def create_host_buffer(tensor: Any) -> Any:
    """Give host memory for copies of a tensor, pinned if that lies on a CUDA device."""
    is_pinned = tensor.device.type == "cuda"
    return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=is_pinned)


def count_bytes(tensor: Any) -> int:
    """Bytes of a tensor."""
    return int(tensor.numel() * tensor.element_size())


def get_rng_states(device: Any) -> dict[str, Any]:
    """Give the states of all generators that a forward pass may draw from, as each has them.

    That of the GPU of this process is `cuda:0`, whatever its number on this machine.
    """
    states = {"torch": torch.get_rng_state(), "python": random.getstate()[1]}
    if device.type == "cuda":
        number = device.index if device.index is not None else torch.cuda.current_device()
        states["cuda:0"] = torch.cuda.get_rng_state(number)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        _, words, place, *_ = numpy.random.get_state()
        states["numpy"] = (words, place)
    return states


def as_tensor(state: Any) -> Any:
    """Give a state of `get_rng_states` as a tensor: torch's own, or 625 integers."""
    if isinstance(state, torch.Tensor):
        return state
    words, *place = state if len(state) == 2 else (state,)
    return torch.tensor([*map(int, words), *place], dtype=torch.int64)


def wait() -> None:
    """Wait until all copies are there."""
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()


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
    def newest_step(self) -> float:
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
