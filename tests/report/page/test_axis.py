"""Round numbers on an axis, and how they are written."""

from math import isfinite

import pytest

from postmortem.report.page.chart_axes import compute_ticks, format_axis_labels


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
    assert [value for value in compute_ticks(low, high, 5) if isfinite(value)] == pytest.approx(
        found
    )


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ((0.0, 5000.0, 10000.0), ("0", "5k", "10k")),
        ((5e-5, 4.9999e-5), ("5.0000e-5", "4.9999e-5")),
        ((1e6, 1.5e6), ("1.0M", "1.5M")),
        ((2949.0, 2949.5, 2950.0), ("2949.0", "2949.5", "2950.0")),
        ((0.0, 5e-6, 1e-5), ("0", "5e-6", "1e-5")),
        ((), ()),
    ],
)
def test_labels_of_an_axis_differ(values: tuple[float, ...], shown: tuple[str, ...]) -> None:
    """Two ticks never bear the same label, and all of an axis are written alike."""
    assert format_axis_labels(values) == shown


@pytest.mark.parametrize(
    ("values", "shown"),
    [((0.01, 1.0, 100.0), ("0.01", "1", "100")), ((1e-5, 1.0, 1e5), ("1e-5", "1e0", "1e5"))],
)
def test_labels_of_a_logarithmic_axis_are_written_alike(
    values: tuple[float, ...], shown: tuple[str, ...]
) -> None:
    """Powers of ten are all numbers or all powers."""
    assert format_axis_labels(values, is_log=True) == shown
