"""Shapes of curves, by all detectors together.

Each picture that separates causes in practice, with the shapes it must and must not have.
"""

import importlib
import inspect
import math
import pkgutil
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.message import quote
from postmortem.diagnosis import detectors as room
from postmortem.diagnosis.detectors import ranks, registry
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.facts.series import Series
from postmortem.rules.base import load

NAN, INF = math.nan, math.inf


def curves(where: ProcessId = NOWHERE, **values: list[float | None]) -> list[Series]:
    """Series of one process; the n-th record stands on line n.

    None where a record lacks the value.
    """
    found = []
    for name, figures in values.items():
        one = Series(name, "test", 0, where)
        for index, value in enumerate(figures):
            if value is not None:
                one.append(float(index), value, index + 1)
        one.settle()
        found.append(one)
    return found


def shapes(series: list[Series], facts: FactStore | None = None) -> list[Anomaly]:
    """The shapes of these series, as far as they do not depend on the outcome."""
    return list(
        registry.detect_anomalies(Observed(series=series, facts=facts or FactStore())).values()
    )


def falling(count: int, start: float = 2.5, end: float = 0.8) -> list[float]:
    """A healthy curve with some noise."""
    return [
        end + (start - end) * math.exp(-3 * index / count) + 0.03 * math.sin(7 * index)
        for index in range(count)
    ]


def cosine(count: int, top: float = 2e-5) -> list[float]:
    """A schedule with many digits."""
    return [top * (1 + math.cos(math.pi * index / count)) / 2 for index in range(count)]


def halving(start: float, times: int) -> list[float]:
    """The scale after each overflow."""
    return [start / 2**index for index in range(times + 1)]


NAN_SHAPES = {
    "nan-loss",
    "hidden-nan",
    "nan-first-record",
    "nan-after-runup",
    "nan-out-of-flat",
    "nan-at-zero-rate",
    "nan-grad-finite-loss",
    "nan-eval-only",
    "nan-component",
    "nan-recovers",
}
BAD = {
    *NAN_SHAPES,
    "zero-loss",
    "loss-spike",
    "loss-divergence",
    "grad-explosion",
    "scale-collapse",
    "collapse",
    "rate-standstill",
    "high-rate",
}


