"""The bench on which a window is run: a capsule's model, its weights at the start, its batches.

In: a capsule, a device. Out: the model and its optimiser in the state of the window's start, or of
a checkpoint on the way. Not here: passes (`rerun.passes`), the window (`rerun.running`).
"""

import copy
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import torch

from postmortem.replay.capsule import trees
from postmortem.replay.capsule.manifest import BATCHES_FILE, RNG_FILE, WindowStep
from postmortem.replay.capsule.opening import Capsule
from postmortem.replay.rerun.building import (
    build_loss_function,
    build_model,
    count_file_bytes,
    find_frozen_files,
)
from postmortem.replay.rerun.initial_weights import collect_initial_weights
from postmortem.replay.rerun.optimizing import MovingScale, build_optimizer, get_optimizer_class
from postmortem.replay.rerun.regime import MicroPlace, Regime, StepRun

_MOST_THREADS: Final = max(64, os.cpu_count() or 1)
"""Sums differ with the number of threads; more than processors are slow, and each takes memory."""
HALVES: Final = (torch.float16, torch.bfloat16)
AS_RECORDED: Final = Regime()


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

    def __init__(self, capsule: Capsule, device: str, seconds: float) -> None:
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
        self.start = collect_initial_weights(capsule, self.model)
        self.broken = {
            name for name, value in self.start.items() if not bool(torch.isfinite(value).all())
        }
        self.optimizer: Any = None
        self.memory = float("inf")
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
        found = {str(tensor.dtype).removeprefix("torch.") for tensor in self.start.values()}
        return next((name for name in ("float16", "bfloat16") if name in found), "float32")

    def get_batch(self, place: MicroPlace) -> Any:
        """Give the batch of a micro-batch, on the device."""
        tree = self.steps[place.step].micro_batches[place.micro].batch
        return trees.restore_batch(tree, lambda key: self._batches[key].clone().to(self.device))

    def reset(self, regime: Regime, since: Checkpoint | None = None) -> None:
        """Put the model and its optimiser back to the window's start, or on from there.

        Without updates the weights of the start are those of any step.
        """
        if regime.attention != self._attention:
            model = build_model(self.capsule, regime.attention)
            self.model, self._attention = model.to(self.device), regime.attention
        self._fill(regime, self.start if since is None or not regime.rate else since.weights)
        self.model.train(self.manifest.train_mode)
        if regime.change_weights is not None:
            regime.change_weights(self.model)
        kept = self.manifest.optimizer
        self.optimizer = None
        if kept is not None and self.can_step:
            is_same = self.device.type == self.manifest.device.type
            self.optimizer = build_optimizer(kept, self._states, self.model, is_same_device=is_same)
            if since is not None and since.optimizer is not None:
                self.optimizer.load_state_dict(copy.deepcopy(since.optimizer))

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

    def keep(self, step: int, moving: MovingScale | None, before: tuple[StepRun, ...]) -> None:
        """Keep the state before a step."""
        weights = {name: parameter.detach().cpu().clone() for name, parameter in self.iter_named()}
        state = copy.deepcopy(self.optimizer.state_dict()) if self.optimizer is not None else None
        self.checkpoint = Checkpoint(step, weights, state, copy.copy(moving), before)
