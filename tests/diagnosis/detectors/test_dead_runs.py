"""Figures by which a few records show that nothing is learnt, or that what was learnt is gone."""

import pytest

from tests.diagnosis.detectors.made_curves import found

VALUES = [0.5, 0.8, 2.0, 5.0, 9.0, 20.0, 40.0, 70.0, 110.0, 150.0, 190.0, 234.0]
RISING = [6.1, 44.0, 390.0, 5e3, 8e4, 6e5, 2e6]


@pytest.mark.parametrize(
    ("series", "shape", "is_there"),
    [
        pytest.param(
            {"g_loss": [0.0] * 9, "d_loss": [70.0, 66.0, 81.0] * 3},
            "collapse",
            True,
            id="a generator that gets no signal",
        ),
        pytest.param(
            {"g_loss": [0.0] * 9, "d_loss": [0.7, 0.6, 0.8] * 3},
            "collapse",
            False,
            id="a discriminator that does its work",
        ),
        pytest.param(
            {"loss": [*(-0.08 - 0.002 * one for one in range(12)), *[0.1064, 0.1062] * 10]},
            "collapse",
            True,
            id="a signed loss that settles above its start",
        ),
        pytest.param(
            {"loss": [*(-0.08 - 0.002 * one for one in range(12)), *[-0.1, -0.1001] * 10]},
            "collapse",
            False,
            id="one that settles below it",
        ),
        pytest.param(
            {"policy_entropy": [3e-5], "approxkl": [0.0], "clipfrac": [0.0]},
            "collapse",
            True,
            id="a policy without chance that does not change",
        ),
        pytest.param(
            {"policy_entropy": [3e-5], "approxkl": [2e-4], "clipfrac": [0.0]},
            "collapse",
            False,
            id="a certain policy that changes",
        ),
        pytest.param(
            {"policy_entropy": [1.1], "approxkl": [0.0], "clipfrac": [0.0]},
            "collapse",
            False,
            id="the first update of any policy",
        ),
        pytest.param({"td_loss": RISING}, "loss-divergence", True, id="values that blow up"),
        pytest.param({"loss": VALUES}, "loss-divergence", True, id="a loss that grows"),
        pytest.param(
            {"loss": VALUES, "mean_reward": [3.0 * n for n in range(len(VALUES))]},
            "loss-divergence",
            False,
            id="values that grow with the returns",
        ),
        pytest.param(
            {"td_loss": [*RISING, 4e3]}, "loss-divergence", False, id="values on their way back"
        ),
        pytest.param(
            {"acc": [0.44, 0.4725, 0.4813, 0.4901], "val_acc": [0.4391] * 4},
            "score-unmoved",
            False,
            id="one of them moves",
        ),
        pytest.param(
            {"acc": [0.01, 0.02, 0.02, 0.03, 0.04, 0.04, 0.05, 0.07, 0.08]},
            "nothing-moves",
            False,
            id="a low accuracy that rises",
        ),
        pytest.param(
            {"epoch": [1] * 4 + [2] * 4, "loss": [0.812, 1.204, 0.977, 1.118] * 2},
            "nothing-moves",
            True,
            id="an epoch that repeats the one before",
        ),
        pytest.param(
            {
                "epoch": [1] * 4 + [2] * 4,
                "loss": [0.812, 1.204, 0.977, 1.118, 0.812, 1.204, 0.976, 1.118],
            },
            "nothing-moves",
            False,
            id="one that nearly does",
        ),
        pytest.param(
            {"loss": [0.11, 18.2], "eval_loss": [0.15, 19.1]}, "huge-spike", True, id="both leap"
        ),
        pytest.param(
            {"loss": [0.11, 18.2], "eval_loss": [0.15, 0.2]}, "huge-spike", False, id="one leaps"
        ),
    ],
)
def test_a_few_records_tell(series: dict[str, list[float]], shape: str, *, is_there: bool) -> None:
    """Each beside the same figures of a run in which nothing is wrong."""
    assert (shape in found(series)) is is_there


@pytest.mark.parametrize(
    ("rewards", "first", "is_there"),
    [
        pytest.param([-21.0] * 6, 3e6, True, id="the worst score, far into the run"),
        pytest.param([-21.0] * 6, 0.0, False, id="at its beginning"),
        pytest.param([-21.0, -20.8] * 3, 3e6, False, id="one that moves"),
        pytest.param([200.0] * 6, 3e6, False, id="the best score"),
    ],
)
def test_a_reward_that_never_moves(rewards: list[float], first: float, *, is_there: bool) -> None:
    """A game is not learnt before its score changes."""
    assert ("nothing-moves" in found({"ep_rew_mean": rewards}, first=first)) is is_there
