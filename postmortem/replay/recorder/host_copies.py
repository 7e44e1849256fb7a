"""Copy tensors of a running training into host memory without waiting for the device.

In: tensors on any device. Out: copies on the CPU, none sharing memory with another; the states
of the random number generators. Not here: when to copy, what for.

A copy from a CUDA device goes into pinned memory and is finished some time later: wait for the
device before reading it.
"""

import random
import sys
from typing import Any

import torch


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
    """Give the states of all generators that a forward pass may draw from, as each has them."""
    states = {"torch": torch.get_rng_state(), "python": random.getstate()[1]}
    if device.type == "cuda":
        number = device.index if device.index is not None else torch.cuda.current_device()
        states[f"cuda:{number}"] = torch.cuda.get_rng_state(number)
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