@pytest.mark.parametrize(
    ("series", "has", "has_not"),
    [
        pytest.param(
            {
                "loss": falling(60),
                "grad_norm": [1 + 0.3 * math.sin(index) for index in range(60)],
                "learning_rate": cosine(60),
            },
            {"loss-falls"},
            BAD,
            id="healthy",
        ),
        # `{'loss': 0.0, 'grad_norm': nan}` is the NaN that the Trainer filters out of its mean
        pytest.param(
            {"loss": [2.3, 0.0, 0.0, 0.0], "grad_norm": [1.5, NAN, NAN, NAN]},
            {"hidden-nan"},
            {"zero-loss", "nan-loss", "nan-grad-finite-loss"},
            id="hidden NaN from the second record on",
        ),
        pytest.param(
            {"loss": [0.0] * 5, "grad_norm": [NAN] * 5, "learning_rate": [0.0] * 5},
            {"hidden-nan", "nan-at-zero-rate"},
            {"zero-loss", "high-rate"},
            id="hidden NaN while the rate is 0",
        ),
        pytest.param(
            {"loss": [9.5, 0.0, 0.0, 0.0]},
            {"hidden-nan"},
            {"zero-loss"},
            id="hidden NaN without norms: drops to exactly 0 and stays",
        ),
        pytest.param(
            {"loss": [0.0] * 6, "eval_loss": [None] * 5 + [NAN]},
            {"hidden-nan"},
            {"nan-eval-only", "zero-loss"},
            id="hidden NaN, betrayed by the evaluation",
        ),
        pytest.param(
            {"loss": [0.0] * 6, "grad_norm": [0.0] * 6},
            {"zero-loss"},
            {"hidden-nan"},
            id="labels all masked",
        ),
        pytest.param({"loss": [0.0] * 8}, {"zero-loss"}, {"hidden-nan"}, id="exactly 0 throughout"),
        pytest.param(
            {"loss": [*falling(20, 2.5, 0.2), 0.0, *falling(20, 0.2, 0.1), 0.0, 0.1]},
            set(),
            {"zero-loss"},
            id="a batch that is learnt now and then",
        ),
        pytest.param(
            {"loss": [2.0, 0.5, 0.1, 0.02, 0.004, 0.0008, 0.0001, 0.0, 0.0, 0.0, 0.0]},
            {"loss-falls"},
            {"hidden-nan", "zero-loss"},
            id="learnt to the last printed digit",
        ),
        pytest.param(
            {"loss": [0.06, 0.0, 0.0, 0.0, 210.0, NAN]},
            {"nan-loss"},
            {"zero-loss"},
            id="zeros before a NaN are no masked labels",
        ),
        pytest.param(
            {"loss": [1.2, 0.0, 1.1, 0.9, 0.0, 0.0, 1.0, 0.8]},
            {"zero-loss"},
            {"hidden-nan"},
            id="three batches of eight without a label",
        ),
        pytest.param(
            {
                "loss": [0.0, 0.0, 0.0001, 0.0002, 0.0],
                "grad_norm": [0.5, 0.6, 0.4, 0.5, 0.6],
                "reward": [0.1, 0.2, 0.3, 0.3, 0.4],
            },
            set(),
            {"zero-loss", "hidden-nan"},
            id="GRPO begins at 0: a gradient flows",
        ),
        # fp16 overflow or learning rate?
        pytest.param(
            {"loss": [NAN] * 5, "learning_rate": [0.0, 1e-6, 2e-6, 3e-6, 4e-6]},
            {"nan-loss", "nan-first-record", "nan-at-zero-rate"},
            {"nan-after-runup", "nan-out-of-flat", "hidden-nan"},
            id="NaN at once, before any rate",
        ),
        pytest.param(
            {"loss": [2.1, NAN, NAN], "learning_rate": [1e-6, 2e-6, 3e-6]},
            {"nan-loss"},
            {"nan-first-record", "nan-at-zero-rate"},
            id="NaN at a rate",
        ),
        pytest.param(
            {"loss": [40.0, 22.0, 68.0, 1266.0, 1.4e6, NAN]},
            {"nan-loss", "nan-after-runup"},
            {"nan-out-of-flat", "nan-first-record"},
            id="a finite run-up is divergence",
        ),
        pytest.param(
            {"loss": [*falling(40), 1.6, 2.9, 6.2, 11.0, NAN, NAN]},
            {"nan-loss", "nan-after-runup"},
            {"nan-out-of-flat", "nan-recovers"},
            id="a run-up out of a falling curve",
        ),
        pytest.param(
            {"loss": [1.4, 1.1, 1.9, 1.5, 1.8, NAN]},
            {"nan-out-of-flat"},
            {"nan-after-runup"},
            id="five noisy records are no climb",
        ),
        pytest.param(
            {"loss": [*falling(40), NAN, NAN, NAN]},
            {"nan-loss", "nan-out-of-flat", "loss-falls"},
            {"nan-after-runup", "nan-first-record", "loss-divergence"},
            id="out of a calm, falling curve",
        ),
        pytest.param(
            {"loss": [0.4 + 0.1 * math.sin(5 * index) for index in range(40)] + [NAN]},
            {"nan-out-of-flat"},
            {"nan-after-runup"},
            id="out of a flat, noisy curve",
        ),
        pytest.param(
            {"loss": [*falling(20), NAN, *falling(20, 0.9, 0.7)]},
            {"nan-loss", "nan-recovers"},
            {"nan-first-record"},
            id="one bad record, then as before",
        ),
        pytest.param(
            {"loss": [1.5, INF, NAN, NAN]},
            {"nan-loss"},
            {"nan-recovers"},
            id="infinite counts as not finite",
        ),
        pytest.param(
            {"learning_rate": [0.0] * 30, "loss": [1.5, 1.3, 1.6, 1.4, 1.45] * 6},
            {"rate-zero-throughout"},
            {"tiny-rate"},
            id="no rate is ever applied",
        ),
        pytest.param(
            {"learning_rate": [0.0] * 30, "loss": [2.0 - 0.05 * n for n in range(30)]},
            set(),
            {"rate-zero-throughout"},
            id="the rate that is printed is not the one that is applied",
        ),
        # a rate that does not move: the scaler skips the optimiser and the scheduler with it
        pytest.param(
            {"learning_rate": [0.0, 0.0, 1e-6, 2e-6], "loss": [9.1, 9.0, 8.9, 8.8]},
            {"rate-standstill"},
            {"high-rate"},
            id="0.0 twice",
        ),
        pytest.param(
            {
                "learning_rate": [4.999715e-05, 4.999715e-05, 4.998861e-05, 4.997438e-05],
                "loss": [2.1, 2.0, 1.9, 1.8],
            },
            {"rate-standstill"},
            set(),
            id="4.999715e-05 twice",
        ),
        pytest.param(
            {"learning_rate": [2e-5] * 20, "loss": falling(20)},
            set(),
            {"rate-standstill"},
            id="a constant rate",
        ),
        pytest.param(
            {"learning_rate": [1e-6, 5e-6, 1e-5, *[2e-5] * 20], "loss": falling(23)},
            set(),
            {"rate-standstill"},
            id="flat after warm-up",
        ),
        pytest.param(
            {
                "learning_rate": [2e-5, 2e-5, 1.9e-5, 1.9e-5, 1.8e-5, 1.8e-5, 1.7e-5],
                "loss": falling(7),
            },
            set(),
            {"rate-standstill"},
            id="printed with too few digits to move",
        ),
        pytest.param(
            {"learning_rate": cosine(30), "loss": falling(30)},
            set(),
            {"rate-standstill"},
            id="a schedule that moves",
        ),
        # scaler start-up or exhaustion?
        pytest.param(
            {"loss_scale": halving(2.0**32, 6), "loss": [None] * 30 + falling(10)},
            {"scale-settling"},
            {"scale-collapse"},
            id="2^32 to 2^26 with a falling loss behind it",
        ),
        pytest.param(
            {"loss_scale": halving(65536, 16)},
            {"scale-collapse"},
            {"scale-settling"},
            id="65536 to 1",
        ),
        pytest.param(
            {"loss_scale": halving(64, 5)},
            {"scale-collapse"},
            {"scale-settling"},
            id="64 to 2 in five consecutive steps",
        ),
        pytest.param(
            {"loss_scale": halving(65536, 2), "loss": [None] * 5 + falling(20)},
            {"scale-settling"},
            {"scale-collapse"},
            id="a few halvings at the start",
        ),
        pytest.param(
            {"loss_scale": [65536.0] * 10},
            set(),
            {"scale-collapse", "scale-settling"},
            id="a scale that stays",
        ),
        pytest.param(
            {"loss_scale": [1.0] * 10, "loss": falling(10)},
            set(),
            {"scale-collapse"},
            id="bf16 prints 1.0",
        ),
        # evaluation, components, gradients
        pytest.param(
            {
                "loss": falling(20),
                "eval_loss": [None] * 9 + [NAN] + [None] * 9 + [NAN],
                "grad_norm": [1.0] * 20,
            },
            {"nan-eval-only"},
            {"nan-loss", "hidden-nan"},
            id="only the evaluation is NaN",
        ),
        pytest.param(
            {"loss": [*falling(10), NAN], "eval_loss": [None] * 10 + [NAN]},
            {"nan-loss"},
            {"nan-eval-only"},
            id="both are NaN",
        ),
        pytest.param(
            {"loss": [*falling(19), NAN], "x_absmax": [*[3.0] * 19, float("inf")]},
            {"nan-loss", "nan-inputs"},
            set(),
            id="the inputs are infinite where the loss is NaN",
        ),
        pytest.param(
            {"loss": [*falling(18), NAN, NAN], "x_absmax": [*[3.0] * 19, float("inf")]},
            {"nan-loss"},
            {"nan-inputs"},
            id="inputs that go bad behind the loss are no reason",
        ),
        pytest.param(
            {
                "loss": [*falling(19), NAN],
                "y_absmax": [*[3.0] * 19, float("inf")],
                "max_input_length": [*[3.0] * 19, NAN],
            },
            {"nan-loss"},
            {"nan-inputs"},
            id="what is not of the inputs",
        ),
        pytest.param(
            {"loss": falling(20), "loss_cls": [*falling(19), NAN], "loss_bbox": falling(20)},
            {"nan-component"},
            {"nan-loss"},
            id="one component is NaN",
        ),
        pytest.param(
            {"loss": falling(20), "minibatch_loss": [*falling(19), NAN]},
            {"nan-component"},
            {"nan-loss"},
            id="a name that only begins like a best one",
        ),
        pytest.param(
            {"loss": falling(20), "lowest_loss": [float("inf"), *falling(19)]},
            set(),
            {"nan-component"},
            id="the best of nothing yet",
        ),
        pytest.param(
            {"loss": [*falling(19), NAN], "loss_cls": [*falling(19), NAN]},
            {"nan-loss"},
            {"nan-component"},
            id="the component takes the total with it",
        ),
        pytest.param(
            {"loss": falling(20), "grad_norm": [1.0] * 10 + [NAN] * 10},
            {"nan-grad-finite-loss"},
            {"nan-loss", "hidden-nan"},
            id="NaN gradients beside a finite loss",
        ),
        pytest.param(
            {"loss": falling(20), "grad_norm": [1.0, NAN, *[1.0] * 18]},
            set(),
            {"nan-grad-finite-loss", "hidden-nan"},
            id="one skipped step at the start",
        ),
        pytest.param(
            {"loss": falling(20), "grad_norm": [1.0] * 15 + [300.0, 900.0, 5000.0, 2e4, 1e5]},
            {"grad-explosion"},
            {"nan-grad-finite-loss"},
            id="gradients explode",
        ),
        pytest.param(
            {"loss": falling(20), "grad_norm": [1.0] * 10 + [INF] + [1.0] * 9},
            {"grad-explosion"},
            set(),
            id="an infinite norm",
        ),
        pytest.param(
            {"loss": falling(5), "grad_norm": [3.8e12, 4.1e10, 0.9, 250.0, 0.1]},
            {"grad-explosion"},
            set(),
            id="norms that no sound run has, whatever came of it",
        ),
        pytest.param(
            {"loss": [2049.9, 626.2, 738.4, NAN, NAN], "grad_norm": [2e5, 638.0, 635.0, NAN, NAN]},
            {"grad-explosion"},
            set(),
            id="a huge norm, and soon no loss any more",
        ),
        pytest.param(
            {"loss": falling(40), "grad_norm": [1.0] * 20 + [150.0] + [1.0] * 19},
            set(),
            {"grad-explosion"},
            id="one high norm is no explosion",
        ),
        pytest.param(
            {"loss": falling(30), "grad_norm": [25.0 / (index + 1) for index in range(30)]},
            set(),
            {"grad-explosion"},
            id="high at the start, as usual",
        ),
        # the way of a finite loss
        pytest.param(
            {
                "loss": [
                    *falling(40),
                    1.2,
                    1.9,
                    2.6,
                    3.0,
                    3.3,
                    *[3.4 + 0.02 * math.sin(index) for index in range(20)],
                ]
            },
            {"loss-divergence"},
            {"loss-spike", "nan-loss"},
            id="divergence without NaN",
        ),
        pytest.param(
            {"loss": [*falling(40), 7.5, 2.0, *falling(20, 0.9, 0.7)]},
            {"loss-spike"},
            {"loss-divergence"},
            id="a spike that recovers",
        ),
        pytest.param(
            {"loss": [4.21 + 0.005 * math.sin(3 * index) for index in range(120)]},
            {"plateau"},
            {"loss-falls", "collapse", "loss-spike"},
            id="a plateau",
        ),
        pytest.param(
            {
                "loss": [0.34 + 0.001 * (index % 3) for index in range(30)],
                "acc": [0.86 + 0.0005 * (index % 9) for index in range(30)],
            },
            set(),
            {"plateau", "plateau-from-start"},
            id="learnt in the first records",
        ),
        pytest.param(
            {"loss": [*falling(20), *[0.693147] * 8]},
            {"collapse"},
            {"nan-loss"},
            id="frozen at one value",
        ),
        pytest.param(
            {"loss": [*falling(30), 1.1, 0.9, 1.2, 0.8]},
            {"loss-falls"},
            {"loss-spike", "loss-divergence"},
            id="noise is no spike",
        ),
        pytest.param(
            {"loss": [2.0, 2.1]},
            set(),
            BAD | {"plateau", "loss-falls"},
            id="two records say nothing",
        ),
        # memory and rate
        pytest.param(
            {"memory": [1000.0 + 40 * index for index in range(20)]},
            {"memory-rising"},
            set(),
            id="a leak",
        ),
        pytest.param(
            {"memory": [1000.0] * 10 + [1400.0] * 10},
            set(),
            {"memory-rising"},
            id="one long batch: a high-water mark",
        ),
        pytest.param(
            {"memory": [1000.0 + 300 * (index % 3) for index in range(20)]},
            set(),
            {"memory-rising"},
            id="up and down",
        ),
        pytest.param(
            {"memory": [330.0 + 20 * (index % 3) for index in range(40)]},
            {"memory-flat"},
            {"memory-rising"},
            id="level memory",
        ),
        pytest.param(
            {"memory": [400.0 + 35 * (index * 7 % 5) for index in range(60)]},
            {"memory-flat"},
            {"memory-rising"},
            id="level memory that comes and goes",
        ),
        pytest.param(
            {"memory": [400.0 + 4 * index + 35 * (index * 7 % 3) for index in range(60)]},
            set(),
            {"memory-flat"},
            id="a slow climb that comes and goes is not level",
        ),
        pytest.param(
            {"memory": [330.0 + 20 * index for index in range(40)]},
            {"memory-rising"},
            {"memory-flat"},
            id="a leak is not level",
        ),
        pytest.param(
            {
                "throughput": [900.0 + 30 * (index % 4) for index in range(30)]
                + [120.0 + 5 * (index % 3) for index in range(30)]
            },
            {"slow-down"},
            set(),
            id="half way through it becomes slow",
        ),
        pytest.param(
            {"step_time": [20.0] * 30 + [190.0] * 30},
            {"slow-down"},
            set(),
            id="the same as time a step",
        ),
        pytest.param(
            {"step_time": [20.0 * index for index in range(1, 31)] + [600.0, 620.0, 640.0]},
            set(),
            {"slow-down"},
            id="a clock, which stands still once",
        ),
        pytest.param(
            {"throughput": [900.0 if index % 2 else 100.0 for index in range(60)]},
            set(),
            {"slow-down"},
            id="a noisy machine is no slow-down",
        ),
        pytest.param(
            {"throughput": [40.0] * 5 + [900.0] * 55}, set(), {"slow-down"}, id="slow at the start"
        ),
        pytest.param(
            {"loss": [*falling(60), 90.0, 1.1, 0.9, 0.8]},
            {"loss-spike", "huge-spike"},
            {"loss-divergence"},
            id="a spike of many times all that was before",
        ),
        pytest.param(
            {"loss": [1.8e21, 4.6e24, 4.5e24, 4.0e24, 3.5e24, 3.0e24, 2.8e24, 2.7e24]},
            {"loss-divergence"},
            {"plateau"},
            id="exploded in the first record, then frozen",
        ),
        pytest.param(
            {"entropy": [1.3 - 0.05 * index for index in range(20)] + [0.0] * 20},
            {"collapse"},
            set(),
            id="the entropy of a policy goes to nothing",
        ),
        pytest.param(
            {"entropy": [1.3 - 0.02 * index for index in range(40)]},
            set(),
            {"collapse"},
            id="entropy that only falls",
        ),
        pytest.param(
            {
                "loss": [1.386 + 0.002 * math.sin(index) for index in range(16)],
                "epoch": [1.0 + index for index in range(16)],
            },
            {"plateau", "plateau-from-start"},
            {"loss-falls"},
            id="flat from the first record on",
        ),
        pytest.param(
            {"loss": [2.303 + 0.002 * math.sin(index) for index in range(60)], "epoch": [0.0] * 60},
            set(),
            {"plateau", "plateau-from-start"},
            id="sixty steps of a first epoch are too early",
        ),
        pytest.param(
            {
                "learning_rate": [3e-10] * 10,
                "loss": [5.3] * 10,
                "epoch": [1.0 + index for index in range(10)],
            },
            {"tiny-rate", "plateau"},
            {"high-rate"},
            id="a rate that moves nothing",
        ),
        pytest.param(
            {"learning_rate": [0.01] * 10, "loss": falling(10)},
            {"high-rate"},
            set(),
            id="a high rate",
        ),
        pytest.param(
            {"learning_rate": [2e-5] * 10, "loss": falling(10)},
            set(),
            {"high-rate"},
            id="a usual rate",
        ),
        # before any update: data or weights, not the rate
        pytest.param(
            {"loss": [NAN] * 4, "learning_rate": [1e-5] * 4},
            {"nan-before-update", "nan-first-record"},
            {"nan-at-zero-rate"},
            id="NaN in the first step, at a rate",
        ),
        pytest.param(
            {"loss": [2.1, NAN, NAN]},
            {"nan-loss"},
            {"nan-before-update"},
            id="NaN after one update",
        ),
        pytest.param(
            {"loss": [NAN, NAN], "eval_loss": [NAN, NAN]},
            {"nan-first-record"},
            {"nan-before-update"},
            id="the mean over an epoch is not the first step",
        ),
        pytest.param(
            {"loss": [NAN] * 5, "grad_norm": [0.0] * 5},
            {"nan-zero-gradient"},
            {"hidden-nan", "nan-grad-finite-loss"},
            id="a mean over no label has no gradient",
        ),
        pytest.param(
            {"loss": [NAN] * 5, "grad_norm": [NAN] * 5},
            {"nan-loss"},
            {"nan-zero-gradient"},
            id="a NaN that is computed has NaN gradients",
        ),
        # spikes
        pytest.param(
            {"loss": [*falling(40), 60.0, *falling(40, 0.9, 0.7)]},
            {"loss-spike", "huge-spike", "spike-recovers", "spike-over"},
            {"loss-divergence"},
            id="a spike long past",
        ),
        pytest.param(
            {"loss": [*falling(40), 60.0, *falling(12, 0.9, 0.7)]},
            {"loss-spike", "spike-recovers"},
            {"spike-over"},
            id="a spike that has just gone back",
        ),
        pytest.param(
            {"loss": [*falling(40), 60.0, *falling(40, 0.9, 0.7), 58.0, 55.0]},
            {"loss-spike"},
            {"spike-over"},
            id="a spike that comes again at the end",
        ),
        pytest.param(
            {"loss": [*falling(40), 4.5, 1.0, *falling(20, 0.9, 0.7)]},
            {"loss-spike", "spike-recovers"},
            {"loss-divergence", "huge-spike"},
            id="a spike that goes back, below the first loss",
        ),
        pytest.param(
            {"loss": [*falling(40, 5.5, 0.07)[:40], 9.0, 8.4, 0.3, 0.2, 0.12, 0.1, 0.09, 0.09]},
            {"loss-spike", "huge-spike", "spike-recovers"},
            {"loss-divergence"},
            id="a spike above the untrained start",
        ),
        pytest.param(
            {
                "loss": [(0.8, 2.2, 0.7, 3.3, 0.9, 1.5)[index % 6] for index in range(60)]
                + [7.3, 0.8, 1.1, 0.9]
            },
            set(),
            {"huge-spike"},
            id="a curve that leaps all the time",
        ),
        pytest.param(
            {"loss": [*falling(40), *[6.2 + 0.2 * math.sin(index) for index in range(20)]]},
            {"loss-divergence"},
            {"spike-recovers"},
            id="a rise that stays",
        ),
        pytest.param(
            {"loss": [3.9, 32.0, *[45.0 - index for index in range(40)], *[4.0] * 20]},
            {"loss-divergence"},
            {"spike-recovers"},
            id="blown up at once, back at its start after two thirds of the run",
        ),
        pytest.param(
            {"loss": [3.9, 9.5, 8.8, 6.0, 4.1, *falling(50, 3.8, 1.2)]},
            {"loss-falls"},
            {"loss-divergence"},
            id="a spike of the warm-up is over soon",
        ),
        pytest.param(
            {"loss": [1.47, *[14.0 + math.sin(index) for index in range(60)]]},
            set(),
            {"loss-divergence"},
            id="a first record of another kind",
        ),
        pytest.param(
            {
                "loss": [
                    *falling(60, 9.0, 3.0),
                    12.0,
                    13.0,
                    12.5,
                    *[12.0 * 0.88**index for index in range(14)],
                ]
            },
            {"loss-spike"},
            {"loss-divergence"},
            id="on its way back already",
        ),
        pytest.param(
            {"loss": [0.0001, *[0.002 * index for index in range(1, 30)]], "reward": [0.1] * 30},
            set(),
            {"loss-divergence", "loss-spike"},
            id="the surrogate loss of a policy may go anywhere",
        ),
        pytest.param(
            {
                "loss": [
                    1.21,
                    1.48,
                    1.77,
                    2.46,
                    *[1.64 + 0.01 * math.sin(index) for index in range(12)],
                ]
            },
            {"collapse"},
            {"loss-falls"},
            id="level above its start to the end",
        ),
        pytest.param(
            {"loss": [2.4, 1.9, *[1.64 + 0.01 * math.sin(index) for index in range(12)]]},
            set(),
            {"collapse"},
            id="level below its start: converged",
        ),
        # gradients, skipped steps, figures
        pytest.param(
            {"loss": [5.76, 5.77, *[28.0] * 20], "grad_norm": [1.3e10, 5.7e9, *[3.0] * 20]},
            {"grad-huge-first"},
            set(),
            id="the first gradient is huge",
        ),
        pytest.param(
            {"loss": [4e6, 3e6, 2e6, 1e6], "grad_norm": [2e6, 1e6, 1e6, 1e6]},
            set(),
            {"grad-huge-first"},
            id="a sum instead of a mean: a large loss has a large gradient",
        ),
        pytest.param(
            {"loss": [*falling(20), NAN, NAN], "grad_norm": [1.0] * 20 + [INF, NAN]},
            {"nan-out-of-flat"},
            {"grad-explosion"},
            id="an infinite norm beside the NaN is no growth before it",
        ),
        pytest.param(
            {"skipped_steps": [float(index) for index in range(60)]},
            {"steps-skipped"},
            set(),
            id="every step skipped",
        ),
        pytest.param(
            {"skipped_steps": [float(min(index, 14)) for index in range(60)]},
            set(),
            {"steps-skipped"},
            id="a search at the start",
        ),
        pytest.param(
            {"skipped_iterations": [1.0] * 50},
            {"steps-skipped"},
            set(),
            id="counted anew at every record",
        ),
        pytest.param(
            {"loss": [19488.0, 12640.0, 24336.0, 17904.0, 29344.0, 24368.0, 34016.0, INF]},
            {"fp16-figures", "fp16-limit"},
            {"bf16-figures"},
            id="figures of float16 up to its limit",
        ),
        pytest.param(
            {"loss": [19487.0, 12641.0, 24335.0, 17904.0, 29344.0, 24368.0, 34016.0, INF]},
            set(),
            {"fp16-figures", "fp16-limit"},
            id="the same size in float32",
        ),
        pytest.param(
            {
                "grad_norm": [
                    0.58984375,
                    4.25,
                    5.625,
                    0.466796875,
                    0.7734375,
                    0.341796875,
                    1.1953125,
                ]
            },
            {"bf16-figures"},
            {"fp16-figures"},
            id="norms of bfloat16",
        ),
        pytest.param(
            {"grad_norm": [0.5, 4.25, 5.5, 0.75, 1.0, 2.0, 3.5]},
            set(),
            {"bf16-figures", "fp16-figures"},
            id="few digits tell nothing",
        ),
        # waiting, speed, preferences
        pytest.param(
            {"step_time": [0.135] * 20, "data_time": [0.13] * 20},
            {"input-bound", "input-starved"},
            set(),
            id="waiting for data",
        ),
        pytest.param(
            {"step_time": [0.004] * 20, "data_time": [0.0035] * 20},
            {"input-bound"},
            {"input-starved"},
            id="a toy's steps are short",
        ),
        pytest.param(
            {"step_time": [0.9] * 20, "data_time": [130.0] * 20},
            set(),
            {"input-bound"},
            id="seconds beside milliseconds",
        ),
        pytest.param(
            {"step_time": [0.02 + 0.004 * index + 0.006 * (index % 2) for index in range(30)]},
            {"slow-down"},
            set(),
            id="ever slower",
        ),
        pytest.param(
            {"step_time": [1.5 * index for index in range(1, 40)]},
            set(),
            {"slow-down"},
            id="the time since the start is no time a step",
        ),
        pytest.param(
            {
                "loss": [0.69, 0.3, 0.05, *[3e-5] * 17],
                "rewards/chosen": [0.0, -1.0, -2.0, *[-4.4] * 17],
            },
            {"collapse"},
            set(),
            id="the preferred answers too have become unlikely",
        ),
        pytest.param(
            {
                "loss": [0.69 - 0.02 * index for index in range(20)],
                "rewards/chosen": [-0.1 * index for index in range(20)],
            },
            set(),
            {"collapse"},
            id="a usual preference run",
        ),
        pytest.param({}, set(), set(load().anomalies), id="nothing"),
    ],
)
def test_a_picture_has_its_shapes(
    series: dict[str, list[float | None]], has: set[str], has_not: set[str]
) -> None:
    """The shapes that the picture must have are found, those that it must not have are not."""
    found = {shape.id for shape in shapes(curves(**series))}
    assert found <= set(load().anomalies)
    assert has <= found
    assert not has_not & found


