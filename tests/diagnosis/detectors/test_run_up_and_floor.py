"""A climb that only a part of the loss shows, a loss at the floor of a logarithm, lost scores."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.diagnosis.detectors.made_curves import found

NAN = math.nan


@pytest.mark.parametrize(
    ("part", "shape"),
    [
        pytest.param([1.2, 1.4, 1.5, 9e3], "nan-after-runup", id="a part has blown up"),
        pytest.param([1.2, 1.4, 1.5, 1.6], "nan-out-of-flat", id="the part is calm"),
        pytest.param([1.2, 1.4, 1.5, NAN], "nan-out-of-flat", id="the part is lost too"),
        pytest.param([0.0, 0.0, 1e-9, 1e-3], "nan-out-of-flat", id="a part that was nothing"),
    ],
)
def test_a_part_of_the_loss_shows_the_climb(part: Sequence[float], shape: str) -> None:
    """The total is not finite already, what it is made of tells how it came there."""
    shapes = found({"loss": [2.5, 2.4, 2.45, NAN], "loss_cls": part})
    assert shape in shapes
    assert len({"nan-after-runup", "nan-out-of-flat"} & shapes) == 1


@pytest.mark.parametrize(
    ("steps", "recovers"),
    [
        pytest.param([1, 2, 3, 4, 5], True, id="later steps"),
        pytest.param([10, 11, 12, 10, 11], False, id="another run beside it"),
        pytest.param([NAN] * 5, True, id="steps are not printed"),
    ],
)
def test_a_record_of_an_earlier_step_is_no_recovery(
    steps: Sequence[float], *, recovers: bool
) -> None:
    """A finite record at the step of the bad one, or before it, is of another run."""
    shapes = found({"loss": [2.5, 2.4, NAN, 2.3, 2.2]}, steps=steps)
    assert ("nan-recovers" in shapes) == recovers


@pytest.mark.parametrize(
    ("losses", "steps", "is_bad"),
    [
        pytest.param([NAN, *[2.5, 2.4] * 4], range(9), False, id="of no batch so far"),
        pytest.param([NAN, *[2.5, 2.4] * 4], range(1, 10), True, id="of the first step"),
        pytest.param([NAN, NAN, *[2.5, 2.4] * 4], range(10), True, id="of two"),
        pytest.param([NAN, 2.5, 2.4], range(3), True, id="few records behind it"),
    ],
)
def test_a_mean_of_nothing_is_no_failure(
    losses: Sequence[float], steps: Sequence[float], *, is_bad: bool
) -> None:
    """NaN at step 0 alone is 0 / 0."""
    assert ("nan-loss" in found({"loss": losses}, steps=steps)) == is_bad


@pytest.mark.parametrize(
    ("losses", "is_collapse"),
    [
        pytest.param([0.7, 100.0, 100.0], False, id="two round figures"),
        pytest.param([87.3365, 52.1, 12.4], False, id="it came back"),
        pytest.param([87.1, 87.1, 87.1], False, id="another figure"),
        pytest.param([87.3365], False, id="one record"),
    ],
)
def test_a_loss_at_the_floor_of_a_logarithm_has_collapsed(
    losses: Sequence[float], *, is_collapse: bool
) -> None:
    """Every sample is as wrong as the loss can say."""
    assert ("collapse" in found({"loss": losses})) == is_collapse


@pytest.mark.parametrize(
    ("scores", "is_collapse"),
    [
        pytest.param([0.41, 0.46, 0.50, 0.44, 0.3, 0.1, 0.01, 0.0, 0.0, 0.0], True, id="gone"),
        pytest.param([0.41, 0.46, 0.50, 0.44, 0.3, 0.3, 0.35, 0.4, 0.38, 0.4], False, id="less"),
        pytest.param([0.4, 0.0, 0.0, 0.3, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0], False, id="sparse"),
        pytest.param([0.0] * 10, False, id="never there"),
        pytest.param([-3.0, -2.5, -1.0, -0.5, -0.3, -0.2, -0.1, 0.0, 0.0, 0.0], False, id="rises"),
    ],
)
def test_a_score_that_is_gone(scores: Sequence[float], *, is_collapse: bool) -> None:
    """A log that begins late shows a score that is high from its first record on."""
    assert ("collapse" in found({"critic/score/mean": scores})) == is_collapse


@given(st.lists(st.floats(0.0, 60.0), min_size=2, max_size=30))
def test_a_noisy_loss_is_at_no_floor(losses: list[float]) -> None:
    """Only figures that repeat to the last digit are a floor."""
    if losses[-1] != losses[-2]:
        assert "collapse" not in found({"loss": losses})


@pytest.mark.parametrize(
    ("loss", "beside", "shape"),
    [
        pytest.param(4.1e6, "val_acc", True, id="no classifier loses as much"),
        pytest.param(4.1e6, "rmse", False, id="what is no classifier may"),
        pytest.param(41.0, "val_acc", False, id="a classifier that is sure and wrong"),
    ],
)
def test_one_record_may_show_that_weights_have_left_their_range(
    loss: float, beside: str, *, shape: bool
) -> None:
    """A cross-entropy has a height that no sound weights reach."""
    assert ("nan-after-runup" in found({"loss": [loss, NAN], beside: [0.1, 0.1]})) is shape
