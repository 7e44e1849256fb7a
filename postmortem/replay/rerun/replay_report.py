"""Describe the results of a replay in both languages, and how far it matches the recorded window.

In: a bench, a `BaselineRun`, observations. Out: sentences, verdicts; how far the losses agree, as
text and as a judgement. Not here: running, the layout (`report`).
"""

import itertools
import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import torch

from postmortem.core.diagnosis import CauseTested
from postmortem.core.message import NOTHING, SEMICOLON, Message, join_list, quote, say
from postmortem.replay.rerun import verdicts
from postmortem.replay.rerun.baseline_run import BaselineRun
from postmortem.replay.rerun.bench import Bench
from postmortem.replay.rerun.regime import LOSS_FLOOR, WindowRun, find_jump

_SAME_DEVICE: Final = 0.02
_OTHER_DEVICE: Final = 0.2
"""Another device draws other random numbers, and sums otherwise."""


class Fidelity(NamedTuple):
    """How far the losses of a rerun are the recorded ones."""

    summary: Message
    is_faithful: bool
    """Near enough for what it shows to hold for the recorded run; True where none is comparable."""


_NOTHING: Final = say(
    "no finite loss was recorded to compare with: only the step of the failure is compared"
)
_LOST: Final = say("not bit-equal: of {count} recorded finite losses {lost} come out NaN or inf")
_APART: Final = say(
    "not bit-equal: of {count} losses the first differs by {first:.2g}, the worst by"
    " {worst:.2g} of its size"
)
_APART_BEFORE: Final = say(
    "not bit-equal: of {count} losses before step {step}, where the recorded loss leaves its"
    " course, the first differs by {first:.2g}, the worst by {worst:.2g} of its size"
)


def compare_losses(bench: Bench, run: WindowRun) -> Fidelity:
    """Compare the losses of all micro-batches with the recorded ones, where those are finite.

    The worst difference decides: at most 2 % of the loss, 20 % on another kind of device; one that
    comes out NaN or inf is beyond any. Where the recorded loss leaves its course the comparison
    ends: behind that, differences of rounding grow with every step.
    """
    pairs = [*_iter_loss_pairs(bench, run)]
    if not pairs:
        return Fidelity(_NOTHING, is_faithful=True)
    if all(first == second for _, first, second in pairs):
        return Fidelity(
            say("bit-equal: {count} recorded losses come out again", count=len(pairs)),
            is_faithful=True,
        )
    jump = _find_recorded_jump(bench)
    judged = [pair for pair in pairs if jump is None or pair[0] < jump]
    apart = [_compute_difference(first, second) for _, first, second in judged]
    lost = sum(map(math.isinf, apart))
    template = _LOST if lost else _APART if jump is None else _APART_BEFORE
    summary = template.fill(
        count=len(apart),
        lost=lost,
        first=apart[0],
        worst=max(apart),
        step=bench.steps[jump or 0].step,
    )
    most = _SAME_DEVICE if bench.device.type == bench.manifest.device.type else _OTHER_DEVICE
    return Fidelity(summary, is_faithful=max(apart) <= most)


def _iter_loss_pairs(bench: Bench, run: WindowRun) -> Iterator[tuple[int, float, float]]:
    """Yield the position of a step, a recorded finite loss in it, and the same loss of the run."""
    for number, (step, ran) in enumerate(zip(bench.steps, run.steps, strict=False)):
        for recorded, loss in zip(step.micro_batches, ran.losses, strict=False):
            if recorded.loss is not None and math.isfinite(recorded.loss):
                yield number, recorded.loss, loss


def _find_recorded_jump(bench: Bench) -> int | None:
    """Find the position of the step at which the recorded loss leaves its course."""
    means: list[float] = []
    for step in bench.steps:
        losses = [micro.loss for micro in step.micro_batches if micro.loss is not None]
        means.append(math.fsum(losses) / len(losses) if losses else math.nan)
    return find_jump(list(itertools.takewhile(math.isfinite, means)))


def _compute_difference(recorded: float, loss: float) -> float:
    """Give a difference as a share of the greater one; inf where the second is not finite."""
    if not math.isfinite(loss):
        return math.inf
    return abs(recorded - loss) / max(abs(recorded), abs(loss), LOSS_FLOOR)


