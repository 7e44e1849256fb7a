"""Exact one-sided tests of counts, and the correction for asking many questions at once.

Written out, with numpy for the sums: the distributions are a dozen lines, and scipy, which has
them, would be a new dependency of the whole program, many times the size of it.

In: counts. Out: probabilities. Not here: what is counted (`scheduler.uneven_nodes`).
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_NEGLIGIBLE: Final = 1e-30
"""Ends of a distribution below it are dropped: far fewer than 1e6 of them are."""
_SHORT: Final = 256
"""Terms below which dropping ends costs more than it saves."""
SMALLEST: Final = 1e-20
"""A probability below it is told as this: the dropped ends could add up to as much."""


class Urn(NamedTuple):
    """Jobs of one kind: how many there are, and how many of them failed and ran on a node."""

    total: int
    failed: int
    drawn: int
    """Those that ran on the node."""

    @property
    def expected(self) -> float:
        """How many of the drawn would have failed if all were alike."""
        return self.failed * self.drawn / self.total

    @property
    def is_telling(self) -> bool:
        """Whether more than one outcome is possible."""
        return 0 < self.failed < self.total and 0 < self.drawn < self.total


class _Spread(NamedTuple):
    """A distribution over whole numbers."""

    lowest: int
    shares: Floats


def compute_tail_probability(urns: Iterable[Urn], observed: int) -> float:
    """Give the probability that the drawn of all urns hold `observed` failed ones or more.

    Each urn is drawn from without putting back (hypergeometric), each by itself; with one urn it is
    Fisher's exact test, one-sided.
    """
    spread = _Spread(0, np.ones(1))
    for urn in urns:
        spread = _sum_of(spread, _compute_hypergeometric(urn))
    above = spread.shares[max(0, observed - spread.lowest) :]
    return min(1.0, max(SMALLEST, float(math.fsum(above))))


@lru_cache(maxsize=4096)
def _compute_hypergeometric(urn: Urn) -> _Spread:
    """Give how many failed ones are among the drawn, by the ratios of neighbouring terms."""
    lowest = max(0, urn.drawn + urn.failed - urn.total)
    counts = np.arange(lowest, min(urn.drawn, urn.failed), dtype=np.float64)
    ratios = (urn.failed - counts) * (urn.drawn - counts)
    ratios /= (counts + 1) * (urn.total - urn.failed - urn.drawn + counts + 1)
    logarithms = np.concatenate(([0.0], np.cumsum(np.log(ratios))))
    shares = np.exp(logarithms - logarithms.max())
    return _trim_spread(lowest, shares / shares.sum())


def _sum_of(first: _Spread, second: _Spread) -> _Spread:
    shares = np.convolve(first.shares, second.shares)
    return _trim_spread(first.lowest + second.lowest, shares)


def _trim_spread(lowest: int, shares: Floats) -> _Spread:
    if len(shares) < _SHORT:
        return _Spread(lowest, shares)
    kept = np.flatnonzero(shares > _NEGLIGIBLE)
    return _Spread(lowest + int(kept[0]), shares[kept[0] : kept[-1] + 1])


def compute_binomial_cdf(successes: int, trials: int, chance: float) -> float:
    """Give the probability of so few successes or fewer (binomial); `chance` is within 0 and 1."""
    terms = (
        math.exp(
            math.lgamma(trials + 1)
            - math.lgamma(count + 1)
            - math.lgamma(trials - count + 1)
            + count * math.log(chance)
            + (trials - count) * math.log1p(-chance)
        )
        for count in range(successes + 1)
    )
    return min(1.0, math.fsum(terms))


def compute_false_discovery_rates(chances: Sequence[float]) -> list[float]:
    """Give the adjusted value of each probability (Benjamini and Hochberg), in their order.

    Of all that is called odd at a value of q or less, a share of q at most is expected to be wrong.
    """
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    adjusted, lowest = [1.0] * len(chances), 1.0
    for rank in range(len(order), 0, -1):
        place = order[rank - 1]
        lowest = min(lowest, chances[place] * len(chances) / rank)
        adjusted[place] = lowest
    return adjusted
