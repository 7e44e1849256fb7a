"""Figures that no sound run prints, scores that are lost, and the look-alikes that are sound."""

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.rules.base import load
from tests.diagnosis.detectors.made_curves import found

NAN, INF = math.nan, math.inf
BAD = {"nan-metric", "metric-absurd", "zero-gradient", "loss-vanishes", "at-chance"}


def falling(count: int, start: float = 2.5, end: float = 0.8) -> list[float]:
    """A curve that learns."""
    return [end + (start - end) * math.exp(-4 * index / count) for index in range(count)]


def wobble(count: int, level: float, by: float) -> list[float]:
    """A level with some noise."""
    return [level + by * math.sin(7.0 * index) for index in range(count)]


@pytest.mark.parametrize(
    ("series", "has"),
    [
        pytest.param(
            {"loss": falling(30), "logps/chosen": [*wobble(20, -200, 3), *[NAN] * 10]},
            "nan-metric",
            id="the log-probabilities are lost",
        ),
        pytest.param(
            {"loss": falling(30), "Rewards": [*wobble(29, 1, 0.2), INF]},
            "nan-metric",
            id="an infinite reward, whatever the case of its name",
        ),
        pytest.param(
            {"loss": falling(30), "val_acc": [NAN] * 30}, "nan-metric", id="never a score"
        ),
        pytest.param(
            {"loss": wobble(40, 0.0, 0.02), "kl": [0.01] * 24 + [10.0**n for n in range(16)]},
            "metric-absurd",
            id="a divergence of astronomical size",
        ),
        pytest.param(
            {"loss": falling(40), "kl": [*wobble(25, 0.01, 0.002), 1e12, *wobble(14, 0.01, 0.002)]},
            "metric-absurd",
            id="one huge figure among calm ones",
        ),
        pytest.param(
            {"loss": falling(40), "val_mae": [*wobble(36, 0.5, 0.1), *[1.7e308] * 4]},
            "metric-absurd",
            id="the limit of a figure",
        ),
        pytest.param(
            {"loss": falling(40), "grad_norm": [*wobble(39, 1.0, 0.1), 3.4e38]},
            "metric-absurd",
            id="a gradient at the limit of single precision",
        ),
        pytest.param(
            {"loss": [0.0] * 20, "grad_norm": [0.0] * 20, "reward": wobble(20, 0.4, 0.1)},
            "zero-gradient",
            id="no gradient beside rewards that vary",
        ),
        pytest.param(
            {
                "loss": [*falling(20), *[None] * 8],
                "grad_norm": wobble(28, 1.2, 0.1),
                "learning_rate": [1e-4] * 28,
            },
            "loss-vanishes",
            id="the loss is printed no more",
        ),
        pytest.param(
            {"loss": wobble(8, 2.3026, 0.001), "epoch": [*range(8)], "acc": wobble(8, 0.1, 0.002)},
            "at-chance",
            id="ten classes, guessed",
        ),
        pytest.param(
            {"eval_loss": [0.6931] * 5, "loss": wobble(5, 0.695, 0.001), "val_acc": [50.0] * 5},
            "at-chance",
            id="two classes, guessed, in per cent",
        ),
        pytest.param(
            {"loss": wobble(40, 0.0, 0.02), "episode_reward": [*range(25), *wobble(15, 1, 1)]},
            "collapse",
            id="the reward is back where it began",
        ),
        pytest.param(
            {
                "loss": [*falling(12), *[2.3] * 8],
                "acc": [0.1 + 0.05 * min(n, 11) for n in range(12)] + [0.1] * 8,
            },
            "collapse",
            id="the accuracy is back at chance",
        ),
        pytest.param(
            {
                "eval_loss": [0.9, NAN],
                "loss": falling(30),
                "grad_norm": [*[1.0] * 20, NAN, *[1.0] * 9],
            },
            "nan-eval-only",
            id="the evaluation, beside a gradient that a scaler skips",
        ),
        pytest.param(
            {"loss": [2.24, 8.0e27, 5.1e30]}, "metric-absurd", id="the loss in its second record"
        ),
        pytest.param(
            {"loss": [2.3], "grad_norm": [0.0]}, "zero-gradient", id="no gradient of a loss"
        ),
    ],
)
def test_no_sound_run_prints_this(series: Mapping[str, Sequence[float | None]], has: str) -> None:
    """The shape is found, and most of them are bad: health is out of the question."""
    assert has in found(series)
    assert load().anomalies[has].is_bad or has == "collapse"


