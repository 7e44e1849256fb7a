"""Curves in one line of text."""

from math import inf, nan

import pytest

from postmortem.report.curves import draw_sparkline
from tests.report.samples import a_series


@pytest.mark.parametrize(
    ("steps", "values", "line"),
    [
        pytest.param([1, 2, 3, 4], [0, 1, 2, 7], "▁▂▃█", id="rising"),
        pytest.param([1, 2, 3], [5, 5, 5], "▅▅▅", id="flat"),
        pytest.param([1, 2, 3, 4], [1, 2, nan, inf], "▁█xx", id="breaks"),
        pytest.param([1, 2], [nan, nan], "xx", id="nothing finite"),
        pytest.param([1], [3], "▅", id="one point"),
        pytest.param([1, 2, 3], [1, 100, 10_000], "▁▅█", id="a wide range is logarithmic"),
        pytest.param([0, 1, 9], [0, 0, 8], "▁▁█", id="a gap repeats the value before"),
    ],
)
def test_a_sparkline_shows_the_shape(steps: list[float], values: list[float], line: str) -> None:
    """Low to high in eight blocks, x where a value is not finite."""
    assert (
        draw_sparkline(
            a_series("loss", [float(step) for step in steps], [float(value) for value in values]),
            40,
        )
        == line
    )


def test_a_long_series_fits_and_keeps_its_peak_and_its_first_bad_value() -> None:
    """A column shows its highest value; one NaN among many is marked where it comes first only."""
    values = [1.0] * 1000
    values[500], values[700], values[900] = 9.0, nan, nan
    line = draw_sparkline(a_series("loss", [float(step) for step in range(1000)], values), 20)
    assert len(line) == 20
    assert (line[10], line[14], line[18]) == ("█", "x", "▁")


def test_a_sparkline_shows_what_came_before_a_long_failure() -> None:
    """Where most columns would be x, the finite stretch is drawn and the rest is said."""
    assert (
        draw_sparkline(
            a_series("loss", [float(step) for step in range(40)], [1.0, 2.0, 3.0, *[nan] * 37]), 20
        )
        == "▁▅█ x…"
    )
