"""Run a window from its start or from the failing step, pass by pass, up to the first failure.

In: a bench, a regime. Out: the loss of a pass forward and backward, the `StepRun` of an update, a
`WindowRun`. Not here: what to change (`rerun.counterfactuals`).
"""

import contextlib
import copy
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from postmortem.replay.capsule.manifest import WindowStep
from postmortem.replay.rerun.batches import convert_tensors
from postmortem.replay.rerun.bench import HALVES, Bench, MovingScale, restore_random, scale_for
from postmortem.replay.rerun.regime import AS_RECORDED, MicroPlace, Regime, StepRun, WindowRun


def run_pass(
    bench: Bench,
    place: MicroPlace,
    regime: Regime,
    batch: Any = None,
    scale: float = 1.0,
    *,
    forward_only: bool = False,
) -> float | None:
    """Run one micro-batch forward and backward; gives its loss, None if it is left out.

    With `forward_only` the backward pass is left out.
    """
    batch = bench.get_batch(place) if batch is None else batch
    if regime.change_batch is not None:
        batch = regime.change_batch(place, batch)
    if batch is None:
        return None
    restore_random(bench.random, _get_recorded_batch(bench, place).rng, bench.device)
    with _open_context(bench, regime):
        loss = bench.loss(bench.model, _convert_batch(batch, regime))
        value = float(loss.detach())
        if loss.requires_grad and not forward_only:
            (loss * (scale * _compute_gradient_share(bench, place, batch))).backward()
    return value


def _get_recorded_batch(bench: Bench, place: MicroPlace) -> Any:
    return bench.steps[place.step].micro_batches[place.micro]


def _compute_gradient_share(bench: Bench, place: MicroPlace, batch: Any) -> float:
    """Give the share of a micro-batch in its step's gradient."""
    factor = _get_recorded_batch(bench, place).factor
    if factor is not None and math.isfinite(factor):
        return float(factor)
    if isinstance(batch, Mapping) and batch.get("num_items_in_batch") is not None:
        return 1.0
    return 1.0 / len(bench.steps[place.step].micro_batches)


@contextlib.contextmanager
def _open_context(bench: Bench, regime: Regime) -> Iterator[None]:
    """Open what the passes of a regime run in: autocast, a guard."""
    with contextlib.ExitStack() as opened:
        autocast = bench.manifest.precision.autocast
        if autocast is not None and autocast.enabled and regime.compute != "float32":
            dtype = getattr(torch, regime.compute or autocast.dtype)
            opened.enter_context(torch.autocast(bench.device.type, dtype=dtype))
        if regime.guard is not None:
            opened.enter_context(regime.guard())
        yield


def _convert_batch(batch: Any, regime: Regime) -> Any:
    if regime.compute is None:
        return batch
    wanted = getattr(torch, regime.compute)
    return convert_tensors(
        batch, lambda _, tensor: tensor.to(wanted) if tensor.dtype in HALVES else tensor
    )


def update_weights(
    bench: Bench, number: int, regime: Regime, moving: MovingScale | None, losses: list[float]
) -> StepRun:
    """Step the optimiser, unless the gradients are not finite."""
    recorded = bench.steps[number]
    scale = moving.scale if moving else None
    weights = [parameter for parameter in bench.model.parameters() if parameter.grad is not None]
    norm = _compute_unscaled_norm(weights, scale or 1.0)
    if moving is not None:
        moving.move(is_finite=math.isfinite(norm))
    ran = StepRun(recorded.step, tuple(losses), norm, "", len(recorded.micro_batches) - 1, scale)
    if not math.isfinite(norm):
        is_last = number == len(bench.steps) - 1
        ran = ran.end("" if _may_skip(moving) and not is_last else "gradient")
    elif bench.optimizer is not None and regime.rate:
        _run_optimizer_step(bench, weights, regime, recorded.lr)
        ran = ran if _is_still_finite(bench) else ran.end("weights")
    for weight in weights:
        weight.grad = None
    return ran


def _may_skip(moving: MovingScale | None) -> bool:
    """Say whether a step without finite gradients is skipped, and the next has a lower scale."""
    return moving is not None and not moving.held


def _run_optimizer_step(
    bench: Bench, weights: list[Any], regime: Regime, rates: tuple[float, ...]
) -> None:
    clipping = bench.manifest.clipping
    max_norm = clipping.max_norm if clipping is not None else None
    most = regime.max_norm if regime.max_norm is not None else max_norm
    if most:
        torch.nn.utils.clip_grad_norm_(weights, most, clipping.norm_type if clipping else 2.0)
    for group, rate in zip(bench.optimizer.param_groups, rates, strict=False):
        group["lr"] = rate * regime.rate
    bench.optimizer.step()


