"""Series: what is counted stays exact, however few points are kept."""

import math
import random
import time
from array import array

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from postmortem.core.findings import NOWHERE
from postmortem.extraction.facts import series as series_module
from postmortem.extraction.facts import thinning as thinning_module
from postmortem.extraction.facts.series import Point, Series
from postmortem.extraction.facts.thinning import select_envelope

NAN, INF = math.nan, math.inf
VALUES = st.lists(
    st.one_of(st.floats(-1e6, 1e6), st.sampled_from([NAN, INF, -INF, 0.0])), max_size=400
)


def series_of(values: list[float], first_line: int = 1) -> Series:
    """A settled series with a point a line."""
    one = Series("loss", "test", 0, NOWHERE)
    for index, value in enumerate(values):
        one.append(float(index), value, first_line + index)
    one.settle()
    return one


def counted(one: Series) -> str:
    """What must stay exact."""
    one.settle()
    return repr(
        (one.points, one.nonfinite, one.min, one.max, one.first, one.last, one.first_nonfinite)
    )


def thinning(monkeypatch: pytest.MonkeyPatch, exact: int, keep: int) -> None:
    """Thin much earlier."""
    monkeypatch.setattr(series_module, "EXACT", exact)
    monkeypatch.setattr(Series.thin, "__defaults__", (keep,))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param(
            [2.0, 1.0, 3.0],
            (3, 0, 1.0, 3.0, Point(0.0, 2.0, 1), Point(2.0, 3.0, 3), None),
            id="finite",
        ),
        pytest.param(
            [2.0, NAN, 1.0],
            (3, 1, 1.0, 2.0, Point(0.0, 2.0, 1), Point(2.0, 1.0, 3), Point(1.0, NAN, 2)),
            id="NaN in between",
        ),
        pytest.param(
            [INF, 5.0, -INF],
            (3, 2, 5.0, 5.0, Point(0.0, INF, 1), Point(2.0, -INF, 3), Point(0.0, INF, 1)),
            id="infinite at the ends",
        ),
        pytest.param(
            [NAN],
            (1, 1, INF, -INF, Point(0.0, NAN, 1), Point(0.0, NAN, 1), Point(0.0, NAN, 1)),
            id="nothing finite",
        ),
        pytest.param([], (0, 0, INF, -INF, None, None, None), id="empty"),
    ],
)
def test_what_is_counted(values: list[float], expected: tuple[object, ...]) -> None:
    """Points, ends, extremes over the finite ones, those that are not, and the first of these."""
    assert counted(series_of(values)) == repr(expected)


def test_settling_again_changes_nothing() -> None:
    """Only what came since the last call is counted."""
    one = series_of([1.0, NAN])
    before = counted(one)
    assert counted(one) == before
    one.append(2.0, 3.0, 3)
    assert counted(one) == counted(series_of([1.0, NAN, 3.0]))


@settings(max_examples=150, deadline=None)
@given(VALUES, st.integers(20, 60))
def test_thinning_keeps_the_counts_exact(values: list[float], exact: int) -> None:
    """Points are replaced by an envelope.

    Counts, ends, extremes and the first non-finite point are those of all points.
    """
    with pytest.MonkeyPatch.context() as monkeypatch:
        expected = counted(series_of(values))
        thinning(monkeypatch, exact, 10)
        thinned = series_of(values)
        assert counted(thinned) == expected
        assert len(thinned.values) <= max(exact, 1)
        lines = list(thinned.lines)
        assert lines == sorted(set(lines))
        assert all(
            repr(values[line - 1]) == repr(value)
            for line, value in zip(thinned.lines, thinned.values, strict=True)
        )


