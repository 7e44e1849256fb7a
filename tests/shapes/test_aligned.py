"""The series of a process side by side."""

import math

import pytest

from postmortem.facts.series import Series
from postmortem.model.lines import NOWHERE
from postmortem.shapes.aligned import Curves


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
