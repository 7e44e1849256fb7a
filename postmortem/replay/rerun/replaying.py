"""A replay from a capsule to what it shows.

In: a capsule, whose code is trusted if it names any; a device, a budget of time. Out: `Replayed`.
Not here: rendering it, evidence for the ranking (`rerun.as_evidence`).
"""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

import torch

from postmortem.core.errors import InputError, UsageError
from postmortem.core.message import Message, quote, say
from postmortem.core.replayed import Culprit, Replayed, ReplayTrial
from postmortem.replay.capsule.opening import Capsule
from postmortem.replay.rerun import replay_report as words
from postmortem.replay.rerun.baseline_run import BaselineRun, run_baseline
from postmortem.replay.rerun.batches import describe_sample
from postmortem.replay.rerun.bench import Bench
from postmortem.replay.rerun.counterfactuals import TABLE, Counterfactual
from postmortem.replay.rerun.fidelity import compare_losses
from postmortem.replay.rerun.memory_budget import GIB, estimate_needed_memory, get_free_memory
from postmortem.replay.rerun.observing import collect_observations, format_loss_trend
from postmortem.replay.rerun.peaks import Peaks, measure_peaks
from postmortem.replay.rerun.regime import Regime, WindowRun
from postmortem.replay.rerun.rehearsal import run_rehearsal
from postmortem.replay.rerun.running import AS_RECORDED, run

_WIDE: Final = Regime(compute="float32", is_short=True)
_SPARE: Final = 1.3
"""A trial is begun if so many times its likely time is left."""


class Tried(NamedTuple):
    """The trials, and the runs behind them."""

    trials: tuple[ReplayTrial[Message], ...]
    runs: Mapping[str, WindowRun]
    is_short: bool
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
    bench = Bench(capsule, name, seconds)
    bench.memory = allowed
    kept = torch.get_rng_state()
    try:
        run_rehearsal(bench, AS_RECORDED)
        return _build_replayed(run_baseline(bench))
    finally:
        torch.set_rng_state(kept)


def _select_device(asked: str) -> str:
    if asked == "cuda" and not torch.cuda.is_available():
        raise UsageError("no CUDA device is usable here", "--device cuda", "say --device cpu")
    if asked == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return asked


def _build_replayed(scene: BaselineRun) -> Replayed[Message]:
    bench = scene.bench
    faith = compare_losses(bench, scene.recorded)
    wide = _measure_wide_peaks(scene)
    tried = _run_trials(scene) if scene.place is not None else Tried((), {}, is_short=False)
    seen_words = collect_observations(scene, tried.runs, wide.greatest if wide else 0.0)
    if tried.is_short:
        seen_words |= {"short-of-time"}
    message = bench.manifest.reason.message
    if "unscale FP16 gradients" in message:
        seen_words |= {"told-unscale"}
    tested = words.build_verdicts(scene, seen_words, faith)
    shown = wide if wide is not None and wide.modules else scene.peaks
    return Replayed(
        capsule=bench.capsule.folder.name,
        device=words.describe_replay_device(bench),
        recorded_on=words.describe_recorded_device(bench),
        reason=words.describe_reason(bench),
        summary=words.summarise_replay(scene, tested),
        reproduced=words.get_reproduction_status(scene),
        fidelity=faith.told,
        trials=(*_build_baseline_trials(scene), *tried.trials),
        tested=tested,
        place=words.place(scene),
        module=words.find_nonfinite_module(scene),
        direction=words.get_failure_direction(scene),
        operation=scene.operation.name if scene.operation else "",
        culprits=_build_culprits(scene),
        peaks=shown.shown() if shown is not None else (),
        limit=torch.finfo(getattr(torch, bench.computes_in)).max,
        limit_of=bench.computes_in,
        peaks_of=words.describe_peak_run(is_wide=shown is wide and wide is not None),
        notes=tuple(words.iter_notes(scene, faith)),
    )


