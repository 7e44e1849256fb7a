"""Games that one side has won, certain policies, vanishing figures, tasks in stages."""

import math

import pytest

from tests.diagnosis.detectors.made_curves import found

HELD = [0.7 + 0.1 * math.sin(index) for index in range(40)]
"""A discriminator's loss in a game that is open."""
CERTAIN = [-1.79, -1.2, -0.4] + [-1e-3 * (1 + index % 3) for index in range(37)]
FLAT = [41.0 + index % 5 for index in range(40)]


def stage(top: float, bottom: float, count: int = 20) -> list[float]:
    """A loss that comes down from a leap."""
    return [bottom + (top - bottom) * math.exp(-index / 5) for index in range(count)]


@pytest.mark.parametrize(
    ("series", "is_collapse"),
    [
        pytest.param(
            {"Loss_D": [1.4, 0.3, *[1e-3] * 38], "Loss_G": [0.7, 2.0, *[9.0] * 38]}, True, id="won"
        ),
        pytest.param({"d_loss": HELD, "g_loss": [9.0] * 40}, False, id="the judge still errs"),
        pytest.param({"d_loss": [1e-3] * 40, "g_loss": HELD}, False, id="the forger is not caught"),
        pytest.param(
            {"d_loss": [-9.0 - index for index in range(40)], "g_loss": [9.0] * 40},
            False,
            id="a critic's score",
        ),
        pytest.param(
            {"embedding_std": [0.2 * 0.8**index for index in range(40)]}, True, id="all alike"
        ),
        pytest.param({"feat_std": [0.2 + index / 100 for index in range(40)]}, False, id="spread"),
        pytest.param({"entropy_loss": CERTAIN, "ep_rew_mean": FLAT}, True, id="certain of nothing"),
        pytest.param(
            {"entropy_loss": CERTAIN, "ep_rew_mean": [20.0 + 4 * index for index in range(40)]},
            False,
            id="certain since it has learnt",
        ),
        pytest.param(
            {"entropy_loss": [-1.5] * 40, "ep_rew_mean": FLAT}, False, id="undecided still"
        ),
        pytest.param({"entropy_loss": CERTAIN}, False, id="no reward to compare"),
    ],
)
def test_a_side_has_won(series: dict[str, list[float | None]], *, is_collapse: bool) -> None:
    """Where nothing is left to learn from, and only there."""
    assert ("collapse" in found(series)) is is_collapse


@pytest.mark.parametrize(
    ("last", "bad", "is_found"),
    [
        pytest.param(1e-38, math.nan, True, id="gone, then NaN"),
        pytest.param(1e-38, 0.5, False, id="gone, and the loss is well"),
        pytest.param(1e-6, math.nan, False, id="small is not gone"),
        pytest.param(0.0, math.nan, False, id="a figure that may be 0"),
    ],
)
def test_a_figure_vanishes_before_the_loss_breaks(
    last: float, bad: float, *, is_found: bool
) -> None:
    """What stays above 0 by its nature, and shrinks to what float32 hardly holds."""
    series: dict[str, list[float | None]] = {
        "loss": [1.0 - index / 50 for index in range(20)] + [bad],
        "min_p": [10.0**-index for index in range(19)] + [last, math.nan],
    }
    assert ("vanishing-before-nan" in found(series)) is is_found


@pytest.mark.parametrize(
    ("loss", "is_divergence"),
    [
        pytest.param(stage(2.2, 0.02) + stage(2.4, 0.7) + stage(2.0, 1.1), False, id="in stages"),
        pytest.param(
            stage(2.2, 0.02) + [0.02 + index / 20 for index in range(40)], True, id="a climb"
        ),
        pytest.param(
            stage(2.2, 0.02) + stage(9.0, 3.0) + stage(8.0, 4.0), True, id="above its beginning"
        ),
        pytest.param(stage(2.2, 0.02) + [2.4] * 40, True, id="up and never down"),
    ],
)
def test_a_task_in_stages_diverges_not(loss: list[float], *, is_divergence: bool) -> None:
    """Each leap comes down again, and none is above the beginning."""
    assert ("loss-divergence" in found({"loss": loss})) is is_divergence


@pytest.mark.parametrize(("rate", "is_divergence"), [(0.5, True), (1e-4, False)])
def test_a_first_record_stands_alone(rate: float, *, is_divergence: bool) -> None:
    """At a steep rate it is the run's beginning; else it may be of another kind."""
    loss = [7.7] + [40.0 + 6 * math.sin(index) for index in range(49)]
    assert (
        "loss-divergence" in found({"loss": loss, "learning_rate": [rate] * 50})
    ) is is_divergence
