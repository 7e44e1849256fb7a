"""Detect a pace with large stalls, or a large drop within a few records.

In: the curves of one process. Out: the anomaly `uneven-pace`. Not here: a pace that many records
tell of (`detectors.speed`), waiting for data that is printed (`detectors.data_waits`).

The length of samples, an evaluation, the first steps: each changes a pace a few times over. What is
ten times the quickest step, again and again, or a fifth of the pace far into the run, is none of
them.
"""

import itertools
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.printed_durations import list_durations, list_step_rates
from postmortem.diagnosis.detectors.speed import format_unit, get_longest_series_points
from postmortem.extraction.facts.number_texts import count_digits
from postmortem.extraction.facts.series import Point

_TWO: Final = 2
_FEWEST: Final = 4
_MOST: Final = 40
"""Records beyond which a pace is that of `detectors.speed`."""
_STALL: Final = 5.0
"""Times the quickest step that a stall takes, at least; the longest takes twice that."""
_HALF: Final = 0.5
_SHARE: Final = 0.8
"""Of all the time, what stalls take."""
_OFTEN: Final = 4
"""Of so many steps at least one is a stall."""
_WORTH: Final = 10.0
"""Seconds of stalls altogether below which they say nothing."""
_NOT_FIRST: Final = 50
"""Steps of a run that hold compilation, caches and warm-up."""
_STEADY_FROM: Final = 3
"""Records of one speed that show what it was."""
_FALLEN: Final = 0.3
_ON_THE_WAY: Final = 0.6
_STEADY: Final = 0.8
_FIFTH: Final = 0.2
_FINE: Final = 4
"""Digits of a speed that does not come again by chance."""
_FAR: Final = 500
"""Step from which on two records show a fall to a fifth."""


def detect_uneven_pace(observed: Observed) -> Iterable[Anomaly]:
    """Find steps that stall again and again, or a speed that falls at the end."""
    return _detect_stalling_steps(observed) or _detect_late_slowdown(observed)


def _detect_stalling_steps(observed: Observed) -> list[Anomaly]:
    """Find steps of which some take many times as long as others, and most of the time."""
    # The first steps of a run take long by nature.
    late = [time for time in _list_step_times(observed) if not time.step < _NOT_FIRST]
    stalls = _find_stalls(late) if _FEWEST <= len(late) <= _MOST else []
    if not stalls or _may_begin_epochs(observed.curves, late, stalls):
        return []
    values = [time.value for time in late]
    message = say(
        "a step takes {quick:.4g} s to {most:.4g} s: {stalls} of {count} stall, and take"
        " {share:.0%} of the time",
        quick=min(values),
        most=max(values),
        stalls=len(stalls),
        count=len(late),
        share=sum(time.value for time in stalls) / sum(values),
    )
    return [observed.curves.shape("uneven-pace", message, stalls[0].line)]


def _may_begin_epochs(curves: Curves, late: Sequence[Point], stalls: Sequence[Point]) -> bool:
    """Say whether all stalls wait for data, and records of steps now and then hold them.

    They may be the first steps of their epochs.
    """
    waits = curves.by_line(names.DATA_TIME)
    waiting = all(waits.get(stall.line, 0.0) > _HALF * stall.value for stall in stalls)
    return waiting and any(
        current.step - previous.step > 1 for previous, current in itertools.pairwise(late)
    )


def _find_stalls(times: Sequence[Point]) -> list[Point]:
    """Give the steps that stall, where they do so again and again and take most of the time."""
    values = [time.value for time in times]
    limit = _STALL * min(values)
    stalls = [time for time in times if time.value >= limit]
    spent = sum(time.value for time in stalls)
    again = any(
        current >= limit and current > previous for previous, current in itertools.pairwise(values)
    )
    is_long = max(values) >= 2 * limit and spent >= max(_WORTH, _SHARE * sum(values))
    is_often = len(stalls) >= max(_TWO, len(times) / _OFTEN)
    return stalls if again and is_long and is_often else []


def _list_step_times(observed: Observed) -> Sequence[Point]:
    """List the seconds that records print of their steps, in whatever form."""
    curves = observed.curves
    series = curves.by_name.get(names.STEP_TIME)
    if series is not None and series.unit.startswith("s"):
        return [point for point in curves.finite(names.STEP_TIME) if point.value > 0]
    return [
        point
        for point in list_durations(observed, get_longest_series_points(curves))
        if point.value > 0
    ]


def _detect_late_slowdown(observed: Observed) -> list[Anomaly]:
    """Find a steady speed that falls at the very end, or one of two records far into the run."""
    curves = observed.curves
    for unit, points in _iter_paces(observed):
        if not _TWO <= len(points) <= _MOST:
            continue
        place = (
            _find_drop_in_two_records(points) if len(points) == _TWO else _find_drop_at_end(points)
        )
        if place:
            first = statistics.median(point.value for point in points[:place])
            message = _format_change(first, points[-1].value, unit)
            return [curves.shape("uneven-pace", message, points[place].line)]
    return []


def _iter_paces(observed: Observed) -> Iterator[tuple[str, Sequence[Point]]]:
    """Yield series of the pace with their units: throughput, inverted times, a bar."""
    curves = observed.curves
    speeds = [point for point in curves.finite(names.THROUGHPUT) if point.value > 0]
    if speeds:
        yield (
            format_unit(curves.by_name[names.THROUGHPUT].unit),
            _remove_adjacent_duplicates(speeds),
        )
    lines = get_longest_series_points(curves)
    yield " it/s", list_step_rates(observed, lines)
    for name in (names.STEP_TIME, *curves.of("step-time")):
        yield " it/s", _convert_to_speeds(curves.finite(name))
    printed_durations = list_durations(observed, lines)
    if len(printed_durations) == len(lines):
        yield " /s", _convert_to_speeds(printed_durations)


def _convert_to_speeds(points: Iterable[Point]) -> list[Point]:
    """Make times speeds."""
    return [Point(point.step, 1 / point.value, point.line) for point in points if point.value > 0]


def _remove_adjacent_duplicates(points: Sequence[Point]) -> list[Point]:
    """Keep one of several records with the same value on adjacent lines."""
    return [
        point
        for before, point in zip([None, *points], points, strict=False)
        if before is None or before.value != point.value or count_digits(point.value) < _FINE
    ]


def _find_drop_in_two_records(points: Sequence[Point]) -> int:
    """Give the place of the second of two records, far into the run, with a fifth of the speed."""
    first, second = points
    return int(
        first.step >= _FAR and second.step > first.step and second.value < _FIFTH * first.value
    )


def _find_drop_at_end(points: Sequence[Point]) -> int:
    """Give the place from which on a steady speed falls to the end; 0 where it does not."""
    values = [point.value for point in points]
    for place in range(_STEADY_FROM, len(values) - 1):
        usual = statistics.median(values[:place])
        if values[place] < _ON_THE_WAY * usual:
            # The first record may be of the warm-up.
            is_steady = min(values[1:place]) > _STEADY * usual
            stays = max(values[place:]) < _ON_THE_WAY * usual and values[-1] < _FALLEN * usual
            return place if is_steady and stays else 0
    return 0


def _format_change(first: float, last: float, unit: str) -> Message:
    return say(
        "speed {first:.4g} → {last:.4g}{unit}",
        first=first,
        last=last,
        unit=unit,
    )