@pytest.mark.parametrize(
    "series",
    [
        pytest.param(
            {"ep_rew_mean": [NAN, NAN, *map(float, range(38))], "loss": wobble(40, 0.4, 0.02)},
            id="no episode has ended yet",
        ),
        pytest.param(
            {"best_loss": [INF, 0.9, 0.8], "loss": falling(12)}, id="a bound before the first score"
        ),
        pytest.param(
            {"loss": falling(60), "recall": [0.1, 0.2, NAN, *wobble(57, 0.5, 0.1)]},
            id="a mean over nothing, long ago",
        ),
        pytest.param(
            {"loss": falling(30), "iou_car": [NAN] * 30}, id="a class that is not in the data"
        ),
        pytest.param(
            {"loss": falling(30), "grad_norm": [0.0] * 30}, id="a norm that is not computed"
        ),
        pytest.param(
            {
                "loss": wobble(60, 0.5, 0.02),
                "reward": [3.0 * n for n in range(20)]
                + [10.0] * 5
                + [3.0 * n for n in range(25, 60)],
            },
            id="a reward that comes back",
        ),
        pytest.param({"loss": falling(30), "val_acc": wobble(30, 0.7, 0.1)}, id="noisy scores"),
        pytest.param(
            {"loss": falling(30), "ppl": [math.exp(30 * math.exp(-n / 4)) for n in range(30)]},
            id="an exponential that comes down",
        ),
        pytest.param(
            {
                "loss": falling(30),
                "tokens": [1e9 * n for n in range(30)],
                "eta": [9.0] * 29 + [1e17],
            },
            id="counts and times of any size",
        ),
        pytest.param(
            {
                "loss": [0.5 + 0.02 * n for n in range(60)],
                "ep_return": [4.0 * n for n in range(60)],
                "entropy": [1.3 - 0.01 * n for n in range(60)],
            },
            id="the value loss grows with the return",
        ),
        pytest.param(
            {
                "Loss_D": [1.1 - 0.01 * n for n in range(60)],
                "loss": [2 + 0.1 * n for n in range(60)],
                "Loss_G": [2 + 0.1 * n for n in range(60)],
            },
            id="the generator's loss rises",
        ),
        pytest.param(
            {
                "loss": [120 + 40 * (1 - math.exp(-n / 8)) for n in range(40)],
                "recon": [118 - n for n in range(40)],
                "kld": [1.0 + n for n in range(40)],
            },
            id="the weight of a divergence grows",
        ),
        pytest.param(
            {"loss": [round(1.5 * math.exp(-n / 6) + 0.1, 2) for n in range(40)]},
            id="two digits stand still before the loss does",
        ),
        pytest.param(
            {
                "loss": [*[3 - 0.05 * n for n in range(30)], *[1.5] * 6],
                "learning_rate": [*[1e-3 * (1 - n / 30) for n in range(30)], *[0.0] * 6],
            },
            id="the rate has decayed to 0",
        ),
        pytest.param(
            {"value_loss": [60.0, 63.7, 58.1], "ep_rewmean": [NAN] * 3, "eplenmean": [NAN] * 3},
            id="nobody counts the episodes",
        ),
        pytest.param({"loss": [0.01], "grad_norm": [0.0]}, id="next to nothing is left to learn"),
        pytest.param({"loss": [9e12, 2.1, 1.8]}, id="a first record before anything is scaled"),
    ],
)
def test_a_sound_run_may_print_this(series: Mapping[str, Sequence[float | None]]) -> None:
    """Neither bad nor a collapse."""
    shapes = found(series)
    assert not shapes & {*BAD, "collapse", "loss-divergence", "plateau"}
    assert not {name for name in shapes if load().anomalies[name].is_bad}


def test_a_late_stretch_is_flat_by_nature() -> None:
    """A plateau is told from the run's own start only."""
    assert "plateau" not in found({"loss": wobble(40, 2.31, 0.01)}, first=120_000.0)
    assert "plateau" in found({"loss": wobble(40, 2.31, 0.01)})


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["logps/chosen", "rewards/margins", "kl", "entropy", "loss_box", "val_acc"]),
    st.integers(1, 29),
    st.sampled_from([NAN, INF, -INF]),
)
def test_one_broken_figure_is_enough(name: str, place: int, value: float) -> None:
    """Wherever it stands behind the first record, and whatever the others do."""
    figures = [0.5 + 0.001 * index for index in range(30)]
    figures[place] = value
    shapes = found({"loss": falling(30), name: figures})
    assert shapes & {"nan-metric", "nan-component"}
