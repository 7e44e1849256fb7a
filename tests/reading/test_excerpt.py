"""The lines around a place, read again."""

import gzip
import tracemalloc
from pathlib import Path

import pytest

from postmortem.reading.excerpt import read_lines_again, read_lines_around, read_lines_in

LINES = [f"line {number}" for number in range(1, 101)]


@pytest.mark.parametrize(
    ("number", "first", "count"),
    [
        pytest.param(50, 30, 41, id="in the middle"),
        pytest.param(1, 1, 21, id="at the start"),
        pytest.param(100, 80, 21, id="at the end"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_lines_around_are_the_raw_lines(
    tmp_path: Path, number: int, first: int, count: int, pack: object
) -> None:
    """First number and lines are those that `sed -n` would print."""
    log = tmp_path / "run.log"
    log.write_bytes(pack("\n".join(LINES).encode() + b"\n"))  # type: ignore[operator]
    assert read_lines_around(str(log), number) == (first, LINES[first - 1 : first - 1 + count])


def test_standard_input_cannot_be_read_again() -> None:
    """A stream gives nothing."""
    assert read_lines_around("-", 3) is None


def test_a_long_line_says_how_much_is_left_out(tmp_path: Path) -> None:
    """Its beginning is kept, and the count of the rest."""
    log = tmp_path / "run.log"
    log.write_text("short\n" + "x" * 100_000 + "\n", encoding="utf-8")
    found = read_lines_again(str(log), [(1, 2)])
    assert found[1] == ("short", 0)
    assert len(found[2].text) + found[2].over == 100_000


def test_of_a_line_as_long_as_the_log_little_is_kept(tmp_path: Path) -> None:
    """Its beginning is shown, the rest is counted, in memory that does not grow with it."""
    log = tmp_path / "run.log"
    log.write_bytes(b"first\n" + b"x" * 20_000_000 + b"\nlast\n")
    tracemalloc.start()
    found = read_lines_in(str(log), [(1, 2)])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [(len(line.text), line.over) for line in found.values()] == [(5, 0), (2000, 19_998_001)]
    assert peak < 60 << 20


def test_a_bar_that_is_as_long_as_the_log_is_quoted_as_it_was_drawn_last(tmp_path: Path) -> None:
    """Of its frames the last one is what stands on the screen."""
    log = tmp_path / "run.log"
    frames = "".join(f"\rstep {number} of 400000" for number in range(400_000))
    log.write_text(f"begin\nfirst{frames}\nlast\n")
    assert read_lines_in(str(log), [(2, 2)]) == {2: ("step 399999 of 400000", 0)}
