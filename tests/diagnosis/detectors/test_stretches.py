"""Tests for parting the curves where a training begins anew."""

import math
from collections.abc import Sequence

import pytest

from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors.curve_course import select_last_training
from postmortem.extraction.facts.series import Series


def _build(name: str, steps: Sequence[float], values: Sequence[float]) -> Series:
    series = Series(name, "test", 0, NOWHERE)
    for index, (step, value) in enumerate(zip(steps, values, strict=True)):
        series.append(step, value, index + 1)
    series.settle()
    return series


def _count(*series: Series) -> list[int]:
    return [part.points for part in select_last_training(series)]


def test_folds_are_parted_at_their_epochs() -> None:
    """Of three folds the last one is judged, every series of it."""
    epochs = [*range(1, 6)] * 3
    loss = _build("loss", range(15), [2.0 - 0.1 * epoch for epoch in epochs])
    assert _count(loss, _build("epoch", range(15), epochs)) == [5, 5]


def test_steps_part_where_no_epoch_is_printed() -> None:
    """A stage that begins at its first step again is a training of its own."""
    steps = [*range(0, 900, 100), *range(0, 600, 100)]
    assert _count(_build("loss", steps, [1.0] * 15)) == [6]


@pytest.mark.parametrize(
    ("steps", "values"),
    [
        pytest.param(range(20), [1.0] * 20, id="one training"),
        pytest.param([*range(5)] * 4, [1.0] * 20, id="steps within epochs"),
        pytest.param([math.nan] * 20, [1.0] * 20, id="no steps"),
        pytest.param([*range(10, 20), *range(15, 25)], [1.0] * 20, id="a resumed run"),
    ],
)
def test_what_goes_on_is_not_parted(steps: Sequence[float], values: Sequence[float]) -> None:
    """Neither steps that count within epochs nor a resumed run begin anew."""
    assert _count(_build("loss", steps, values)) == [20]


def test_a_beginning_that_is_too_short_is_left() -> None:
    """The training before it is judged, unless what is left out is not finite."""
    steps = [*range(12), 0, 1]
    assert _count(_build("loss", steps, [1.0] * 14)) == [12]
    assert _count(_build("loss", steps, [*[1.0] * 13, math.nan])) == [14]
