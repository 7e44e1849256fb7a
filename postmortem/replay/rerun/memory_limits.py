"""Limit the memory of a replay: estimate what a run needs, measure each operation before it runs.

In: a capsule, a regime; limits, an operation of torch. Out: bytes, what untrusted code may use; the
operation's result, or a refusal. Not here: what is built or run within the guard (`rerun.building`,
`rerun.replaying`), what follows when a run does not fit.

Weights, gradients and the optimiser's state are counted, by the headers of the files, so that it is
known before anything is built; activations are not known before a pass, and get as much again as
the weights. A capsule of a few hundred bytes can describe a model of many gigabytes: an operation
is run on the device `meta` first, which costs no memory and says how large its result will be.
"""

import math
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from postmortem.core.errors import InputError
from postmortem.replay.capsule.opening import Capsule
from postmortem.replay.rerun.regime import Regime

MIB: Final = 1 << 20
_MOST_HELD: Final = 100_000
"""Tensors that are kept count of before those that are gone are dropped."""
_POOLING: Final = 20
"""How many multiplications of a matrix take as long as pooling one number."""
_NARROWEST: Final = 16
"""Attention over vectors of fewer numbers is no faster."""
_MEND: Final = (
    "record it anew, or install the versions that it names: what it describes does not fit what it"
    " holds"
)


class Limits(NamedTuple):
    """What may be used."""

    bytes: float
    """Held at one time."""
    tensors: float
    """Made one after the other."""
    work: float
    """Multiplications of one operation, which nothing can interrupt."""
    ends: float
    """By `time.monotonic`."""


