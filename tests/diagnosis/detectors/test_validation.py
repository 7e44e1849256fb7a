"""What validation tells beside training: overfitting, and guessing while training learns."""

from collections.abc import Mapping, Sequence

import pytest

from tests.diagnosis.detectors.made_curves import found

FALLING = [2.0 * 0.85**epoch for epoch in range(12)]
TURNED = [1.5, 1.1, 0.9, 0.85, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]
GENTLE = [1.5, 1.1, 0.9, 0.85, 0.86, 0.88, 0.9, 0.92, 0.94, 0.95, 0.97, 0.98]
RISING = [0.4 + 0.04 * epoch for epoch in range(12)]
SUNK = [0.5, 0.6, 0.7, 0.71, 0.7, 0.69, 0.69, 0.68, 0.68, 0.67, 0.67, 0.66]
STANDING = [0.5, 0.6, 0.7, 0.71, *[0.705] * 8]
EARNED = [-300.0 + 80.0 * episode for episode in range(26)]
BEGINNING: list[float | None] = [
    -310.0 + 9.0 * (episode % 10) if episode % 5 == 0 else None for episode in range(26)
]
CHANCE = [0.1, 0.1001, 0.0999, 0.1, 0.1002, 0.1, 0.0998, 0.1, 0.1, 0.1, 0.1001, 0.1]


@pytest.mark.parametrize(
    ("series", "has"),
    [
        pytest.param({"loss": FALLING, "eval_loss": TURNED}, "overfits", id="the loss alone"),
        pytest.param(
            {"loss": FALLING, "eval_loss": TURNED, "val_acc": SUNK}, "overfits", id="with a score"
        ),
        pytest.param(
            {"loss": FALLING, "test_loss": TURNED}, "overfits", id="a validation of another name"
        ),
        pytest.param(
            {"loss": FALLING, "train_acc": RISING, "val_acc": CHANCE},
            "validation-at-chance",
            id="a validation that guesses",
        ),
        pytest.param(
            {"loss": [-value for value in RISING], "eval_loss": [value - 2 for value in TURNED]},
            "overfits",
            id="losses below 0",
        ),
        pytest.param(
            {"loss": [0.6, 0.2, 0.02, *[0.001] * 9], "eval_loss": TURNED},
            "overfits",
            id="learnt by heart",
        ),
        pytest.param(
            {
                "loss": FALLING,
                "eval_loss": [min(value, 1.12) for value in TURNED],
                "val_acc": STANDING,
            },
            "overfits",
            id="the score no longer improves",
        ),
        pytest.param(
            {"rollout/ep_rew_mean": EARNED, "eval/mean_reward": BEGINNING},
            "validation-left-behind",
            id="a reward that the evaluation never sees",
        ),
    ],
)
def test_what_validation_shows(series: Mapping[str, Sequence[float | None]], has: str) -> None:
    """The anomaly is found."""
    assert has in found(series)


NOISY = [0.9, 0.4, 0.25, 0.15, 0.24, 0.11, 0.19, 0.13, 0.17, 0.21, 0.12, 0.18]


@pytest.mark.parametrize(
    "series",
    [
        pytest.param(
            {"loss": FALLING, "eval_loss": NOISY}, id="the best of noisy ones is a lucky one"
        ),
        pytest.param({"loss": FALLING, "eval_loss": GENTLE}, id="within what sound runs reach"),
        pytest.param(
            {"loss": FALLING, "eval_loss": TURNED, "val_acc": RISING}, id="the score improves still"
        ),
        pytest.param({"loss": [2.0] * 12, "eval_loss": TURNED}, id="training learns nothing"),
        pytest.param(
            {"loss": FALLING, "eval_loss": [*TURNED[:10], 0.86, 0.85]}, id="it comes back"
        ),
        pytest.param({"loss": FALLING[:4], "eval_loss": TURNED[:4]}, id="too few evaluations"),
        pytest.param(
            {"loss": FALLING, "eval_loss": TURNED, "entropy": RISING, "policy_loss": FALLING},
            id="a policy",
        ),
        pytest.param(
            {"loss": FALLING, "train_acc": RISING, "val_acc": RISING}, id="validation learns too"
        ),
        pytest.param(
            {"rollout/ep_rew_mean": EARNED, "eval/mean_reward": [0.8 * one for one in EARNED]},
            id="an evaluation that earns less",
        ),
    ],
)
def test_what_validation_does_not_show(series: Mapping[str, Sequence[float | None]]) -> None:
    """Sound courses are silent."""
    assert not found(series) & {"overfits", "validation-at-chance", "validation-left-behind"}


def test_an_error_that_the_validation_does_not_learn() -> None:
    """The training comes to a tenth of it; a validation that follows halfway is sound."""
    learnt = [16 * 0.8**record + 1 for record in range(20)]
    level = [17, 12, 15, *(14 + 0.1 * (record % 3) for record in range(17))]
    halfway = [16 * 0.9**record + 4 for record in range(20)]
    assert "overfits" in found({"loss": learnt, "eval_loss": level})
    assert "overfits" not in found({"loss": learnt, "eval_loss": halfway})
    assert "overfits" not in found({"loss": halfway, "eval_loss": level})