@pytest.mark.parametrize(
    ("series", "name", "line", "words"),
    [
        pytest.param({"loss": [2.0, 1.9, NAN]}, "nan-loss", 3, "step 2", id="the first NaN"),
        pytest.param(
            {"loss": [2.3, 0.0, 0.0], "grad_norm": [1.0, NAN, NAN]},
            "hidden-nan",
            2,
            "2 of 3",
            id="the first hidden NaN",
        ),
        pytest.param({"loss": [NAN, 1.0]}, "nan-first-record", 1, "nan", id="the first record"),
        pytest.param(
            {"loss": [*falling(40), 7.5, 2.0, 0.9]}, "loss-spike", 41, "7.5", id="the spike"
        ),
        pytest.param(
            {"loss": falling(9), "eval_loss": [None] * 5 + [NAN]},
            "nan-eval-only",
            6,
            "eval_loss",
            id="the evaluation",
        ),
        pytest.param(
            {"loss_scale": halving(65536, 16)}, "scale-collapse", 1, "65536", id="the first halving"
        ),
        pytest.param(
            {"loss_scale": [65536.0] * 12 + halving(32768, 16)},
            "scale-collapse",
            13,
            "65536",
            id="the first halving behind quiet steps",
        ),
        pytest.param(
            {"loss_scale": [16.0, 16.0, NAN, 1.0]},
            "scale-collapse",
            1,
            "16 → 1",
            id="no two records show the fall",
        ),
    ],
)
def test_a_shape_shows_where_it_is_seen(
    series: dict[str, list[float | None]], name: str, line: int, words: str
) -> None:
    """The raw line and the figures of the place where it shows."""
    found = {shape.id: shape for shape in shapes(curves(**series))}
    assert found[name].line == line
    assert words in found[name].message.text("en")


