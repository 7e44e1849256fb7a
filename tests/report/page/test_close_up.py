"""The part of a curve around a fault."""

from math import nan

import pytest

from postmortem.report.page.panel import extract_edge_close_up, find_fault_index
from tests.report.samples import a_series

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
    near = extract_edge_close_up(a_series("loss", STEPS, values))
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
    near = extract_edge_close_up(loss, (0, 99_999))
    assert near is not None
    assert (near.last[0], find_fault_index(near, (0, 99_999))) == (399.0, len(near.samples) - 1)
    assert extract_edge_close_up(loss, (1, 99_999)) is None
    assert extract_edge_close_up(a_series("learning_rate", STEPS, STEPS), (0, 99_999)) is None
    assert extract_edge_close_up(a_series("loss", STEPS[:30], STEPS[:30]), (0, 99_999)) is None
    assert extract_edge_close_up(a_series("loss", STEPS[:1], [nan])) is None