class AllocationGuard(TorchDispatchMode):  # type: ignore[misc]
    """Refuses what is larger than the capsule allows, has too many parts or takes too long."""

    def __init__(self, limits: Limits, what: str) -> None:
        super().__init__()
        self._limits, self._what = limits, what
        self._held: list[tuple[Any, int]] = []
        self._sum, self._made, self._modules = 0, 0, 0
        self._hooks: list[Any] = []

    def __enter__(self) -> "AllocationGuard":  # noqa: PYI034 -- Self is not in Python 3.10
        """Count modules too: those without weights run no operation."""
        hook = torch.nn.modules.module.register_module_module_registration_hook
        self._hooks.append(hook(lambda *_: self._count_module()))
        super().__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        """Look no longer."""
        for hook in self._hooks:
            hook.remove()
        super().__exit__(*raised)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Measure an operation, and run it if its result fits."""
        del types
        keywords = dict(kwargs or {})
        self._check_time()
        if _is_view_or_in_place(func):
            return func(*args, **keywords)
        likely = _run_on_meta(func, args, keywords) + _find_expanded_tensors([args, keywords])
        self._refuse_slow(func, args, keywords, likely)
        self._refuse_large(likely)
        out = func(*args, **keywords)
        for tensor in _iter_tensors(out):
            self._note(tensor)
        return out

    def _check_time(self) -> None:
        if time.monotonic() > self._limits.ends:
            raise TimeoutError(f"{self._what} takes longer than there is time")

    def _count_module(self) -> None:
        self._check_time()
        self._modules += 1
        if self._modules > self._limits.tensors:
            raise self._too_many("modules")

    def _too_many(self, what: str) -> InputError:
        return InputError(
            f"{self._what} makes more {what} than the weights in the capsule account for", "", _MEND
        )

    def _refuse_large(self, likely: list[Any]) -> None:
        size, most = sum(map(_count_bytes, likely)), self._limits.bytes
        if self._sum + size > most or len(self._held) > _MOST_HELD:
            self._held = [
                (reference, bytes_) for reference, bytes_ in self._held if not reference.expired()
            ]
            self._sum = sum(bytes_ for _, bytes_ in self._held)
        if self._sum + size <= most:
            return
        size_text = f"{(self._sum + size) / MIB:,.0f} MiB"
        shape = list(max(likely, key=_count_bytes).shape)
        raise InputError(
            f"{self._what} needs {size_text} (a tensor of shape {shape} comes next),"
            f" {most / MIB:,.0f} MiB are allowed by the size of the capsule and --memory",
            "",
            _MEND,
        )

    def _refuse_slow(self, func: Any, args: Any, kwargs: dict[str, Any], likely: list[Any]) -> None:
        work = _count_multiplications(
            func, args, kwargs, max((tensor.numel() for tensor in likely), default=0)
        )
        if work > self._limits.work:
            raise InputError(
                f"{self._what} takes {work:,} multiplications in {func.__name__},"
                f" {self._limits.work:,.0f} are allowed for a capsule of this size",
                "",
                _MEND,
            )

    def _note(self, tensor: Any) -> None:
        self._made += 1
        if self._made > self._limits.tensors:
            raise self._too_many("tensors")
        if tensor.device.type != "meta" and tensor.layout is torch.strided:
            storage = tensor.untyped_storage()
            self._held.append((StorageWeakRef(storage), storage.nbytes()))
            self._sum += storage.nbytes()


def _count_multiplications(func: Any, args: Any, kwargs: dict[str, Any], numbers: int) -> int:
    """Count multiplications of what looks at much of its input for each number that it makes."""
    if window := _get_argument(func, args, kwargs, "kernel_size"):
        return int(numbers * math.prod(window) * _POOLING)
    if "convolution" in func.__name__:
        weight = args[1]
        return int(numbers * weight.numel() // max(1, weight.shape[0]))
    if "scaled_dot_product" in func.__name__:
        query, key = args[:2]
        width = int(query.shape[-1])
        pairs = int(query.numel()) // max(1, width) * int(key.shape[-2])
        return pairs * max(_NARROWEST, width)
    return 0


def _is_view_or_in_place(func: Any) -> bool:
    """Say whether what comes out lies in what went in."""
    if getattr(func, "is_view", False):
        return True
    return bool(func._schema.is_mutable) and "resize" not in func.__name__  # noqa: SLF001 -- the only way to ask


def _run_on_meta(func: Any, args: Any, kwargs: dict[str, Any]) -> list[Any]:
    """Run an operation without memory; nothing where that cannot be done: it depends on numbers."""
    devices = {tensor.device.type for tensor in _iter_tensors([args, kwargs])}
    wanted = kwargs.get("device")
    if devices == {"meta"} or (wanted is not None and torch.device(wanted).type == "meta"):
        return []
    if any(argument.name == "device" for argument in func._schema.arguments):  # noqa: SLF001
        kwargs = kwargs | {"device": torch.device("meta")}
    kwargs = {key: value for key, value in kwargs.items() if key not in {"generator", "pin_memory"}}
    meta_args, named = tree_map_only(torch.Tensor, _create_meta_tensor, (args, kwargs))
    try:
        return list(_iter_tensors(func(*meta_args, **named)))
    except (RuntimeError, NotImplementedError, TypeError):
        return []


def _find_expanded_tensors(value: Any) -> list[Any]:
    """Give what is larger than its storage: operations make it whole for themselves."""
    return [
        tensor
        for tensor in _iter_tensors(value)
        if tensor.layout is torch.strided
        and tensor.device.type != "meta"
        and _count_bytes(tensor) > max(tensor.untyped_storage().nbytes(), MIB)
    ]


def _create_meta_tensor(tensor: Any) -> Any:
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def _count_bytes(tensor: Any) -> int:
    return int(tensor.numel() * tensor.element_size())


def _iter_tensors(value: Any) -> Iterator[Any]:
    if torch.is_tensor(value):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _iter_tensors(item)
    elif isinstance(value, dict):
        yield from _iter_tensors(list(value.values()))


def _get_argument(func: Any, args: Any, kwargs: dict[str, Any], name: str) -> Any:
    """Give an argument of an operation by its name."""
    names = [argument.name for argument in func._schema.arguments]  # noqa: SLF001
    if name not in names:
        return None
    place = names.index(name)
    return args[place] if place < len(args) else kwargs.get(name)


GIB: Final = 1 << 30
_SHARE: Final = 0.9
"""Of the free memory that a replay may take."""
_HALVES: Final = ("F16", "BF16", "float16", "bfloat16")
_BYTES: Final = {"8": 1, "16": 2, "32": 4, "64": 8}
_BUILDING: Final = (48 * MIB, 4)
"""Bytes that building may take, and how often those of the capsule: buffers that are computed."""
_RUNNING: Final = (96 * MIB, 500)
"""The same of a pass: activations are many times the weights in a small model."""
_LEAST: Final = 16 * MIB
"""What a pass may take however little memory is allowed."""
_TENSORS: Final = (1_000, 20)
"""Tensors that building may make, and how many for each weight."""
_WORK: Final = (1_000_000_000, 20_000)
"""Multiplications of one operation, and how many for each byte."""


class _Weight(NamedTuple):
    numbers: int
    dtype: str
    is_trained: bool


def get_free_memory(device: Any) -> float:
    """Give the bytes that are free on a device; infinite where that cannot be asked."""
    if device.type == "cuda":
        return _SHARE * float(torch.cuda.mem_get_info(device)[0])
    try:
        return _SHARE * float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def estimate_needed_memory(capsule: Capsule, regime: Regime) -> float:
    """Estimate the bytes that a run takes besides the bench: weights, gradients, optimiser."""
    weights = gradients = 0.0
    for weight in _iter_weights(capsule):
        size = float(weight.numbers * _get_width(weight, regime))
        weights += size
        gradients += size if weight.is_trained else 0.0
    kept = capsule.manifest.optimizer
    states = capsule.manifest.files.get(kept.file or "") if kept is not None else None
    return 2 * weights + gradients + (float(states.bytes) if states is not None else 0.0)


def _iter_weights(capsule: Capsule) -> Iterator[_Weight]:
    kept = capsule.manifest.weights
    trained = set(kept.trainable)
    for name, header in capsule.headers.get(kept.file, {}).items():
        yield _Weight(math.prod(header.shape), header.dtype, name in trained)
    for weight in kept.frozen:
        yield _Weight(math.prod(weight.shape), weight.dtype, is_trained=False)


def _get_width(weight: _Weight, regime: Regime) -> int:
    is_wide = regime.compute == "float32" or (regime.trainable_float32 and weight.is_trained)
    if is_wide and weight.dtype in _HALVES:
        return 4
    return next((size for bits, size in _BYTES.items() if weight.dtype.endswith(bits)), 1)


def compute_building_limits(capsule: Capsule, base_bytes: int) -> Limits:
    """Say what building a model may use: about what the files of the capsule account for."""
    kept = capsule.manifest.weights
    count = len(capsule.headers.get(kept.file, {})) + len(kept.frozen)
    size = _sum_file_bytes(capsule) + base_bytes
    return Limits(
        _compute_limit(_BUILDING, size),
        _compute_limit(_TENSORS, count),
        _compute_limit(_WORK, size),
        math.inf,
    )


def compute_running_limits(capsule: Capsule, base_bytes: int, memory: float, ends: float) -> Limits:
    """Say what a forward pass may use."""
    size = _sum_file_bytes(capsule) + base_bytes
    most = min(max(memory, _LEAST), _compute_limit(_RUNNING, size))
    return Limits(most, math.inf, _compute_limit(_WORK, size), ends)


def _sum_file_bytes(capsule: Capsule) -> int:
    return sum(file.bytes for file in capsule.manifest.files.values())


def _compute_limit(limit: tuple[int, int], count: int) -> float:
    return float(limit[0] + limit[1] * count)
