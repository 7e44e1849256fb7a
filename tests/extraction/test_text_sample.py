"""The sample of a source: telling lines and last words, bounded, the same at any block border."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmortem.extraction.kept_lines import Sampler, TextSample
from postmortem.reading.sources import Block

LINES = (
    "epoch 3 step 40 loss 2.31",
    "RuntimeError: the queue is broken",
    "worker 7 was killed",
    "WARNING cache is cold",
    "",
    "  3%|#  | 3/100\r  4%|#  | 4/100",
)


def sampled(text: str, cut: int = 1 << 20) -> TextSample:
    """The sample of a text that comes in blocks of so many bytes."""
    data, sampler = text.encode(), Sampler(b"\n")
    for start in range(0, len(data), cut):
        sampler.feed(Block(data, start, min(start + cut, len(data)), 0))
    return sampler.sample(data.count(b"\n") + 1)


@pytest.mark.parametrize(
    ("text", "telling", "last"),
    [
        ("a\nValueError: bad\nb\n", [2], [1, 2, 3]),
        ("worker 1 failed\nworker 2 failed\nok", [2], [1, 2, 3]),  # one wording, its last place
        ("\n \n\t\n", [], []),
        ("x\r\nError\r\n", [2], [1, 2]),
    ],
)
def test_which_lines_are_kept(text: str, telling: list[int], last: list[int]) -> None:
    """Lines with a word of trouble, and the last that are not empty, by their raw number."""
    sample = sampled(text)
    assert [number for number, _ in sample.telling] == telling
    assert [number for number, _ in sample.last] == last


def test_of_a_redrawn_line_the_last_state_is_kept() -> None:
    """As a terminal shows it."""
    assert sampled(LINES[-1]).last == ((1, "4%|#  | 4/100"),)


def test_it_does_not_grow_with_the_log() -> None:
    """A hundred thousand errors of different wording leave two dozen."""
    text = "\n".join(f"error {'x' * (n % 300)}y{chr(97 + n % 26)}" for n in range(100_000))
    sample = sampled(text)
    assert len(sample.telling) <= 24
    assert len(sample.last) <= 14
    again = sample.joined(sample)
    assert (len(again.telling), len(again.last)) == (24, 14)


@given(st.lists(st.sampled_from(LINES), max_size=60), st.integers(1, 400))
def test_block_borders_change_nothing(lines: list[str], cut: int) -> None:
    """Whatever the size of a block."""
    text = "\n".join(lines)
    assert sampled(text, cut) == sampled(text)
