"""The run without changes: where the failure occurs, the samples that cause it, what is observed.

In: a bench; the runs of counterfactuals, peaks in float32. Out: a `BaselineRun`, which
counterfactuals and verdicts use; the failing samples of a micro-batch, found by bisection;
observations as a set of short words that the table of verdicts uses. Not here: the counterfactuals
themselves, what follows from the words (`rerun.verdicts`).

The word `float32:finite` is about a counterfactual, any other word about the baseline. A missing
word was not observed; nothing follows from that alone.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from postmortem.replay.rerun import batches, inspecting
from postmortem.replay.rerun.batches import (
    count_samples,
    find_attention_masks,
    find_labels,
    is_mask_known,
    select_samples,
)
from postmortem.replay.rerun.bench import HALVES, Bench
from postmortem.replay.rerun.nonfinite_values import UNSAFE, Operation, Peaks, Watch, measure_peaks
from postmortem.replay.rerun.regime import (
    AS_RECORDED,
    FAILING,
    MicroPlace,
    Regime,
    WindowRun,
    find_jump,
)
from postmortem.replay.rerun.running import run, run_pass

IsFailing = Callable[[Sequence[int]], bool | None]
"""Whether a batch of these samples fails; None: no time is left, or an exception ended it."""
_SHARE: Final = 4
"""At most one in so many is faulty; more, and it is not the samples."""


def bisect_failing_samples(size: int, is_failing: IsFailing) -> list[int] | None:
    """Return the positions of the samples that fail by themselves, by halving the batch.

    `[]`: there are none, or more than a quarter, so the cause is not single samples. `None`: it
    could not be settled.
    """
    most = max(1, size // _SHARE)
    found: list[int] = []
    open_parts: list[list[int]] = [list(range(size))]
    while open_parts:
        part = open_parts.pop()
        bad = is_failing(part)
        if bad is None:
            return None
        if not bad:
            continue
        if len(part) == 1:
            found.append(part[0])
            if len(found) > most:
                return []
            continue
        middle = len(part) // 2
        open_parts += [part[middle:], part[:middle]]
    return sorted(found)


def bisect_decisive_sample(size: int, is_failing: IsFailing) -> list[int] | None:
    """Return the position (in a list of one) of the sample without which the run does not fail.

    For failures that come steps after the sample: halves of the batch are left out. `[]`: no single
    one does it. `None`: it could not be settled.
    """
    part = list(range(size))
    while len(part) > 1:
        middle = len(part) // 2
        for half in (part[:middle], part[middle:]):
            rest = [row for row in range(size) if row not in half]
            bad = is_failing(rest) if rest else True
            if bad is None:
                return None
            if not bad:
                part = half
                break
        else:
            return []
    return part


_FAILING_STEP: Final = Regime(failing_step_only=True)


@dataclass(slots=True)
class BaselineRun:
    """A window that was run as recorded, and what was seen in it."""

    bench: Bench
    first_rerun: WindowRun
    second_rerun: WindowRun | None = None
    place: MicroPlace | None = None
    """Where the first rerun failed."""
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
    faulty_samples: list[int] | None = None
    """Samples at `faulty_place` that the failure hangs on; None: not looked for, or no time."""
    faulty_place: MicroPlace | None = None

    @property
    def is_reproduced(self) -> bool:
        """Say whether both reruns failed in the same way, where the recorded run did.

        On a GPU sums may be added in another order: a divergence may come a step sooner.
        """
        return self.is_repeated and self.is_at_recorded_place

    @property
    def is_repeated(self) -> bool:
        """Say whether both reruns failed in the same way, at most one step apart."""
        one, two = (
            self.first_rerun.nonfinite_at,
            self.second_rerun.nonfinite_at if self.second_rerun else None,
        )
        if self.second_rerun is None or one is None or two is None:
            return False
        return abs(one.step - two.step) <= 1 and self.first_rerun.bad == self.second_rerun.bad

    @property
    def is_at_recorded_place(self) -> bool:
        """Say whether the first rerun failed at most one step from where the recorded run did.

        A capsule that was asked for names no step: there, a loss that was recorded as finite shows
        that it did not fail.
        """
        place, manifest = self.place, self.bench.manifest
        if place is None:
            return False
        step = self.bench.steps[place.step]
        if manifest.reason.kind != "asked":
            return abs(step.step - manifest.reason.step) <= 1
        loss = step.micro_batches[place.micro].loss
        return self.first_rerun.bad != "loss" or loss is None or not math.isfinite(loss)

    @property
    def fails_at_once(self) -> bool:
        """Say whether it fails in the first step, before any update."""
        is_first = self.place is not None and self.place.step == 0
        return is_first and self.first_rerun.bad != "weights"

    def get_batch(self) -> Any:
        """Give the batch at which it failed."""
        return self.bench.get_batch(self.place) if self.place is not None else None


def is_same_run(first: WindowRun, second: WindowRun) -> bool:
    """Say whether two runs end alike, and have the same losses, number for number."""
    return first.nonfinite_at == second.nonfinite_at and [
        repr(step.losses) for step in first.steps
    ] == [repr(step.losses) for step in second.steps]


def run_baseline(bench: Bench) -> BaselineRun:
    """Run the window twice as recorded, and look at the place where it fails."""
    baseline = BaselineRun(bench, run(bench))
    baseline.place = baseline.first_rerun.nonfinite_at
    if not baseline.first_rerun.error:
        baseline.second_rerun = run(
            bench, checkpoint_at=baseline.place.step if baseline.place else None
        )
    baseline.weights = inspecting.find_bad_weights(bench.initial_weights)
    if baseline.place is None:
        baseline.peaks = measure_peaks(bench, _get_last_place(bench), AS_RECORDED)
        return baseline
    _inspect_batch(baseline, baseline.place)
    restore_state_before(bench, baseline.place)
    baseline.peaks = measure_peaks(bench, baseline.place, AS_RECORDED)
    baseline.operation = _find_operation(bench, baseline.place)
    if bench.left > 0:
        find_faulty_samples(baseline)
    return baseline


def restore_state_before(bench: Bench, place: MicroPlace) -> None:
    """Bring model, optimiser and gradients to the state before a micro-batch.

    Its step is run up to there, from the checkpoint if there is one.
    """
    run(bench, _FAILING_STEP, until=place)


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
    baseline.rows = inspecting.find_bad_rows(bench.model, bench.initial_weights, batches)
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
    restore_state_before(bench, place)
    watch = Watch()
    try:
        with watch:
            run_pass(bench, place, AS_RECORDED)
    except Exception:  # noqa: BLE001 -- some operations cannot be watched; then none is named
        return None
    return watch.first


def find_faulty_samples(baseline: BaselineRun) -> None:
    """Look for samples that the failure hangs on: at its place, then where the run-up began."""
    place = baseline.place
    if place is None:
        return
    baseline.faulty_place = place
    baseline.faulty_samples = _find_failing_samples(baseline, place)
    jump = find_loss_jump(baseline)
    for step in (
        (jump.step, jump.step - 1) if jump is not None and not baseline.faulty_samples else ()
    ):
        found = _find_earlier_sample(baseline, MicroPlace(step, 0)) if step >= 0 else []
        if found:
            baseline.faulty_place, baseline.faulty_samples = MicroPlace(step, 0), found
            return
        if found is None:
            baseline.faulty_samples = None


def _find_failing_samples(baseline: BaselineRun, place: MicroPlace) -> list[int] | None:
    """Find samples that fail alone, with the weights that were there."""
    bench = baseline.bench
    if baseline.samples < 2:
        return []
    batch = bench.get_batch(place)
    restore_state_before(bench, place)
    scale = baseline.first_rerun.steps[-1].scale or 1.0

    def is_failing(samples: Sequence[int]) -> bool | None:
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

    return bisect_failing_samples(baseline.samples, is_failing)


def find_loss_jump(baseline: BaselineRun) -> MicroPlace | None:
    """Find the step, before the failure, at which the loss first leaves its course."""
    number = find_jump(baseline.first_rerun.finite_losses)
    return MicroPlace(number, 0) if number is not None else None


def _find_earlier_sample(baseline: BaselineRun, place: MicroPlace) -> list[int] | None:
    """Find the odd sample of an earlier batch without which the window keeps its course."""
    bench = baseline.bench
    batch = bench.get_batch(place)
    size, odd = count_samples(batch), inspecting.find_odd_samples(batch)
    if size < 2 or not odd or len(odd) > max(1, size // 4):
        return []

    def is_failing(samples: Sequence[int]) -> bool | None:
        if bench.is_half_spent:
            return None
        outcome = run(bench, Regime(change_batch=build_sample_filter(place, samples))).outcome
        return None if outcome in {"error", "stopped"} else outcome in FAILING

    found = bisect_decisive_sample(size, is_failing)
    if found:
        baseline.odd = odd
    return found


def build_sample_filter(place: MicroPlace, samples: Sequence[int]) -> Any:
    """Give a change that keeps these samples alone of one micro-batch."""
    return lambda here, batch: select_samples(batch, samples) if here == place else batch


FLOAT16_LIMIT: Final = 65504.0
_SANE: Final = 1e3
_ENOUGH: Final = 4
"""Steps that show a course."""
_STEADY: Final = 1.2
_ATTENTION: Final = ("softmax", "attention")


def collect_observations(
    baseline: BaselineRun, runs: Mapping[str, WindowRun], wide_peak: float
) -> frozenset[str]:
    """Give all that was seen."""
    words = {f"{name}:{run.outcome}" for name, run in runs.items()}
    words |= {
        *_inspect_run(baseline),
        *_inspect_window(baseline),
        *_inspect_weights(baseline),
        *_inspect_samples(baseline),
    }
    if wide_peak > FLOAT16_LIMIT:
        words.add("overflow-seen")
    if "float32" in runs and _is_steady(runs["float32"]):
        words.add("wide-steady")
    return frozenset(words | {*_infer_observations(words)})


def _infer_observations(words: set[str]) -> Iterator[str]:
    """Yield what several trials say together."""
    is_wide = bool(words & {"in-float32", "in-bfloat16"})
    if is_wide or "float32:not-finite" in words:
        yield "wide-fails"
    if (is_wide and "climbs" in words) or words & {"float32:not-finite", "float32:diverges"}:
        yield "wide-diverges"
    if words & {"first-step", "rate-0:not-finite"}:
        yield "not-the-updates"
    if "rate-0:finite" in words:
        yield "the-updates"


def _inspect_run(baseline: BaselineRun) -> Iterator[str]:
    run, operation = baseline.first_rerun, baseline.operation.name if baseline.operation else ""
    if baseline.is_reproduced:
        yield "reproduced"
    if baseline.second_rerun is not None and is_same_run(run, baseline.second_rerun):
        yield "reruns-equal"
    if run.bad:
        yield f"bad-{run.bad}"
    yield "climbs" if run.climbs else "no-climb"
    if baseline.fails_at_once:
        yield "first-step"
    if any(abs(loss) < _SANE for loss in run.finite_losses[:1]):
        yield "sane-start"
    if operation in UNSAFE:
        yield "unsafe-operation"
    if any(word in operation for word in _ATTENTION):
        yield "attention-made-it"


def _inspect_window(baseline: BaselineRun) -> Iterator[str]:
    manifest, config = baseline.bench.manifest, baseline.bench.manifest.model.config or {}
    yield f"in-{baseline.bench.computes_in}"
    if manifest.window.first <= 1:
        yield "from-the-start"
    if manifest.precision.scaler is not None:
        yield "scaled"
    if config.get("quantization_config"):
        yield "base-quantised"
    names = set(manifest.weights.trainable) & set(baseline.bench.initial_weights)
    trained = {baseline.bench.initial_weights[name].dtype for name in names}
    if trained & set(HALVES):
        yield "trains-in-16-bit"
    if HALVES[0] in trained:
        yield "trains-in-float16"


def _inspect_weights(baseline: BaselineRun) -> Iterator[str]:
    yield "rows-odd" if baseline.rows else "rows-usual"
    if any(
        tensor.dim() > 1 and not bool(tensor.any())
        for tensor in baseline.bench.initial_weights.values()
    ):
        yield "weights-zero"
    if not baseline.weights:
        yield "weights-clean"
        return
    nonfinite = [weight for weight in baseline.weights if weight.nonfinite]
    yield "weights-nonfinite" if nonfinite else "weights-outliers"
    is_in_part = all(2 * weight.nonfinite < weight.numbers for weight in baseline.weights)
    if is_in_part or 2 * len(nonfinite) < len(baseline.bench.initial_weights):
        yield "weights-partly"


def _inspect_samples(baseline: BaselineRun) -> Iterator[str]:
    if baseline.place is None:
        return
    batch = baseline.get_batch()
    if baseline.masked:
        yield "labels-masked"
    elif find_labels(batch, baseline.bench.manifest.loss.target) is not None:
        yield "labels-seen"
    if batches.list_padded_samples(batch):
        yield "padded"
    if is_mask_known(batch):
        yield "mask-known"
    yield "samples-odd" if baseline.odd else "samples-alike"
    jump = find_loss_jump(baseline)
    if jump is not None and jump.step >= 1:
        yield "jumps"
    yield from _inspect_faulty_samples(baseline)


def _inspect_faulty_samples(baseline: BaselineRun) -> Iterator[str]:
    if baseline.faulty_samples is None:
        return
    yield "samples-settled"
    if baseline.samples < 2:
        return
    if not baseline.faulty_samples:
        yield "not-one-sample"
        return
    yield "one-sample"
    if baseline.faulty_place != baseline.place:
        yield "culprit-earlier"
    odd = {baseline.odd.get(sample, "") for sample in baseline.faulty_samples}
    if "" not in odd:
        yield "culprit-odd"
    if odd == {"nonfinite"}:
        yield "culprit-broken"


def _is_steady(run: WindowRun) -> bool:
    return run.outcome == "finite" and len(run.steps) >= _ENOUGH and run.climb <= _STEADY


def format_loss_trend(run: WindowRun) -> str:
    """Give the course of a loss in figures."""
    losses = run.finite_losses
    shown = losses if len(losses) <= 5 else [*losses[:2], *losses[-3:]]
    return " → ".join(f"{loss:.4g}" for loss in shown if math.isfinite(loss))
