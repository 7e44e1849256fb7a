"""A run that stood still before it was stopped: the printed clock shows it."""

import math

import pytest

from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.progress_lines import (
    detect_stall_after_record,
    detect_stalled_output,
)
from postmortem.reading.prefixes import convert_to_seconds


def tail(*times: str) -> tuple[int, str]:
    """Lines with these clock times, numbered from 100."""
    return 100, "\n".join(
        f"2026-03-02 {time} step {number} loss 1.0" for number, time in enumerate(times)
    )


STEADY = [f"09:14:{second:02d}" for second in range(10, 40)]


@pytest.mark.parametrize(
    ("times", "last", "found"),
    [
        pytest.param(
            [*STEADY, "10:02:11"], 129, "2852 s", id="stopped 48 minutes after its last record"
        ),
        pytest.param([*STEADY, "09:14:45"], 129, None, id="six seconds are no silence"),
        pytest.param(
            [*STEADY], 129, None, id="nothing behind the last record shows how long it was still"
        ),
        pytest.param(
            ["09:14:10", "09:14:11", "10:02:11"],
            101,
            None,
            id="too few records to know the usual distance",
        ),
        pytest.param(
            [*[f"09:{minute:02d}:00" for minute in range(10, 30)], "09:40:00"],
            119,
            None,
            id="slow steps: eleven times the usual distance",
        ),
    ],
)
def test_silence_is_measured_by_the_clock(times: list[str], last: int, found: str | None) -> None:
    """Only a gap of many times the usual distance, with a line behind it, is a silence."""
    one = detect_stall_after_record(tail(*times), 0, last)
    assert (
        (one is not None and found in one.message.text("en") and one.line == last)
        if found
        else one is None
    )


@pytest.mark.parametrize(
    ("behind", "is_still"),
    [
        pytest.param(
            [f"09:14:{second} monitor: step=29 load 0.1" for second in (41, 47, 52)]
            + [f"09:15:{second} monitor: step=29 load 0.1" for second in (10, 20)],
            True,
            id="a monitor that names the same step",
        ),
        pytest.param(
            [f"09:14:{second} monitor: step={second} load 0.1" for second in (41, 47, 52)]
            + [f"09:15:{second} monitor: step={second} load 0.1" for second in (10, 20)],
            False,
            id="a monitor whose step goes on",
        ),
        pytest.param(
            [f"09:15:0{second} saving shard {second}" for second in range(6)],
            False,
            id="lines without a step",
        ),
        pytest.param(
            [f"09:14:{second} evaluating step 29" for second in (40, 41, 42, 43)],
            False,
            id="four seconds are not long",
        ),
    ],
)
def test_lines_go_on_and_the_step_does_not(behind: list[str], *, is_still: bool) -> None:
    """Many times the usual distance of the records, and all lines name one step."""
    first, text = tail(*STEADY)
    one = detect_stall_after_record(
        (first, "\n".join([text, *(f"2026-03-02 {line}" for line in behind)])), 0, 129
    )
    assert (
        (
            one is not None
            and one.id == "same-step"
            and "step 29" in one.message.text("en")
            and one.line == 130
        )
        if is_still
        else one is None
    )


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("2026-03-02T09:14:10", "2026-03-02T09:15:10.500", 60.5),
        ("T09:14:10", "T09:14:12", 2.0),
        ("--03-02T09:14:10", "--03-02T09:14:11", 1.0),
        ("+12.5s", "+20.0s", 7.5),
    ],
    ids=["full", "no date", "no year", "uptime"],
)
def test_clocks_of_all_kinds(one: str, other: str, apart: float) -> None:
    """Times with and without a date give the same distance."""
    assert convert_to_seconds(other) - convert_to_seconds(one) == pytest.approx(apart)


def test_what_is_no_time() -> None:
    """An unreadable time is not a number."""
    assert math.isnan(convert_to_seconds(None))
    assert math.isnan(convert_to_seconds("T99:99:99"))


def test_of_several_sources_the_last_counts() -> None:
    """A source without a record, or without an end that was kept, is passed over."""
    stopped = tail(*STEADY, "10:02:11")
    observed = Observed(
        last_records={0: 129, 1: 129, 3: 129}, tails={0: stopped, 1: stopped, 2: stopped}
    )
    assert [(shape.id, shape.source) for shape in detect_stalled_output(observed)] == [
        ("silence", 1),
        ("silence", 0),
    ]
