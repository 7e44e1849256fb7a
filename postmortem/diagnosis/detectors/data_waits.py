"""Detect steps that consist mostly of waiting for data, each of them or in stalls.

In: the curves of one process. Out: the anomalies `input-bound`, `input-starved`. Not here: how fast
the steps are (`detectors.speed`), parts of a step that no format reads (`detectors.printed_waits`).

Loaders with several workers often give data in gulps: most steps wait for nothing, every few steps
one waits for all of them. The median of such steps tells nothing, the sum does, if the records are
those of all steps: of records now and then, the first of each epoch alone would be a stall.
"""

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.printed_waits import detect_waits_in_step_parts
from postmortem.diagnosis.detectors.speed import format_unit

_MOSTLY: Final = 0.5
"""Share of a step beyond which waiting for data is most of it."""
_NEARLY_ALL: Final = 0.8
_TWO_THIRDS: Final = 2 / 3
_NOT_SHORT: Final = 0.05
"""Seconds below which a step is a toy's, and waiting says nothing."""
_PATIENCE: Final = 5.0
"""Seconds, printed as such, that nobody lets each step wait: fewer records show it then."""
_SECOND: Final = 1.0
_ALL_BUT: Final = 0.9
"""Share of a step, and seconds, that tell of waiting where there are but two records."""
_STEPS_OF_A_MEAN: Final = 50
"""Steps behind the first record that a mean of them is to hold."""
_LONG_MEAN: Final = 0.3
_TWICE: Final = 2
_FEWEST: Final = 3
_SOME: Final = 5
_SEVERAL: Final = 8
_WHOLE: Final = 1.2
"""A share beyond which the two figures are of different units."""
_STALLS: Final = 3
_OFTEN: Final = 6
"""Of so many steps at least one is a stall."""
_LONG: Final = 5.0
"""Times the usual step that a stall takes."""
_WORTH: Final = 10.0
"""Seconds of waiting altogether below which stalls say nothing."""


class _Wait(NamedTuple):
    whole: float
    wait: float
    line: int
    step: float


def detect_data_waits(observed: Observed) -> Iterator[Anomaly]:
    """Find steps that consist mostly of waiting for data."""
    curves = observed.curves
    if names.STEP_TIME not in curves.by_name:
        yield from detect_waits_in_step_parts(observed, curves)
        return
    unit = curves.by_name[names.STEP_TIME].unit
    waits = _find_waits_in_means(curves, unit) or _find_waits_in_few_records(curves, unit)
    if waits is not None:
        yield curves.shape("input-bound", *waits)
        yield curves.shape("input-starved", *waits)
        return
    steps = _list_waits_after_first(curves)
    if len(steps) < _FEWEST:
        return
    share = statistics.median(step.wait / step.whole for step in steps)
    if _MOSTLY <= share < _WHOLE:
        yield from _detect_waits_in_each_step(curves, steps, unit)
    elif share < _MOSTLY:
        yield from _detect_data_stalls(curves, steps, unit)


def _find_waits_in_means(curves: Curves, unit: str) -> tuple[Message, int] | None:
    """Find waiting by running means, which include steps without a record."""
    waits = {point.line: point.value for point in curves.so_far(names.DATA_TIME)}
    means = [
        _Wait(point.value, waits[point.line], point.line, point.step)
        for point in curves.so_far(names.STEP_TIME)
        if point.line in waits and point.value > 0
    ]
    if len(means) < _TWICE or not means[-1].step - means[0].step >= _STEPS_OF_A_MEAN:
        return None
    first, last = means[0], means[-1]
    # A first step takes long by nature; what came behind it is left where it is taken away.
    count = last.step + 1 if first.step == 0 else math.inf
    whole, wait = (
        (late * count - early) / (count - 1) if math.isfinite(count) else late
        for early, late in ((first.whole, last.whole), (first.wait, last.wait))
    )
    is_most = _NEARLY_ALL * whole <= wait < _WHOLE * whole
    if not is_most or _convert_to_seconds(whole, unit) < _LONG_MEAN:
        return None
    return _format_total_wait(wait, whole, unit), first.line


def _find_waits_in_few_records(curves: Curves, unit: str) -> tuple[Message, int] | None:
    """Find waiting that is no start-up cost: seconds in each of two or more records."""
    steps = _list_waits(curves)
    if (unit and not unit.startswith("s")) or not _TWICE <= len(steps) < _SEVERAL:
        return None
    share = _ALL_BUT if len(steps) <= _FEWEST else _NEARLY_ALL
    waits = all(
        max(_SECOND, share * step.whole) <= step.wait <= _WHOLE * step.whole for step in steps
    )
    if not waits or _is_one_an_epoch(curves, steps):
        return None
    return _format_total_wait(steps[-1].wait, steps[-1].whole, unit), steps[0].line


