"""What detectors may look at: the lines of both ends of a source, and where one points."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.ranks import detect_straggler


def observed(text: str, kept: int) -> Observed:
    """A job of one file of whose ends so many characters are kept."""
    tail = text[-kept:]
    first = text.count("\n") + 1 - tail.count("\n")
    return Observed(heads={0: text[:kept]}, tails={0: (first, tail)}, processes={0: NOWHERE})


@given(st.lists(st.text("ab ", max_size=6), min_size=1, max_size=30), st.integers(7, 80))
def test_each_kept_line_comes_once_and_whole(lines: list[str], kept: int) -> None:
    """Under its own number, in order; of a text that is kept as a whole, every line."""
    text = "\n".join(lines)
    found = observed(text, kept).kept_lines(0)
    numbers = [number for number, _ in found]
    assert numbers == sorted(set(numbers))
    assert all(lines[number - 1] == line for number, line in found)
    if kept >= len(text):
        assert [line for _, line in found] == lines


@pytest.mark.parametrize("short", [0, 2500])
def test_a_slow_rank_is_shown_on_its_own_line(short: int) -> None:
    """However many short lines stand before it in what is kept."""
    rows = [f"it {index} compute/rank 0:0.31 1:0.30 2:0.99 3:0.31" for index in range(5)]
    (shape,) = detect_straggler(observed("x\n" * 9000 + "\n" * short + "\n".join(rows), 6000))
    assert shape.line == 9001 + short
