"""The loop: runs a task under a config with its knobs and keeps the curve.

Timing: compute is the thread's processor time, waiting is the measured sleep, so that other work
on the machine does not show in the log.
"""

import copy
import math
import time
from dataclasses import dataclass, field

import torch
from torch import nn

from curves.settings import Config, Knobs, rate_factors
from curves.tasks.base import Task

SMALLEST_SCALE = 1.0


@dataclass(slots=True)
class History:
    """What a training left: figures of each step, of each evaluation, of the model before the first step, and a dated event."""

    config: Config
    steps: list[dict[str, float]] = field(default_factory=list)
    evals: dict[int, dict[str, float]] = field(default_factory=dict)
    event_step: int | None = None
    seconds: float = 0.0
    parameters: int = 0
    before: dict[str, float] = field(default_factory=dict)


class Engine:
    """Applies a loss: backward, mixed precision, clipping, update."""

    def __init__(self, task: Task, config: Config, knobs: Knobs) -> None:
        self.task, self.config, self.knobs = task, config, knobs
        self.groups = task.groups()
        self.optimizers = {name: self._optimizer(values) for name, values in self.groups.items()}
        self.factors = rate_factors(config.schedule, config.steps)
        self.scale = {"overflow": 65536.0, "skips": 2.0**22, "grad-inf": 65536.0}.get(
            knobs.half, 1.0
        )
        self.good_steps = 0
        self.skipped = False

    def _optimizer(self, values: list[nn.Parameter]) -> torch.optim.Optimizer:
        if self.knobs.parameters == "copy":
            values = [nn.Parameter(value.detach().clone()) for value in values]
        config = self.config
        if config.optimizer == "sgd":
            return torch.optim.SGD(values, config.lr, momentum=0.9, weight_decay=config.decay)
        kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
        return kind(values, config.lr, self.task.betas, weight_decay=config.decay, foreach=False)

    def set_rate(self, step: int) -> float:
        """Set and return the rate of a step."""
        rate = self.config.lr * self.factors[step]
        for optimizer in self.optimizers.values():
            for group in optimizer.param_groups:
                group["lr"] = rate
        return rate

    def apply(self, loss: torch.Tensor, group: str = "main") -> float:
        """One update of a group of parameters; returns the gradient's norm before clipping."""
        optimizer, values = self.optimizers[group], self.groups[group]
        if not self.knobs.accumulate:
            optimizer.zero_grad()
            for value in values:
                value.grad = None
        if loss.requires_grad:
            (loss * (self.knobs.sign * self.scale)).backward()
        if self.knobs.half:
            self._through_half(values)
        limit = self.config.clip or math.inf
        used = [value for value in values if value.grad is not None]
        norm = float(nn.utils.clip_grad_norm_(used, limit)) if used else 0.0
        self.skipped = self.knobs.half in {"overflow", "skips", "grad-inf"} and not math.isfinite(
            norm
        )
        if not self.skipped:
            optimizer.step()
        self._next_scale()
        return norm

    def _through_half(self, values: list[nn.Parameter]) -> None:
        """Gradients as float16 holds them: above 65504 infinite, below 6e-8 zero."""
        for value in values:
            if value.grad is not None:
                value.grad = value.grad.half().float() / self.scale

    def _next_scale(self) -> None:
        if self.scale == 1.0:
            return
        self.good_steps = 0 if self.skipped else self.good_steps + 1
        if self.skipped:
            self.scale = max(self.scale / 2, SMALLEST_SCALE)
        elif self.good_steps >= 100:
            self.scale, self.good_steps = self.scale * 2, 0


def train(kind: type[Task], config: Config, knobs: Knobs) -> History:
    """Run a training to its end; the same arguments give the same figures (times aside)."""
    torch.manual_seed(config.seed * 7919 + len(config.task))
    used = knobs.apply(config)
    task = kind(used, knobs)
    engine = Engine(task, used, knobs)
    history = History(used)
    history.parameters = sum(one.numel() for one in task.model.parameters())
    history.before = task.before()
    judged = copy.deepcopy(task.model) if knobs.valid == "stale" else None
    if knobs.event or knobs.data in {"shard", "stages"}:
        history.event_step = int(used.steps * knobs.at)
    started = time.thread_time()
    quiet = 0
    best = math.inf
    for step in range(used.steps):
        history.steps.append(_one_step(task, engine, step, knobs))
        if (step + 1) % used.per_epoch == 0:
            before = time.thread_time()
            history.evals[step] = task.evaluate(judged)
            history.evals[step]["eval_time"] = time.thread_time() - before
            if knobs.stop_early:
                now = history.evals[step].get("val_loss", math.inf)
                quiet, best = (0, now) if now < best - 1e-4 else (quiet + 1, best)
                if quiet >= 3:
                    break
    history.seconds = time.thread_time() - started
    return history


def _one_step(task: Task, engine: Engine, step: int, knobs: Knobs) -> dict[str, float]:
    rate = engine.set_rate(step)
    before, waited = time.thread_time(), 0.0
    if knobs.loader:
        clock = time.perf_counter()
        time.sleep(knobs.loader * (0.6 + 0.8 * task.order.random()))
        waited = min(time.perf_counter() - clock, knobs.loader * 2)
    task.load(step)
    loaded = time.thread_time()
    figures = task.update(step, engine)
    if knobs.slower:
        task.keep_history()
    ended = time.thread_time()
    if knobs.print_signed:
        figures["loss"] *= knobs.sign
    figures["lr"] = rate
    figures["data_time"] = loaded - before + waited
    figures["step_time"] = ended - before + waited
    if knobs.half in {"overflow", "skips", "grad-inf"}:
        figures["loss_scale"] = engine.scale
    return figures
