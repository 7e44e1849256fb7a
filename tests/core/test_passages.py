"""Passages of logs: joined where they touch, cut where others stand, halved while they are long."""

import pytest

from postmortem.reading.excerpt import Passage, merge_passages

COUNTS = {0: 100, 2: 5}


@pytest.mark.parametrize(
    ("passages", "expected"),
    [
        pytest.param([(0, 5, 6), (0, 1, 2)], [(0, 1, 2), (0, 5, 6)], id="put in order"),
        pytest.param([(0, 1, 4), (0, 3, 9)], [(0, 1, 9)], id="overlapping"),
        pytest.param([(0, 1, 9), (0, 3, 4)], [(0, 1, 9)], id="one within another"),
        pytest.param([(0, 1, 2), (0, 4, 5)], [(0, 1, 5)], id="a gap of one line is filled"),
        pytest.param([(0, 1, 2), (0, 5, 6)], [(0, 1, 2), (0, 5, 6)], id="a gap of two stays"),
        pytest.param([(0, -3, 2), (2, 4, 99)], [(0, 1, 2), (2, 4, 5)], id="within the source"),
        pytest.param([(2, 6, 9), (0, -3, 0)], [], id="wholly beyond it"),
        pytest.param([(1, 1, 2)], [], id="of a source that is no log"),
        pytest.param([(0, 99, 100), (2, 1, 2)], [(0, 99, 100), (2, 1, 2)], id="of two sources"),
    ],
)
def test_passages_are_joined(
    passages: list[tuple[int, int, int]], expected: list[tuple[int, int, int]]
) -> None:
    """What comes out is in order, apart, and within its source."""
    assert merge_passages([Passage(*passage) for passage in passages], COUNTS) == expected


@pytest.mark.parametrize(
    ("others", "left"),
    [
        pytest.param([], [(0, 10, 20)], id="nothing to cut out"),
        pytest.param([(0, 12, 14)], [(0, 10, 11), (0, 15, 20)], id="in the middle"),
        pytest.param([(0, 1, 12)], [(0, 13, 20)], id="at the beginning"),
        pytest.param([(0, 10, 20)], [], id="all of it"),
        pytest.param([(0, 21, 30), (1, 12, 14)], [(0, 10, 20)], id="beside it, or elsewhere"),
        pytest.param([(0, 12, 12), (0, 18, 30)], [(0, 10, 11), (0, 13, 17)], id="two of them"),
    ],
)
def test_others_are_cut_out(
    others: list[tuple[int, int, int]], left: list[tuple[int, int, int]]
) -> None:
    """Of a passage what no other holds is left, in order."""
    assert Passage(0, 10, 20).without([Passage(*other) for other in others]) == left


def test_a_long_passage_has_halves() -> None:
    """The later one first; what is short is left whole."""
    assert list(Passage(0, 1, 8).halves()) == [(0, 5, 8), (0, 1, 4)]
    assert list(Passage(0, 1, 7).halves()) == []
