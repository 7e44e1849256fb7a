"""How long a log went on behind a line, by the clocks it prints."""

import pytest

from postmortem.extraction.facts.clock import (
    Stamp,
    compute_seconds_after,
    get_time_at,
    parse_stamps,
    parse_time,
)

FULL = [Stamp(10, "2024-05-01T12:00:00"), Stamp(20, "2024-05-01T12:00:05")]


def test_clocks_of_lines() -> None:
    """Lines with a logger's prefix have one, lines of a traceback have none."""
    lines = [
        "[2024-05-01 12:00:00,123] [INFO] [engine.py:1:step] x",
        "Traceback (most recent call last):",
        "05/01 12:00:07 - mmengine - INFO - y",
    ]
    assert parse_stamps(7, lines) == [
        Stamp(7, "2024-05-01T12:00:00.123"),
        Stamp(9, "--05-01T12:00:07"),
    ]
    assert get_time_at(parse_stamps(7, lines), 9) == "--05-01T12:00:07"
    assert get_time_at(parse_stamps(7, lines), 8) is None


@pytest.mark.parametrize(
    ("line", "time"),
    [
        pytest.param("[04/11 10:02:20 d2.utils.events]: iter: 19", "--04-11T10:02:20", id="d2"),
        pytest.param("01-16 04:12:39 step:201 - x", "--01-16T04:12:39", id="no year"),
        pytest.param("22-12-06 08:52:51.550 - INFO: x", "2022-12-06T08:52:51.550", id="two digits"),
        pytest.param("13-40 04:12:39 x", None, id="no date"),
        pytest.param("step 3 of 04/11 10:02:20", None, id="not in front"),
    ],
)
def test_short_stamps_are_clocks(line: str, time: str | None) -> None:
    """A stamp without a year, or with two digits of it."""
    assert parse_time(line) == time


@pytest.mark.parametrize(
    ("near", "line", "ends", "expected"),
    [
        pytest.param(FULL, 10, ["2024-05-01T12:30:00"], 1800.0, id="the line's own clock"),
        pytest.param(FULL, 15, ["2024-05-01T12:30:00"], 1800.0, id="neighbours that agree"),
        pytest.param(
            [Stamp(10, "2024-05-01T12:00:00"), Stamp(20, "2024-05-01T12:20:00")],
            15,
            ["2024-05-01T12:30:00"],
            None,
            id="neighbours that do not agree",
        ),
        pytest.param(
            [Stamp(10, "2024-05-01T12:00:00")],
            15,
            ["2024-05-01T12:00:00"],
            None,
            id="nothing printed behind it",
        ),
        pytest.param(
            FULL,
            10,
            ["2024-05-01T12:30:00", "2024-05-01T13:00:00"],
            3600.0,
            id="another file goes on longer",
        ),
        pytest.param(FULL, 10, ["--05-01T12:30:00"], None, id="another clock"),
        pytest.param(
            [Stamp(10, "--12-31T23:59:00")],
            10,
            ["--01-01T00:01:00"],
            120.0,
            id="over the end of the year",
        ),
        pytest.param(
            [Stamp(10, "T23:59:00")],
            10,
            ["T00:01:00"],
            None,
            id="over midnight without a date: days may have passed",
        ),
        pytest.param([Stamp(10, "+100.5s")], 10, ["+160.75s"], 60.25, id="uptime"),
        pytest.param([], 10, ["2024-05-01T12:30:00"], None, id="no clock"),
        pytest.param(
            [Stamp(10, "T12:00:00"), Stamp(10, "2024-05-01T12:00:00")],
            10,
            ["T12:00:01", "2024-05-01T13:00:00"],
            3600.0,
            id="of two clocks the fuller",
        ),
    ],
)
def test_seconds_behind_a_line(
    near: list[Stamp], line: int, ends: list[str], expected: float | None
) -> None:
    """Only clocks of one kind are compared, and what they do not tell is not guessed."""
    assert compute_seconds_after(near, line, ends) == expected