@settings(max_examples=150, deadline=None)
@given(VALUES, VALUES)
def test_extending_equals_feeding_in_one_go(one: list[float], other: list[float]) -> None:
    """Two parts of a stream, put together, are the stream."""
    whole, first, second = series_of([*one, *other]), series_of(one), series_of(other, len(one) + 1)
    second.steps = array("d", [step + len(one) for step in second.steps])
    second.first, second.last, second.first_nonfinite = (
        point and point._replace(step=point.step + len(one))
        for point in (second.first, second.last, second.first_nonfinite)
    )
    first.extend(second)
    assert counted(first) == counted(whole)
    assert repr(list(first.kept())) == repr(list(whole.kept()))


@settings(max_examples=60, deadline=None)
@given(VALUES, st.integers(0, 400), st.integers(20, 60))
def test_extending_keeps_the_counts_exact_when_both_are_thinned(
    values: list[float], cut: int, exact: int
) -> None:
    """The same with envelopes."""
    expected = counted(series_of(values))
    with pytest.MonkeyPatch.context() as monkeypatch:
        thinning(monkeypatch, exact, 10)
        whole = Series("loss", "test", 0, NOWHERE)
        for begin, part in ((0, values[:cut]), (cut, values[cut:])):
            piece = Series("loss", "test", 0, NOWHERE)
            for index, value in enumerate(part):
                piece.append(float(begin + index), value, begin + index + 1)
            whole.extend(piece)
        assert counted(whole) == expected
        assert len(whole.values) <= 2 * exact


