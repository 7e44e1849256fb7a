"""A calm loss that leaps, and the part of a loss that goes wrong first."""

import math

import pytest

from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors import registry
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Series

CALM = [2.2 + math.exp(-number / 15) + 0.01 * math.sin(3 * number) for number in range(100)]
NAN = math.nan


def shapes(**values: list[float]) -> set[str]:
    """The shapes of these series, one record a line."""
    found = []
    for name, figures in values.items():
        one = Series(name, "test", 0, NOWHERE)
        for number, value in enumerate(figures):
            one.append(float(number), value, number + 1)
        one.settle()
        found.append(one)
    return set(registry.detect_anomalies(Observed(series=found)))


@pytest.mark.parametrize(
    ("tail", "found"),
    [
        pytest.param([4.1 - 0.005 * n for n in range(40)], {"loss-spike", "spike-stays"}, id="on"),
        pytest.param([6.1, 5.0, 3.9, 2.9] + [2.2] * 40, {"loss-spike", "huge-spike"}, id="back"),
        pytest.param([2.6] * 40, set(), id="a small step"),
        pytest.param([2.2] * 40, set(), id="calm to the end"),
    ],
)
def test_a_calm_loss_leaps(tail: list[float], found: set[str]) -> None:
    """To another level for good, or for a moment far above all that it has shown."""
    every = {"loss-spike", "spike-stays", "huge-spike"}
    assert shapes(loss=CALM + tail) & every == found


def test_a_restless_loss_has_no_leap() -> None:
    """Where records differ by half their value, another half means nothing."""
    restless = [2 + 0.9 * math.sin(17 * number) for number in range(100)]
    assert "spike-stays" not in shapes(loss=[*restless, 4.0, 3.2, 4.1, 3.9, 3.6])


@pytest.mark.parametrize(
    ("rec", "kl", "is_first"),
    [
        pytest.param(1.0, NAN, True, id="one part"),
        pytest.param(NAN, NAN, False, id="both at once"),
    ],
)
def test_one_part_goes_wrong_first(rec: float, kl: float, *, is_first: bool) -> None:
    """Where the sum first is not finite, one part is not and the other still is."""
    before = [1.5 - number / 50 for number in range(20)]
    total = [one + one / 3 for one in before]
    found = shapes(loss=[*total, NAN], rec=[*before, rec], kl=[*(one / 3 for one in before), kl])
    assert ("nan-part-first" in found) is is_first