def test_processes_are_judged_apart() -> None:
    """The NaN of one rank and the zeros of another are no hidden NaN.

    The shape names its process.
    """
    found = {
        shape.id: shape
        for shape in shapes(
            [
                *curves(ProcessId(rank=0), loss=falling(10)),
                *curves(ProcessId(rank=1), loss=[1.0, NAN], grad_norm=[1.0, NAN]),
            ]
        )
    }
    assert found["nan-loss"].where == ProcessId(rank=1)
    assert "hidden-nan" not in found
    assert found["loss-falls"].where == ProcessId(rank=0)


def steps_of(where: ProcessId, loss: list[float], every: int = 1, name: str = "loss") -> Series:
    """A loss that is recorded every so many steps, from the first such step on."""
    one = Series(name, "test", where.rank or 0, where)
    for index, value in enumerate(loss, 1):
        one.append(float(index * every), value, index)
    one.settle()
    return one


@pytest.mark.parametrize(("count", "noise"), [(300, 0.8), (100, 0.3), (30, 0.8), (12, 0.3)])
def test_noise_is_no_divergence(count: int, noise: float) -> None:
    """Losses of single samples leap by the factor of two or three all the time.

    They do so around a level that does not change: of a hundred such curves next to none diverges,
    and none leaps hugely.
    """
    dice = random.Random(7)
    found = [
        {
            shape.id
            for shape in shapes(
                curves(loss=[0.9 * math.exp(dice.gauss(0, noise)) for _ in range(count)])
            )
        }
        for _ in range(100)
    ]
    assert sum("loss-divergence" in one for one in found) <= 3
    assert sum("huge-spike" in one for one in found) <= 3