AS_RECORDED_TITLE: Final = say("as recorded")
AGAIN_TITLE: Final = say("as recorded, once more")
_REASONS: Final = {
    "nonfinite-loss": say("the loss was not finite"),
    "nonfinite-gradient": say("the gradients were not finite"),
    "scale-collapsed": say("the loss scale collapsed"),
    "exception": say("an exception ended the training"),
    "asked": say("it was asked for"),
}
_BAD: Final = {
    "loss": say("the loss is not finite in step {step}; before: {course}"),
    "gradient": say("the gradients are not finite in step {step}; loss {course}"),
    "weights": say("the updated weights are not finite in step {step}; loss {course}"),
}
_NOT_REPRODUCED: Final = say(
    "the recorded steps stay finite when they are run again: the failure is intermittent, or hangs"
    " on something that is not in the capsule"
)
_NOTHING_FAILED: Final = say("nothing fails in these steps")
_NOT_RUN: Final = say("the window could not be run again")
_NOT_FAITHFUL: Final = say("the rerun does not follow the recorded run closely enough")


def describe_reason(bench: Bench) -> Message:
    """Say why the capsule was written."""
    reason = bench.manifest.reason
    known = _REASONS.get(reason.kind, quote(reason.kind))
    if not reason.message:
        return say("step {step}: {known}", step=reason.step, known=known)
    return say(
        "step {step}: {known} ({message})",
        step=reason.step,
        known=known,
        message=reason.message[:200],
    )


def describe_outcome(run: WindowRun, course: str) -> Message:
    """Say how a run ended."""
    if run.error:
        return quote(run.error)
    if run.stopped:
        return say("the time ran out on the way")
    if run.nonfinite_at is not None and run.steps:
        return _BAD[run.bad].fill(step=run.steps[-1].number, course=course or "–")
    if run.outcome == "diverges":
        return say("finite, but the loss climbs: {course}", course=course)
    return say("finite; loss {course}", course=course or "–")


def get_reproduction_status(baseline: BaselineRun) -> str:
    """Say in a word whether it failed again: a value of `Replayed.reproduced`."""
    reruns = (baseline.first_rerun, baseline.second_rerun)
    if any(rerun is not None and rerun.outcome in {"error", "stopped"} for rerun in reruns):
        return "not-run"
    if baseline.first_rerun.nonfinite_at is None:
        is_requested = baseline.bench.manifest.reason.kind == "asked"
        return "nothing-failed" if is_requested else "no"
    if not baseline.is_repeated:
        return "intermittent"
    return "yes" if baseline.is_at_recorded_place else "elsewhere"


def _describe_other_place(baseline: BaselineRun) -> Message:
    """Say that a failure came, but not the recorded one."""
    return say(
        "the reruns fail in step {step}, the recorded run in step {recorded} or not at all: it is"
        " another failure",
        step=baseline.first_rerun.steps[-1].number,
        recorded=baseline.bench.manifest.reason.step,
    )


def build_verdicts(
    baseline: BaselineRun, words: frozenset[str], faith: Fidelity
) -> tuple[CauseTested[Message], ...]:
    """Give a verdict for each cause."""
    how = get_reproduction_status(baseline)
    if how == "not-run":
        found = verdicts.judge_all_alike(verdicts.NOT_TESTABLE, _NOT_RUN)
    elif how == "nothing-failed":
        found = verdicts.judge_all_alike(verdicts.NOT_TESTABLE, _NOTHING_FAILED)
    elif how in {"no", "intermittent"} and "told-unscale" not in words:
        found = verdicts.judge_all_alike(verdicts.NOT_REPRODUCED, _NOT_REPRODUCED)
    elif how == "elsewhere":
        found = verdicts.judge_all_alike(verdicts.NOT_TESTABLE, _describe_other_place(baseline))
    elif not faith.is_faithful:
        found = verdicts.judge_all_alike(verdicts.NOT_TESTABLE, _NOT_FAITHFUL)
    else:
        found = verdicts.judge_causes(words)
    return tuple(
        CauseTested(judged.cause, NOTHING, judged.verdict, (judged.because,)) for judged in found
    )


