"""Measure the largest values at each module, and where they first become non-finite.

In: a bench, a micro-batch in the state before it. Out: peaks in the order of the forward pass, the
first module forward or backward. Not here: which operation within a module (`rerun.operations`).
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from postmortem.core.replayed import ModulePeak
from postmortem.replay.rerun.batches import iter_tensors
from postmortem.replay.rerun.bench import Bench
from postmortem.replay.rerun.passes import run_pass
from postmortem.replay.rerun.regime import MicroPlace, Regime

_MOST_MODULES: Final = 2000


@dataclass(slots=True)
class ObservedModule:
    """The values observed at one module."""

    name: str
    kind: str
    output: float = 0.0
    is_finite: bool = True
    gradient: float | None = None
    gradient_is_finite: bool = True


@dataclass(slots=True)
class Peaks:
    """A pass as its modules saw it."""

    modules: list[ObservedModule] = field(default_factory=list)
    first_forward: str = ""
    first_seen: str = ""
    """The first whose output is not finite, whatever went in."""
    first_backward: str = ""
    loss: float | None = None
    seconds: float = 0.0
    error: str = ""

    def get_figures(self) -> tuple[ModulePeak, ...]:
        """Give the figures."""
        return tuple(
            ModulePeak(
                module.name,
                module.kind,
                module.output,
                module.is_finite,
                module.gradient,
                module.gradient_is_finite,
            )
            for module in self.modules
        )

    @property
    def greatest(self) -> float:
        """The greatest absolute value in any output."""
        return max((module.output for module in self.modules), default=0.0)


def measure_peaks(bench: Bench, place: MicroPlace, regime: Regime, batch: Any = None) -> Peaks:
    """Run one micro-batch, the model in the state it is in, and look at every module."""
    peaks = Peaks()
    began = time.monotonic()
    handles = list(_attach_hooks(bench.model, peaks))
    try:
        peaks.loss = run_pass(bench, place, regime, batch)
    except Exception as raised:  # noqa: BLE001 -- whatever a model raises is what is told
        peaks.error = f"{type(raised).__name__}: {str(raised)[:300]}"
    finally:
        for handle in handles:
            handle.remove()
    for weight in bench.model.parameters():
        weight.grad = None
    peaks.seconds = time.monotonic() - began
    return peaks


def _attach_hooks(model: Any, peaks: Peaks) -> Iterator[Any]:
    for number, (name, module) in enumerate(model.named_modules()):
        if number >= _MOST_MODULES:
            return
        if not any(module.children()):
            yield module.register_forward_hook(_build_leaf_hook(name, peaks), with_kwargs=True)
        elif name:
            yield module.register_forward_hook(_build_container_hook(name, peaks), with_kwargs=True)


def _build_leaf_hook(name: str, peaks: Peaks) -> Any:
    """Give a hook of a module that holds no others."""

    def hook(module: Any, args: Any, kwargs: Any, output: Any) -> None:
        inputs, made = (
            _list_float_tensors([args, kwargs]),
            _list_float_tensors(_unpack_output(output)),
        )
        seen = ObservedModule(name, type(module).__name__)
        seen.is_finite = all(map(_is_finite, made))
        seen.output = max(map(_compute_peak, made), default=0.0)
        peaks.modules.append(seen)
        if not seen.is_finite and not peaks.first_forward:
            peaks.first_seen = peaks.first_seen or name
            peaks.first_forward = name if all(map(_is_finite, inputs)) else ""
        for tensor in filter(_has_gradient, [*inputs, *made]):
            tensor.register_hook(_build_gradient_hook(seen, peaks))

    return hook


def _list_float_tensors(value: Any) -> list[Any]:
    return [tensor for _, tensor in iter_tensors(value) if tensor.is_floating_point()]


def _has_gradient(tensor: Any) -> bool:
    return bool(tensor.requires_grad)


def _build_container_hook(name: str, peaks: Peaks) -> Any:
    """Give a hook of a module that holds others: it is named where none of them is to blame."""

    def hook(_: Any, args: Any, kwargs: Any, output: Any) -> None:
        if peaks.first_forward:
            return
        inputs = all(_is_finite(tensor) for _, tensor in iter_tensors([args, kwargs]))
        made = all(_is_finite(tensor) for _, tensor in iter_tensors(_unpack_output(output)))
        if inputs and not made and _is_before_loss(output):
            peaks.first_forward = name

    return hook


def _is_before_loss(output: Any) -> bool:
    """Say whether more than a loss is not finite in what a module gives."""
    return any(
        tensor.dim() > 0 and not _is_finite(tensor)
        for _, tensor in iter_tensors(_unpack_output(output))
    )


def _build_gradient_hook(seen: ObservedModule, peaks: Peaks) -> Any:
    def hook(gradient: Any) -> None:
        seen.gradient = max(seen.gradient or 0.0, _compute_peak(gradient))
        if not _is_finite(gradient):
            seen.gradient_is_finite = False
            if not peaks.first_backward:
                peaks.first_backward = seen.name

    return hook


def _unpack_output(output: Any) -> Any:
    """Give an output of any form as one of tuples and dictionaries."""
    if hasattr(output, "to_tuple"):
        return output.to_tuple()
    return output


def _is_finite(tensor: Any) -> bool:
    return bool(torch.isfinite(tensor).all()) if tensor.is_floating_point() else True


def _compute_peak(tensor: Any) -> float:
    sizes = tensor.detach().float().abs()
    finite = sizes[torch.isfinite(sizes)]
    return float(finite.max()) if finite.numel() else 0.0
