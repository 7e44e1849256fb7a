"""Detect adversarial training that one side has won, and representations that are all alike.

In: the curves of one process. Out: the anomaly `collapse`. Not here: policies (`detectors.policy`),
the training loss (`detectors.trend`).
"""

import re
import statistics
from collections.abc import Iterable
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves, count_trailing_repeats
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Point

_ALIKE: Final = compile_lazily(
    r"(?:emb(?:ed(?:ding)?s?)?|repr(?:esentations?)?|feat(?:ure)?s?|latents?|proj(?:ections?)?|^z)"
    r"[_/. ](?:std|var|spread)(?:$|[_/. ])",
    re.IGNORECASE,
)
"""Figures that say how much what is learnt differs from sample to sample."""
_FEWEST: Final = 20
_SEVERAL: Final = 8
_NO_ERROR: Final = 0.01
"""Cross entropy of a discriminator that tells all samples apart."""
_CAUGHT: Final = 5.0
"""The generator's, where each of its samples is found out: below 1 % by the other's judgement."""
_NOTHING: Final = 1e-3
_HIGH: Final = 3.0
"""The generator's beside a discriminator's that is nothing throughout: it need not have risen."""
_GONE: Final = 0.03


def detect_dominant_discriminator(observed: Observed) -> Iterable[Anomaly]:
    """Find a discriminator that makes no error any more while the generator's loss is high."""
    curves = observed.curves
    judge, forger = (
        _find_points(curves, curves.of("discriminator-loss")),
        _find_points(curves, curves.of("generator-loss")),
    )
    if min(len(judge), len(forger)) < _SEVERAL or min(point.value for point in judge) < 0:
        return []
    late = len(judge) // 2
    loss = statistics.median(point.value for point in judge[-late:])
    other = statistics.median(point.value for point in forger[-(len(forger) // 2) :])
    first = statistics.median(point.value for point in forger[:2])
    is_long = min(len(judge), len(forger)) >= _FEWEST
    has_risen = is_long and loss < _NO_ERROR and other > max(_CAUGHT, 2 * abs(first))
    is_gone = max(point.value for point in judge[-late:]) < _NOTHING and other >= _HIGH
    if not (has_risen or is_gone):
        return []
    message = say(
        "the discriminator's loss is {loss:.2g}, the generator's {other:.3g}, medians of the later"
        " half",
        loss=loss,
        other=other,
    )
    return [curves.shape("collapse", message, judge[-late].line)]


def detect_silenced_generator(observed: Observed) -> Iterable[Anomaly]:
    """Find a generator whose loss is exactly 0 to the end while the discriminator's is high.

    The logarithm is cut off there: nothing tells it any more in which direction to change.
    """
    curves = observed.curves
    judge, forger = (
        _find_points(curves, curves.of("discriminator-loss")),
        _find_points(curves, curves.of("generator-loss")),
    )
    count = count_trailing_repeats([point.value for point in forger])
    if count < _SEVERAL or forger[-1].value != 0.0 or len(judge) < _SEVERAL:
        return []
    least = min(point.value for point in judge[-_SEVERAL:])
    if least < _CAUGHT:
        return []
    message = say(
        "the generator's loss is exactly 0 in the last {count} records, the discriminator's above"
        " {least:.3g}",
        count=count,
        least=least,
    )
    return [curves.shape("collapse", message, forger[-count].line)]


def detect_representation_collapse(observed: Observed) -> Iterable[Anomaly]:
    """Find representations whose spread over the samples has gone to nothing."""
    curves = observed.curves
    points = _find_points(curves, curves.called(_ALIKE))
    if len(points) < _FEWEST:
        return []
    early = statistics.median(point.value for point in points[:3])
    late = max(point.value for point in points[-5:])
    if not 0 <= late < _GONE * early:
        return []
    line = next(point.line for point in points if point.value < _GONE * early)
    message = say(
        "the spread of the representations {early:.3g} → {late:.2g}: all samples look alike",
        early=early,
        late=late,
    )
    return [curves.shape("collapse", message, line)]


def _find_points(curves: Curves, called: Iterable[str]) -> list[Point]:
    """Give the finite points of the first series with such a name."""
    name = next(iter(called), "")
    return curves.finite(name)
