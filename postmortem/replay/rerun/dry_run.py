"""Run a forward pass of each kind of batch under guard, before the window is run.

In: a bench. Out: nothing, or a refusal. Not here: the limits (`rerun.memory_budget`), the runs
themselves (`rerun.running`), which are not slowed down by a guard.

The memory of a pass is not known from the sizes of model and batch: a module that enlarges, or
attention over a long text, turns kilobytes into gigabytes.
"""

from collections.abc import Iterator
from typing import Any

import torch

from postmortem.core.errors import PostmortemError
from postmortem.replay.rerun.allocation_guard import AllocationGuard
from postmortem.replay.rerun.batches import iter_tensors
from postmortem.replay.rerun.bench import Bench
from postmortem.replay.rerun.memory_budget import compute_running_limits
from postmortem.replay.rerun.passes import run_pass
from postmortem.replay.rerun.regime import MicroPlace, Regime


def run_rehearsal(bench: Bench, regime: Regime) -> None:
    """Run the forward pass of each kind of batch once.

    What a model raises by itself is left to the run. Code of the user's own, which is trusted, is
    not rehearsed.

    Raises:
        InputError: it takes more than a capsule of this size may.
    """
    manifest = bench.manifest
    if "user" in {manifest.model.kind, manifest.loss.kind}:
        return
    limits = compute_running_limits(bench.capsule, bench.base_bytes, bench.memory, bench.ends)
    bench.reset(regime)
    for place in _iter_distinct_batches(bench):
        try:
            with torch.random.fork_rng(), AllocationGuard(limits, "running the capsule"):
                run_pass(bench, place, regime, is_forward=True)
        except PostmortemError:
            raise
        except Exception:  # noqa: BLE001 -- also for want of time: the run meets it again
            return


def _iter_distinct_batches(bench: Bench) -> Iterator[MicroPlace]:
    """Give the first place of each set of shapes."""
    seen: set[Any] = set()
    for step, recorded in enumerate(bench.steps):
        for micro in range(len(recorded.micro_batches)):
            place = MicroPlace(step, micro)
            kind = tuple(
                (path, tuple(tensor.shape)) for path, tensor in iter_tensors(bench.get_batch(place))
            )
            if kind not in seen:
                seen.add(kind)
                yield place
