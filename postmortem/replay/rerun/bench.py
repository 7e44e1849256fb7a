"""The bench on which a window is run: model, weights at its start, optimiser, batches.

In: a capsule, a device. Out: the model and its optimiser in the state of the window's start, or of
a checkpoint on the way; a loss scale that moves as GradScaler's does. Not here: passes, the window
(`rerun.running`), weights of a base model (`rerun.building`).
"""

import copy
import inspect
import math
import os
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch

from postmortem.core.errors import InputError
from postmortem.replay.capsule import json_values
from postmortem.replay.capsule.manifest import (
    BATCHES_FILE,
    RNG_FILE,
    Manifest,
    StoredOptimizer,
    WindowStep,
)
from postmortem.replay.capsule.opening import Capsule
from postmortem.replay.rerun.building import (
    build_loss_function,
    build_model,
    count_file_bytes,
    find_frozen_files,
)
from postmortem.replay.rerun.regime import MicroPlace, Regime, StepRun


def collect_initial_weights(capsule: Capsule, model: Any) -> dict[str, Any]:
    """Give all weights and buffers.

    Raises:
        InputError: the capsule's do not fit the model, or it has others.
    """
    weights = capsule.manifest.weights
    kept = capsule.load_tensors(weights.file)
    own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    wrong = sorted(
        name for name, value in kept.items() if _get_shape(own.get(name)) != _get_shape(value)
    )
    if wrong:
        raise InputError(
            f"the model that was built has no weight {wrong[0][:120]!r} of this shape",
            capsule.folder,
            "install the versions that the capsule names",
        )
    known = {
        *kept,
        *(weight.name for weight in weights.frozen),
        *(alias for _, alias in weights.tied),
    }
    new = sorted(name for name, _ in model.named_parameters() if name not in known)
    if new:
        raise InputError(
            f"the model that was built has the weight {new[0][:120]!r}, of which the capsule knows"
            " nothing",
            capsule.folder,
            "install the versions that the capsule names",
        )
    return {name: kept.get(name, value.detach().cpu()).clone() for name, value in own.items()}


def _get_shape(tensor: Any) -> tuple[int, ...] | None:
    return None if tensor is None else tuple(tensor.shape)


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
    step_on_device = any(group.get("fused") or group.get("capturable") for group in groups)
    for name in kept.state.keys() & weights.keys():
        built.state[weights[name]] = _restore_state(
            kept.state[name], tensors, weights[name], step_on_device=step_on_device
        )
    return built


def _restore_state(
    values: Mapping[str, Any], tensors: Mapping[str, Any], weight: Any, *, step_on_device: bool
) -> dict[str, Any]:
    return {
        key: _restore_entry(
            value, tensors, weight, is_step=key == "step", step_on_device=step_on_device
        )
        for key, value in values.items()
    }


