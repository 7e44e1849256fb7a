"""Find where values first become non-finite: the module, the operation; guard such operations.

In: a bench, a micro-batch in the state before it; a pass that is run within `Watch` or `Guarded`.
Out: peaks in the order of the forward pass, the first module forward or backward; the operation
with what went in; a pass whose logarithms, roots, quotients and exponentials stay away from their
poles. Not here: what follows from them (`rerun.baseline_run`).
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from postmortem.core.diagnosis import ModulePeak
from postmortem.replay.rerun.batches import iter_tensors
from postmortem.replay.rerun.bench import Bench
from postmortem.replay.rerun.regime import MicroPlace, Regime
from postmortem.replay.rerun.running import run_pass

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


_MADE_OF_NOTHING: Final = ("empty", "new_empty", "empty_like", "empty_strided", "full", "full_like")
UNSAFE: Final = frozenset(
    {
        "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "div", "true_divide", "reciprocal",
        "exp", "expm1", "pow", "acos", "asin", "atanh", "acosh", "sinh", "cosh", "tan", "norm",
        "linalg_vector_norm", "logit", "xlogy", "std", "var",
    }
)  # fmt: skip
_SMALL: Final = 1e-6
_EXP_LIMIT: Final = 60.0
_DIVISIONS: Final = ("div", "true_divide", "__truediv__", "divide", "__rdiv__", "__rtruediv__")


class Operation(NamedTuple):
    """The first operation that made what is not finite."""

    name: str
    """Of ATen, without its overload: `log`."""
    makes: str
    """nan | inf"""
    is_backward: bool
    low: float
    high: float
    """The least and greatest of what went in."""
    dtype: str


class Watch(TorchDispatchMode):  # type: ignore[misc]
    """Looks at every operation below autograd."""

    def __init__(self) -> None:
        super().__init__()
        self.first: Operation | None = None

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run it, and look at what it made unless it is known already."""
        del types
        name = func.overloadpacket.__name__ if hasattr(func, "overloadpacket") else str(func)
        if self.first is not None or name in _MADE_OF_NOTHING:
            return func(*args, **(kwargs or {}))
        inputs = _list_float_tensors([args, kwargs])
        before, span = (
            _state(inputs, [*args, *(kwargs or {}).values()]),
            _compute_value_range(inputs),
        )
        out = func(*args, **(kwargs or {}))
        what = _identify_new_nonfinite(before, _state(_list_float_tensors(out)))
        if what:
            dtype = str(inputs[0].dtype).removeprefix("torch.") if inputs else ""
            self.first = Operation(name.rstrip("_"), what, _is_in_backward(), *span, dtype)
        return out


def _identify_new_nonfinite(before: "_Finiteness", made: "_Finiteness") -> str:
    """Say what an operation made that did not go in."""
    is_new = (made.nan and not before.nan) or (made.inf and not (before.inf or before.nan))
    return ("nan" if made.nan else "inf") if is_new else ""


class _Finiteness(NamedTuple):
    nan: bool
    inf: bool


def _state(found: list[Any], scalars: Iterable[Any] = ()) -> _Finiteness:
    """Find NaN and infinity; infinite scalar arguments count too, since masks use them."""
    has_infinite = any(isinstance(scalar, float) and math.isinf(scalar) for scalar in scalars)
    return _Finiteness(
        any(bool(torch.isnan(tensor).any()) for tensor in found),
        has_infinite or any(bool(torch.isinf(tensor).any()) for tensor in found),
    )


def _compute_value_range(found: list[Any]) -> tuple[float, float]:
    parts = [tensor.detach().float().reshape(-1) for tensor in found if tensor.numel()]
    numbers = torch.cat(parts) if parts else torch.zeros(1)
    numbers = numbers[torch.isfinite(numbers)]
    return (float(numbers.min()), float(numbers.max())) if numbers.numel() else (0.0, 0.0)


def _is_in_backward() -> bool:
    return bool(torch._C._current_graph_task_id() != -1)  # noqa: SLF001 -- torch names it nowhere else


class Guarded(TorchFunctionMode):  # type: ignore[misc]
    """Keeps what goes into unsafe operations away from their poles."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run it with safe numbers."""
        del types
        name = getattr(func, "__name__", "").strip("_")
        return func(
            *_make_safe_arguments(name, getattr(func, "__name__", ""), args), **(kwargs or {})
        )


def _make_safe_arguments(name: str, full: str, args: Any) -> Any:
    if not args or not _is_float(args[0]):
        return args
    first, *rest = args
    below: Any = rest[0] if rest else None
    if full in _DIVISIONS and name not in _SAFE:
        return (first, _bound_away_from_zero(below), *rest[1:]) if _is_float(below) else args
    if name == "pow":
        return (_make_safe_base(first, below), *rest)
    return (_SAFE[name](first), *rest) if name in _SAFE else args


def _is_float(value: Any) -> bool:
    return bool(torch.is_tensor(value) and value.is_floating_point())


def _make_safe_base(tensor: Any, power: Any) -> Any:
    """Give a base that a power below one can bear."""
    if not isinstance(power, int | float) or power >= 1:
        return tensor
    return _bound_away_from_zero(tensor) if power < 0 else tensor.clamp_min(_SMALL)


def _bound_away_from_zero(tensor: Any) -> Any:
    sign = torch.where(tensor < 0, -1.0, 1.0).to(tensor.dtype)
    return torch.where(tensor.abs() < _SMALL, sign * _SMALL, tensor)


def _make_distinct(tensor: Any) -> Any:
    """Give numbers that are not all the same, nor all 0."""
    steps = torch.linspace(0.5, 1.0, tensor.numel(), device=tensor.device, dtype=tensor.dtype)
    return tensor + _SMALL * steps.view_as(tensor)


def _bound_positive(tensor: Any) -> Any:
    return tensor.clamp_min(_SMALL)


def _bound_exponent(tensor: Any) -> Any:
    return tensor.clamp(-_EXP_LIMIT, _EXP_LIMIT)


def _bound_within_one(tensor: Any) -> Any:
    return tensor.clamp(-1 + _SMALL, 1 - _SMALL)


_SAFE: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("log", "log2", "log10", "sqrt", "rsqrt", "acosh"), _bound_positive),
    **dict.fromkeys(("rdiv", "rtruediv", "reciprocal"), _bound_away_from_zero),
    **dict.fromkeys(("exp", "expm1", "sinh", "cosh"), _bound_exponent),
    **dict.fromkeys(("acos", "asin", "atanh"), _bound_within_one),
    **dict.fromkeys(("norm", "vector_norm", "std", "var"), _make_distinct),
    "log1p": lambda tensor: tensor.clamp_min(_SMALL - 1),
}
