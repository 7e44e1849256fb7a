"""What is measured of curves beside the course of each: levels against those of guessing."""

import math
from collections.abc import Mapping, Sequence

import pytest

from postmortem.diagnosis.detectors.curve_features import compute_features
from postmortem.diagnosis.detectors.observed import Curves
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.pipeline import get_matcher
from tests.diagnosis.detectors.made_curves import make_series


def measure(values: Mapping[str, Sequence[float]], classes: int = 0) -> dict[str, float]:
    """The features of curves; the n-th record stands on line n."""
    series = make_series(values, steps=range(100))
    facts = FactStore()
    if classes:
        facts.add("setting_num_classes", str(classes), 1, 0, 1)
    return compute_features(Curves(series, metrics=get_matcher(()).knowledge.metrics), facts)


@pytest.mark.parametrize(
    ("name", "is_share"),
    [
        pytest.param("val_accuracy", 1.0, id="of right answers"),
        pytest.param("val_bleu", 0.0, id="no share of anything"),
    ],
)
def test_a_share_of_right_answers_is_told_from_other_scores(name: str, is_share: float) -> None:
    """A BLEU of 0.25 is not one in four."""
    found = measure({"loss": [1.0, 0.9, 0.8, 0.7], name: [0.25] * 4})
    assert found["eval_score.near_chance"] == 0
    assert found["eval_score.is_share"] == is_share


def test_the_mean_accuracy_of_the_classes_is_a_curve_of_its_own() -> None:
    """It tells what the accuracy of an uneven sample hides."""
    found = measure(
        {
            "loss": [0.3, 0.1, 0.07, 0.07],
            "val_accuracy": [0.97, 0.974, 0.974, 0.974],
            "val_balanced_accuracy": [0.5, 0.5, 0.5, 0.5],
        }
    )
    assert found["balanced.near_chance"] == 0
    assert found["eval_score.share_last"] == pytest.approx(0.974)


def test_the_validation_loss_is_measured_by_that_of_a_guess() -> None:
    """1 is the logarithm of the classes."""
    found = measure({"loss": [1.4, 0.7, 0.3], "eval_loss": [1.39, 1.4, 1.39]}, classes=4)
    assert found["eval_loss.by_chance"] == pytest.approx(1.39 / math.log(4))
    assert math.isnan(measure({"loss": [1.4, 0.7, 0.3]}, classes=4)["eval_loss.by_chance"])


def test_a_negated_entropy_falls_where_it_rises() -> None:
    """Stable-Baselines3 prints what it subtracts from the loss: -2.2 is more random than -1.6."""
    entropy = [2.2, 2.0, 1.8, 1.6]
    plain = measure({"loss": [1.0] * 4, "entropy": entropy})
    negated = measure({"loss": [1.0] * 4, "entropy_loss": [-value for value in entropy]})
    assert plain["entropy.change"] < 0
    assert negated["entropy.change"] == plain["entropy.change"]
