"""The faults and the sound variants: what each changes, its cause, and the rule that says when it shows.

A fault's `rule` names a function of `judging`; `seen` is the cause that an expert names from the
printed curve alone where it differs from the true one (a NaN without a run-up tells no origin).
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from curves.settings import Config, Knobs
from curves.tasks.base import Task

Maker = Callable[[Config, random.Random], Knobs]

LR = "numerics.lr-divergence"
PLATEAU = "learning.plateau"
COLLAPSE = "learning.collapse"
SLOW = "learning.too-slow"
NO_GRADIENT = "learning.no-gradient"
UNKNOWN = "numerics.nonfinite-unknown"
MISMATCH = "learning.validation-mismatch"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: cause and further right answers, where it applies, how it is made, when it shows.

    `only` names tasks; else every task that has all of `needs` and none of `not_for` (names) is meant.
    """

    name: str
    cause: str
    rule: str
    make: Maker
    also: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    not_for: tuple[str, ...] = ()
    seen: str = ""

    def applies(self, task: type[Task]) -> bool:
        """Say whether the fault makes sense for a task."""
        if self.only:
            return task.name in self.only
        return set(self.needs) <= task.traits and task.name not in self.not_for


@dataclass(frozen=True, slots=True)
class Variant:
    """A sound run that may frighten: what it changes and where it makes sense."""

    name: str
    make: Maker
    also: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    not_for: tuple[str, ...] = ()

    applies = Fault.applies


def fixed(**changes: object) -> Maker:
    """A maker that always sets the same knobs."""
    return lambda _config, _rng: Knobs(**changes)  # type: ignore[arg-type]


def spread(rng: random.Random, low: float, high: float) -> float:
    """A number between two, even in the logarithm."""
    return low * (high / low) ** rng.random()


def diverging(config: Config, rng: random.Random) -> Knobs:
    """Far too high a rate."""
    factor = spread(rng, 15, 300) if config.optimizer == "sgd" else spread(rng, 150, 3000)
    return Knobs(lr=factor, schedule=rng.choice(("", "constant")), clip=rng.choice((None, 0.0)))


def too_high(config: Config, rng: random.Random) -> Knobs:
    """Too high a rate, clipped, so that the loss stays finite."""
    factor = spread(rng, 12, 60) if config.optimizer == "sgd" else spread(rng, 40, 500)
    return Knobs(lr=factor, clip=rng.choice((1.0, 5.0)))


def tiny_clip(config: Config, rng: random.Random) -> Knobs:
    """A limit on the norm that leaves nothing; Adam only feels one below its epsilon."""
    return Knobs(
        clip=spread(rng, 1e-6, 1e-4) if config.optimizer == "sgd" else spread(rng, 1e-11, 1e-10)
    )


def tiny_batch(_config: Config, rng: random.Random) -> Knobs:
    """One or two samples with a rate meant for many."""
    return Knobs(batch=rng.choice((1, 1, 2)), lr=spread(rng, 3, 12))


def event(kind: str, low: float, high: float, *, first: float = 0.3, last: float = 0.8) -> Maker:
    """A dated event of a strength within a stretch of the run."""
    return lambda _config, rng: Knobs(
        event=kind, at=first + (last - first) * rng.random(), strength=spread(rng, low, high)
    )


def lasting(config: Config, rng: random.Random) -> Knobs:
    """Outlier batches that throw the weights far away."""
    return Knobs(
        event="outlier", at=0.3 + 0.45 * rng.random(), strength=spread(rng, 1e3, 2e4), clip=0.0,
        lr=3.0 if config.optimizer == "sgd" else 2.0, optimizer="" if config.optimizer == "sgd" else "adam",
    )  # fmt: skip


def scale(kind: str, low: float, high: float) -> Maker:
    """Numbers through float16."""
    return lambda _config, rng: Knobs(
        half=kind, strength=spread(rng, low, high), at=0.1 + 0.7 * rng.random()
    )


def recurrent(_config: Config, rng: random.Random) -> Knobs:
    """Recurrent weights beyond one, ReLU states, no clipping."""
    return Knobs(
        init="recurrent",
        strength=spread(rng, 2, 4),
        clip=0.0,
        optimizer="sgd",
        lr=spread(rng, 2, 12),
    )


