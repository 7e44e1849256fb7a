"""A replay from a capsule to what it shows.

In: a capsule, whose code is trusted if it names any; a device, a budget of time. Out: `Replayed`.
Not here: rendering it, evidence for the ranking (`replay.as_evidence`).
"""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

import torch

from postmortem.capsule.opening import Capsule
from postmortem.errors import InputError, UsageError
from postmortem.model.replayed import Culprit, Replayed, ReplayTrial
from postmortem.model.said import Said, quote, say
from postmortem.replay import telling_replay as words
from postmortem.replay.batches import preview
from postmortem.replay.bench import Bench
from postmortem.replay.counterfactuals import TABLE, Counterfactual
from postmortem.replay.fidelity import compared
from postmortem.replay.memory_budget import GIB, free_memory, needed
from postmortem.replay.observing import grows, observed
from postmortem.replay.peaks import Peaks, peaks_of
from postmortem.replay.regime import Regime, WindowRun
from postmortem.replay.rehearsal import rehearse
from postmortem.replay.running import AS_RECORDED, run
from postmortem.replay.scene import Scene, seen

_WIDE: Final = Regime(compute="float32", is_short=True)
_SPARE: Final = 1.3
"""A trial is begun if so many times its likely time is left."""


class Tried(NamedTuple):
    """The trials, and the runs behind them."""

    trials: tuple[ReplayTrial[Said], ...]
    runs: Mapping[str, WindowRun]
    is_short: bool
    """Some were skipped for want of time."""


def replay(
    capsule: Capsule, *, device: str, seconds: float, memory: float | None = None
) -> Replayed[Said]:
    """Run a capsule's window again, as it was and with one thing changed each.

    Raises:
        InputError: the model cannot be built again.
        UsageError: there is no such device, or too little memory even for the steps as recorded.
        MissingExtra: a package is not installed.
    """
    name = _device(device)
    allowed = free_memory(torch.device(name)) if memory is None else memory * GIB
    if lacking := _lacking(capsule, AS_RECORDED, allowed):
        raise UsageError(
            lacking, capsule.folder, "run it on a larger machine, or allow more with --memory"
        )
    bench = Bench(capsule, name, seconds)
    bench.memory = allowed
    kept = torch.get_rng_state()
    try:
        rehearse(bench, AS_RECORDED)
        return _told(seen(bench))
    finally:
        torch.set_rng_state(kept)


def _device(asked: str) -> str:
    if asked == "cuda" and not torch.cuda.is_available():
        raise UsageError("no CUDA device is usable here", "--device cuda", "say --device cpu")
    if asked == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return asked


def _told(scene: Scene) -> Replayed[Said]:
    bench = scene.bench
    faith = compared(bench, scene.recorded)
    wide = _wide_peaks(scene)
    tried = _tried(scene) if scene.place is not None else Tried((), {}, is_short=False)
    seen_words = observed(scene, tried.runs, wide.greatest if wide else 0.0)
    if tried.is_short:
        seen_words |= {"short-of-time"}
    message = bench.manifest.reason.message
    if "unscale FP16 gradients" in message:
        seen_words |= {"told-unscale"}
    tested = words.verdicts(scene, seen_words, faith)
    shown = wide if wide is not None and wide.modules else scene.peaks
    return Replayed(
        capsule=bench.capsule.folder.name,
        device=words.device_here(bench),
        recorded_on=words.device_there(bench),
        reason=words.reason(bench),
        summary=words.summary(scene, tested),
        reproduced=words.reproduced(scene),
        fidelity=faith.told,
        trials=(*_baselines(scene), *tried.trials),
        tested=tested,
        place=words.place(scene),
        module=words.module_of(scene),
        direction=words.direction_of(scene),
        operation=scene.operation.name if scene.operation else "",
        culprits=_culprits(scene),
        peaks=shown.shown() if shown is not None else (),
        limit=torch.finfo(getattr(torch, bench.computes_in)).max,
        limit_of=bench.computes_in,
        peaks_of=words.peaks_of_which(is_wide=shown is wide and wide is not None),
        notes=tuple(words.notes(scene, faith)),
    )


def _wide_peaks(scene: Scene) -> Peaks | None:
    """See how large the numbers are where they have room, in the state in which it fails."""
    bench, place = scene.bench, scene.place
    if (
        place is None
        or bench.computes_in == "float32"
        or bench.left < 0
        or _lacking(bench.capsule, _WIDE, bench.memory)
    ):
        return None
    ran = run(bench, _WIDE, until=place)
    peaks = peaks_of(bench, place, _WIDE) if not ran.error else None
    return peaks if peaks is not None and not peaks.error else None


def _baselines(scene: Scene) -> list[ReplayTrial[Said]]:
    found = [_trial("as-recorded", words.AS_RECORDED, scene.recorded)]
    if scene.again is not None:
        found.append(_trial("again", words.AGAIN, scene.again))
    return found


def _tried(scene: Scene) -> Tried:
    trials: list[ReplayTrial[Said]] = []
    runs = scene.runs
    is_short = False
    for one in TABLE:
        trial, ran = _try(scene, one)
        trials.append(trial)
        if ran is not None:
            runs[one.id] = ran
            is_short |= ran.stopped
        is_short |= trial.outcome == "skipped" and trial.seconds > 0
    return Tried(tuple(trials), runs, is_short)


def _try(scene: Scene, one: Counterfactual) -> tuple[ReplayTrial[Said], WindowRun | None]:
    """Run one counterfactual; a skipped one that time was short for tells how long it takes."""
    regime = one.regime(scene)
    if isinstance(regime, Said):
        return ReplayTrial(one.id, one.title, "skipped", regime), None
    bench = scene.bench
    if lacking := _lacking(bench.capsule, regime, bench.memory):
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
            rehearse(bench, regime)
        except InputError as error:
            return ReplayTrial(one.id, one.title, "skipped", quote(str(error.what))), None
    ran = run(bench, regime)
    return _trial(one.id, one.title, ran), ran


def _lacking(capsule: Capsule, regime: Regime, allowed: float) -> Said | None:
    """Say how much memory a run lacks; None if it fits."""
    bytes_ = needed(capsule, regime)
    if bytes_ <= allowed:
        return None
    return say(
        "it takes about {needed:.2g} GiB of memory, {free:.2g} GiB may be used",
        "约需 {needed:.2g} GiB 内存，可用 {free:.2g} GiB",
        needed=bytes_ / GIB,
        free=allowed / GIB,
    )


def _trial(id_: str, title: Said, ran: WindowRun) -> ReplayTrial[Said]:
    losses = tuple(step.loss for step in ran.steps)
    outcome = "skipped" if ran.stopped else ran.outcome
    return ReplayTrial(id_, title, outcome, words.outcome(ran, grows(ran)), losses, ran.seconds)


def _culprits(scene: Scene) -> tuple[Culprit[Said], ...]:
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
            preview(batch, position),
        )
        for position in scene.culprits
    )
