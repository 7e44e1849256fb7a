"""A column of printed figures gives the numbers that `float` gives for each, to the last bit."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.extraction.columnar.number_columns import parse_floats

PRINTED: dict[str, Callable[[random.Random], str]] = {
    "four places": lambda c: f"{c.random() * 3:.4f}",
    "with a sign": lambda c: f"{c.random() - 0.5:.3f}",
    "of several lengths": lambda c: f"{10 ** c.randint(-3, 6) * c.random():.2f}",
    "in powers of ten": lambda c: f"{10.0 ** c.randint(-9, 9) * c.random():.4e}",
    "in capital powers": lambda c: f"{10.0 ** c.randint(-30, 30) * c.random():.6E}",
    "of fifteen digits": lambda c: f"{c.random():.15f}",
    "in full": lambda c: repr(c.random() * 1e-5),
    "whole": lambda c: str(c.randint(0, 10**6)),
    "of many digits": lambda c: str(c.randint(10**15, 10**18)),
    "without a fraction": lambda c: f"{c.randint(0, 99)}.",
    "of great powers": lambda c: f"1.5e{c.choice(['+', '-'])}{c.randint(290, 320)}",
    "mixed": lambda c: c.choice(["1.25", "12.5", "1e-5", "-0.0", "0", "125.", "+2.5", "-1.5"]),
    "with words": lambda c: c.choice([f"{c.random():.1f}", "nan", "inf"]),
}


@pytest.mark.parametrize("kind", sorted(PRINTED))
@pytest.mark.parametrize("count", [1, 63, 64, 500])
def test_each_number_is_that_of_float(kind: str, count: int) -> None:
    """Compared bit by bit: NaN is alike, and 0 is not -0."""
    choice = random.Random(7)
    texts = [PRINTED[kind](choice).encode() for _ in range(count)]
    assert [one.hex() for one in parse_floats(texts).tolist()] == [
        float(one).hex() for one in texts
    ]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.from_regex(r"[+-]?\d{1,9}(\.\d{0,9})?([eE][+-]?\d{1,3})?", fullmatch=True)))
def test_any_spelling(printed: list[str]) -> None:
    """Often enough to be read as a column."""
    texts = [text.encode() for text in printed if text.isascii()] * 70
    assert [one.hex() for one in parse_floats(texts).tolist()] == [
        float(one).hex() for one in texts
    ]


def test_a_word_is_no_number() -> None:
    """It is not passed over."""
    with pytest.raises(ValueError, match="could not convert"):
        parse_floats([b"1.25"] * 100 + [b"none"])
