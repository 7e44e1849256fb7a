"""Compare the first loss with chance, the logarithm of the vocabulary size.

In: the curves of one process and the size of the vocabulary. Out: the anomalies `first-loss-high`,
`first-loss-low`, and `at-chance` of a loss that is still such a logarithm late in the run. Not
here: the course of the loss (`detectors.trend`).
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves, format_position
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.facts.number_texts import parse_number
from postmortem.extraction.facts.series import Point

_HIGH: Final = 1.5
"""Times ln(vocabulary): far above guessing, so wrong weights, wrong labels, or a sum where a mean
is meant."""
_LOW: Final = 0.02
_EARLY: Final = 10
"""The last step whose loss still tells of the loaded weights."""
_EARLY_SHARE: Final = 0.05
"""The same as a share of the first pass over the data."""
_SMALLEST: Final = 32
_IMAGENET: Final = 1000
"""Classes that need not be printed: nothing else makes a loss of 6.908 that does not move."""
_COUNTED: Final = ("setting.num_classes", "setting.num_labels", "setting.vocab_size")
_NEAR: Final = 0.003
"""Share by which a loss that says nothing differs from the logarithm at most."""
_FEWEST: Final = 3
_MANY: Final = 1000


def detect_initial_loss_level(observed: Observed) -> Iterable[Anomaly]:
    """Compare the first training loss with ln(vocabulary), if that is printed."""
    vocabulary = parse_number(observed.facts.get("setting.vocab_size") or "")
    first = next(iter(observed.curves.points(names.LOSS)), None)
    if vocabulary is None or vocabulary < _SMALLEST or first is None:
        return []
    if not _is_early(observed.curves, first) or not 0.0 < first.value < math.inf:
        return []
    guess = math.log(vocabulary)
    name = "first-loss-high" if first.value > _HIGH * guess else "first-loss-low"
    if name == "first-loss-low" and first.value >= _LOW * guess:
        return []
    message = say(
        "loss {loss:.4g} at {place}, ln({vocabulary:.0f}) = {guess:.4g}",
        loss=first.value,
        place=format_position(first),
        vocabulary=vocabulary,
        guess=guess,
    )
    return [observed.curves.shape(name, message, first.line)]


def guess(observed: Observed) -> Iterable[Anomaly]:
    """Find a loss that is the logarithm of the classes in all records, far into the run."""
    curves = observed.curves
    counts = {_IMAGENET, *list_class_counts(observed.facts, _SMALLEST)}
    for name in curves.of("loss", "entropy"):
        points = curves.finite(name)
        if len(points) < _FEWEST or not _is_far(curves, points):
            continue
        for classes in sorted(counts):
            level = math.log(classes)
            if all(abs(point.value - level) <= _NEAR * level for point in points):
                message = say(
                    "{name} is ln({classes}) = {level:.4g} in all {count} records",
                    name=name,
                    classes=classes,
                    level=level,
                    count=len(points),
                )
                return [curves.shape("at-chance", message, points[0].line)]
    return []


def list_class_counts(facts: FactStore, least: int) -> list[int]:
    """Give the numbers of classes, labels and words that the log prints, if not less than this."""
    printed = (parse_number(facts.get(name) or "") for name in _COUNTED)
    return [int(count) for count in printed if count and count >= least]


def _is_far(curves: Curves, points: Sequence[Point]) -> bool:
    """Say whether all records are from behind the first epoch or the first thousand steps."""
    epochs = [point.value for point in curves.finite(names.EPOCH)]
    return points[0].step >= _MANY or bool(epochs and epochs[0] >= 1)


def _is_early(curves: Curves, first: Point) -> bool:
    """Say whether a record is early enough; where no step is printed, by the share of an epoch."""
    if not math.isnan(first.step):
        return first.step <= _EARLY
    return curves.by_line(names.EPOCH).get(first.line, math.inf) <= _EARLY_SHARE