def test_a_wide_interval_hides_what_led_to_the_nan() -> None:
    """The text names the steps among which the bad one is; records of each step hide nothing."""
    found = {
        shape.id: shape for shape in shapes([steps_of(NOWHERE, [2.0, 1.9, 1.8, NAN], every=10)])
    }
    assert "one of 10" in found["nan-in-interval"].message.text("en")
    assert "nan-in-interval" not in {
        shape.id for shape in shapes([steps_of(NOWHERE, [2.0, 1.9, 1.8, NAN])])
    }


def test_the_process_that_went_wrong_first_shows_how() -> None:
    """The average over the ranks carries NaN to the others.

    Their curves tell nothing of how it came.
    """
    climb, flat = [0.5, 0.7, 1.1, 2.9, NAN, NAN], [0.5, 0.5, 0.5, 0.5, 0.5, NAN]
    carried, origin = steps_of(ProcessId(rank=0), flat), steps_of(ProcessId(rank=1), climb)
    assert "nan-out-of-flat" in {shape.id for shape in shapes([carried])}
    found = {shape.id: shape for shape in shapes([carried, origin])}
    assert found["one-rank-first"].where == ProcessId(rank=1)
    assert found["nan-after-runup"].where == found["nan-loss"].where == ProcessId(rank=1)
    assert "nan-out-of-flat" not in found


