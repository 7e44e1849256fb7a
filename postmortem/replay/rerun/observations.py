"""Observations of a replay, as a set of short words that the table of verdicts uses.

In: a `BaselineRun`, the runs of its counterfactuals, peaks in float32. Out: the words. Not here:
what follows from them (`rerun.judging`).

`float32:finite` is about a counterfactual, any other word about the baseline. A missing word was
not observed; nothing follows from that alone.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Final

from postmortem.replay.rerun import batch_changes
from postmortem.replay.rerun.baseline_run import BaselineRun, find_loss_jump, is_same_run
from postmortem.replay.rerun.batches import find_labels, is_mask_known
from postmortem.replay.rerun.bench import HALVES
from postmortem.replay.rerun.operations import UNSAFE
from postmortem.replay.rerun.regime import WindowRun

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
    words = {f"{name}:{run.outcome}" for name, run in runs.items() if not run.stopped}
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
    run, operation = baseline.recorded, baseline.operation.name if baseline.operation else ""
    if baseline.is_reproduced:
        yield "failed"
    if baseline.again is not None and is_same_run(run, baseline.again):
        yield "exact"
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
    names = set(manifest.weights.trainable) & set(baseline.bench.start)
    trained = {baseline.bench.start[name].dtype for name in names}
    if trained & set(HALVES):
        yield "trains-in-16-bit"
    if HALVES[0] in trained:
        yield "trains-in-float16"


def _inspect_weights(baseline: BaselineRun) -> Iterator[str]:
    yield "rows-odd" if baseline.rows else "rows-usual"
    if any(tensor.dim() > 1 and not bool(tensor.any()) for tensor in baseline.bench.start.values()):
        yield "weights-zero"
    if not baseline.weights:
        yield "weights-clean"
        return
    nonfinite = [weight for weight in baseline.weights if weight.nonfinite]
    yield "weights-nonfinite" if nonfinite else "weights-outliers"
    is_in_part = all(2 * weight.nonfinite < weight.numbers for weight in baseline.weights)
    if is_in_part or 2 * len(nonfinite) < len(baseline.bench.start):
        yield "weights-partly"


def _inspect_samples(baseline: BaselineRun) -> Iterator[str]:
    if baseline.place is None:
        return
    batch = baseline.get_batch()
    if baseline.masked:
        yield "labels-masked"
    elif find_labels(batch, baseline.bench.manifest.loss.target) is not None:
        yield "labels-seen"
    if batch_changes.list_padded_samples(batch):
        yield "padded"
    if is_mask_known(batch):
        yield "mask-known"
    yield "samples-odd" if baseline.odd else "samples-alike"
    jump = find_loss_jump(baseline)
    if jump is not None and jump.step >= 1:
        yield "jumps"
    yield from _inspect_culprits(baseline)


def _inspect_culprits(baseline: BaselineRun) -> Iterator[str]:
    if baseline.culprits is None:
        return
    yield "samples-settled"
    if baseline.samples < 2:
        return
    if not baseline.culprits:
        yield "not-one-sample"
        return
    yield "one-sample"
    if baseline.culprit_place != baseline.place:
        yield "culprit-earlier"
    odd = {baseline.odd.get(culprit, "") for culprit in baseline.culprits}
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
