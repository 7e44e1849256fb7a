"""Detect unusual learning rates, and rates that do not move although a schedule is running.

In: the curves of one process. Out: the anomalies `high-rate`, `tiny-rate`, `rate-standstill`,
`rate-zero-throughout`. Not here: rates that a setting tells (`patterns/causes`).
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.number_texts import count_digits
from postmortem.extraction.facts.series import Point

_TINY: Final = 1e-8
"""With this rate no float32 weight of usual size moves by a step of an Adam-like optimiser."""
_HIGH: Final = 1e-3
_FEWEST: Final = 5
_MANY: Final = 20
_SAME: Final = 0.95
"""Share of its first level below which a loss has fallen."""


def detect_unusual_learning_rate(observed: Observed) -> Iterable[Anomaly]:
    """Find a rate far above or below what is usual for Adam-like optimisers on transformers."""
    points = observed.curves.finite(names.LEARNING_RATE)
    top = max(points, key=lambda point: point.value, default=None)
    if top is None:
        return []
    if top.value == 0.0 and _is_loss_flat_at_zero_rate(observed, len(points)):
        message = say(
            "learning rate 0 in all {count} records, and the loss does not fall",
            count=len(points),
        )
        return [observed.curves.shape("rate-zero-throughout", message, points[0].line)]
    if 0 < top.value < _TINY and len(points) >= _FEWEST:
        message = say("learning rate at most {top:g}", top=top.value)
        return [observed.curves.shape("tiny-rate", message, top.line)]
    if top.value < _HIGH:
        return []
    message = say("learning rate up to {top:g}", top=top.value)
    return [observed.curves.shape("high-rate", message, top.line)]


def _is_loss_flat_at_zero_rate(observed: Observed, count: int) -> bool:
    """Say whether a loss stays where it is for as many records as a rate of 0 is printed.

    What is printed as 0 may be another rate than the one that is applied, or one of few digits.
    """
    loss = observed.loss
    return loss is not None and count >= _MANY and loss.tail >= _SAME * loss.head > 0


def detect_constant_learning_rate(observed: Observed) -> Iterable[Anomaly]:
    """Find a learning rate that does not move although a schedule is running."""
    rates = observed.curves.points(names.LEARNING_RATE)
    still = [
        current
        for previous, current in itertools.pairwise(rates)
        if previous.value == current.value
    ]
    if not still or not _has_begun(rates) or not _is_schedule(rates):
        return []
    message = say(
        "learning rate {rate:g} printed twice or more ({still} of {count} intervals do not move)",
        rate=still[0].value,
        still=len(still),
        count=len(rates) - 1,
    )
    return [observed.curves.shape("rate-standstill", message, still[0].line)]


def _has_begun(rates: Sequence[Point]) -> bool:
    """Say whether a rate takes several values, or waits at the 0 from which a warm-up starts."""
    return len({point.value for point in rates}) >= 2 or rates[0].value == 0.0


def _is_schedule(rates: Sequence[Point]) -> bool:
    """Say whether a rate is meant to move.

    One that is constant by design, flat at its round peak, or printed with too few digits to move,
    is no standstill.
    """
    values = [point.value for point in rates]
    top = max(values)
    still = sum(
        previous == current and (previous < top or count_digits(top) >= 6)
        for previous, current in itertools.pairwise(values)
    )
    starts_at_zero = values[0] == values[1] == 0.0
    return starts_at_zero or (still > 0 and any(count_digits(value) >= 7 for value in set(values)))
