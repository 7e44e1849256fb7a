"""The last steps of a training: a snapshot, the model's inputs since then, loss and gradient norm.

In: batches, losses, gradients, begin and end of steps. Out: the window, and why it should be kept.
Not here: where these come from (`recorder.loop`), the capsule.

Figures are read without waiting for the device. One fused reduction gives the norm of all
gradients: it is not finite exactly if one of them is not (or so large that its square is not). On a
CUDA device the figures go into pinned memory with an event, which shows later whether they have
arrived.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from postmortem.replay.capsule import json_values
from postmortem.replay.capsule.manifest import Reason
from postmortem.replay.recorder.recorded_state import (
    SnapshotRing,
    Subject,
    count_bytes,
    get_rng_states,
    to_host,
)


class Reading:
    """Figures on their way from the device to the host."""

    def __init__(self, figures: Sequence[Any]) -> None:
        """Send them off."""
        device = figures[0].device
        exact = torch.float32 if device.type == "mps" else torch.float64
        moved = [
            figure.detach().reshape(()).to(device, exact, non_blocking=True) for figure in figures
        ]
        held = torch.stack(moved)
        self._arrival: Any = None
        if device.type == "cuda":
            self._host = torch.empty(held.shape, dtype=exact, pin_memory=True)
            self._host.copy_(held, non_blocking=True)
            self._arrival = torch.cuda.Event()
            self._arrival.record()
        else:
            self._host = held.cpu()

    def get_figures(self, *, wait: bool = False) -> list[float] | None:
        """Give the figures, None if they have not come over and nobody is to wait."""
        if self._arrival is not None:
            if wait:
                self._arrival.synchronize()
            elif not self._arrival.query():
                return None
        return [float(number) for number in self._host.tolist()]


@torch.no_grad()
def compute_gradient_norm(parameters: Iterable[Any]) -> Any:
    """Give the norm of all gradients as a tensor on the device, None where there is none."""
    groups: dict[tuple[Any, Any], list[Any]] = {}
    for parameter in parameters:
        if parameter.grad is not None:
            gradient = parameter.grad
            gradient = gradient.to_local() if hasattr(gradient, "to_local") else gradient
            gradient = gradient.coalesce().values() if gradient.is_sparse else gradient
            groups.setdefault((gradient.device, gradient.dtype), []).append(gradient)
    norms = [norm for held in groups.values() for norm in _compute_norms(held)]
    if not norms:
        return None
    first = norms[0].device
    if len({device for device, _ in groups}) > 1:
        norms = [norm.to(first) for norm in norms]
    if len(groups) > 1:
        norms = [norm.to(torch.float64) for norm in norms]
    return torch.linalg.vector_norm(torch.stack(norms), 2)


def _compute_norms(gradients: list[Any]) -> list[Any]:
    """Give the norm of each, in float32 at least: that of halves would overflow by itself."""
    wide = torch.promote_types(gradients[0].dtype, torch.float32)
    if gradients[0].dtype != wide:
        return [torch.linalg.vector_norm(gradient, 2, dtype=wide) for gradient in gradients]
    return list(torch._foreach_norm(gradients, 2))  # noqa: SLF001 -- clip_grad_norm_ stands on it too


COLLAPSED: Final = 1.0
"""Below this a loss scale has nothing more to give: it makes gradients smaller."""
_SHORTEST: Final = 8
"""Steps that a snapshot stays, however large the batches are."""


@dataclass(slots=True)
class RecordedPass:
    """One forward and backward pass."""

    tree: dict[str, Any]
    tensors: dict[str, Any]
    states: dict[str, Any]
    samples: tuple[int | None, ...] | None = None
    loss: Any = None
    factor: Any = None
    is_used: bool = True
    """Whether a gradient came to the loss, as far as that was looked for."""


@dataclass(slots=True)
class RecordedStep:
    """One step of the optimiser."""

    step: int
    passes: list[RecordedPass] = field(default_factory=list)
    rates: tuple[float, ...] = ()
    reading: Reading | None = None
    named: tuple[str, ...] = ()
    """What the figures of the reading are: `norm`, `scale`, `loss 0`, `factor 0` …"""
    figures: dict[str, float] = field(default_factory=dict)

    def arrive(self, *, wait: bool = False) -> bool:
        """Take in the figures, if they have come over; says whether."""
        if self.reading is not None:
            figures = self.reading.get_figures(wait=wait)
            if figures is None:
                return False
            self.figures |= dict(zip(self.named, figures, strict=True))
            self.reading = None
        return True


class Tape:
    """What is recorded, in host memory only."""

    def __init__(self, subject: Subject, every: int, memory: int) -> None:
        """Keep a snapshot every so many steps, and no more than so many bytes of all."""
        self.subject, self.every = subject, max(2, every)
        self.ring = SnapshotRing(subject, memory // 2)
        self.steps: list[RecordedStep] = [RecordedStep(0)]
        self.notes: dict[str, None] = {}
        """What could not be recorded."""
        self._most, self._bytes, self._since = memory // 2, 0, 0
        self._unread: list[RecordedStep] = []
        self._is_looked_at = False
        self.is_in_step_with_others = False
        """Whether all processes must take their snapshots together."""

    @property
    def step(self) -> RecordedStep:
        """The step that is under way."""
        return self.steps[-1]

    def begin(self, batch: Any, samples: tuple[int | None, ...] | None = None) -> RecordedPass:
        """Keep what goes into a forward pass, and the state before it."""
        if not self.step.passes and self._is_due():
            self.ring.take(self.step.step)
            self._forget()
        self.step.rates = self.step.rates or self.subject.get_rates()
        tensors: dict[str, Any] = {}
        prefix = f"{self.step.step}.{len(self.step.passes)}"
        held = RecordedPass(self._tree(batch, prefix, tensors), tensors, {}, samples)
        held.states = get_rng_states(self.subject.device)
        self.step.passes.append(held)
        return held

    def _is_due(self) -> bool:
        age = self.step.step - self.ring.newest_step
        is_full = self._since > self._most // 2 and not self.is_in_step_with_others
        return age >= self.every or (age >= _SHORTEST and is_full)

    def _forget(self) -> None:
        """Let go of the steps before the older snapshot."""
        oldest = self.ring.oldest
        first = oldest.step if oldest is not None else 0
        self.steps = [step for step in self.steps if step.step >= first]
        tensors = (t for step in self.steps for kept in step.passes for t in kept.tensors.values())
        self._bytes, self._since = sum(map(count_bytes, tensors)), 0

    def _tree(self, batch: Any, prefix: str, tensors: dict[str, Any]) -> dict[str, Any]:
        def put(tensor: Any) -> str:
            key = f"{prefix}/{len(tensors)}"
            tensors[key] = to_host(tensor)
            return key

        if self._bytes > self._most:
            self.notes["batches: larger than the recorder's memory"] = None
            return {"kind": "unrecorded", "type": type(batch).__qualname__}
        tree = json_values.convert_to_tree(batch, put)
        size = sum(map(count_bytes, tensors.values()))
        self._bytes, self._since = self._bytes + size, self._since + size
        return tree

    def note_loss(self, loss: Any, *, is_whole: bool = True) -> None:
        """Keep the loss of the pass under way, and see with what it is multiplied.

        Args:
            loss: a tensor of one number.
            is_whole: a hook of the loss sees its gradient; else `factor` is set by the caller.
        """
        if not self.step.passes or not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            return
        kept = self.step.passes[-1]
        kept.loss = loss.detach()
        if is_whole and loss.requires_grad:
            kept.is_used = False

            def see(gradient: Any) -> None:
                kept.factor, kept.is_used = gradient.detach(), True

            loss.register_hook(see)

    def before_step(self, norm: Any = None, rates: tuple[float, ...] = ()) -> None:
        """Look at loss and gradients of the step under way; once a step."""
        if self._is_looked_at:
            return
        self._is_looked_at = True
        self.ring.settle()
        step = self.step
        step.rates = rates or self.subject.get_rates()
        norm = compute_gradient_norm(self.subject.trainable.values()) if norm is None else norm
        self._read(step, {"norm": norm, "scale": self._scale(step)})

    def _scale(self, step: RecordedStep) -> Any:
        scaler = self.subject.scaler
        if scaler is not None:
            stages = getattr(scaler, "_per_optimizer_states", {})
            stage = stages.get(id(self.subject.optimizer), {}).get("stage")
            step.figures["is unscaled"] = float(getattr(stage, "value", 0) == 1)
        return getattr(scaler, "_scale", None)

    def _read(self, step: RecordedStep, further: Mapping[str, Any]) -> None:
        """Send all figures of a step off to the host."""
        wanted = {
            name: figure for name, figure in further.items() if isinstance(figure, torch.Tensor)
        }
        step.figures |= {
            name: figure for name, figure in further.items() if isinstance(figure, float | int)
        }
        for number, kept in enumerate(step.passes):
            for name, value in (("loss", kept.loss), ("factor", kept.factor)):
                if isinstance(value, torch.Tensor):
                    wanted[f"{name} {number}"] = value
        if wanted:
            step.named, step.reading = tuple(wanted), Reading(list(wanted.values()))
            self._unread.append(step)

    def after_step(self) -> None:
        """Begin the next step."""
        if self._is_looked_at:
            self._is_looked_at = False
            self.steps.append(RecordedStep(self.step.step + 1))

    def find_suspicion(self, *, wait: bool = False) -> Reason | None:
        """Say why the window should be kept, of the steps whose figures have come over."""
        if wait and self.step not in self._unread and self.step.passes:
            self._read(self.step, {})
        while self._unread and self._unread[0].arrive(wait=wait):
            reason = self._judged(self._unread.pop(0))
            if reason is not None:
                return reason
        return None

    def _judged(self, step: RecordedStep) -> Reason | None:
        for name, value in step.figures.items():
            if name.startswith("loss") and not math.isfinite(value):
                return Reason("nonfinite-loss", step.step, f"the loss is {value}")
        norm, scale = step.figures.get("norm", 0.0), step.figures.get("scale")
        if self.subject.scaler is None and not math.isfinite(norm):
            return Reason("nonfinite-gradient", step.step, f"the norm of the gradients is {norm}")
        if scale is not None and scale < COLLAPSED and not math.isfinite(norm):
            return Reason("scale-collapsed", step.step, f"the loss scale is {scale:g}")
        return None
