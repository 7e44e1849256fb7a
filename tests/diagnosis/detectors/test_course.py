"""Tests for the measures of one curve."""

import math

import pytest

from postmortem.diagnosis.detectors.curve_course import MEASURES, measure_course, take_means


def test_every_measure_is_given() -> None:
    """A curve that is too short has measures without a value, an empty one too."""
    for values in ([], [1.0], [2.0, 1.0], [3.0, 2.0, 1.0], [1.0] * 1000):
        assert set(measure_course(values, is_higher_better=False)) == set(MEASURES)
    assert math.isnan(measure_course([2.0, 1.0], is_higher_better=False)["change"])


def test_a_loss_that_falls_and_rises_again() -> None:
    """It is seen how much was won, where the best stood, and how much of it was lost."""
    values = [2.0, 1.5, 1.0, 0.5, 0.6, 0.8, 1.0, 1.2, 1.4, 1.5, 1.5]
    found = measure_course(values, is_higher_better=False)
    assert found["best_at"] == pytest.approx(0.3)
    assert found["best_change"] == pytest.approx(0.75)
    assert found["change"] == pytest.approx(0.25)
    assert found["lost"] == pytest.approx(2.0)
    assert found["lost_share"] == pytest.approx(2 / 3)
    assert found["late_slope"] < 0 < found["middle_slope"]


def test_measures_know_no_unit() -> None:
    """The same curve in per cent, and the same error as a score, are measured alike."""
    values = [0.1, 0.4, 0.6, 0.5, 0.7, 0.72, 0.71, 0.73]
    share = measure_course(values, is_higher_better=True)
    percent = measure_course([100 * value for value in values], is_higher_better=True)
    mirrored = measure_course([-value for value in values], is_higher_better=False)
    for measure in set(MEASURES) - {"first_level", "last_level"}:
        assert share[measure] == pytest.approx(percent[measure], nan_ok=True), measure
        assert share[measure] == pytest.approx(mirrored[measure], nan_ok=True), measure


def test_values_that_are_not_finite() -> None:
    """They are counted, and measured by nothing else."""
    found = measure_course([2.0, 1.0, math.nan, 0.5, math.inf], is_higher_better=False)
    assert found["nonfinite"] == pytest.approx(0.4)
    assert found["ends_nonfinite"] == 1.0
    assert math.isfinite(found["change"])


def test_any_figure_can_be_measured() -> None:
    """Neither huge figures nor zeros overflow or divide by zero."""
    for values in ([1e308, -1e308] * 5, [0.0] * 9, [1e-320, 0.0, 1e300], [5.0] * 4):
        found = measure_course(values, is_higher_better=True)
        assert all(math.isnan(value) or math.isfinite(value) for value in found.values()), values


def test_a_long_curve_is_measured_in_means() -> None:
    """They keep its course; few values are taken as they are."""
    assert take_means([1.0, 2.0, 3.0], 4) == [1.0, 2.0, 3.0]
    assert take_means([float(value) for value in range(1000)], 10)[0] == pytest.approx(49.5)
    long = [2.0 - index / 10_000 for index in range(10_000)]
    short = [2.0 - index / 100 for index in range(100)]
    measured, expected = (measure_course(one, is_higher_better=False) for one in (long, short))
    assert measured["change"] == pytest.approx(expected["change"], abs=0.05)