def test_several_records_on_one_line() -> None:
    """Frames of one raw line share its number; that is no reason to fail."""
    one = Series("loss", "test", 0, NOWHERE)
    for value in (1.0, 0.9, 0.8, 0.7, 0.6, 2.0, 4.0, 4.1, 4.2):
        one.append(NAN, value, 1)
    one.settle()
    assert "loss-divergence" in {shape.id for shape in shapes([one])}


def test_a_long_curve_keeps_its_shapes() -> None:
    """Beyond twenty thousand records shapes look at an envelope.

    What a short curve shows, a long one shows too.
    """
    calm = falling(60_000)
    loss = [*calm[:40_000], *[0.0] * 20_000]
    found = {
        shape.id
        for shape in shapes(
            curves(
                loss=loss, grad_norm=[1.0] * 40_000 + [NAN] * 20_000, learning_rate=cosine(60_000)
            )
        )
    }
    assert "hidden-nan" in found
    assert not {"zero-loss", "nan-grad-finite-loss", "rate-standstill"} & found
    assert {"nan-loss", "nan-out-of-flat", "nan-recovers"} <= {
        shape.id for shape in shapes(curves(loss=[*calm[:30_000], NAN, *calm[30_000:]]))
    }


VALUES = st.one_of(
    st.floats(),
    st.floats(-10, 10),
    st.sampled_from([0.0, NAN, INF, -INF, 1.7e308, -1.7e308, 5e-324, 65536.0, 1e-5]),
)