def _is_still_finite(bench: Bench) -> bool:
    """Say whether every weight is finite that was so at the window's start."""
    return all(
        name in bench.broken or bool(torch.isfinite(parameter).all())
        for name, parameter in bench.model.named_parameters()
        if parameter.grad is not None
    )


def _compute_unscaled_norm(weights: list[Any], scale: float) -> float:
    """Take the scale off; give the norm, which overflows only where one gradient does."""
    if not weights:
        return 0.0
    for weight in weights:
        weight.grad.div_(scale)
    norms = [torch.linalg.vector_norm(weight.grad.double()) for weight in weights]
    norm = float(torch.linalg.vector_norm(torch.stack(norms)))
    return math.inf if math.isnan(norm) else norm


class OutOfTimeError(Exception):
    """No time is left."""


def run(
    bench: Bench,
    regime: Regime = AS_RECORDED,
    until: MicroPlace | None = None,
    checkpoint_at: int | None = None,
) -> WindowRun:
    """Run the window up to the first failure, or to before a micro-batch.

    From its start, or from the failing step if that is enough; `checkpoint_at` keeps
    the state before that step.
    """
    began = time.monotonic()
    checkpoint = bench.checkpoint if regime.failing_step_only else None
    runs: list[StepRun] = list(checkpoint.before) if checkpoint and regime.rate else []
    first, last = (
        checkpoint.step if checkpoint else 0,
        until.step if until else len(bench.steps) - 1,
    )
    error, stopped = "", False
    try:
        bench.reset(regime, checkpoint)
        _run_steps(bench, regime, range(first, last + 1), runs, (until, checkpoint_at))
    except OutOfTimeError:
        stopped = True
    except Exception as raised:  # noqa: BLE001 -- whatever a model raises is what is told
        error = f"{type(raised).__name__}: {str(raised)[:300]}"
    failed, spent = _find_failure(bench, runs), time.monotonic() - began
    return WindowRun(tuple(runs), failed, spent, error, stopped)


def _run_steps(
    bench: Bench,
    regime: Regime,
    numbers: range,
    runs: list[StepRun],
    ends: tuple[MicroPlace | None, int | None],
) -> None:
    """Run steps, up to the first failure."""
    moving, (until, checkpoint_at) = _get_initial_scale(bench, regime), ends
    for number in numbers:
        if number == checkpoint_at:
            bench.save_checkpoint(number, moving, tuple(runs))
        if bench.left < 0:
            raise OutOfTimeError
        if number > numbers[0] and bench.optimizer is None and regime.rate:
            kept = bench.manifest.optimizer
            raise LookupError(f"torch has no optimiser {kept.class_[:120] if kept else '?'}")
        runs.append(_run_step(bench, number, regime, moving, until))
        if runs[-1].bad:
            return


def _find_failure(bench: Bench, runs: list[StepRun]) -> MicroPlace | None:
    """Find where a run failed, if it did."""
    if not runs or not runs[-1].bad:
        return None
    numbers = [step.step for step in bench.steps]
    return MicroPlace(numbers.index(runs[-1].number), runs[-1].bad_micro)


def _get_initial_scale(bench: Bench, regime: Regime) -> MovingScale | None:
    """Give the loss scale to begin with: that of the checkpoint, unless a regime has another."""
    checkpoint = bench.checkpoint if regime.failing_step_only else None
    if checkpoint is None or regime.scale is not None or regime.compute is not None:
        return scale_for(bench.manifest, regime.compute, regime.scale)
    return copy.copy(checkpoint.moving)


def _run_step(
    bench: Bench,
    number: int,
    regime: Regime,
    moving: MovingScale | None,
    until: MicroPlace | None,
) -> StepRun:
    recorded = bench.steps[number]
    scale = moving.scale if moving else None
    losses: list[float] = []
    broken: int | None = None
    for micro in range(len(recorded.micro_batches)):
        place = MicroPlace(number, micro)
        if place == until:
            return StepRun(recorded.step, tuple(losses), None, scale=scale)
        loss = run_pass(bench, place, regime, scale=scale or 1.0)
        if loss is None:
            continue
        losses.append(loss)
        if not math.isfinite(loss):
            return StepRun(recorded.step, tuple(losses), None, "loss", micro, scale)
        broken = micro if broken is None and not _has_finite_gradients(bench, recorded) else broken
    if not losses:
        return StepRun(recorded.step, (), None, scale=scale)
    ran = update_weights(bench, number, regime, moving, losses)
    return ran if broken is None else replace(ran, bad_micro=broken)


def _has_finite_gradients(bench: Bench, recorded: WindowStep) -> bool:
    """Check the gradients between micro-batches, to find the one that broke them."""
    return len(recorded.micro_batches) < 2 or all(
        bool(torch.isfinite(weight.grad).all())
        for weight in bench.model.parameters()
        if weight.grad is not None
    )
