"""Restore optimiser, loss scaler and random states of the start of the window.

In: a manifest, tensors of the capsule, a model. Out: an optimiser of torch, a scale that moves as
GradScaler's does. Not here: the steps (`rerun.bench`).
"""

import inspect
import random
from collections.abc import Mapping
from typing import Any, Final

import torch

from postmortem.replay.capsule.manifest import Manifest, StoredOptimizer

_OF_A_DEVICE: Final = ("fused", "foreach", "capturable")
"""How it is computed on the recorded device: elsewhere the same but for the last bits."""


def get_optimizer_class(kept: StoredOptimizer | None) -> Any:
    """Give the class of the optimiser, None if torch has it not."""
    if kept is None:
        return None
    found = getattr(torch.optim, kept.class_.rpartition(".")[2], None)
    is_own = kept.class_.startswith("torch.") or "." not in kept.class_
    if is_own and isinstance(found, type) and issubclass(found, torch.optim.Optimizer):
        return found
    return None


def build_optimizer(
    kept: StoredOptimizer, tensors: Mapping[str, Any], model: Any, *, is_same_device: bool
) -> Any:
    """Build the optimiser over a model's weights, in the state that was recorded."""
    kind = get_optimizer_class(kept)
    weights = dict(model.named_parameters())
    known = set(inspect.signature(kind).parameters) - {"params"}
    known -= set() if is_same_device else {*_OF_A_DEVICE}
    groups = [
        {"params": [weights[name] for name in group["parameters"] if name in weights]}
        | {key: _convert_option(value) for key, value in group.items() if key in known}
        for group in kept.groups
    ]
    built = kind([group for group in groups if group["params"]])
    is_there = any(group.get("fused") or group.get("capturable") for group in groups)
    for name in kept.state.keys() & weights.keys():
        built.state[weights[name]] = _state(
            kept.state[name], tensors, weights[name], is_there=is_there
        )
    return built


def _state(
    values: Mapping[str, Any], tensors: Mapping[str, Any], weight: Any, *, is_there: bool
) -> dict[str, Any]:
    return {
        key: _restore_entry(value, tensors, weight, is_step=key == "step", is_there=is_there)
        for key, value in values.items()
    }


def _convert_option(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _restore_entry(
    value: Any, tensors: Mapping[str, Any], weight: Any, *, is_step: bool, is_there: bool
) -> Any:
    """Give an entry of the state; the count of steps lies on the device only for some."""
    if isinstance(value, dict) and "tensor" in value:
        kept = tensors[value["tensor"]].clone()
    elif is_step:
        kept = torch.tensor(float(value))
    else:
        return value
    return kept if is_step and not is_there else kept.to(weight.device)


class MovingScale:
    """The loss scale as GradScaler moves it."""

    def __init__(self, settings: Mapping[str, Any], held: float | None = None) -> None:
        self.held = held is not None
        self.scale = held if held is not None else float(settings.get("scale", 65536.0))
        self._grows = float(settings.get("growth_factor", 2.0))
        self._shrinks = float(settings.get("backoff_factor", 0.5))
        self._every = int(settings.get("growth_interval", 2000))
        self._since = int(settings.get("_growth_tracker", 0))

    def move(self, *, is_finite: bool) -> None:
        """Go on to the next step."""
        if self.held:
            return
        if not is_finite:
            self.scale, self._since = self.scale * self._shrinks, 0
            return
        self._since += 1
        if self._since >= self._every:
            self.scale, self._since = self.scale * self._grows, 0


def scale_for(manifest: Manifest, compute: str | None, held: float | None) -> MovingScale | None:
    """Give the scale that is in force; None where losses are not scaled."""
    settings = manifest.precision.scaler
    if held is not None:
        return MovingScale(settings or {}, held)
    if settings is None or compute not in {None, "float16"}:
        return None
    return MovingScale(settings)


def restore_random(states: Mapping[str, Any], prefix: str, device: Any) -> None:
    """Set the random generators as they were before a forward pass."""
    if f"{prefix}/torch" in states:
        torch.set_rng_state(states[f"{prefix}/torch"].to(torch.uint8))
    if device.type == "cuda" and f"{prefix}/cuda:0" in states:
        torch.cuda.set_rng_state(states[f"{prefix}/cuda:0"].to(torch.uint8), device)
    if f"{prefix}/python" in states:
        words = tuple(int(word) for word in states[f"{prefix}/python"])
        random.setstate((3, words, None))
    if f"{prefix}/numpy" in states:
        _restore_numpy([int(word) for word in states[f"{prefix}/numpy"]])


def _restore_numpy(words: list[int]) -> None:
    import numpy as np  # noqa: PLC0415 -- few models draw from it

    np.random.set_state(("MT19937", np.array(words[:624], dtype=np.uint32), words[624], 0, 0.0))  # noqa: NPY002 -- its global generator is what a training draws from
