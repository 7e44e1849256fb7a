"""Scores that freeze, guess or never rise, gradients that are never finite, means over nothing."""

import math
from collections.abc import Mapping, Sequence

import pytest

from tests.diagnosis.detectors.made_curves import found

NAN = math.nan
LEARNT = [0.91, 0.92, 0.9, 0.93, 0.91, 0.92, 0.9, 0.91]
CLAMPED = 87.33655


@pytest.mark.parametrize(
    ("series", "has"),
    [
        pytest.param(
            {"loss": [0.7, 0.69, 0.71, 0.7, 0.69], "grad_norm": [NAN] * 5},
            "grad-never-finite",
            id="no gradient is ever finite",
        ),
    ],
)
def test_what_is_not_sound(series: Mapping[str, Sequence[float]], has: str) -> None:
    """Each figure has its shape."""
    assert has in found(series)


@pytest.mark.parametrize(
    ("series", "lacks"),
    [
        pytest.param(
            {"loss": [0.25] * 14, "val_acc": [*LEARNT, 0.91, 0.92, 0.9, 0.9, 0.9, 0.9]},
            "score-unmoved",
            id="a score that is at rest where it was",
        ),
        pytest.param(
            {"loss": [4.0, 3.2, 2.6, 2.2, 2.0], "accuracy": [0.1] * 5},
            "at-chance",
            id="a loss that falls",
        ),
        pytest.param(
            {"loss": [2.0, 1.8, 1.6], "ENTS_F": [0.0] * 3, "SCORE": [0.0] * 3},
            "nothing-moves",
            id="scores of 0 at the beginning",
        ),
        pytest.param(
            {"loss": [0.7, 0.69, 0.71, 0.7, 0.69], "grad_norm": [NAN, NAN, 1.0, NAN, NAN]},
            "grad-never-finite",
            id="one gradient is finite",
        ),
        pytest.param(
            {"loss": [3.0, 2.9, 2.8, 2.7, 2.6, 2.5], "iou": [0.5, NAN, 0.6, 0.5, 0.6, 0.5],
             "count": [4, 0, 3, 5, 2, 6]},
            "nan-metric",
            id="a mean over nothing",
        ),
        pytest.param(
            {"loss": [2.0, 1.9, 1.8], "grad_norm": [math.inf, 3.0, 2.5]},
            "grad-explosion",
            id="one infinite norm, the first",
        ),
        pytest.param(
            {"loss": [2e-4, 5e-5, 9e-5, 1e-4, 6e-5, 7e-5, 3e-5, 2e-5, 1.5e-4, 1.4e-4, 1.3e-4]},
            "loss-divergence",
            id="the noise of a loss that is learnt",
        ),
        pytest.param(
            {"epoch": [0.0] * 4, "accuracy": [0.0576, 0.0577, 0.0583, 0.0579]},
            "score-unmoved",
            id="a low accuracy in the first pass",
        ),
        pytest.param(
            {"mAP": [0.0]}, "nothing-moves", id="an evaluation before anything is trained"
        ),
    ],
)  # fmt: skip
def test_what_is_sound(series: Mapping[str, Sequence[float]], lacks: str) -> None:
    """It looks alike and is not it."""
    assert lacks not in found(series)
