"""Run a whole replay, from a capsule to its results.

In: a capsule, whose code is trusted if it names any; a device, a budget of time. Out: `Replayed`.
Not here: rendering it, evidence for the ranking (`rerun.verdicts`).

A forward pass of each kind of batch is run under guard before the window is run without one: the
memory of a pass is not known from the sizes of model and batch: a module that enlarges, or
attention over a long text, turns kilobytes into gigabytes.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import torch

from postmortem.core.diagnosis import FaultySample, Replayed, ReplayTrial
from postmortem.core.errors import InputError, PostmortemError, UsageError
from postmortem.core.message import Message, quote, say
from postmortem.replay.capsule.opening import Capsule
from postmortem.replay.rerun import replay_report as words
from postmortem.replay.rerun.baseline_run import (
    BaselineRun,
    collect_observations,
    format_loss_trend,
    run_baseline,
)
from postmortem.replay.rerun.batches import describe_sample, iter_tensors
from postmortem.replay.rerun.bench import Bench
from postmortem.replay.rerun.counterfactuals import TABLE, Counterfactual
from postmortem.replay.rerun.memory_limits import (
    GIB,
    AllocationGuard,
    compute_running_limits,
    estimate_needed_memory,
    get_free_memory,
)
from postmortem.replay.rerun.nonfinite_values import Peaks, measure_peaks
from postmortem.replay.rerun.regime import AS_RECORDED, MicroPlace, Regime, WindowRun
from postmortem.replay.rerun.replay_report import compare_losses
from postmortem.replay.rerun.running import run, run_pass


def dry_run_passes(bench: Bench, regime: Regime) -> None:
    """Run the forward pass of each kind of batch once.

    What a model raises by itself is left to the run. Code of the user's own, which is trusted, is
    not run here.

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
                run_pass(bench, place, regime, forward_only=True)
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


_WIDE: Final = Regime(compute="float32", failing_step_only=True)
_SPARE: Final = 1.3
"""A trial is begun if so many times its likely time is left."""


class Trials(NamedTuple):
    """The trials and their runs."""

    trials: tuple[ReplayTrial[Message], ...]
    runs: Mapping[str, WindowRun]
    ran_out_of_time: bool
    """Some were skipped for want of time."""


def replay(
    capsule: Capsule, *, device: str, seconds: float, memory: float | None = None
) -> Replayed[Message]:
    """Run a capsule's window again, as it was and with one thing changed each.

    Raises:
        InputError: the model cannot be built again.
        UsageError: there is no such device, or too little memory even for the steps as recorded.
        MissingExtra: a package is not installed.
    """
    name = _select_device(device)
    allowed = get_free_memory(torch.device(name)) if memory is None else memory * GIB
    if lacking := _describe_lacking_memory(capsule, AS_RECORDED, allowed):
        raise UsageError(
            lacking, capsule.folder, "run it on a larger machine, or allow more with --memory"
        )
    bench = Bench(capsule, name, seconds, allowed)
    kept = torch.get_rng_state()
    try:
        dry_run_passes(bench, AS_RECORDED)
        return _build_replayed(run_baseline(bench))
    finally:
        torch.set_rng_state(kept)


def _select_device(requested: str) -> str:
    if requested == "cuda" and not torch.cuda.is_available():
        raise UsageError("no CUDA device is usable here", "--device cuda", "say --device cpu")
    if requested == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return requested


def _build_replayed(baseline: BaselineRun) -> Replayed[Message]:
    bench = baseline.bench
    faith = compare_losses(bench, baseline.first_rerun)
    wide = _measure_wide_peaks(baseline)
    tried = (
        _run_trials(baseline)
        if baseline.place is not None
        else Trials((), {}, ran_out_of_time=False)
    )
    seen_words = collect_observations(baseline, tried.runs, wide.greatest if wide else 0.0)
    if tried.ran_out_of_time:
        seen_words |= {"short-of-time"}
    message = bench.manifest.reason.message
    if "unscale FP16 gradients" in message:
        seen_words |= {"told-unscale"}
    tested = words.build_verdicts(baseline, seen_words, faith)
    shown = wide if wide is not None and wide.modules else baseline.peaks
    return Replayed(
        capsule=bench.capsule.folder.name,
        device=words.describe_replay_device(bench),
        recorded_on=words.describe_recorded_device(bench),
        reason=words.describe_reason(bench),
        summary=words.summarise_replay(baseline, tested),
        reproduced=words.get_reproduction_status(baseline),
        fidelity=faith.summary,
        trials=(*_build_baseline_trials(baseline), *tried.trials),
        tested=tested,
        place=words.place(baseline),
        module=words.find_nonfinite_module(baseline),
        direction=words.get_failure_direction(baseline),
        operation=baseline.operation.name if baseline.operation else "",
        culprits=_build_faulty_samples(baseline),
        peaks=shown.get_figures() if shown is not None else (),
        limit=torch.finfo(getattr(torch, bench.computes_in)).max,
        limit_of=bench.computes_in,
        peaks_of=words.describe_peak_run(is_wide=shown is wide and wide is not None),
        notes=tuple(words.iter_notes(baseline, faith)),
    )


