"""The training loss, with measures that several detectors share.

In: the curves of one process. Out: `TrainingLoss`, measures that several detectors share. Not here:
any anomaly.
"""

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from postmortem.core import names
from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.extraction.facts.series import Point

_LARGEST: Final = 1e150
"""Figures whose squares can still be added."""
CLAMPED: Final = 87.33655
"""Cross entropy of the smallest float32, where Caffe and others clamp a probability of 0: what
weights that are far too large begin with tells nothing of where the loss comes from."""
_LAST_DIGIT: Final = 1e-4
_FEWEST: Final = 5
_LEAP: Final = 1.5
"""Times the record before it with which the weakest of all spikes begins."""
WORTH: Final = 0.05
"""A loss at or below it has nothing left to lose."""


@dataclass(frozen=True, slots=True)
class TrainingLoss:
    """The records of a training loss whose values can be reckoned with, five or more."""

    points: Sequence[Point]
    values: Sequence[float]
    is_broken: bool
    """True if other records of it are not finite."""

    @property
    def third(self) -> int:
        """A third of the records, at least one."""
        return max(1, len(self.values) // 3)

    @property
    def head(self) -> float:
        """The mean of the first third."""
        return statistics.fmean(self.values[: self.third])

    @property
    def tail(self) -> float:
        """The mean of the last third."""
        return statistics.fmean(self.values[-self.third :])


def find_training_loss(curves: Curves) -> TrainingLoss | None:
    """Give the training loss of a process; None where too few records have it."""
    printed = curves.points(names.LOSS)
    clamped = itertools.takewhile(lambda point: abs(point.value - CLAMPED) < _LAST_DIGIT, printed)
    begun = printed[len(list(clamped)) :] or printed
    points = [point for point in begun if abs(point.value) < _LARGEST]
    if len(points) < _FEWEST:
        return None
    is_broken = curves.first_nonfinite(names.LOSS) is not None
    return TrainingLoss(points, [point.value for point in points], is_broken)


def compute_typical_log_change(values: Sequence[float]) -> float:
    """Give the usual change from one record to the next, as a logarithm.

    0 where the loss is not positive.
    """
    if min(values) <= 0:
        return 0.0
    return statistics.median(
        abs(math.log(current) - math.log(previous))
        for previous, current in itertools.pairwise(values)
    )


def compute_standard_deviation(values: Sequence[float]) -> float:
    """Give the standard deviation: `statistics.pstdev` reckons with fractions, which takes long."""
    mean = statistics.fmean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def iter_jump_indexes(values: Sequence[float], start: int, end: int) -> Iterator[int]:
    """Yield the indexes in `[start, end)` of records half as high again as the one before.

    No spike of any kind begins elsewhere, and few records are such.
    """
    for index in range(max(start, 1), end):
        if values[index] > _LEAP * values[index - 1]:
            yield index


def from_to(first: float, last: float) -> Message:
    """Word where a loss began and where it came."""
    return say("loss {first:.4g} → {last:.4g}", first=first, last=last)
