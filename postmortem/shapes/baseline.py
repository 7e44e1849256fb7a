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
from postmortem.shapes.aligned import Curves, at
from postmortem.shapes.observed import Observed
from postmortem.shapes.shape import Shape

_HIGH: Final = 1.5
"""Times ln(vocabulary): far above guessing, so wrong weights, wrong labels, or a sum where a mean
is meant."""
_LOW: Final = 0.02
_EARLY: Final = 10
"""The last step whose loss still tells of the loaded weights."""
_EARLY_SHARE: Final = 0.05
"""The same as a share of the first pass over the data."""
_SMALLEST: Final = 32


def first_loss(observed: Observed) -> Iterable[Shape]:
    """Compare the first training loss with ln(vocabulary), if that is printed."""
    vocabulary = number(observed.facts.get("setting.vocab_size") or "")
    first = next(iter(observed.curves.points(names.LOSS)), None)
    if vocabulary is None or vocabulary < _SMALLEST or first is None:
        return []
    if not _is_early(observed.curves, first) or not 0.0 < first.value < math.inf:
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


def _is_early(curves: Curves, first: Point) -> bool:
    """Say whether a record is early enough; where no step is printed, by the share of an epoch."""
    if not math.isnan(first.step):
        return first.step <= _EARLY
    return curves.by_line(names.EPOCH).get(first.line, math.inf) <= _EARLY_SHARE
