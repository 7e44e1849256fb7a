"""The series of a process side by side."""

import math
import re
from array import array

import pytest

from postmortem.core.findings import NOWHERE
from postmortem.core.names import IN_LISTS
from postmortem.diagnosis.detectors.observed import Curves
from postmortem.extraction.facts.series import Series


@pytest.mark.parametrize("has_steps", [True, False])
def test_the_points_of_a_bar_on_one_line_are_thinned(*, has_steps: bool) -> None:
    """Of a long curve on one line as few points are looked at as of one on many lines, and its spike is among them."""
    curves = {}
    for name in ("loss", "accuracy"):
        curve = curves[name] = Series(name, "pytorch", 0, NOWHERE)
        for step in range(60_000):
            curve.append(step if has_steps else math.nan, 99 if step == 33_333 else 1 + step % 7, 1)
        curve.settle()
    thinned = Curves(curves.values())
    assert all(len(thinned.points(name)) < 20_000 for name in curves)
    assert max(point.value for point in thinned.points("loss")) == 99


def test_the_scores_of_an_evaluation_on_its_way_are_no_course() -> None:
    """They begin anew with each evaluation, and waver until many samples are in them."""
    series = [Series(name, "pytorch", 0, NOWHERE) for name in ("val_mIoU_so_far", "val_mIoU")]
    for one in series:
        one.append(1, 0.5, 1)
        one.settle()
    assert list(Curves(series).by_name) == ["val_mIoU"]


def test_what_a_series_knows_of_itself_is_what_its_points_say() -> None:
    """Whether a value is not finite, how large the others are and how many, without looking at one."""
    sound, broken = (Series(name, "pytorch", 0, NOWHERE) for name in ("loss", "grad_norm"))
    for step, value in enumerate([3.0, -7.0, 2.0, math.inf, math.nan, 1.0]):
        (sound if math.isfinite(value) else broken).append(step, value, step + 1)
    sound.settle()
    broken.settle()
    curves = Curves([sound, broken])
    assert (curves.first_nonfinite("loss"), curves.first_nonfinite("lr")) == (None, None)
    assert curves.first_nonfinite("grad_norm") == (3, math.inf, 4)
    assert curves.finite("loss") == curves.points("loss")
    assert curves.finite("grad_norm") == []
    assert (curves.is_within("loss", 7), curves.is_within("loss", 6.9)) == (True, False)
    assert curves.is_within("grad_norm", 0)
    assert [curves.count(name) for name in ("loss", "grad_norm", "lr")] == [4, 2, 0]


@pytest.mark.parametrize("more", [0, 200])
@pytest.mark.parametrize(
    ("pattern", "but", "expected"),
    [
        pytest.param("loss", None, ["loss_1", "loss_2", "val_loss_1"], id="one for all digits"),
        pytest.param("_", None, ["loss_1", "loss_2", "acc_1", "val_loss_1"], id="all names"),
        pytest.param("grad", None, [], id="none"),
        pytest.param("", "part", ["loss_1", "loss_2", "acc_1", "val_loss_1"], id="but many"),
        pytest.param("_1$", None, ["loss_1", "acc_1", "val_loss_1"], id="a digit of its own"),
        pytest.param("loss", "val", ["loss_1", "loss_2"], id="but others"),
        pytest.param("loss", "2", ["loss_1", "val_loss_1"], id="but a digit"),
    ],
)
def test_names_are_given_in_which_a_pattern_is_found(
    pattern: str, but: str | None, expected: list[str], more: int
) -> None:
    """In their order, whether each is searched or one of those that differ in digits."""
    given = ["loss_1", "loss_2", "acc_1", "val_loss_1", *(f"part{one}" for one in range(more))]
    curves = Curves([Series(name, "script", 0, NOWHERE) for name in given])
    other = None if but is None else re.compile(but)
    assert [name for name in curves.called(re.compile(pattern), other) if name != "loss"] == (
        expected
    )


def test_figures_of_lists_stand_beside_those_of_the_same_step() -> None:
    """By the lines of any of the lists; on one line none stands beside another."""
    rate, loss = (Series(name, IN_LISTS, 0, NOWHERE) for name in ("learning_rate", "loss"))
    for step in (1, 2, 3):
        rate.append(step, step / 10, step)
        loss.append(step, 2 - step, 10 + step)
    assert Curves([rate, loss]).by_line("learning_rate") == {
        1: 0.1, 2: 0.2, 3: 0.3, 11: 0.1, 12: 0.2, 13: 0.3
    }  # fmt: skip
    for series in (rate, loss):
        series.lines[:] = array("q", [1, 1, 1])
    assert Curves([rate, loss]).by_line("learning_rate") == {}