_RUN_FINITE: Final = say("The recorded steps run finite, as they did.")
_GONE: Final = say("The failure does not come again: it is intermittent, or not in the capsule.")
_PROVED: Final = say("The failure comes again, and one change makes it go away.")
_OPEN: Final = say("The failure comes again, but no trial proves a cause.")


def summarise_replay(baseline: BaselineRun, tested: tuple[CauseTested[Message], ...]) -> Message:
    """Say in a sentence what came out."""
    reruns = (baseline.first_rerun, baseline.second_rerun)
    error = next((rerun.error for rerun in reruns if rerun is not None and rerun.error), "")
    if error:
        return say("The recorded steps cannot be run: {error}", error=error)
    how = get_reproduction_status(baseline)
    if how == "not-run":
        return say(
            "The time is too short for the recorded steps: {spent:.0f} s did not suffice.",
            spent=baseline.bench.seconds,
        )
    if how == "elsewhere":
        other = _describe_other_place(baseline)
        return say("The recorded failure does not come again: {other}.", other=other)
    if how != "yes":
        return _RUN_FINITE if how == "nothing-failed" else _GONE
    return _PROVED if any(cause.verdict == verdicts.CONFIRMED for cause in tested) else _OPEN


def find_nonfinite_module(baseline: BaselineRun) -> str:
    """Name the first module that left the finite range."""
    peaks = baseline.peaks
    if peaks is None or baseline.place is None:
        return ""
    if peaks.first_forward or baseline.first_rerun.bad == "loss":
        return peaks.first_forward or peaks.first_seen
    return peaks.first_backward


def get_failure_direction(baseline: BaselineRun) -> str:
    """Say whether it was in the forward or the backward pass."""
    if baseline.place is None:
        return ""
    return "forward" if baseline.first_rerun.bad == "loss" else "backward"


def place(baseline: BaselineRun) -> Message:
    """Say where the finite range was left first."""
    if baseline.place is None:
        return NOTHING
    parts: list[Message] = []
    module, operation = find_nonfinite_module(baseline), baseline.operation
    if module:
        parts.append(
            say("module {module}", module=module)
            if get_failure_direction(baseline) == "forward"
            else say("module {module}, backward", module=module)
        )
    elif get_failure_direction(baseline) == "forward":
        parts.append(say("the loss, behind all modules"))
    if operation is not None:
        parts.append(
            say(
                "operation {name} on {dtype} numbers between {low:.4g} and {high:.4g} makes {made}",
                name=operation.name,
                dtype=operation.dtype or "?",
                low=operation.low,
                high=operation.high,
                made={"nan": "NaN"}.get(operation.makes, operation.makes),
            )
        )
    return join_list(parts, SEMICOLON) if parts else NOTHING


def describe_peak_run(*, is_wide: bool) -> Message:
    """Say of which run the greatest values are."""
    if is_wide:
        return say("the failing step in float32")
    return say("the last step as recorded")


def describe_replay_device(bench: Bench) -> str:
    """Name what it was run on."""
    if bench.device.type == "cuda":
        return f"cuda ({torch.cuda.get_device_name(bench.device)})"
    return str(bench.device.type)


def describe_recorded_device(bench: Bench) -> str:
    """Name what it was recorded on."""
    device = bench.manifest.device
    return f"{device.type} ({device.name})" if device.name else device.type


def iter_notes(baseline: BaselineRun, faith: Fidelity) -> Iterator[Message]:
    """Say what the reader must know of how it was done."""
    bench = baseline.bench
    if bench.device.type == "cpu" and bench.computes_in in {"float16", "bfloat16"}:
        yield say(
            "{dtype} was computed on a CPU: the range is the same, sums are rounded otherwise than"
            " on a GPU, and autocast chooses other operations",
            dtype=bench.computes_in,
        )
    if not faith.is_faithful:
        yield _NOT_FAITHFUL
    for name in bench.manifest.partial[:8]:
        yield say("not recorded: {what}", what=name[:200])
    if not bench.can_step and bench.manifest.optimizer is not None:
        yield say(
            "torch has no optimiser {name}: nothing behind the first step could be run",
            name=bench.manifest.optimizer.class_[:120],
        )