def _measure_wide_peaks(scene: BaselineRun) -> Peaks | None:
    """See how large the numbers are where they have room, in the state in which it fails."""
    bench, place = scene.bench, scene.place
    if (
        place is None
        or bench.computes_in == "float32"
        or bench.left < 0
        or _describe_lacking_memory(bench.capsule, _WIDE, bench.memory)
    ):
        return None
    ran = run(bench, _WIDE, until=place)
    peaks = measure_peaks(bench, place, _WIDE) if not ran.error else None
    return peaks if peaks is not None and not peaks.error else None


def _build_baseline_trials(scene: BaselineRun) -> list[ReplayTrial[Message]]:
    found = [_build_trial("as-recorded", words.AS_RECORDED, scene.recorded)]
    if scene.again is not None:
        found.append(_build_trial("again", words.AGAIN, scene.again))
    return found


def _run_trials(scene: BaselineRun) -> Tried:
    trials: list[ReplayTrial[Message]] = []
    runs = scene.runs
    is_short = False
    for experiment in TABLE:
        trial, ran = _try(scene, experiment)
        trials.append(trial)
        if ran is not None:
            runs[experiment.id] = ran
            is_short |= ran.stopped
        is_short |= trial.outcome == "skipped" and trial.seconds > 0
    return Tried(tuple(trials), runs, is_short)


def _try(scene: BaselineRun, one: Counterfactual) -> tuple[ReplayTrial[Message], WindowRun | None]:
    """Run one counterfactual; a skipped one that time was short for tells how long it takes."""
    regime = one.regime(scene)
    if isinstance(regime, Message):
        return ReplayTrial(one.id, one.title, "skipped", regime), None
    bench = scene.bench
    if lacking := _describe_lacking_memory(bench.capsule, regime, bench.memory):
        return ReplayTrial(one.id, one.title, "skipped", lacking), None
    steps = 1 if regime.is_short else len(scene.recorded.steps)
    whole = min(scene.recorded.seconds, scene.again.seconds if scene.again else math.inf)
    likely = whole / max(1, len(scene.recorded.steps)) * steps * _SPARE + 0.01
    if likely > bench.left:
        told = say(
            "it takes about {needed:.0f} s, {left:.0f} s are left",
            "约需 {needed:.0f} 秒，仅剩 {left:.0f} 秒",
            needed=math.ceil(likely),
            left=max(0.0, bench.left),
        )
        return ReplayTrial(one.id, one.title, "skipped", told, (), likely), None
    if regime.attention is not None:
        try:
            run_rehearsal(bench, regime)
        except InputError as error:
            return ReplayTrial(one.id, one.title, "skipped", quote(str(error.what))), None
    ran = run(bench, regime)
    return _build_trial(one.id, one.title, ran), ran


def _describe_lacking_memory(capsule: Capsule, regime: Regime, allowed: float) -> Message | None:
    """Say how much memory a run lacks; None if it fits."""
    bytes_ = estimate_needed_memory(capsule, regime)
    if bytes_ <= allowed:
        return None
    return say(
        "it takes about {needed:.2g} GiB of memory, {free:.2g} GiB may be used",
        "约需 {needed:.2g} GiB 内存，可用 {free:.2g} GiB",
        needed=bytes_ / GIB,
        free=allowed / GIB,
    )


def _build_trial(id_: str, title: Message, ran: WindowRun) -> ReplayTrial[Message]:
    losses = tuple(step.loss for step in ran.steps)
    outcome = "skipped" if ran.stopped else ran.outcome
    return ReplayTrial(
        id_,
        title,
        outcome,
        words.describe_outcome(ran, format_loss_trend(ran)),
        losses,
        ran.seconds,
    )


def _build_culprits(scene: BaselineRun) -> tuple[Culprit[Message], ...]:
    place, bench = scene.culprit_place, scene.bench
    if not scene.culprits or place is None:
        return ()
    told = bench.steps[place.step]
    samples = told.micro_batches[place.micro].samples or ()
    batch = bench.batch(place)
    return tuple(
        Culprit(
            told.step,
            place.micro,
            position,
            samples[position] if position < len(samples) else None,
            describe_sample(batch, position),
        )
        for position in scene.culprits
    )
