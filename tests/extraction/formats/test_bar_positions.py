"""Metrics that are drawn before the bar moves on to their step."""

import numpy as np
import pytest

from postmortem.extraction.formats.generic_reader import BarPositions


@pytest.mark.parametrize(
    ("drawn", "total", "steps"),
    [
        pytest.param([1, 2, 3], 3, [1, 2, 3], id="drawn behind the step"),
        pytest.param([0, 1, 2, 3], 3, [1, 2, 3, 3], id="drawn ahead, up to the end"),
        pytest.param([0, 1], None, [1, 2], id="drawn ahead, of unknown length"),
    ],
)
def test_the_first_draw_tells(drawn: list[int], total: int | None, steps: list[int]) -> None:
    """A bar with metrics at 0 has them ahead."""
    positions = BarPositions()
    assert [positions.step("bar", now, total) for now in drawn] == steps


def test_bars_that_are_kept_are_bounded() -> None:
    """A bar beyond them is taken as it stands."""
    positions = BarPositions()
    assert [positions.step(bar, 0, 9) for bar in range(65)] == [1] * 64 + [0]


@pytest.mark.parametrize("total", [5, None])
@pytest.mark.parametrize("first", [0, 1])
def test_many_draws_belong_where_each_does(first: int, total: int | None) -> None:
    """Whether the metrics are drawn ahead is told by the first, and the last step is not passed."""
    printed = [first, 1, 2, 3, 4, 5]
    one, many = BarPositions(), BarPositions()
    expected = [one.step("bar", now, total) for now in printed]
    assert many.steps("bar", np.array(printed), total).tolist() == expected
    assert vars(many) == vars(one)
