"""Find the first operation with finite inputs and a non-finite result; guard such operations.

In: a pass that is run within `Watch`, or within `Guarded`. Out: the operation, with what went in;
a pass whose logarithms, roots, quotients and exponentials stay away from their poles. Not here:
which module it stands in (`rerun.module_peaks`).
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from postmortem.replay.rerun.batches import iter_tensors

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


def _list_float_tensors(value: Any) -> list[Any]:
    return [tensor for _, tensor in iter_tensors(value) if tensor.is_floating_point()]


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