@settings(max_examples=80, deadline=None)
@example([math.inf, 0.0, 1.0, 2.0] * 12, [20, 20], 20)  # no envelope has room for more
@given(VALUES, st.lists(st.integers(0, 90), max_size=8), st.integers(20, 60))
def test_many_at_once_equals_one_by_one(values: list[float], cuts: list[int], exact: int) -> None:
    """Points may come in bundles of any size, also while the series is thinned."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        thinning(monkeypatch, exact, 10)
        one_by_one, bundled = series_of(values), Series("loss", "test", 0, NOWHERE)
        begin = 0
        for length in [*cuts, len(values)]:
            part = values[begin : begin + length]
            bundled.append_many(
                array("d", map(float, range(begin, begin + len(part)))),
                array("d", part),
                array("q", range(begin + 1, begin + len(part) + 1)),
            )
            begin += len(part)
        assert counted(bundled) == counted(one_by_one)
        assert repr(list(bundled.kept())) == repr(list(one_by_one.kept()))


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([math.sin(index / 50) for index in range(30_000)], id="calm"),
        pytest.param(
            [NAN if 9000 < index < 21_000 else index % 17 for index in range(30_000)],
            id="a stretch of NaN",
        ),
        pytest.param([NAN if index % 2 else 1.0 for index in range(30_000)], id="flickering"),
        pytest.param([NAN] * 30_000, id="nothing finite"),
        pytest.param([INF, *[1.0] * 29_998, -INF], id="infinite at the ends"),
        pytest.param([random.Random(1).random() for _ in range(25_001)], id="noise"),
    ],
)
def test_long_series_are_thinned_like_short_ones(
    monkeypatch: pytest.MonkeyPatch, values: list[float]
) -> None:
    """The way of long series (by NumPy) gives the same as that of short ones.

    The envelope is the same, and so are the counts.
    """
    long, quick = select_envelope(values, 500), counted(series_of(values))
    for module in (series_module, thinning_module):
        monkeypatch.setattr(module, "LARGE", 1 << 60)
    assert select_envelope(values, 500) == long
    assert counted(series_of(values)) == quick


def test_a_short_series_is_kept_whole() -> None:
    """Nothing is chosen where nothing needs to be left out."""
    assert select_envelope([1.0, NAN, 2.0], 3) == [0, 1, 2]
    assert series_of([1.0, 2.0]).samples() == [Point(0.0, 1.0, 1), Point(1.0, 2.0, 2)]


def test_a_flickering_curve_is_bounded() -> None:
    """A loss that is NaN at every second record does not defeat the thinning.

    Neither in memory nor in time.
    """
    chosen = select_envelope([NAN if index % 2 else 1.0 for index in range(200_000)], 1000)
    assert len(chosen) < 5000
    one, began = Series("loss", "test", 0, NOWHERE), time.process_time()
    values = array("d", [NAN if index % 2 else 1.0 for index in range(1_100_000)])
    one.append_many(array("d", [NAN]) * len(values), values, array("q", range(1, len(values) + 1)))
    one.settle()
    assert (one.points, one.nonfinite) == (1_100_000, 550_000)
    assert len(one.values) < 300_000
    assert time.process_time() - began < 20


def test_samples_are_few_and_in_order() -> None:
    """A report shows a few hundred points of a long curve."""
    one = series_of([math.sin(index / 100) for index in range(50_000)])
    samples = one.samples()
    assert 200 < len(samples) <= 1200
    assert [point.line for point in samples] == sorted({point.line for point in samples})
    assert {samples[0].line, samples[-1].line} == {1, 50_000}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param(
            [step for step in range(20) for _ in range(2)], True, id="two copies, line by line"
        ),
        pytest.param(
            [step + late for step in range(30) for late in (0, -1, 0)],
            True,
            id="three copies, one a step behind",
        ),
        pytest.param(list(range(40)), False, id="one stream"),
        pytest.param([*range(20), *range(20)], False, id="begun again"),
        pytest.param([step % 4 for step in range(40)], False, id="counted anew in each epoch"),
        pytest.param([0, 0, 1, 1], False, id="too few to say"),
        pytest.param([NAN] * 40, False, id="no step"),
        pytest.param([], False, id="nothing"),
    ],
)
def test_streams_that_lines_do_not_tell_apart(steps: list[float], *, expected: bool) -> None:
    """Copies print each step several times in a row."""
    one = Series("loss", "test", 0, NOWHERE)
    for line, step in enumerate(steps, 1):
        one.append(float(step), 1.0 / line, line)
    one.settle()
    assert one.interleaved is expected


def test_a_series_of_several_units_has_none() -> None:
    """MiB at first and GiB later: no unit is true of all."""
    one, other = (
        Series("memory", "test", 0, NOWHERE, "MiB"),
        Series("memory", "test", 0, NOWHERE, "GiB"),
    )
    one.is_in("MiB")
    assert one.unit == "MiB"
    one.extend(other)
    assert one.unit == ""


def noisy(count: int, **spots: float) -> list[float]:
    """A calm noisy curve with spots of other values."""
    noise = random.Random(2)
    return [spots.get(f"at_{index}", 2 + 0.1 * noise.random()) for index in range(count)]


@pytest.mark.parametrize("count", [5000, 40_000])
def test_samples_of_a_long_curve_keep_the_shape_of_what_matters(count: int) -> None:
    """All points around the first NaN, around a spike, around the line of a failure.

    A few hundred in all.
    """
    values = noisy(count, at_2000=8.0, at_2001=5.0, at_3500=NAN)
    lines = [point.line for point in series_of(values).samples(line=4500)]
    for place in (2001, 3501, 4500):
        assert set(range(place - 10, place + 11)) <= set(lines)
    assert len(lines) <= 450
    assert lines == sorted(set(lines))


def test_a_failure_behind_the_last_record_keeps_the_end() -> None:
    """A crash follows the last record."""
    lines = {point.line for point in series_of(noisy(5000)).samples(line=9999)}
    assert set(range(4990, 5001)) <= lines


def test_samples_of_a_thinned_curve_are_spread_over_the_whole_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was thinned long ago has its share beside a tail of which all points are kept.

    So it is also after parts were joined.
    """
    thinning(monkeypatch, 5000, 500)
    one, other = series_of(noisy(8000)), series_of(noisy(8000))
    one.extend(other)
    for series in (other, one):
        shown = series.samples(300)
        assert 0.35 <= sum(point.line <= 4000 for point in shown) / len(shown) <= 0.65
