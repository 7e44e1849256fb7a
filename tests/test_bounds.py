"""No log hangs the program: work and memory grow with the length of a log.

They do so whatever stands in it.
"""

import time
from collections.abc import Callable
from pathlib import Path

import hostile
import pytest

from postmortem.gather import Gathering
from postmortem.gathered import Gathered
from postmortem.gathering.job import read
from postmortem.pipeline import machine_for
from postmortem.reading.block_reader import Block
from postmortem.reading.prefixes import clean
from postmortem.reading.windows import REACH, Sight, View
from postmortem.shapes.out_of_memory import gib

GROWTH = 3.0
"""Twice the log may take so many times as long; a quadratic one takes four times."""
ENOUGH = 0.15
"""CPU seconds below which nothing is slow."""
HEADER = "Traceback (most recent call last):"


def seconds(work: Callable[[], object]) -> float:
    """CPU time, the better of two."""
    best = float("inf")
    for _ in range(2):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


@pytest.mark.parametrize("kind", [*hostile.TWELVE, *hostile.MORE])
def test_reading_is_linear(kind: str, tmp_path: Path) -> None:
    """A hostile log that is twice as long takes about twice as long to read."""
    logs = []
    for size in (60_000, 120_000):
        logs.append(tmp_path / f"{size}.log")
        hostile.write(logs[-1], kind, size)
        read(logs[-1], machine_for(()))  # rules are compiled when their first candidate comes
    half, whole = (seconds(lambda log=log: read(log, machine_for(()))) for log in logs)  # type: ignore[misc]
    assert whole < max(ENOUGH, GROWTH * half)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("2024-05-01 12:00:00" + " " * 8000 + "x", id="a time stamp and blanks"),
        pytest.param("2024-05-01 12:00:00 INFO" + " " * 8000 + "x", id="a level and blanks"),
        pytest.param("[rank" + "9" * 8000 + "]: x", id="a rank without end"),
        pytest.param("(pid=" + "9" * 8000 + ") x", id="a process without end"),
    ],
)
def test_a_line_is_cleaned_at_once(line: str) -> None:
    """Eight kilobytes take a hundredth of a second at most."""
    assert seconds(lambda: clean(line)) < 0.01


def test_a_size_is_read_at_once() -> None:
    """Digits without a unit are no size, however many they are."""
    assert seconds(lambda: gib("1" * 8000)) < 0.02
    assert gib("2.00 GiB") == 2.0


def gathered(text: str) -> Gathered:
    """What is found in a text."""
    gathering = Gathering(machine_for(()), 0)
    data = text.encode()
    gathering.feed(Block(data, 0, len(data), 0))
    return gathering.snapshot()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "".join(f"[rank{number % 1000}]: {HEADER}\n" for number in range(4000)),
            id="headers of other processes",
        ),
        pytest.param(f"╭─── {HEADER[:-1]} ───╮\n" * 4000, id="boxes that never close"),
    ],
)
def test_what_is_passed_over_is_counted(text: str) -> None:
    """Headers without a traceback, thousands of them in a row, are not all followed.

    The report says so.
    """
    assert gathered(text).passed_over > 0


def test_a_traceback_behind_many_headers_is_read() -> None:
    """Once a log goes on as logs do, tracebacks are followed again."""
    noise = "".join(f"[rank{number % 1000}]: {HEADER}\n" for number in range(4000))
    ordinary = "an ordinary line of a log that goes on\n" * 400
    found = gathered(
        f'{noise}{ordinary}{HEADER}\n  File "train.py", line 3, in main\n    run()\nValueError: batch 7 is empty\n'
    )
    assert found.passed_over
    assert found.tracebacks[-1][0].exception == "ValueError"


def test_a_thousand_ranks_that_fail_together_are_all_read() -> None:
    """Real tracebacks of a thousand processes are within the allowance.

    They come one line of each in turn.
    """
    rows = (
        HEADER,
        '  File "train.py", line 3, in main',
        "    run()",
        "ValueError: batch 7 is empty",
    )
    found = gathered(
        "".join(
            f"[rank{rank}]: {row}\n"
            for start in range(0, 1024, 64)
            for row in rows
            for rank in range(start, start + 64)
        )
    )
    assert (found.traceback_count, found.passed_over) == (1024, 0)


def test_long_lines_of_a_real_log_are_all_looked_at() -> None:
    """Configurations in one line of some kilobytes do not come near the allowance.

    A line of megabytes full of literals does.
    """
    machine = machine_for(())
    words = b" ".join(
        literal for literal in machine.literals if b"\n" not in literal and b"\r" not in literal
    ).decode("utf-8", "replace")
    assert gathered((words[:4000] + "\n") * 5).passed_over == 0
    assert gathered(words * 20).passed_over > 0


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(
            ["2024-05-01 12:00:00 a", "b", "needle"], "2024-05-01T12:00:00", id="two lines before"
        ),
        pytest.param(
            ["2024-05-01 12:00:00 a", *["b"] * 118, "needle"],
            "2024-05-01T12:00:00",
            id="as far as is looked",
        ),
        pytest.param(
            ["2024-05-01 12:00:00 a", *["b"] * 119, "needle"], None, id="further than is looked"
        ),
        pytest.param(
            ["2024-05-01 12:00:00 a", "x" * (REACH + 1), "needle"], None, id="beyond the window"
        ),
        pytest.param(
            ["2024-05-01 12:00:00 a", "needle", "b", "2024-05-01 12:00:07 needle"],
            "2024-05-01T12:00:07",
            id="in the line itself",
        ),
        pytest.param(
            ["2024-05-01 12:00:00 a", "needle", "b", "needle", "c", "needle"],
            "2024-05-01T12:00:00",
            id="found before, from there",
        ),
        pytest.param(
            ["2024-05-01 12:00:00 a", *["b"] * 60, "needle", *["b"] * 59, "needle"],
            None,
            id="found before, too far from here",
        ),
        pytest.param(["needle", *["b"] * 200, "needle"], None, id="nowhere"),
    ],
)
def test_the_nearest_printed_time(lines: list[str], expected: str | None) -> None:
    """It is that of the line or of one of 119 before it, within the window.

    What an earlier look has found is used again.
    """
    data = "\n".join(lines).encode()
    sight, position, found = Sight(srun=False), -1, None
    while (position := data.find(b"needle", position + 1)) >= 0:
        count = len(sight.stamps)
        sight.stamp(sight.view(data, position, 1), 0)
        found = sight.stamps[-1][1] if len(sight.stamps) > count else None
    assert found == expected


def test_a_line_is_cleaned_once() -> None:
    """Views of one block share what they have cleaned."""
    data = b"one here\ntwo here\nthree here\n"
    known: dict[tuple[int, int], object] = {}
    first, second = (
        View(data, data.index(word), 1, srun=False, known=known) for word in (b"one", b"two")
    )  # type: ignore[arg-type]
    assert first.following(3) == ["one here", "two here", "three here"]
    before = dict(known)
    assert second.following(2) == ["two here", "three here"]
    assert known == before
