"""Figures that stand where no learning model puts them, and the look-alikes that are sound."""

from collections.abc import Mapping, Sequence

import pytest

from postmortem.rules.base import load
from tests.diagnosis.detectors.made_curves import found

FLAT = [1.31, 0.98, 1.22, 0.91, 1.15, 1.28, 1.02, 1.25, 1.19, 1.3]
FALLS = [2.1, 1.7, 1.4, 1.1, 0.9, 0.7, 0.6, 0.5, 0.45, 0.4]


@pytest.mark.parametrize(
    ("series", "has"),
    [
        pytest.param(
            {"errD": [0.4, 0.01, *[0.00001] * 10], "errG": [0.7, 4.0, *[12.5] * 10]},
            "collapse",
            id="the discriminator has won",
        ),
        pytest.param(
            {"loss": FALLS, "eval_mAP": [0.001, 0.0] * 6}, "nothing-moves", id="nothing is found"
        ),
        pytest.param({"eval_mAP": [0.0]}, "nothing-moves", id="nothing is found, and no loss told"),
    ],
)  # fmt: skip
def test_what_does_not_learn_is_found(
    series: Mapping[str, Sequence[float | None]], has: str
) -> None:
    """Each stands there for several records, beside something that says the same."""
    assert has in found(series, first=3000)
    assert load().anomalies[has].is_bad or has == "collapse"


@pytest.mark.parametrize(
    "series",
    [
        pytest.param({"loss": FALLS, "val_acc": [0.5] * 10}, id="the loss falls: it comes later"),
        pytest.param({"loss": FLAT, "val_acc": [0.97] * 10}, id="as good as it gets"),
        pytest.param(
            {"val_acc": [0.07 * n for n in range(12)] + [0.9927] * 60}, id="it stands at its best"
        ),
        pytest.param({"loss": FALLS, "acc": [0.0] * 10}, id="a regression with an accuracy"),
        pytest.param(
            {"loss": [0.0201, 0.0192, 0.0198, 0.0174, 0.0185, 0.0179, 0.0213], "acc": [0.0056] * 7},
            id="a regression with an accuracy, near its floor",
        ),
        pytest.param(
            {"loss": [2.3012, 0.9121, 0.4513, 0.4513, 0.4513, 0.4513],
             "acc": [0.3, 0.7, 0.9123, 0.9123, 0.9123, 0.9123]},
            id="it has learnt before it stands still",
        ),
        pytest.param({"loss": [2.31] * 9}, id="a mean of few digits"),
        pytest.param(
            {"epoch": [2.0] * 10, "accuracy": [0.001 + 0.0001 * n for n in range(10)]},
            id="few answers are right, and more and more",
        ),
        pytest.param({"loss": [0.0265] * 2, "acc": [0.99] * 2}, id="two records only"),
        pytest.param(
            {"loss": FALLS, "precision": [0.0, 0.0, *[0.4] * 8], "recall": [0.0, *[0.3] * 9],
             "accuracy": [0.9] * 10},
            id="nothing found at first",
        ),
        pytest.param(
            {"d_loss": [0.7, 0.4, 0.5, 0.3, 0.4, 0.5, 0.4, 0.6, 0.5, 0.4],
             "g_loss": [0.8, 2.0, 3.1, 4.0, 3.5, 3.9, 4.1, 3.7, 4.0, 3.8]},
            id="a game of two that goes on",
        ),
        pytest.param(
            {"loss": FLAT, "entropy": [1.7, 1.5, 1.2, 0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.1],
             "mean_reward": [1.0, 2.0, 3.0, 5.0, 8.0, 9.0, 9.5, 9.7, 9.8, 9.9]},
            id="a policy that has made up its mind and is paid for it",
        ),
        pytest.param({"loss": FALLS, "wer": [1.0, *[0.98] * 9]}, id="speech learns late"),
        pytest.param({"episode_reward": [500.0] * 30}, id="a game that is won each time, maybe"),
        pytest.param(
            {"mean_reward": [0.1, 0.4, 0.7, *[1.0] * 40]}, id="the reward is all that can be had"
        ),
        pytest.param({"loss": FALLS, "eval_mAP": [0.0] * 5}, id="detection learns late"),
    ],
)  # fmt: skip
def test_what_may_be_sound_is_left(series: Mapping[str, Sequence[float]]) -> None:
    """One such figure alone, or beside a loss that falls, proves nothing."""
    assert not {"score-unmoved", "nothing-moves", "collapse"} & found(series)


@pytest.mark.parametrize(
    ("losses", "is_there"),
    [
        pytest.param([5128.0, 9744.0, 18512.0, 35200.0, float("inf")], True, id="at the end"),
        pytest.param([9.1, 53.0, 318.0, 1885.0, 11180.0, float("inf")], False, id="climbed there"),
        pytest.param([5128.0, 9744.0, float("nan")], False, id="no infinity"),
        pytest.param([2.1, 2.0, 1.9, float("inf")], False, id="out of small figures"),
    ],
)
def test_the_end_of_float16(losses: Sequence[float], *, is_there: bool) -> None:
    """A loss that is infinite from just below 65504 on, and was never small."""
    assert ("inf-at-half-range" in found({"loss": losses})) == is_there
