"""Steps that begin anew in each epoch, and those that run on."""

import math

import numpy as np
import pytest

from postmortem.extraction.formats.bars import StepCounting

NAN = math.nan


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        pytest.param(
            [(0, 5, 10), (0, 10, 10), (1, 5, 10), (1, 10, 10)], [5, 10, 15, 20], id="epochs from 0"
        ),
        pytest.param(
            [(1, 5, 10), (1, 10, 10), (2, 5, 10), (3, 5, 10)], [5, 10, 15, 25], id="epochs from 1"
        ),
        pytest.param(
            [(1, 5, 100), (1, 10, 100), (2, 15, 100), (2, 20, 100)],
            [5, 10, 15, 20],
            id="a step of the run beside its last",
        ),
        pytest.param(
            [(1, 5, NAN), (1, 10, NAN), (2, 5, NAN)],
            [5, 10, 5],
            id="no length is printed: the step stands as printed",
        ),
        pytest.param(
            [(4, 5, 10), (5, 5, 10), (5, 4, 10), (6, 1, 10)],
            [5, 5, 4, 1],
            id="from the middle of a run",
        ),
        pytest.param([(NAN, 5, 10), (NAN, 3, 10)], [5, 3], id="no epoch"),
        pytest.param([(1, NAN, 10)], [NAN], id="no step"),
        pytest.param([(0.5, 5, 10)], [5], id="a part of an epoch"),
        pytest.param(
            [(0, 9, 10), (1, 3, 10), (0, 9, 10), (1, 3, 10)], [9, 13, 9, 13], id="begun again"
        ),
    ],
)
def test_text_lines(printed: list[tuple[float, float, float]], expected: list[float]) -> None:
    """The printed step stands until it falls back at a new epoch."""
    counting = StepCounting()
    assert [repr(float(counting.step("x", *one))) for one in printed] == [
        repr(float(step)) for step in expected
    ]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        pytest.param([(0, 5, 10), (1, 5, 10)], [5, 15], id="epochs from 0"),
        pytest.param([(1, 5, 10), (2, 5, 10)], [5, 15], id="epochs from 1"),
        pytest.param([(0, 5, NAN), (1, 5, NAN)], [5, NAN], id="no length"),
        pytest.param(
            [(3, 5, 10), (4, 5, 10)],
            [NAN, NAN],
            id="from the middle: what came before is not known",
        ),
    ],
)
def test_bars(printed: list[tuple[float, float, float]], expected: list[float]) -> None:
    """A bar's position begins anew by nature.

    Where the run's step is not certain, there is none.
    """
    counting = StepCounting()
    assert [repr(float(counting.step("x", *one, anew=True))) for one in printed] == [
        repr(float(step)) for step in expected
    ]


def test_streams_count_for_themselves_and_are_bounded() -> None:
    """One stream's way says nothing of another's."""
    counting = StepCounting()
    assert [
        counting.step("a", 0, 9, 10),
        counting.step("b", 1, 9, 10),
        counting.step("a", 1, 3, 10),
        counting.step("b", 2, 3, 10),
    ] == [9, 9, 13, 13]
    for number in range(10_000):
        counting.step(number, 0, 1, 10)
    assert len(counting._first) <= 256
    assert len(counting._last) <= 256


@pytest.mark.parametrize("length", [100.0, math.nan])
@pytest.mark.parametrize(
    "epochs",
    [
        [0.0] * 6,
        [0.0, 0.0, 1.0, 1.0, 2.0, 2.0],
        [1.0, 2.0, 2.0, 3.0, 0.0, 1.0],
        [3.0, 3.0, 4.0, 4.0, 4.0, 4.0],
        [0.5, 0.5, 1.0, 1.0, 1.5, 2.0],
        [math.nan] * 6,
    ],
)
def test_many_positions_of_a_bar_count_as_each_does(epochs: list[float], length: float) -> None:
    """The same steps, and the same is known behind them."""
    steps = [5.0, 9.0, 1.0, 2.0, 7.0, 3.0]
    one, many = StepCounting(), StepCounting()
    expected = [
        one.step("bar", epoch, step, length, anew=True)
        for epoch, step in zip(epochs, steps, strict=True)
    ]
    given = many.steps_anew("bar", np.array(epochs), np.array(steps), length)
    assert list(map(repr, given.tolist())) == list(map(repr, expected))
    assert vars(many) == vars(one)
