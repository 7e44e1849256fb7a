"""Detect steps that consist mostly of waiting for data, each of them or in stalls.

In: the curves of one process; the lines of records where parts of a step are printed that no format
reads (`data 1.9s | forward 0.1s`). Out: the anomalies `input-bound`, `input-starved`. Not here: how
fast the steps are (`detectors.speed`).

Loaders with several workers often give data in gulps: most steps wait for nothing, every few steps
one waits for all of them. The median of such steps tells nothing, the sum does, if the records are
those of all steps: of records now and then, the first of each epoch alone would be a stall. Printed
parts have whatever names, and one of them may be the whole. What is read must be told by its name,
the rest by its unit alone.
"""

import itertools
import math
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.observed import Anomaly, Curves, Observed
from postmortem.diagnosis.detectors.speed import format_unit, get_longest_series_points

_PART: Final = compile_lazily(
    r"(?<![\w.])(?P<name>[A-Za-z][\w. ]{0,24}?)\s?[:=(]?\s{0,4}"
    r"(?P<value>\d{1,6}\.\d{1,9})\s?(?P<unit>ms|s(?:ec(?:ond)?s?)?)(?![\w/%])"
)
_WAIT: Final = compile_lazily(
    r"(?:^|[\s_.])(?:data|load(?:ing|er)?|read(?:ing|er)?|fetch(?:ing)?|input|io|prefetch|wait)"
    r"(?:[\s_.]?(?:time|cost|data|batch|load\w{0,3}|wait\w{0,3}|read\w{0,3}|fetch\w{0,3}))?$",
    re.IGNORECASE,
)
_NO_PART: Final = compile_lazily(r"eta|elapsed|remain|since|start|avg|mean|epoch", re.IGNORECASE)
_FEWEST_WITH_PARTS: Final = 3
_NEARLY_ALL_OF_PARTS: Final = 0.8
_LONG_WAIT: Final = 0.5
"""Seconds of each step."""
_SAME: Final = 0.7
"""Share of the sum of the other parts from which on the longest of them is the whole of all."""
_LONGEST: Final = 400


class _Parts(NamedTuple):
    line: int
    wait: float
    whole: float


def detect_waits_in_step_parts(observed: Observed, curves: Curves) -> Iterable[Anomaly]:
    """Detect steps whose printed parts are mostly waiting for data.

    Args:
        observed: holds the lines.
        curves: of the process that is looked at, without times of a step.
    """
    found = list(_iter_step_parts(observed, curves))
    # The first step is none like the others.
    late = found[1:] if len(found) > _FEWEST_WITH_PARTS else found
    if len(late) < _FEWEST_WITH_PARTS or any(
        step.wait < _NEARLY_ALL_OF_PARTS * step.whole for step in late
    ):
        return []
    wait, whole = (
        statistics.median(figures)
        for figures in zip(*((step.wait, step.whole) for step in late), strict=True)
    )
    if wait < _LONG_WAIT:
        return []
    message = say(
        "data {part:.4g} s of {whole:.4g} s a step ({share:.0%}), medians of {count} records",
        part=wait,
        whole=whole,
        share=wait / whole,
        count=len(late),
    )
    return [curves.shape(name, message, late[0].line) for name in ("input-bound", "input-starved")]


def _iter_step_parts(observed: Observed, curves: Curves) -> Iterator[_Parts]:
    """Yield the wait and the total of each record that prints both."""
    lines = {point.line for point in get_longest_series_points(curves)}
    for number, text in observed.kept_lines(curves.source) if lines else ():
        if number in lines and len(text) <= _LONGEST:
            found = _parse_step_parts(number, text)
            if found is not None:
                yield found


def _parse_step_parts(number: int, text: str) -> _Parts | None:
    """Parse the parts of a step on a line; None where waiting, or everything else, is missing."""
    waits, others = [], []
    for part in _PART.finditer(text):
        seconds = float(part["value"]) / (1000.0 if part["unit"] == "ms" else 1.0)
        if _WAIT.search(part["name"]):
            waits.append(seconds)
        elif not _NO_PART.search(part["name"]):
            others.append(seconds)
    if not waits or not others:
        return None
    wait, most = max(waits), max(others)
    is_whole = most >= wait and most >= _SAME * (wait + sum(others) - most)
    return _Parts(number, wait, most if is_whole else wait + sum(others))


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
_FEWEST_STEPS: Final = 3
_SOME: Final = 5
_SEVERAL: Final = 8
_WHOLE: Final = 1.2
"""A share beyond which the two figures are of different units."""
_STALLS: Final = 3
_OFTEN: Final = 6
"""Of so many steps at least one is a stall."""
_STALL_TIMES: Final = 5.0
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
    if len(steps) < _FEWEST_STEPS:
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
    share = _ALL_BUT if len(steps) <= _FEWEST_STEPS else _NEARLY_ALL
    waits = all(
        max(_SECOND, share * step.whole) <= step.wait <= _WHOLE * step.whole for step in steps
    )
    epochs = curves.by_line(names.EPOCH)  # one record in each may be of the first step there
    if not waits or (epochs and len({epochs.get(step.line) for step in steps}) == len(steps)):
        return None
    return _format_total_wait(steps[-1].wait, steps[-1].whole, unit), steps[0].line


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
        step
        for step in steps
        if step.wait >= _MOSTLY * step.whole and step.whole >= _STALL_TIMES * usual
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
