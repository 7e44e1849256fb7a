"""Detect an epoch that repeats the losses of the one before: no weight has moved.

In: the curves of one process. Out: the anomaly `nothing-moves`. Not here: a loss that stays near
its first value (`detectors.trend`).

Only a run whose samples come in the same order each time shows it; then nothing shows it sooner.
"""

from collections.abc import Iterable
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.number_texts import count_digits

_FEWEST: Final = 4
"""Losses that come again one after the other."""
_DIGITS: Final = 3


def detect_repeated_epoch(observed: Observed) -> Iterable[Anomaly]:
    """Find such an epoch."""
    curves = observed.curves
    epochs = curves.by_line(names.EPOCH)
    by_epoch: dict[float, list[float]] = {}
    for point in curves.finite(names.LOSS):
        if point.line in epochs:
            by_epoch.setdefault(epochs[point.line] // 1, []).append(point.value)
    numbers = sorted(by_epoch)
    for number in numbers[1:]:
        before, values = by_epoch.get(number - 1, []), by_epoch[number]
        if (
            len(values) >= _FEWEST
            and values == before[: len(values)]
            and _is_distinguishable(values)
        ):
            message = say(
                "epoch {number:g} has the {count} losses of epoch {before:g}, to the last digit",
                number=number,
                count=len(values),
                before=number - 1,
            )
            line = next(line for line, epoch in epochs.items() if epoch // 1 == number)
            return [curves.shape("nothing-moves", message, line)]
    return []


def _is_distinguishable(values: list[float]) -> bool:
    """Say whether losses differ from each other, and have digits enough not to meet by chance."""
    return len(set(values)) >= _FEWEST - 1 and max(map(count_digits, values)) >= _DIGITS
