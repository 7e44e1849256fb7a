"""Figures that move by rounding alone."""

from collections.abc import Sequence

import pytest

from postmortem.core.lines import NOWHERE
from postmortem.diagnosis.detectors import float_noise
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Series


def found(name: str, values: Sequence[float], *, beside: str = "learning_rate") -> list[str]:
    """The shapes of a process with a figure of this name, and another one."""
    series = []
    for one, points in ((name, values), (beside, [0.001] * len(values))):
        series.append(Series(one, "test", 0, NOWHERE))
        for step, value in enumerate(points):
            series[-1].append(float(step), value, step + 1)
        series[-1].settle()
    job = Observed(series=series, curves=Curves(series))
    return [shape.id for shape in float_noise.detect_constant_up_to_rounding(job)]


WAVERS = (12.800009, 12.800011, 12.800008, 12.80001, 12.800009, 12.800012)


@pytest.mark.parametrize(
    ("name", "values", "shapes"),
    [
        pytest.param("Lt", WAVERS, ["nothing-moves"], id="it wavers in the last digits"),
        pytest.param("Lt", WAVERS[:4], [], id="too few"),
        pytest.param("Lt", [12.8] * 6, [], id="a setting"),
        pytest.param("Lt", (12.8, 12.7, 12.8, 12.75, 12.8, 12.7), [], id="it moves"),
        pytest.param("Lt", [1.6e9 + second / 2 for second in range(6)], [], id="a clock"),
        pytest.param("time", WAVERS, [], id="a time by its name"),
    ],
)
def test_a_figure_that_only_wavers(name: str, values: Sequence[float], shapes: list[str]) -> None:
    """It is reckoned anew each time, and depends on nothing."""
    assert found(name, values) == shapes


def test_where_a_loss_is_known_it_is_asked() -> None:
    """Not any other figure."""
    assert found("Lt", WAVERS, beside="loss") == []
