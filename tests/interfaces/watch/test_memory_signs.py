"""Memory that will run out, and memory that only rises at first."""

import math

import pytest

from postmortem.core.diagnosis import MetricRecord, Sign
from postmortem.core.findings import NOWHERE
from postmortem.interfaces.watch.signs import MemorySigns


def signs(
    values: list[float], capacity: float | None = None, total: float = math.nan, unit: str = "GiB"
) -> list[Sign]:
    """The signs of a run that prints this memory."""
    looking = MemorySigns()
    return [
        sign
        for index, value in enumerate(values, 1)
        for sign in looking.take(
            MetricRecord(NOWHERE, "test", index, float(index), {"memory": value}),
            unit,
            capacity,
            total,
        )
    ]


def test_an_even_rise_is_warned_of() -> None:
    """With its slope; once half as much again is used."""
    found = signs([10.0 + 0.5 * index for index in range(40)])
    assert found[0].line == 12
    assert "0.5 a step" in found[0].message.text("en")


def test_what_the_device_holds_decides() -> None:
    """A rise that the device outlasts is none; one that it does not is named with the step."""
    rise = [10.0 + 0.25 * index for index in range(60)]
    assert signs(rise, capacity=40.0, total=100.0) == []
    assert "40 GiB are full at step 121" in signs(rise, capacity=40.0, total=1000.0)[
        0
    ].message.text("en")


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(
            [10 + 8 * (1 - math.exp(-index / 6)) for index in range(60)], id="a high-water mark"
        ),
        pytest.param([10.0] * 60, id="level"),
        pytest.param([10 + (index % 10) for index in range(60)], id="comes and goes"),
        pytest.param([10 + min(index, 8) for index in range(60)], id="a cache that fills"),
        pytest.param([10.0, 11.0, 13.0, 14.0, 16.0], id="too few records"),
        pytest.param([10.0 + 0.02 * index for index in range(60)], id="hardly"),
    ],
)
def test_other_rises_are_left_alone(values: list[float]) -> None:
    """No warning."""
    assert signs(values) == []


def test_a_slow_leak_over_a_long_run_is_seen() -> None:
    """Records are thinned out as the run goes on, and still span all of it."""
    assert signs([10.0 + 0.001 * index for index in range(6000)])
