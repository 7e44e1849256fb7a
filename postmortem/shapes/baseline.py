"""What the first loss says: a model that knows nothing gives the logarithm of its vocabulary.

In: the curves of one process and the size of the vocabulary. Out: the shapes `first-loss-high`,
`first-loss-low`. Not here: the course of the loss (`shapes.course`).
"""

import math
from collections.abc import Iterable
from typing import Final

from postmortem import names
from postmortem.facts.number_texts import number
from postmortem.facts.series import Point
from postmortem.model.said import say
from postmortem.shapes.aligned import at
from postmortem.shapes.observed import Observed
from postmortem.shapes.shape import Shape

_HIGH: Final = 1.5
"""Times ln(vocabulary): far above guessing, so wrong weights, wrong labels, or a sum where a mean
is meant."""
_LOW: Final = 0.02
_EARLY: Final = 10
"""The last step whose loss still tells of the loaded weights."""
_SMALLEST: Final = 32


def first_loss(observed: Observed) -> Iterable[Shape]:
    """Compare the first training loss with ln(vocabulary), if that is printed."""
    vocabulary = number(observed.facts.get("setting.vocab_size") or "")
    first = next(iter(observed.curves.points(names.LOSS)), None)
    if vocabulary is None or vocabulary < _SMALLEST or first is None or not _is_telling(first):
        return []
    guess = math.log(vocabulary)
    name = "first-loss-high" if first.value > _HIGH * guess else "first-loss-low"
    if name == "first-loss-low" and first.value >= _LOW * guess:
        return []
    said = say(
        "loss {loss:.4g} at {place}, ln({vocabulary:.0f}) = {guess:.4g}",
        "{place} loss 为 {loss:.4g}，ln({vocabulary:.0f}) = {guess:.4g}",
        loss=first.value,
        place=at(first),
        vocabulary=vocabulary,
        guess=guess,
    )
    return [observed.curves.shape(name, said, first.line)]


def _is_telling(first: Point) -> bool:
    """Say whether a record is early enough, and its loss a positive figure."""
    return first.step <= _EARLY and 0.0 < first.value < math.inf
