"""The recorded objects: a model, its optimiser and scaler, without their wrappers.

In: what a training loop holds. Out: the bare parts and their names. Not here: copying, describing.
"""

from collections.abc import Iterator
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
