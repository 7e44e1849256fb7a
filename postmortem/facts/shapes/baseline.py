"""What the first loss says: a model that knows nothing gives the logarithm of its vocabulary.

In: the curves of one process and the size of the vocabulary. Out: the shapes `first-loss-high`,
`first-loss-low`. Not here: the course of the loss (`shapes.course`).
"""

import math
from typing import Final

from postmortem import names
from postmortem.facts.shapes.curves import Curves, Found, at
from postmortem.model.said import say

_HIGH: Final = 1.5
"""Times ln(vocabulary): far above guessing, so wrong weights, wrong labels, or a sum where a mean is meant."""
_LOW: Final = 0.02
_EARLY: Final = 10
"""The last step whose loss still tells of the loaded weights."""
_SMALLEST: Final = 32


def first_loss(curves: Curves, vocabulary: float | None) -> Found:
    """Compare the first training loss with ln(vocabulary).

    Args:
        curves: of one process.
        vocabulary: number of classes of the output, or None if it is not printed.
    """
    points = curves.points(names.LOSS)
    if (
        vocabulary is None
        or vocabulary < _SMALLEST
        or not points
        or not points[0].step <= _EARLY
        or not 0.0 < points[0].value < math.inf
    ):
        return []
    first, guess = points[0], math.log(vocabulary)
    said = say(
        "loss {loss:.4g} at {place}, ln({vocabulary:.0f}) = {guess:.4g}",
        "{place} loss 为 {loss:.4g}，ln({vocabulary:.0f}) = {guess:.4g}",
        loss=first.value,
        place=at(first),
        vocabulary=vocabulary,
        guess=guess,
    )
    if first.value > _HIGH * guess:
        return [("first-loss-high", said, first.line)]
    return [("first-loss-low", said, first.line)] if first.value < _LOW * guess else []
