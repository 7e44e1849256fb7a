"""The run without changes: where the failure occurs, and the values there.

In: a bench. Out: a `BaselineRun`, which counterfactuals and verdicts use. Not here: the
counterfactuals themselves.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from postmortem.replay.rerun import inspecting
from postmortem.replay.rerun.batches import count_samples, find_attention_masks, select_samples
from postmortem.replay.rerun.bench import Bench
from postmortem.replay.rerun.faulty_samples import find_failing_alone, find_single_culprit
from postmortem.replay.rerun.module_peaks import Peaks, measure_peaks
from postmortem.replay.rerun.operations import Operation, Watch
from postmortem.replay.rerun.passes import run_pass
from postmortem.replay.rerun.regime import MicroPlace, Regime, WindowRun
from postmortem.replay.rerun.running import AS_RECORDED, run

_JUMP: Final = 3.0
HERE: Final = Regime(is_short=True)


@dataclass(slots=True)
class BaselineRun:
    """A window that was run as recorded, and what was seen in it."""

    bench: Bench
    recorded: WindowRun
    again: WindowRun | None = None
    place: MicroPlace | None = None
    """Where it failed."""
    peaks: Peaks | None = None
    operation: Operation | None = None
    weights: list[inspecting.BadWeights] = field(default_factory=list)
    rows: list[inspecting.BadRows] = field(default_factory=list)
    masked: list[int] = field(default_factory=list)
    odd: dict[int, str] = field(default_factory=dict)
    samples: int = 0
    masks: list[tuple[str, Any, bool]] = field(default_factory=list)
    runs: dict[str, WindowRun] = field(default_factory=dict)
    """Of the counterfactuals so far."""
    culprits: list[int] | None = None
    """Samples at `culprit_place` that the failure hangs on; None: not looked for, or no time."""
    culprit_place: MicroPlace | None = None

    @property
    def is_reproduced(self) -> bool:
        """Say whether it failed twice, in the same way and at the same place.

        On a GPU sums may be added in another order: a divergence may come a step sooner.
        """
        one, two = self.recorded.failed_at, self.again.failed_at if self.again else None
        if self.again is None or one is None or two is None:
            return False
        return abs(one.step - two.step) <= 1 and self.recorded.bad == self.again.bad

    @property
    def fails_at_once(self) -> bool:
        """Say whether it fails in the first step, before any update."""
        is_first = self.place is not None and self.place.step == 0
        return is_first and self.recorded.bad != "weights"

    def get_batch(self) -> Any:
        """Give the batch at which it failed."""
        return self.bench.get_batch(self.place) if self.place is not None else None


def is_same_run(first: WindowRun, second: WindowRun) -> bool:
    """Say whether two runs are the same, number for number."""
    return first.failed_at == second.failed_at and [repr(step.losses) for step in first.steps] == [
        repr(step.losses) for step in second.steps
    ]


def run_baseline(bench: Bench) -> BaselineRun:
    """Run the window twice as recorded, and look at the place where it fails."""
    baseline = BaselineRun(bench, run(bench))
    baseline.place = baseline.recorded.failed_at
    if not baseline.recorded.error:
        baseline.again = run(bench, keep_at=baseline.place.step if baseline.place else None)
    baseline.weights = inspecting.find_bad_weights(bench.start)
    if baseline.place is None:
        baseline.peaks = measure_peaks(bench, _get_last_place(bench), AS_RECORDED)
        return baseline
    _inspect_batch(baseline, baseline.place)
    run(bench, HERE, until=baseline.place)
    baseline.peaks = measure_peaks(bench, baseline.place, AS_RECORDED)
    baseline.operation = _find_operation(bench, baseline.place)
    if bench.left > 0:
        find_culprits(baseline)
    return baseline


def _get_last_place(bench: Bench) -> MicroPlace:
    return MicroPlace(len(bench.steps) - 1, len(bench.steps[-1].micro_batches) - 1)


def _inspect_batch(baseline: BaselineRun, place: MicroPlace) -> None:
    bench, manifest = baseline.bench, baseline.bench.manifest
    batch = bench.get_batch(place)
    batches = [
        bench.get_batch(MicroPlace(step, micro))
        for step, window_step in enumerate(bench.steps[: place.step + 1])
        for micro in range(len(window_step.micro_batches))
    ]
    baseline.samples = count_samples(batch)
    baseline.rows = inspecting.find_bad_rows(bench.model, bench.start, batches)
    baseline.masked = inspecting.list_masked_samples(
        batch,
        manifest.loss.target,
        inspecting.get_ignored_label(manifest.loss.arguments),
        shifted=manifest.model.kind == "transformers" and "CausalLM" in manifest.model.class_,
    )
    baseline.odd = inspecting.find_odd_samples(batch)
    baseline.masks = find_attention_masks(batch)


def _find_operation(bench: Bench, place: MicroPlace) -> Operation | None:
    """Find the first operation that made what is not finite, in the state before the place."""
    run(bench, HERE, until=place)
    watch = Watch()
    try:
        with watch:
            run_pass(bench, place, AS_RECORDED)
    except Exception:  # noqa: BLE001 -- some operations cannot be watched; then none is named
        return None
    return watch.first


def find_culprits(baseline: BaselineRun) -> None:
    """Look for samples that the failure hangs on: at its place, then where the run-up began."""
    place = baseline.place
    if place is None:
        return
    baseline.culprit_place = place
    baseline.culprits = _find_failing_samples(baseline, place)
    jump = find_loss_jump(baseline)
    for step in (jump.step, jump.step - 1) if jump is not None and not baseline.culprits else ():
        found = _find_earlier_culprit(baseline, MicroPlace(step, 0)) if step >= 0 else []
        if found:
            baseline.culprit_place, baseline.culprits = MicroPlace(step, 0), found
            return


def _find_failing_samples(baseline: BaselineRun, place: MicroPlace) -> list[int] | None:
    """Find samples that fail alone, with the weights that were there."""
    bench = baseline.bench
    if baseline.samples < 2:
        return []
    batch = bench.get_batch(place)
    run(bench, HERE, until=place)
    scale = baseline.recorded.steps[-1].scale or 1.0

    def fails(samples: Sequence[int]) -> bool | None:
        if bench.is_half_spent:
            return None
        for weight in bench.model.parameters():
            weight.grad = None
        try:
            loss = run_pass(bench, place, AS_RECORDED, select_samples(batch, samples), scale)
        except Exception:  # noqa: BLE001 -- a part that cannot be run settles nothing
            return None
        if loss is None or not math.isfinite(loss):
            return True
        return not all(
            bool(weight.grad.isfinite().all())
            for weight in bench.model.parameters()
            if weight.grad is not None
        )

    return find_failing_alone(baseline.samples, fails)


def find_loss_jump(baseline: BaselineRun) -> MicroPlace | None:
    """Find the step, before the failure, at which the loss first leaves its course."""
    losses = baseline.recorded.finite_losses
    for number in range(1, len(losses)):
        before = sorted(abs(loss) for loss in losses[:number])
        if abs(losses[number]) > _JUMP * max(before[len(before) // 2], 1e-2):
            return MicroPlace(number, 0)
    return None


def _find_earlier_culprit(baseline: BaselineRun, place: MicroPlace) -> list[int] | None:
    """Find the odd sample of an earlier batch without which the window keeps its course."""
    bench = baseline.bench
    batch = bench.get_batch(place)
    size, odd = count_samples(batch), inspecting.find_odd_samples(batch)
    if size < 2 or not odd or len(odd) > max(1, size // 4):
        return []

    def fails(samples: Sequence[int]) -> bool | None:
        if bench.is_half_spent:
            return None
        return (
            run(bench, Regime(change_batch=build_sample_filter(place, samples))).outcome != "finite"
        )

    found = find_single_culprit(size, fails)
    if found:
        baseline.odd = odd
    return found


def build_sample_filter(place: MicroPlace, samples: Sequence[int]) -> Any:
    """Give a change that keeps these samples alone of one micro-batch."""
    return lambda here, batch: select_samples(batch, samples) if here == place else batch
