"""The end of a run that prints no closing line: its last record is of its last step."""

import pytest
from postmortem.facts.ending import shape

from postmortem.facts.series import Series
from postmortem.model.lines import NOWHERE


def loss(*steps: float) -> Series:
    """A falling loss at these steps."""
    one = Series("loss", "test", 0, NOWHERE)
    for number, step in enumerate(steps, 1):
        one.append(step, 3.0 / number, number)
    one.settle()
    return one


@pytest.mark.parametrize(
    ("steps", "total", "is_end"),
    [
        pytest.param([10.0, 20.0, 30.0], 30.0, True, id="the last step"),
        pytest.param([10.0, 20.0, 30.0], 40.0, False, id="ten steps are missing"),
        pytest.param([10.0, 20.0, 10.0, 20.0], 20.0, False, id="counted anew in each epoch"),
        pytest.param(
            [10.0, 20.0, 30.0], float("nan"), False, id="nobody says how many there are to be"
        ),
        pytest.param([1.0, 2.0], 2.0, False, id="too short to tell a run from an epoch"),
        pytest.param([], 30.0, False, id="no record"),
    ],
)
def test_the_last_record_is_of_the_last_step(
    steps: list[float], total: float, *, is_end: bool
) -> None:
    """Reached once, in a count that only rises."""
    one = shape([loss(*steps)], total)
    assert (
        (one is not None and one.id == "last-step" and one.line == len(steps))
        if is_end
        else one is None
    )
