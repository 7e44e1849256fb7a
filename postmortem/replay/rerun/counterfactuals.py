"""The table of counterfactuals: what each changes, and when it does not apply and why.

In: a `BaselineRun`. Out: a regime for each, or the reason why there is none. Not here: running them
(`rerun.replaying`), what follows (`rerun.verdicts`).
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import torch

from postmortem.core.message import Message, say
from postmortem.replay.rerun import batches, inspecting
from postmortem.replay.rerun.baseline_run import BaselineRun, build_sample_filter, find_loss_jump
from postmortem.replay.rerun.batches import (
    convert_tensors,
    count_samples,
    find_attention_masks,
    find_token_ids,
    select_samples,
)
from postmortem.replay.rerun.nonfinite_values import UNSAFE, Guarded
from postmortem.replay.rerun.regime import FAILING, MicroPlace, Regime

_WIDE: Final = say("it was computed in float32 already")
_NOT_HALF: Final = say("it was not computed in float16")
_NO_SCALER: Final = say("losses were not scaled")
_FIRST_STEP: Final = say("it fails in the first step of the window, before any update")
_ANYWAY: Final = say("it fails without any update too")
_ENOUGH: Final = say("a tenth is enough")
_NO_OPTIMIZER: Final = say("torch has no such optimiser")
_LABELS: Final = say("no sample is without labels")
_MASK: Final = say("no mask hides anything in the batch")
_ALL_PADDED: Final = say("every sample is padded")
_ROWS: Final = say("no row of an embedding that is used is unlike the others")
_OTHER_ROWS: Final = say("there are no other rows to compare with")
_WEIGHTS: Final = say("all weights are finite and of usual size at the window's start")
_SAMPLES: Final = say("the failure does not hang on single samples")
_OPERATION: Final = say("no logarithm, root, quotient or exponential made it")
_ATTENTION: Final = say("the model has no other attention to choose")
_ADAPTER: Final = say("no weight that is trained is in 16 bits")
_STEADY: Final = say("no step before the failure leaves the course")

Applied = Regime | Message


class Counterfactual(NamedTuple):
    """One thing that is changed."""

    id: str
    title: Message
    regime: Callable[[BaselineRun], Applied]


def _apply_float32(baseline: BaselineRun) -> Applied:
    return _WIDE if baseline.bench.computes_in == "float32" else Regime(compute="float32")


def _apply_bfloat16(baseline: BaselineRun) -> Applied:
    return Regime(compute="bfloat16") if baseline.bench.computes_in == "float16" else _NOT_HALF


def _scale_one(baseline: BaselineRun) -> Applied:
    if baseline.bench.computes_in != "float16":
        return _NOT_HALF
    return _NO_SCALER if baseline.bench.manifest.precision.scaler is None else Regime(scale=1.0)


def _apply_zero_rate(baseline: BaselineRun) -> Applied:
    return _FIRST_STEP if baseline.fails_at_once else Regime(rate=0.0, failing_step_only=True)


def _build_rate_change(factor: float) -> Callable[[BaselineRun], Applied]:
    def regime(baseline: BaselineRun) -> Applied:
        if "rate-tenth" in baseline.runs and baseline.runs["rate-tenth"].outcome == "finite":
            return _ENOUGH
        return _require_updates(baseline, Regime(rate=factor))

    return regime


def _apply_clipping(baseline: BaselineRun) -> Applied:
    clipping = baseline.bench.manifest.clipping
    most = min(1.0, (clipping.max_norm or 1.0) / 10) if clipping else 1.0
    return _require_updates(baseline, Regime(max_norm=most))


def _require_updates(baseline: BaselineRun, regime: Regime) -> Applied:
    """Change how weights are updated only where the failure hangs on updates."""
    if baseline.fails_at_once:
        return _FIRST_STEP
    if "rate-0" in baseline.runs and baseline.runs["rate-0"].outcome in FAILING:
        return _ANYWAY
    return regime if baseline.bench.can_step else _NO_OPTIMIZER


def _exclude_faulty_samples(baseline: BaselineRun) -> Applied:
    if not baseline.faulty_samples or baseline.faulty_place is None:
        return _SAMPLES
    size = count_samples(baseline.bench.get_batch(baseline.faulty_place))
    rest = [row for row in range(size) if row not in baseline.faulty_samples]
    if not rest:
        return _SAMPLES
    failing_step_only = baseline.faulty_place == baseline.place
    return Regime(
        change_batch=build_sample_filter(baseline.faulty_place, rest),
        failing_step_only=failing_step_only,
    )


def _fill_masked_labels(baseline: BaselineRun) -> Applied:
    loss = baseline.bench.manifest.loss
    if not baseline.masked:
        return _LABELS
    ignored = inspecting.get_ignored_label(loss.arguments)
    return Regime(
        change_batch=batches.build_label_filler(loss.target, ignored), failing_step_only=True
    )


def _apply_mask_change(baseline: BaselineRun, change: Any) -> Applied:
    is_padded = bool(batches.list_padded_samples(baseline.get_batch()))
    return Regime(change_batch=change, failing_step_only=True) if is_padded else _MASK


def _exclude_padded_samples(baseline: BaselineRun) -> Applied:
    hidden = batches.list_padded_samples(baseline.get_batch())
    if not hidden:
        return _MASK
    if len(hidden) == baseline.samples:
        return _ALL_PADDED
    return Regime(change_batch=batches.select_unpadded_samples, failing_step_only=True)


def _apply_single_sample(baseline: BaselineRun) -> Applied:
    if not batches.list_padded_samples(baseline.get_batch()) or baseline.samples < 2:
        return _MASK
    return Regime(change_batch=_build_single_sample_change(baseline), failing_step_only=True)


def _build_single_sample_change(baseline: BaselineRun) -> Any:
    def change(here: MicroPlace, batch: Any) -> Any:
        if here != baseline.place:
            return batch
        _, mask, looked = find_attention_masks(batch)[0]
        shown = (mask[:1].bool() if looked else ~mask[:1].bool()).flatten(1).any(dim=0)
        cut = select_samples(batch, [0])
        return convert_tensors(
            cut,
            lambda _, one: one[:, shown] if one.dim() >= 2 and one.shape[1] == len(shown) else one,
        )

    return change


def _apply_eager_attention(baseline: BaselineRun) -> Applied:
    used = baseline.bench.manifest.model.attention
    if baseline.bench.manifest.model.kind != "transformers" or used in {None, "eager"}:
        return _ATTENTION
    if not batches.list_padded_samples(baseline.get_batch()):
        return _MASK
    return Regime(attention="eager", failing_step_only=True)


def _set_bad_rows_to_mean(baseline: BaselineRun) -> Applied:
    rows = list(baseline.rows)
    if not rows:
        return _ROWS
    return Regime(change_weights=lambda model: inspecting.set_rows_to_mean(model, rows))


def _set_other_rows_to_mean(baseline: BaselineRun) -> Applied:
    """Set as many rows of usual size to the mean: if that helps too, it was not the rows."""
    if not baseline.rows:
        return _ROWS
    ids = torch.unique(
        torch.cat([id_.reshape(-1) for id_ in find_token_ids(baseline.get_batch())])
    ).tolist()
    others = [
        weight._replace(
            rows=tuple([row for row in ids if row not in weight.rows][: len(weight.rows)])
        )
        for weight in baseline.rows
    ]
    if not all(other.rows for other in others):
        return _OTHER_ROWS
    return Regime(change_weights=lambda model: inspecting.set_rows_to_mean(model, others))


def _repair_weights(baseline: BaselineRun) -> Applied:
    return Regime(change_weights=inspecting.repair) if baseline.weights else _WEIGHTS


def _apply_guard(baseline: BaselineRun) -> Applied:
    if baseline.operation is None or baseline.operation.name not in UNSAFE:
        return _OPERATION
    return Regime(guard=Guarded, failing_step_only=True)


def _apply_float32_adapters(baseline: BaselineRun) -> Applied:
    trainable = baseline.bench.manifest.weights.trainable
    types = {
        str(baseline.bench.initial_weights[name].dtype)
        for name in trainable
        if name in baseline.bench.initial_weights
    }
    if not types & {"torch.float16", "torch.bfloat16"}:
        return _ADAPTER
    return Regime(trainable_float32=True)


def _skip_jump(baseline: BaselineRun) -> Applied:
    jump = find_loss_jump(baseline)
    if jump is None or jump.step < 1:
        return _STEADY
    without = Regime(change_batch=lambda here, batch: None if here.step == jump.step - 1 else batch)
    return _require_updates(baseline, without)


TABLE: Final = (
    Counterfactual("rate-0", say("without any update of the weights"), _apply_zero_rate),
    Counterfactual("float32", say("in float32"), _apply_float32),
    Counterfactual("bfloat16", say("in bfloat16"), _apply_bfloat16),
    Counterfactual("scale-1", say("in float16 with a loss scale of 1"), _scale_one),
    Counterfactual("without-samples", say("without the suspect samples"), _exclude_faulty_samples),
    Counterfactual(
        "labels-shown",
        say("with a label for the samples without any"),
        _fill_masked_labels,
    ),
    Counterfactual(
        "weights-repaired",
        say("with the broken weights set to 0"),
        _repair_weights,
    ),
    Counterfactual(
        "embeddings-mean",
        say("with the odd embedding rows set to the mean"),
        _set_bad_rows_to_mean,
    ),
    Counterfactual(
        "embeddings-control",
        say("with other embedding rows set to the mean"),
        _set_other_rows_to_mean,
    ),
    Counterfactual(
        "mask-off",
        say("with nothing masked"),
        lambda baseline: _apply_mask_change(baseline, batches.mask_off),
    ),
    Counterfactual(
        "right-padded",
        say("with the padding on the right"),
        lambda baseline: _apply_mask_change(baseline, batches.shift_padding_right),
    ),
    Counterfactual("unpadded", say("without the padded samples"), _exclude_padded_samples),
    Counterfactual(
        "one-by-one",
        say("with one sample, its padding cut off"),
        _apply_single_sample,
    ),
    Counterfactual("eager", say("with eager attention"), _apply_eager_attention),
    Counterfactual(
        "guarded",
        say("with an epsilon in logarithms, roots and quotients"),
        _apply_guard,
    ),
    Counterfactual(
        "adapters-float32",
        say("with the trained weights in float32"),
        _apply_float32_adapters,
    ),
    Counterfactual(
        "rate-tenth",
        say("with a tenth of the learning rate"),
        _build_rate_change(0.1),
    ),
    Counterfactual(
        "rate-hundredth",
        say("with a hundredth of the learning rate"),
        _build_rate_change(0.01),
    ),
    Counterfactual("clipped", say("with gradients clipped more tightly"), _apply_clipping),
    Counterfactual(
        "without-jump",
        say("without the step before the first jump"),
        _skip_jump,
    ),
)
"""In this order, so that what decides most comes first if the time is short."""
