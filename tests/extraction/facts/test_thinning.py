"""Which points of a long curve are kept."""

import math
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.extraction.facts import thinning
from postmortem.extraction.facts.thinning import select_envelope

NAN = math.nan


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        pytest.param([1.0] * 500 + [9.0] + [1.0] * 500, {0, 500, 1000}, id="a spike"),
        pytest.param([1.0] * 700 + [-9.0] + [1.0] * 300, {0, 700, 1000}, id="a dip"),
        pytest.param([1.0] * 300 + [NAN] * 3 + [1.0] * 700, {0, 300, 303, 1002}, id="a short NaN"),
        pytest.param([1.0] * 999 + [NAN], {0, 999}, id="NaN at the end"),
        pytest.param([NAN] + [1.0] * 999, {0, 1, 999}, id="NaN at the beginning"),
    ],
)
def test_an_envelope_shows_what_matters(values: list[float], shown: set[int]) -> None:
    """Ends, extremes and changes of finiteness are among the chosen points."""
    chosen = select_envelope(values, 50)
    assert shown <= set(chosen)
    assert len(chosen) <= 110


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([1.0, 2.0, NAN])),
        min_size=2,
        max_size=200,
    )
)
def test_turns_of_long_and_short_series_are_the_same(values: list[float]) -> None:
    """NumPy finds the same largest changes, in the same order."""
    assert thinning._sort_by_change_numpy(array("d", values)) == thinning._sort_by_change(values)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.one_of(st.floats(), st.sampled_from([0.0, -0.0, 1.0, NAN])), min_size=2),
    st.integers(1, 30),
)
def test_envelopes_of_long_and_short_series_are_the_same(values: list[float], width: int) -> None:
    """NumPy chooses the same points: whether it is imported already changes nothing."""
    chosen, changes = thinning._select_extremes(values, width)
    fast, fast_changes = thinning._select_extremes_numpy(array("d", values), width)
    assert (sorted(fast), fast_changes) == (sorted(chosen), changes)