@settings(max_examples=300, deadline=None)
@example({"memory": [*[0.0] * 13, -9.769313486231587e306, -1.7e308]})
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "loss",
                "grad_norm",
                "learning_rate",
                "eval_loss",
                "loss_scale",
                "memory",
                "loss_cls",
                "reward",
            ]
        ),
        st.lists(st.one_of(VALUES, st.none()), max_size=30),
    )
)
def test_no_figures_are_a_crash(series: dict[str, list[float | None]]) -> None:
    """Whatever is printed, shapes are found or not; every id is in the vocabulary."""
    assert {shape.id for shape in shapes(curves(**series))} <= set(load().anomalies)


def test_what_depends_on_the_outcome_comes_last() -> None:
    """What was found before stays, and counts where the same is found again."""
    observed = Observed(series=curves(loss=falling(12)), records={0: 12}, last_records={0: 12})
    known = registry.detect_anomalies(observed)
    assert "no-failure-shown" not in known
    assert registry.add_outcome_anomalies(observed, known, "failed") == known
    assert list(registry.add_outcome_anomalies(observed, known, "running")) == [
        *known,
        "no-failure-shown",
        "steady-records",
    ]
    end = Anomaly("finished", quote("told before"), 0, NOWHERE, 5)
    assert registry.add_outcome_anomalies(observed, {"finished": end}, "completed") == {
        "finished": end
    }


def test_every_detector_is_listed_once() -> None:
    """A function that nobody lists finds nothing."""
    listed = [*registry.OF_A_PROCESS, *registry.OF_THE_JOB, *registry.OF_THE_OUTCOME]
    modules = [
        importlib.import_module(f"postmortem.diagnosis.detectors.{module.name}")
        for module in pkgutil.iter_modules(room.__path__)
        if module.name not in {"observed", "registry"}
    ]
    written = [
        function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and list(inspect.signature(function).parameters) == ["observed"]
    ]
    assert len(listed) == len(set(listed))
    assert {*listed, ranks.detect_first_nonfinite_process} == set(written)