def _measure_wide_peaks(baseline: BaselineRun) -> Peaks | None:
    """Measure the peaks in float32 in the failing state."""
    bench, place = baseline.bench, baseline.place
    if (
        place is None
        or bench.computes_in == "float32"
        or bench.left < 0
        or _describe_lacking_memory(bench.capsule, _WIDE, bench.memory)
    ):
        return None
    ran = run(bench, _WIDE, until=place)
    peaks = measure_peaks(bench, place, _WIDE) if ran.outcome not in {"error", "stopped"} else None
    return peaks if peaks is not None and not peaks.error else None


def _build_baseline_trials(baseline: BaselineRun) -> list[ReplayTrial[Message]]:
    found = [_build_trial("as-recorded", words.AS_RECORDED_TITLE, baseline.first_rerun)]
    if baseline.second_rerun is not None:
        found.append(_build_trial("again", words.AGAIN_TITLE, baseline.second_rerun))
    return found


def _run_trials(baseline: BaselineRun) -> Trials:
    trials: list[ReplayTrial[Message]] = []
    runs = baseline.runs
    ran_out_of_time = False
    for experiment in TABLE:
        trial, ran = _try(baseline, experiment)
        trials.append(trial)
        if ran is not None:
            runs[experiment.id] = ran
            ran_out_of_time |= ran.stopped
        ran_out_of_time |= trial.outcome == "skipped" and trial.seconds > 0
    return Trials(tuple(trials), runs, ran_out_of_time)


def _try(
    baseline: BaselineRun, experiment: Counterfactual
) -> tuple[ReplayTrial[Message], WindowRun | None]:
    """Run one counterfactual; one skipped for lack of time says how long it would take."""
    regime = experiment.regime(baseline)
    if isinstance(regime, Message):
        return ReplayTrial(experiment.id, experiment.title, "skipped", regime), None
    bench = baseline.bench
    if lacking := _describe_lacking_memory(bench.capsule, regime, bench.memory):
        return ReplayTrial(experiment.id, experiment.title, "skipped", lacking), None
    steps = 1 if regime.failing_step_only else len(baseline.first_rerun.steps)
    whole = min(
        baseline.first_rerun.seconds,
        baseline.second_rerun.seconds if baseline.second_rerun else math.inf,
    )
    likely = whole / max(1, len(baseline.first_rerun.steps)) * steps * _SPARE + 0.01
    if likely > bench.left:
        reason = say(
            "it takes about {needed:.0f} s, {left:.0f} s are left",
            needed=math.ceil(likely),
            left=max(0.0, bench.left),
        )
        return ReplayTrial(experiment.id, experiment.title, "skipped", reason, (), likely), None
    if regime.attention is not None:
        try:
            dry_run_passes(bench, regime)
        except InputError as error:
            return ReplayTrial(
                experiment.id, experiment.title, "skipped", quote(str(error.what))
            ), None
    ran = run(bench, regime)
    return _build_trial(experiment.id, experiment.title, ran), ran


def _describe_lacking_memory(capsule: Capsule, regime: Regime, allowed: float) -> Message | None:
    """Say how much memory a run lacks; None if it fits."""
    bytes_ = estimate_needed_memory(capsule, regime)
    if bytes_ <= allowed:
        return None
    return say(
        "it takes about {needed:.2g} GiB of memory, {free:.2g} GiB may be used",
        needed=bytes_ / GIB,
        free=allowed / GIB,
    )


def _build_trial(id_: str, title: Message, ran: WindowRun) -> ReplayTrial[Message]:
    losses = tuple(step.loss for step in ran.steps)
    outcome = {"stopped": "skipped", "error": "failed"}.get(ran.outcome, ran.outcome)
    return ReplayTrial(
        id_,
        title,
        outcome,
        words.describe_outcome(ran, format_loss_trend(ran)),
        losses,
        ran.seconds,
    )


def _build_faulty_samples(baseline: BaselineRun) -> tuple[FaultySample[Message], ...]:
    place, bench = baseline.faulty_place, baseline.bench
    if not baseline.faulty_samples or place is None:
        return ()
    window_step = bench.steps[place.step]
    samples = window_step.micro_batches[place.micro].samples or ()
    batch = bench.get_batch(place)
    return tuple(
        FaultySample(
            window_step.step,
            place.micro,
            position,
            samples[position] if position < len(samples) else None,
            describe_sample(batch, position),
        )
        for position in baseline.faulty_samples
    )
