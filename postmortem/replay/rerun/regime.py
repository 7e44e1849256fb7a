"""How a window is run (`Regime`), and the results.

In: nothing. Out: values. Not here: running (`rerun.bench`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

_CLIMB: Final = 3.0
"""A loss that has grown so many times has left its course."""
LOSS_FLOOR: Final = 1e-2
"""A loss below this is near enough to nothing: what it grows by says nothing."""


_JUMP: Final = 3.0
"""A loss so many times the usual one has left its course."""
FAILING: Final = frozenset({"not-finite", "diverges"})
"""Outcomes of a window that went wrong as a training does; an exception or lack of time is none."""


def find_jump(losses: Sequence[float]) -> int | None:
    """Find the first of the losses (one a step) that leaves the course of those before it."""
    for number in range(1, len(losses)):
        before = sorted(abs(loss) for loss in losses[:number])
        if abs(losses[number]) > _JUMP * max(before[len(before) // 2], LOSS_FLOOR):
            return number
    return None


@dataclass(frozen=True, slots=True)
class Regime:
    """What is done otherwise than recorded; without arguments nothing is."""

    compute: str | None = None
    """float32 | bfloat16 | float16 for all that was computed in 16 bits; None: as recorded."""
    scale: float | None = None
    """The loss scale, held; None: as recorded."""
    rate: float = 1.0
    """Factor of the learning rate; 0: the weights stay."""
    max_norm: float | None = None
    failing_step_only: bool = False
    """Only the failing step is run, in the state before it."""
    attention: str | None = None
    trainable_float32: bool = False
    change_weights: Callable[[Any], None] | None = None
    """Takes the model before the first step."""
    change_batch: Callable[["MicroPlace", Any], Any] | None = None
    """Takes where it is and a batch, gives another; None leaves the micro-batch out."""
    guard: Callable[[], Any] | None = None
    """Gives a context in which forward and backward are run."""


AS_RECORDED: Final = Regime()


@dataclass(frozen=True, slots=True, order=True)
class MicroPlace:
    """A micro-batch in the window: the position of its step there, and its own within the step."""

    step: int
    micro: int


@dataclass(frozen=True, slots=True)
class StepRun:
    """One step as it ran."""

    number: int
    losses: tuple[float, ...]
    grad_norm: float | None
    bad: str = ""
    """What was not finite first: loss | gradient | weights, or "" where all was finite."""
    bad_micro: int = 0
    scale: float | None = None

    def end(self, bad: str) -> "StepRun":
        """Give the same step with what went wrong in it."""
        return replace(self, bad=bad)

    @property
    def loss(self) -> float | None:
        """The mean over its micro-batches; None if all were left out."""
        return math.fsum(self.losses) / len(self.losses) if self.losses else None


@dataclass(frozen=True, slots=True)
class WindowRun:
    """The window as it ran, up to the first failure."""

    steps: tuple[StepRun, ...]
    nonfinite_at: MicroPlace | None = None
    """Where a loss, gradient or weight was not finite."""
    seconds: float = 0.0
    error: str = ""
    """It could not be run: the exception."""
    stopped: bool = False
    """It ended for want of time."""

    @property
    def bad(self) -> str:
        """What was not finite first."""
        return next((step.bad for step in reversed(self.steps) if step.bad), "")

    @property
    def finite_losses(self) -> list[float]:
        """The losses of the steps, up to the first that is not finite."""
        found = [step.loss for step in self.steps]
        finite = [loss for loss in found if loss is not None]
        end = next((n for n, loss in enumerate(finite) if not math.isfinite(loss)), len(finite))
        return finite[:end]

    @property
    def climb(self) -> float:
        """How many times the loss of the first steps the last ones are."""
        losses = self.finite_losses
        if len(losses) < 2:
            return 1.0
        head = sorted(losses[: max(1, len(losses) // 3)])
        start = max(abs(head[len(head) // 2]), LOSS_FLOOR)
        return max(losses[-3:]) / start

    @property
    def climbs(self) -> bool:
        """Say whether the loss has left its course while it was still finite."""
        return self.climb >= _CLIMB and self.rising_steps >= 2

    @property
    def rising_steps(self) -> int:
        """How many steps stand above all before them, behind the first."""
        losses, top, rises = self.finite_losses, -math.inf, -1
        for loss in losses:
            if loss > top:
                top, rises = loss, rises + 1
        return max(rises, 0)

    @property
    def outcome(self) -> str:
        """Give it in a word: finite | not-finite | diverges | error | stopped.

        Only the first three say something about a cause.
        """
        if self.error:
            return "error"
        if self.stopped:
            return "stopped"
        if self.nonfinite_at is not None:
            return "not-finite"
        return "diverges" if self.climb >= _CLIMB else "finite"
