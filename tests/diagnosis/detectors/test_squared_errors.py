"""The error of a critic that grows without end, and critics that are sound."""

import math
from collections.abc import Mapping, Sequence

import pytest

from tests.diagnosis.detectors.made_curves import found

GROWING = [0.05 * 10 ** (index / 8) for index in range(48)]
FLAT = [-100 + 9 * math.sin(5.0 * index) for index in range(48)]
RISING = [5.0 * index + 3 * math.sin(5.0 * index) for index in range(48)]
POLICY = [-0.01 * index for index in range(48)]


@pytest.mark.parametrize(
    "name", ["td_loss", "critic_loss", "train/critic_loss", "TD_error", "loss/critic"]
)
def test_a_squared_error_that_grows_without_end_diverges(name: str) -> None:
    """Rewards beside it do not excuse it while they do not rise."""
    assert "loss-divergence" in found({name: GROWING, "actor_loss": POLICY, "reward": FLAT})


def test_without_a_score_a_growth_that_returns_might_explain_only_ends_health() -> None:
    """A thousandfold is doubtful, a hundred-thousandfold is not."""
    some = found({"critic_loss": GROWING[:36]})
    assert "metric-absurd" in some
    assert "loss-divergence" not in some
    assert "loss-divergence" in found({"critic_loss": GROWING})


@pytest.mark.parametrize(
    "curves",
    [
        pytest.param({"critic_loss": GROWING, "reward": RISING}, id="the rewards rise with it"),
        pytest.param(
            {"value_loss": [*GROWING[:24], *GROWING[23::-1]], "reward": FLAT}, id="it comes back"
        ),
        pytest.param(
            {"critic_loss": [0.5 + 0.4 * index for index in range(48)], "reward": FLAT},
            id="it grows with its values",
        ),
        pytest.param({"actor_loss": GROWING, "reward": FLAT}, id="an objective of the policy"),
        pytest.param(
            {"critic_loss": GROWING, "generator_loss": POLICY}, id="the critic of a generator"
        ),
        pytest.param(
            {"td_loss": [1e-6 * value for value in GROWING], "reward": FLAT}, id="of next to 0"
        ),
        pytest.param({"value_loss": [-value for value in GROWING], "reward": FLAT}, id="no square"),
    ],
)
def test_a_sound_critic_is_not_accused(curves: Mapping[str, Sequence[float]]) -> None:
    """It may grow with the rewards, rise for a while, or be no square at all."""
    assert "loss-divergence" not in found(curves)