def _is_one_an_epoch(curves: Curves, steps: Sequence[_Wait]) -> bool:
    """Say whether each record is of another epoch: it may be of the first step there."""
    epochs = curves.by_line(names.EPOCH)
    return bool(epochs) and len({epochs.get(step.line) for step in steps}) == len(steps)


def _format_total_wait(wait: float, whole: float, unit: str) -> Message:
    """Word how much of the steps went by in waiting."""
    return say(
        "data time {part:.4g} of {whole:.4g}{unit} a step ({share:.0%})",
        part=wait,
        whole=whole,
        unit=format_unit(unit),
        share=wait / whole,
    )


def _detect_waits_in_each_step(
    curves: Curves, steps: Sequence[_Wait], unit: str
) -> Iterator[Anomaly]:
    """Detect steps each of which waits."""
    whole = statistics.median(step.whole for step in steps)
    part = statistics.median(step.wait for step in steps)
    message = say(
        "data time {part:.4g} of {whole:.4g}{unit} a step ({share:.0%}), medians of {count}"
        " records",
        part=part,
        whole=whole,
        unit=format_unit(unit),
        share=part / whole,
        count=len(steps),
    )
    yield curves.shape("input-bound", message, steps[0].line)
    is_short = _convert_to_seconds(whole, unit) < _NOT_SHORT
    is_nearly_all = part >= _NEARLY_ALL * whole and not is_short and len(steps) >= _SEVERAL
    if is_nearly_all or _is_long(steps, unit):
        yield curves.shape("input-starved", message, steps[0].line)


def _detect_data_stalls(curves: Curves, steps: Sequence[_Wait], unit: str) -> Iterator[Anomaly]:
    """Find stalls that take up most of the time of consecutive steps."""
    usual = statistics.median(step.whole for step in steps)
    stalls = [
        step for step in steps if step.wait >= _MOSTLY * step.whole and step.whole >= _LONG * usual
    ]
    whole, part = sum(step.whole for step in steps), sum(step.wait for step in steps)
    if (
        len(stalls) < max(_STALLS, len(steps) / _OFTEN)
        or not _MOSTLY * whole <= part < _WHOLE * whole
        or _convert_to_seconds(part, unit) < _WORTH
        or not _is_every_step(steps)
    ):
        return
    message = _format_stalls(stalls, part, whole, unit, len(steps))
    yield curves.shape("input-bound", message, stalls[0].line)
    if part >= _NEARLY_ALL * whole:
        yield curves.shape("input-starved", message, stalls[0].line)


def _format_stalls(
    stalls: Sequence[_Wait], part: float, whole: float, unit: str, count: int
) -> Message:
    return say(
        "data time {part:.4g} of {whole:.4g}{unit} altogether ({share:.0%}): {stalls} of {count}"
        " steps wait for long",
        part=part,
        whole=whole,
        unit=format_unit(unit),
        share=part / whole,
        stalls=len(stalls),
        count=count,
    )


def _is_every_step(steps: Sequence[_Wait]) -> bool:
    """Say whether the records are those of consecutive steps."""
    apart = [current.step - previous.step for previous, current in itertools.pairwise(steps)]
    return all(map(math.isfinite, apart)) and statistics.median(apart) == 1


def _is_long(steps: Sequence[_Wait], unit: str) -> bool:
    """Say whether each step waits for many seconds, and they are two thirds of it."""
    return (
        len(steps) >= _SOME
        and unit.startswith("s")
        and all(step.wait >= max(_PATIENCE, _TWO_THIRDS * step.whole) for step in steps)
    )


def _convert_to_seconds(value: float, unit: str) -> float:
    return value / 1000 if unit == "ms" else value


def _list_waits_after_first(curves: Curves) -> list[_Wait]:
    """Give the steps that print both times, but the first.

    Nothing where fewer than three do.
    """
    found = _list_waits(curves)
    return found[1:] if len(found) >= 3 else []


def _list_waits(curves: Curves) -> list[_Wait]:
    """Give the steps that print both times."""
    waits = curves.by_line(names.DATA_TIME)
    return [
        _Wait(point.value, waits[point.line], point.line, point.step)
        for point in curves.points(names.STEP_TIME)
        if point.value > 0 and point.line in waits
    ]