def strong_decay(config: Config, rng: random.Random) -> Knobs:
    """A decay that outweighs the loss; AdamW's is multiplied by the rate."""
    strong = spread(rng, 0.3, 3)
    return Knobs(decay=strong * 0.1 / config.lr if config.optimizer == "adamw" else strong)


def few_samples(low: float, high: float, longer: float) -> Maker:
    """About `24 * low` to `24 * high` samples, nothing that holds overfitting back."""
    return lambda _config, rng: Knobs(
        data="small",
        lr=spread(rng, 1, 3),
        strength=spread(rng, low, high),
        longer=longer,
        decay=0.0,
        dropout=0.0,
        schedule="constant",
    )


FAULTS: tuple[Fault, ...] = (
    Fault("rate-diverging", LR, "divergence", diverging, (COLLAPSE, "numerics.gradient-explosion"), not_for=("gan-ring",)),
    Fault("rate-too-high", LR, "high_rate", too_high, (PLATEAU, COLLAPSE)),
    Fault("rate-too-low", SLOW, "slow", lambda _c, r: Knobs(lr=spread(r, 1e-3, 3e-2)), (PLATEAU, NO_GRADIENT)),
    Fault("rate-zero", NO_GRADIENT, "no_gradient", fixed(lr=0.0), (PLATEAU, SLOW), not_for=("gan-ring",)),
    Fault("schedule-at-once", SLOW, "slow", fixed(schedule="cut"), (PLATEAU, NO_GRADIENT)),
    Fault("schedule-too-early", SLOW, "slow", fixed(schedule="early-end"), (PLATEAU,)),
    Fault("labels-shuffled", PLATEAU, "stuck", fixed(data="shuffled"), (COLLAPSE,), needs=("valid",), not_for=("vae", "autoencoder", "fine-tune")),
    Fault("validation-labels-shifted", MISMATCH, "validation", fixed(valid="shifted"), needs=("class", "valid")),
    Fault("validation-unnormalised", MISMATCH, "validation", lambda _c, r: Knobs(valid="unnormalised", strength=r.random()), needs=("valid", "float"), not_for=("vae", "autoencoder", "flow-density")),
    Fault("evaluation-in-train-mode", MISMATCH, "validation", fixed(valid="train-mode"), needs=("valid", "bn"), not_for=("segmentation",)),
    Fault("batch-norm-statistics", MISMATCH, "validation", fixed(valid="statistics"), needs=("valid", "bn")),
    Fault("evaluation-of-old-weights", MISMATCH, "constant_validation", fixed(valid="stale"), needs=("valid",)),
    Fault("optimizer-of-a-copy", NO_GRADIENT, "no_gradient", fixed(parameters="copy"), (PLATEAU,), not_for=("gan-ring",)),
    Fault("graph-detached", NO_GRADIENT, "no_gradient", fixed(detach=True), (PLATEAU, COLLAPSE)),
    Fault("body-frozen", SLOW, "slow", fixed(freeze="body"), (PLATEAU, NO_GRADIENT), needs=("valid",)),
    Fault("gradients-accumulate", "numerics.gradient-explosion", "accumulating", fixed(accumulate=True, clip=0.0), (LR, PLATEAU, COLLAPSE)),
    Fault("clipped-to-nothing", SLOW, "slow", tiny_clip, (NO_GRADIENT, PLATEAU), not_for=("gan-ring",)),
    Fault("dead-relu", PLATEAU, "stuck", fixed(init="dead"), (NO_GRADIENT, COLLAPSE), needs=("relu",), not_for=("gan-ring",)),
    Fault("zero-initialisation", PLATEAU, "stuck", fixed(init="zero"), (NO_GRADIENT, SLOW), needs=("relu",), not_for=("gan-ring",)),
    Fault("double-softmax", SLOW, "slow", fixed(special="double-softmax"), (PLATEAU,), needs=("class", "valid"), not_for=("distill",)),
    Fault("wrong-sign", COLLAPSE, "wrong_sign", lambda _c, r: Knobs(sign=-1.0, print_signed=r.random() < 0.4, clip=r.choice((None, 1.0))), (LR, PLATEAU), needs=("valid",)),
    Fault("training-set-too-small", "learning.overfitting", "overfitting", few_samples(0.4, 2.5, 1.2), needs=("finite", "valid")),
    Fault("trained-too-long", "learning.overfitting", "overfitting", few_samples(1.5, 6, 1.8), needs=("finite", "valid")),
    Fault("majority-answer", COLLAPSE, "majority", lambda _c, r: Knobs(data="imbalance", lr=spread(r, 0.05, 0.3)), (PLATEAU,), needs=("class", "valid"), not_for=("fine-tune",)),
    Fault("contrastive-collapse", COLLAPSE, "embedding_collapse", fixed(special="no-negatives"), only=("contrastive",)),
    Fault("metric-collapse", COLLAPSE, "embedding_collapse", fixed(special="pull-only"), only=("metric-triplet",)),
    Fault("mode-collapse", COLLAPSE, "mode_collapse", fixed(special="one-mode"), only=("gan-ring",)),
    Fault("posterior-collapse", COLLAPSE, "posterior_collapse", fixed(special="strong-kl"), only=("vae",)),
    Fault("entropy-collapse", COLLAPSE, "entropy_collapse", fixed(special="no-entropy"), (PLATEAU,), needs=("entropy",)),
    Fault("entropy-bonus-too-strong", PLATEAU, "return_stuck", fixed(special="much-entropy"), (COLLAPSE,), needs=("entropy",)),
    Fault("no-exploration", PLATEAU, "return_stuck", fixed(special="no-exploration"), (COLLAPSE,), only=("gridworld-dqn",)),
    Fault("no-target-net", LR, "value_explosion", fixed(special="no-target", clip=0.0), (COLLAPSE, "numerics.gradient-explosion"), only=("gridworld-dqn",)),
    Fault("constant-reward", "config.rl", "constant_reward", fixed(special="constant-reward"), (PLATEAU, COLLAPSE, NO_GRADIENT), needs=("rl",)),
    Fault("reward-hacking", "learning.reward-drift", "reward_drift", lambda _c, r: Knobs(special="hack", lr=spread(r, 1, 3)), only=("preference-rl",)),
    Fault("forgetting", "learning.forgetting", "forgetting", lambda _c, r: Knobs(special="forget", lr=spread(r, 1, 4)), only=("fine-tune",)),
    Fault("sorted-data", "learning.data-order", "data_order", fixed(data="sorted"), needs=("finite", "valid", "class"), not_for=("graph-gcn",)),
    Fault("sources-in-blocks", "learning.data-order", "data_order", fixed(data="blocks"), ("numerics.loss-spike",), needs=("finite", "valid"), not_for=("graph-gcn",)),
    Fault("nan-batch", "numerics.bad-batch", "nonfinite", event("nan", 1, 1, first=0.1, last=0.9), (UNKNOWN, "numerics.unstable-op"), seen=UNKNOWN, not_for=("contrastive", "metric-triplet")),
    Fault("log-of-zero", "numerics.unstable-op", "nonfinite", lambda _c, r: Knobs(special="log-zero", strength=spread(r, 4, 25), lr=spread(r, 1, 3)), (UNKNOWN,), seen=UNKNOWN, only=("table-mlp", "shapes-cnn", "signal-conv", "sequence-rnn", "segmentation", "graph-gcn")),
    Fault("root-of-zero", "numerics.unstable-op", "nonfinite", lambda _c, r: Knobs(special="root", strength=spread(r, 1e-9, 3e-8)), (UNKNOWN,), seen=UNKNOWN, only=("table-regression", "metric-triplet")),
    Fault("fp16-overflow", "numerics.fp16-overflow", "fp16", scale("overflow", 3, 60), (UNKNOWN, "numerics.loss-scale-exhausted"), seen=UNKNOWN, needs=("valid", "relu")),
    Fault("fp16-underflow", "numerics.fp16-overflow", "no_gradient", scale("underflow", 1, 1), (NO_GRADIENT, PLATEAU, SLOW), seen=NO_GRADIENT, needs=("valid",)),
    Fault("loss-scale-exhausted", "numerics.loss-scale-exhausted", "loss_scale", scale("grad-inf", 1, 1), ("numerics.fp16-overflow", UNKNOWN, "numerics.unstable-op"), needs=("valid",), not_for=("vae",)),
    Fault("recurrent-explosion", "numerics.gradient-explosion", "explosion", recurrent, (LR, COLLAPSE), only=("sequence-rnn", "forecast-gru")),
    Fault("initialisation-huge", "numerics.gradient-explosion", "explosion", fixed(init="huge", clip=0.0), (LR, COLLAPSE), needs=("valid", "relu")),
    Fault("weight-decay-too-strong", PLATEAU, "stuck", strong_decay, (COLLAPSE, SLOW), needs=("valid",)),
    Fault("dropout-too-strong", PLATEAU, "slow", lambda _c, r: Knobs(dropout=r.choice((0.9, 0.95, 0.98))), (SLOW,), needs=("dropout",)),
    Fault("outlier-batches", "numerics.loss-spike", "spike", lasting, ("numerics.bad-batch", LR), needs=("valid",)),
    Fault("corrupt-shard", "numerics.bad-batch", "jump", lambda _c, r: Knobs(data="shard", at=0.35 + 0.4 * r.random()), ("numerics.loss-spike", "learning.data-order"), needs=("finite", "valid"), seen="numerics.loss-spike"),
    Fault("batch-too-small", LR, "noisy", tiny_batch, (PLATEAU,), needs=("valid",), not_for=("graph-gcn", "shapes-cnn", "segmentation", "signal-conv")),
    Fault("labels-all-masked", "numerics.labels-all-masked", "zero_loss", fixed(special="masked"), (NO_GRADIENT, COLLAPSE), only=("char-lm",)),
    Fault("slow-loader", "performance.input-bound", "input_bound", lambda _c, r: Knobs(loader=spread(r, 0.003, 0.006)), ("performance.slow",)),
    Fault("slower-and-slower", "performance.slow", "slower", fixed(slower=True)),
    Fault("resumed-without-weights", "checkpoint.resume-mismatch", "resumed", lambda _c, r: Knobs(special="fresh-resume", resume=0.4 + 0.3 * r.random()), (), needs=("valid",)),
)  # fmt: skip

