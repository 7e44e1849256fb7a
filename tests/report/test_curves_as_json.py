"""A curve as the JSON report writes it."""

import json
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmortem.core.answer import SeriesView
from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.report.curves import build_curve_values, serialize_curve
from postmortem.report.wire import convert_to_json_value

STEPS = st.none() | st.integers(0, 10**15) | st.floats()
LINES = st.integers(1, 10**9)
PARTS = st.none() | st.integers(0, 10**6)
CURVES = st.builds(
    SeriesView,
    name=st.text(),
    producer=st.text(),
    source=st.integers(0, 99),
    where=st.builds(ProcessId, PARTS, PARTS, st.none() | st.text(), PARTS),
    unit=st.text(),
    points=LINES,
    nonfinite=LINES,
    first=st.tuples(STEPS, st.floats()),
    last=st.tuples(STEPS, st.floats()),
    min=st.none() | st.floats(),
    max=st.none() | st.floats(),
    first_nonfinite=st.none() | st.tuples(STEPS, LINES),
    interleaved=st.booleans(),
    samples=st.lists(st.tuples(STEPS, st.floats(), LINES), max_size=4).map(tuple),
)


@given(CURVES)
def test_a_curve_is_written_as_its_values_are(curve: SeriesView) -> None:
    """The text is that of the standard library, as deep as a curve stands in the report."""
    whole = json.dumps(
        [[convert_to_json_value(build_curve_values(curve))]], ensure_ascii=False, indent=1
    )
    assert convert_to_json_value(f"[\n [\n  {serialize_curve(curve)}\n ]\n]") == whole


@pytest.mark.parametrize(
    ("figure", "written"),
    [
        pytest.param(nan, "NaN", id="no number"),
        pytest.param(inf, "Infinity", id="beyond all"),
        pytest.param(-inf, "-Infinity", id="below all"),
    ],
)
def test_what_is_no_finite_figure_is_named(figure: float, written: str) -> None:
    """At the ends of a curve and in its samples, and a step that is none is null."""
    curve = SeriesView(
        *("loss", "script", 0, NOWHERE, "", 1, 1),
        *((None, figure), (5.0, figure), None, None, None, False, ((7.0, figure, 3),)),
    )
    told = json.loads(serialize_curve(curve))
    assert told["first"] == [None, written]
    assert told["last"] == [5, written]
    assert told["samples"] == [[7, written, 3]]
