"""Run a micro-batch forward and backward, and the update after the last one of a step.

In: a bench, a place, a regime. Out: a loss; a `StepRun`. Not here: the window (`rerun.running`).
"""

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from postmortem.replay.rerun.batches import convert_tensors
from postmortem.replay.rerun.bench import HALVES, Bench
from postmortem.replay.rerun.optimizing import MovingScale, restore_random
from postmortem.replay.rerun.regime import MicroPlace, Regime, StepRun


def run_pass(
    bench: Bench,
    place: MicroPlace,
    regime: Regime,
    batch: Any = None,
    scale: float = 1.0,
    *,
    is_forward: bool = False,
) -> float | None:
    """Run one micro-batch forward and backward; gives its loss, None if it is left out.

    With `is_forward` the backward pass is left out.
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
        if loss.requires_grad and not is_forward:
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
