"""Exact tests against the same counts written out in whole numbers."""

from fractions import Fraction
from itertools import product
from math import comb, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.fleet.scheduler.exact_tests import (
    Urn,
    compute_binomial_cdf,
    compute_false_discovery_rates,
    compute_tail_probability,
)


def urns(most: int) -> st.SearchStrategy[Urn]:
    """Urns of up to so many jobs."""
    return st.integers(1, most).flatmap(
        lambda total: st.builds(Urn, st.just(total), st.integers(0, total), st.integers(0, total))
    )


def written_out(drawn: list[Urn], observed: int) -> Fraction:
    """The probability by counting every way to draw."""
    ways = [range(min(urn.failed, urn.drawn) + 1) for urn in drawn]
    chosen = sum(
        prod(
            comb(urn.failed, count) * comb(urn.total - urn.failed, urn.drawn - count)
            for urn, count in zip(drawn, counts, strict=True)
        )
        for counts in product(*ways)
        if sum(counts) >= observed
    )
    return Fraction(chosen, prod(comb(urn.total, urn.drawn) for urn in drawn))


@settings(deadline=None)
@given(st.lists(urns(9), min_size=1, max_size=3), st.integers(0, 12))
def test_the_chance_is_that_of_counting(drawn: list[Urn], observed: int) -> None:
    """Of one urn (Fisher's test) and of the sum of several."""
    expected = float(written_out(drawn, observed))
    assert compute_tail_probability(drawn, observed) == pytest.approx(expected, abs=1e-12)


def test_a_large_urn() -> None:
    """Its tail, far from the middle, to nine digits."""
    urn = Urn(20_000, 900, 400)
    expected = float(written_out([urn], 60))
    assert compute_tail_probability([urn], 60) == pytest.approx(expected, rel=1e-9)


@settings(deadline=None)
@given(st.integers(0, 40), st.integers(0, 40))
def test_few_successes(first: int, second: int) -> None:
    """The binomial sum, with an even coin."""
    few, trials = sorted((first, second))
    expected = sum(comb(trials, count) for count in range(few + 1)) / 2**trials
    assert compute_binomial_cdf(few, trials, 0.5) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("chances", "adjusted"),
    [
        ([], []),
        ([0.03], [0.03]),
        ([0.01, 0.02, 0.03, 0.9], [0.04, 0.04, 0.04, 0.9]),
        ([0.9, 0.001, 0.04], [0.9, 0.003, 0.06]),
        ([1.0, 1.0], [1.0, 1.0]),
    ],
)
def test_many_questions(chances: list[float], adjusted: list[float]) -> None:
    """Adjusted by hand after Benjamini and Hochberg."""
    assert compute_false_discovery_rates(chances) == pytest.approx(adjusted)
