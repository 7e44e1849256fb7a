"""A run that has come to its planned end, as its counts show."""

from collections.abc import Sequence

import pytest

from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.planned_end import detect_planned_end
from postmortem.extraction.facts.series import Series


def make_series(steps: Sequence[float], name: str = "loss", values: Sequence[float] = ()) -> Series:
    """A series with one point a line."""
    series = Series(name, "test", 0, NOWHERE)
    for line, step in enumerate(steps, 1):
        series.append(step, values[line - 1] if values else 1.0 / line, line)
    series.settle()
    return series


def is_planned(series: Series, tail: str = "", total: float = float("nan")) -> bool:
    """Say whether the end of this series is the planned one."""
    last = len(series.lines)
    observed = Observed(
        series=[series],
        records={0: last},
        last_records={0: last},
        tails={0: (last, f"{tail or 'loss 0.1'}\n")},
        total_steps=total,
    )
    return [found.id for found in detect_planned_end(observed)] == ["planned-end"]


@pytest.mark.parametrize(
    ("steps", "is_end"),
    [
        pytest.param(range(250), True, id="counted from 0 to 249"),
        pytest.param(range(1, 151), True, id="counted from 1 to 150"),
        pytest.param(range(10, 3010, 10), True, id="every tenth epoch to 3000"),
        pytest.param(range(1024, 100353, 1024), True, id="the first count beyond 100,000"),
        pytest.param(range(1, 144), False, id="144 is not round"),
        pytest.param(range(1, 31), False, id="short counts end at any number"),
        pytest.param([*range(50), *range(50)], False, id="begun anew"),
        pytest.param(range(300, 400), False, id="the beginning is not here"),
    ],
)
def test_a_log_ends_at_a_round_number(steps: Sequence[float], *, is_end: bool) -> None:
    """People plan such numbers."""
    assert is_planned(make_series(steps)) == is_end


def test_an_open_count_outranks_a_round_number() -> None:
    """The line says itself that there is more to come."""
    assert not is_planned(make_series(range(1, 151)), "step 150/500 loss 0.1")


def test_right_answers_are_no_open_count() -> None:
    """They fall as well, which no count of steps does but to its beginning."""
    rows = "test 71.0% (7100 / 10000)\ntest 67.0% (6700 / 10000)\ntest 71.4% (7140 / 10000)"
    assert is_planned(make_series(range(1, 151)), rows)


@pytest.mark.parametrize(("total", "is_end"), [(243.0, True), (300.0, False)])
def test_no_further_record_fits_into_the_total(total: float, *, is_end: bool) -> None:
    """One comes every twelve steps."""
    assert is_planned(make_series(range(12, 241, 12)), total=total) == is_end


@pytest.mark.parametrize(
    ("rates", "is_end"),
    [
        pytest.param([1e-3 * (20 - n) / 20 for n in range(20)], True, id="linear, one to go"),
        pytest.param([1e-3 * (20 - n) / 20 for n in range(17)], False, id="linear, four to go"),
        pytest.param([1e-3 * ((20 - n) / 20) ** 2 for n in range(20)], True, id="a parabola"),
        pytest.param([1e-3 * 0.97**n for n in range(200)], False, id="exponential"),
        pytest.param([*[1e-2] * 30, *[1e-3] * 30, 1e-4], False, id="in stairs"),
        pytest.param([0.0, 0.0, 1e-3, *[0.0] * 20], False, id="rounded to 0"),
    ],
)
def test_the_schedule_of_the_rate_is_at_its_end(rates: Sequence[float], *, is_end: bool) -> None:
    """It would be 0 before the next record."""
    steps = [7.0 + 3 * number for number in range(len(rates))]
    assert is_planned(make_series(steps, "learning_rate", rates)) == is_end


@pytest.mark.parametrize(
    ("rows", "is_end"),
    [
        ("97/99 0.31\n98/99 0.30\n99/99 0.29", True),
        ("97/99 0.31\n98/99 0.30", False),
    ],
)
def test_the_only_count_of_a_line_is_full(rows: str, *, is_end: bool) -> None:
    """Once, in as many records as it counts."""
    series = make_series([float("nan")] * 98)
    first = len(series.lines) - rows.count("\n")
    observed = Observed(
        series=[series], records={0: 98}, last_records={0: 98}, tails={0: (first, f"{rows}\n")}
    )
    assert bool(list(detect_planned_end(observed))) == is_end


def test_a_rate_that_is_spent_in_the_midst_of_the_plan() -> None:
    """It ends the learning, not the run."""
    rates = make_series(range(20), "learning_rate", [0.019 - step / 1000 for step in range(20)])
    assert is_planned(rates, "step 20 lr 0.0")
    assert not is_planned(rates, "Epoch 2 / 500, i = 20 / 9000, lr= 0.0")