VARIANTS: tuple[Variant, ...] = (
    Variant("early-spike", event("outlier", 4, 25, first=0.08, last=0.2), ("numerics.loss-spike",), needs=("valid",), not_for=("vae", "flow-density")),
    Variant("warm-restarts", fixed(schedule="restarts"), not_for=("gan-ring",)),
    Variant("long-warmup", fixed(schedule="long-warmup"), needs=("valid",)),
    Variant("curriculum", lambda _c, r: Knobs(data="stages", at=0.25 + 0.25 * r.random()), ("numerics.loss-spike", "learning.data-order"), needs=("class", "finite", "valid"), not_for=("fine-tune",)),
    Variant("added-term", lambda _c, r: Knobs(special="added-term", at=0.3 + 0.3 * r.random(), strength=spread(r, 0.5, 3)), ("numerics.loss-spike",), needs=("class", "finite", "valid")),
    Variant("plateau-then-drop", fixed(init="small"), needs=("relu", "valid"), not_for=("shapes-cnn", "signal-conv", "segmentation")),
    Variant("growing-length", fixed(special="growing"), only=("char-lm",)),
    Variant("kl-annealing", fixed(special="anneal"), only=("vae",)),
    Variant("warm-start", fixed(special="warm-start", lr=0.5), only=("fine-tune",)),
    Variant("label-smoothing", fixed(special="smoothing"), needs=("class", "valid"), not_for=("distill",)),
    Variant("early-stopped", fixed(stop_early=True, longer=1.5), needs=("valid",)),
    Variant("resumed", lambda _c, r: Knobs(resume=0.3 + 0.4 * r.random())),
    Variant("loss-scale-skips", scale("skips", 1, 1), needs=("valid",)),
    Variant("rare-class", fixed(data="imbalance-sound"), needs=("class", "valid"), not_for=("fine-tune",)),
    Variant("strong-dropout", fixed(dropout=0.5), needs=("dropout", "valid")),
    Variant("small-rate", lambda _c, r: Knobs(lr=spread(r, 0.3, 0.6), longer=1.3)),
    Variant("large-rate", lambda _c, r: Knobs(lr=spread(r, 1.3, 2.2)), not_for=("gan-ring",)),
    Variant("small-batch", lambda _c, r: Knobs(batch=r.choice((6, 8)), lr=0.6), needs=("valid",)),
    Variant("short", fixed(longer=0.5), needs=("valid",)),
)  # fmt: skip

BY_NAME: dict[str, Fault] = {one.name: one for one in FAULTS}
VARIANTS_BY_NAME: dict[str, Variant] = {one.name: one for one in VARIANTS}