def _convert_option(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _restore_entry(
    value: Any, tensors: Mapping[str, Any], weight: Any, *, is_step: bool, step_on_device: bool
) -> Any:
    """Give an entry of the state; the count of steps lies on the device only for some."""
    if isinstance(value, dict) and "tensor" in value:
        kept = tensors[value["tensor"]].clone()
    elif is_step:
        kept = torch.tensor(float(value))
    else:
        return value
    return kept if is_step and not step_on_device else kept.to(weight.device)


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
    if device.type == "cuda":
        for key in (key for key in states if key.startswith(f"{prefix}/cuda:")):
            torch.cuda.set_rng_state(states[key].to(torch.uint8), device)
    if f"{prefix}/python" in states:
        words = tuple(int(word) for word in states[f"{prefix}/python"])
        random.setstate((3, words, None))
    if f"{prefix}/numpy" in states:
        _restore_numpy([int(word) for word in states[f"{prefix}/numpy"]])


def _restore_numpy(words: list[int]) -> None:
    import numpy as np  # noqa: PLC0415 -- few models draw from it

    np.random.set_state(("MT19937", np.array(words[:624], dtype=np.uint32), words[624], 0, 0.0))  # noqa: NPY002 -- its global generator is what a training draws from


_MOST_THREADS: Final = max(64, os.cpu_count() or 1)
"""Sums differ with the number of threads; more than processors are slow, and each takes memory."""
HALVES: Final = (torch.float16, torch.bfloat16)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state on the way, as the recorded run had it."""

    step: int
    weights: dict[str, Any]
    optimizer: Any
    moving: MovingScale | None
    before: tuple[StepRun, ...]


class Bench:
    """A capsule's model, ready to run its window again and again."""

    def __init__(
        self, capsule: Capsule, device: str, seconds: float, memory: float = math.inf
    ) -> None:
        self.capsule, self.manifest = capsule, capsule.manifest
        self.device = torch.device(device)
        if capsule.manifest.device.threads:
            torch.set_num_threads(min(capsule.manifest.device.threads, _MOST_THREADS))
        self.ends, self.seconds = time.monotonic() + seconds, seconds
        self.base_bytes = count_file_bytes(find_frozen_files(capsule))
        self.loss = build_loss_function(self.manifest.loss)
        self.model = build_model(capsule).to(self.device)
        self._attention: str | None = None
        self._batches = capsule.load_tensors(BATCHES_FILE)
        self.random = capsule.load_tensors(RNG_FILE)
        kept = self.manifest.optimizer
        self._states = capsule.load_tensors(kept.file) if kept else {}
        self.initial_weights = collect_initial_weights(capsule, self.model)
        self.broken = {
            name
            for name, value in self.initial_weights.items()
            if not bool(torch.isfinite(value).all())
        }
        self.optimizer: Any = None
        self.memory = memory
        """Bytes that a run may take."""
        self.checkpoint: Checkpoint | None = None
        """The state before the failing step, once that is known."""

    @property
    def left(self) -> float:
        """Give the seconds that are left."""
        return self.ends - time.monotonic()

    @property
    def is_half_spent(self) -> bool:
        """Say whether half of the time is over: what is looked for before the trials ends."""
        return self.left < self.seconds / 2

    @property
    def can_step(self) -> bool:
        """Say whether torch has the optimiser."""
        return get_optimizer_class(self.manifest.optimizer) is not None

    @property
    def steps(self) -> tuple[WindowStep, ...]:
        """Give the steps as recorded."""
        return self.manifest.window.steps

    @property
    def computes_in(self) -> str:
        """Name the narrowest type in which the recorded forward pass computed."""
        autocast = self.manifest.precision.autocast
        if autocast is not None and autocast.enabled and autocast.dtype:
            return autocast.dtype
        found = {
            str(tensor.dtype).removeprefix("torch.") for tensor in self.initial_weights.values()
        }
        return next((name for name in ("float16", "bfloat16") if name in found), "float32")

    def get_batch(self, place: MicroPlace) -> Any:
        """Give the batch of a micro-batch, on the device."""
        tree = self.steps[place.step].micro_batches[place.micro].batch
        return json_values.restore_batch(
            tree, lambda key: self._batches[key].clone().to(self.device)
        )

    def reset(self, regime: Regime, checkpoint: Checkpoint | None = None) -> None:
        """Put the model and its optimiser back to the window's start, or on from there.

        Without updates the weights of the start are those of any step.
        """
        if regime.attention != self._attention:
            model = build_model(self.capsule, regime.attention)
            self.model, self._attention = model.to(self.device), regime.attention
        self._fill(
            regime,
            self.initial_weights if checkpoint is None or not regime.rate else checkpoint.weights,
        )
        self.model.train(self.manifest.train_mode)
        if regime.change_weights is not None:
            regime.change_weights(self.model)
        kept = self.manifest.optimizer
        self.optimizer = None
        if kept is not None and self.can_step:
            is_same = self.device.type == self.manifest.device.type
            self.optimizer = build_optimizer(kept, self._states, self.model, is_same_device=is_same)
            if checkpoint is not None and checkpoint.optimizer is not None:
                self.optimizer.load_state_dict(copy.deepcopy(checkpoint.optimizer))

    def _fill(self, regime: Regime, weights: dict[str, Any]) -> None:
        wanted = getattr(torch, regime.compute) if regime.compute else None
        trainable = set(self.manifest.weights.trainable)
        for name, parameter in self.iter_named():
            value = weights[name].to(self.device, copy=True)
            if wanted is not None and value.dtype in HALVES:
                value = value.to(wanted)
            if regime.trainable_float32 and name in trainable and value.dtype in HALVES:
                value = value.float()
            parameter.data = value
        for name, weight in self.model.named_parameters():
            weight.grad = None
            weight.requires_grad_(name in trainable)

    def iter_named(self) -> Iterator[tuple[str, Any]]:
        """Go through all weights and buffers."""
        yield from self.model.named_parameters()
        yield from self.model.named_buffers()

    def save_checkpoint(
        self, step: int, moving: MovingScale | None, before: tuple[StepRun, ...]
    ) -> None:
        """Keep the state before a step."""
        weights = {name: parameter.detach().cpu().clone() for name, parameter in self.iter_named()}
        state = copy.deepcopy(self.optimizer.state_dict()) if self.optimizer is not None else None
        self.checkpoint = Checkpoint(step, weights, state, copy.copy(moving), before)
