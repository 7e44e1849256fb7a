"""Positions, scales and sparklines."""

from dataclasses import replace
from math import inf, isfinite, nan

import pytest

from postmortem.report.curves import chosen, curve, detail, fault, sparkline, ticks
from tests.report.samples import a_series, series


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
        sparkline(
            a_series("loss", [float(step) for step in steps], [float(value) for value in values]),
            40,
        )
        == line
    )


def test_a_long_series_fits_and_keeps_its_peak_and_its_first_bad_value() -> None:
    """A column shows its highest value; one NaN among many is marked where it comes first only."""
    values = [1.0] * 1000
    values[500], values[700], values[900] = 9.0, nan, nan
    line = sparkline(a_series("loss", [float(step) for step in range(1000)], values), 20)
    assert len(line) == 20
    assert (line[10], line[14], line[18]) == ("█", "x", "▁")


def test_a_sparkline_shows_what_came_before_a_long_failure() -> None:
    """Where most columns would be x, the finite stretch is drawn and the rest is said."""
    assert (
        sparkline(
            a_series("loss", [float(step) for step in range(40)], [1.0, 2.0, 3.0, *[nan] * 37]), 20
        )
        == "▁▅█ x…"
    )


STEPS = [float(step) for step in range(400)]


@pytest.mark.parametrize(
    ("bad", "first", "last"),
    [
        pytest.param(4, 0, 23, id="at the start"),
        pytest.param(396, 377, 399, id="at the end"),
        pytest.param(200, None, None, id="in the middle the curve shows it"),
    ],
)
def test_a_fault_at_an_end_of_a_long_curve_gets_a_detail(
    bad: int, first: float | None, last: float | None
) -> None:
    """The detail holds the samples around the fault and counts them."""
    values = [nan if step == bad else 1.0 for step in range(400)]
    near = detail(a_series("loss", STEPS, values))
    assert (
        (first, last) == (None, None)
        if near is None
        else (near.first[0], near.last[0]) == (first, last)
    )
    assert near is None or (near.points, near.nonfinite) == (len(near.samples), 1)


def test_a_failure_without_a_bad_value_is_looked_at_in_the_loss_only() -> None:
    """The last samples before a crash are shown for the curves that may tell why.

    A short curve has no detail.
    """
    loss = a_series("loss", STEPS, STEPS)
    near = detail(loss, (0, 99_999))
    assert near is not None
    assert (near.last[0], fault(near, (0, 99_999))) == (399.0, len(near.samples) - 1)
    assert detail(loss, (1, 99_999)) is None
    assert detail(a_series("learning_rate", STEPS, STEPS), (0, 99_999)) is None
    assert detail(a_series("loss", STEPS[:30], STEPS[:30]), (0, 99_999)) is None
    assert detail(a_series("loss", STEPS[:1], [nan])) is None


def test_a_curve_stands_by_its_steps_unless_they_go_back() -> None:
    """Steps of a second attempt begin again: then the record number is the place."""
    assert curve(a_series("loss", [10.0, 20.0], [1.0, 2.0])).xs == (10.0, 20.0)
    again = curve(a_series("loss", [1.0, 2.0, 1.0], [1.0, 2.0, 3.0]))
    assert (again.xs, again.is_by_step) == ((0.0, 1.0, 2.0), False)


def test_loss_comes_first_and_the_faulty_stream_before_the_healthy() -> None:
    """Of many series those that tell most are drawn."""
    healthy, faulty = (
        a_series("loss", [1.0, 2.0, 3.0], [1.0] * 3),
        a_series("loss", [1.0, 2.0], [1.0, nan]),
    )
    names = [one.name for one in chosen((*series(), healthy, faulty))]
    assert names == ["loss", "loss", "grad_norm", "loss_scale", "learning_rate"]
    assert chosen((healthy, faulty), each=1) == (faulty,)
    assert chosen((healthy,), ("grad_norm",)) == ()
    of_the_failing_file = replace(healthy, source=3)
    assert chosen((healthy, faulty, of_the_failing_file), each=1, failing=3) == (
        of_the_failing_file,
    )


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        pytest.param(0, 10, (0, 2, 4, 6, 8, 10), id="units"),
        pytest.param(0.9, 3.1, (1, 1.5, 2, 2.5, 3), id="halves"),
        pytest.param(5, 5, (5,), id="a point"),
        pytest.param(-1e308, 1e308, (), id="too wide for a float"),
        pytest.param(1, 1 + 1e-12, (), id="too narrow"),
    ],
)
def test_ticks_are_round(low: float, high: float, found: tuple[float, ...]) -> None:
    """Ticks are 1, 2 or 5 times a power of ten, and always few."""
    assert [value for value in ticks(low, high, 5) if isfinite(value)] == pytest.approx(found)
