"""Run a window from its start or from the failing step, up to the first failure.

In: a bench, a regime. Out: `WindowRun`. Not here: what to change (`rerun.counterfactuals`), a
single pass (`rerun.passes`).
"""

import copy
import math
import time
from dataclasses import replace
from typing import Final

import torch

from postmortem.replay.capsule.manifest import WindowStep
from postmortem.replay.rerun.bench import Bench
from postmortem.replay.rerun.optimizing import MovingScale, scale_for
from postmortem.replay.rerun.passes import run_pass, update_weights
from postmortem.replay.rerun.regime import MicroPlace, Regime, StepRun, WindowRun

AS_RECORDED: Final = Regime()


class OutOfTimeError(Exception):
    """No time is left."""


def run(
    bench: Bench,
    regime: Regime = AS_RECORDED,
    until: MicroPlace | None = None,
    keep_at: int | None = None,
) -> WindowRun:
    """Run the window up to the first failure, or to before a micro-batch.

    From its start, or from the failing step if that is enough; `keep_at` keeps the state before a
    step.
    """
    began = time.monotonic()
    since = bench.checkpoint if regime.is_short else None
    runs: list[StepRun] = list(since.before) if since and regime.rate else []
    first, last = since.step if since else 0, until.step if until else len(bench.steps) - 1
    error, stopped = "", False
    try:
        bench.reset(regime, since)
        _run_steps(bench, regime, range(first, last + 1), runs, (until, keep_at))
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
    moving, (until, keep_at) = _get_initial_scale(bench, regime), ends
    for number in numbers:
        if number == keep_at:
            bench.keep(number, moving, tuple(runs))
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
    since = bench.checkpoint if regime.is_short else None
    if since is None or regime.scale is not None or regime.compute is not None:
        return scale_for(bench.manifest, regime.compute, regime.scale)
    return copy.copy(since.moving)


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
