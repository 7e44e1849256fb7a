"""Detect a run that becomes slow, or whose pace has large stalls.

In: the curves of one process. Out: the anomalies `slow-down`, `slow-fivefold`, `uneven-pace`. Not
here: how long a record took by its lines (`detectors.record_lines`), waiting for data
(`detectors.data_waits`), a run that stands still (`detectors.progress_lines`).

A program that prints no speed, or only its mean since the start, still prints a clock: the time
between two records tells what the steps between them took. The length of samples, an evaluation,
the first steps: each changes a pace a few times over. What is ten times the quickest step, again
and again, or a fifth of the pace far into a run of few records, is none of them.
"""

import itertools
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from postmortem.core import names
from postmortem.core.log_text import count_digits
from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.observed import Anomaly, Curves, Observed
from postmortem.diagnosis.detectors.record_lines import list_durations, list_step_rates
from postmortem.extraction.facts.clock import parse_time
from postmortem.extraction.facts.series import Point
from postmortem.reading.prefixes import convert_to_seconds

_FEWEST_PACES: Final = 10
_FEWEST_TIMED: Final = 7
"""Records whose own times are told: fewer than ten must show a fall to a fifth."""
_MANY: Final = 20
"""Records from which on a fall to half is believed; fewer must show more."""
_SLOWED_FEW: Final = 0.34
_COARSE: Final = 3.0
"""Seconds between two records below which a clock of whole seconds tells no speed."""
_FEWEST_LATE: Final = 3
_SLOWED: Final = 0.5
_CRAWL: Final = 0.2
_USUAL: Final = 0.7
_LASTING: Final = 0.9
_PARTS: Final = 5
_DWINDLED: Final = 0.4
_CLOCK: Final = 0.95
"""Share of the records at which a time since the start grows, but for one that begins anew."""


@dataclass(frozen=True, slots=True)
class _StepPace:
    """A throughput, or a time a step, with the speed that each record stands for."""

    name: str
    unit: str
    points: Sequence[Point]
    rates: Sequence[float]
    slowed: float
    """The share of the early speed that is a fall."""


def detect_slowdown(observed: Observed) -> Iterable[Anomaly]:
    """Find a speed that falls to less than half and stays there, or that dwindles.

    The first tenth of the records holds compilation, caches and warm-up.
    """
    curves = observed.curves
    for name in (names.THROUGHPUT, names.STEP_TIME, *curves.of("throughput")):
        pace = _read_pace(curves, name)
        if (
            pace is not None
            and (slowed := _find_sudden_slowdown(pace) or _find_gradual_slowdown(pace)) is not None
        ):
            return _build_slowdown_anomalies(curves, pace, slowed)
    for pace in (_read_pace_from_lines(observed), _read_pace_from_clocks(observed)):
        if pace is not None and (slowed := _find_sudden_slowdown(pace)) is not None:
            return _build_slowdown_anomalies(curves, pace, slowed)
    return []


def _build_slowdown_anomalies(
    curves: Curves, pace: _StepPace, slowed: tuple[Message, int]
) -> Iterable[Anomaly]:
    down = curves.shape("slow-down", *slowed)
    return [down, down._replace(id="slow-fivefold")] if _is_crawling(pace) else [down]


def _is_crawling(pace: _StepPace) -> bool:
    """Say whether the last quarter has a fifth of the early speed or less."""
    rates = pace.rates
    early = rates[len(rates) // 10 : len(rates) // 3]
    late = rates[-max(_FEWEST_LATE, len(rates) // 4) :]
    return statistics.median(late) < _CRAWL * statistics.median(early)


def _read_pace(curves: Curves, name: str) -> _StepPace | None:
    """Read the speed from a series of speeds or step times; None where records are too few.

    A time since the start, printed beside each record, grows at nearly every one of them and is no
    time a step.
    """
    points = [point for point in curves.finite(name) if point.value > 0]
    if len(points) < _FEWEST_PACES:
        return None
    is_time = name == names.STEP_TIME
    rates = [1 / point.value if is_time else point.value for point in points]
    growing = sum(current < previous for previous, current in itertools.pairwise(rates))
    if growing >= _CLOCK * (len(rates) - 1) and rates[-1] < _CRAWL * rates[0]:
        return None
    slowed = _SLOWED_FEW if len(rates) < _MANY else _SLOWED
    return _StepPace(name, curves.by_name[name].unit, points, rates, slowed)


def _read_pace_from_lines(observed: Observed) -> _StepPace | None:
    """Read the seconds of a record from its line or the one behind it."""
    points = [
        point
        for point in list_durations(observed, get_longest_series_points(observed.curves))
        if point.value > 0
    ]
    if len(points) < _FEWEST_TIMED:
        return None
    slowed = _CRAWL if len(points) < _FEWEST_PACES else _SLOWED_FEW
    return _StepPace("time", "s", points, [1 / point.value for point in points], slowed)


def get_longest_series_points(curves: Curves) -> list[Point]:
    """Give the points of the series that has most of them."""
    series = max(curves.by_name, key=curves.count, default="")
    return curves.points(series) if series else []


def _read_pace_from_clocks(observed: Observed) -> _StepPace | None:
    """Read the seconds a step off the clocks of the records at both ends of the log."""
    clocked = [
        (point, convert_to_seconds(time))
        for point, line in _iter_record_lines(observed, get_longest_series_points(observed.curves))
        if (time := parse_time(line)) is not None
    ]
    pairs = list(itertools.pairwise(clocked))
    points = [
        Point(current.step, (later - sooner) / (current.step - previous.step), current.line)
        for (previous, sooner), (current, later) in pairs
        if current.step > previous.step and later > sooner
    ]
    if len(points) < _FEWEST_PACES or statistics.median(b[1] - a[1] for a, b in pairs) < _COARSE:
        return None
    rates = [1 / point.value for point in points]
    return _StepPace(names.STEP_TIME, "s", points, rates, _SLOWED_FEW)


def _iter_record_lines(observed: Observed, points: Iterable[Point]) -> Iterator[tuple[Point, str]]:
    """Give the lines of records as far as they are kept."""
    lines = dict(observed.kept_lines(observed.curves.source))
    return ((point, lines[point.line]) for point in points if point.line in lines)


def _find_sudden_slowdown(pace: _StepPace) -> tuple[Message, int] | None:
    """Find a steady speed that falls at some record and stays low."""
    count = len(pace.rates)
    tenth = count // 10
    ends = {count // 3, tenth + max(_FEWEST_PACES // 2, count // 6)}
    return next(
        (found for end in sorted(ends) if (found := _find_drop_between(pace, tenth, end))), None
    )


def _find_drop_between(pace: _StepPace, begin: int, end: int) -> tuple[Message, int] | None:
    """Find a fall from the speed between these records."""
    rates, points = pace.rates, pace.points
    quarter = max(_FEWEST_LATE, len(rates) // 4)
    early, late = rates[begin:end], rates[-quarter:]
    usual = statistics.median(early)
    is_steady = sum(rate > _USUAL * usual for rate in early) >= _LASTING * len(early)
    stays = sum(rate < _USUAL * usual for rate in late) >= _LASTING * len(late)
    if not (is_steady and stays and statistics.median(late) < pace.slowed * usual):
        return None
    start = next(index for index in range(begin, len(rates)) if rates[index] < _USUAL * usual)
    return _format_median_change(pace, points[begin:end], points[-quarter:]), points[start].line


def _find_gradual_slowdown(pace: _StepPace) -> tuple[Message, int] | None:
    """Find a speed that becomes ever lower from part to part of the run."""
    rates, points = pace.rates, pace.points
    if len(rates) < _MANY:
        return None
    size = len(rates) // _PARTS
    parts = [statistics.median(rates[index * size : (index + 1) * size]) for index in range(_PARTS)]
    is_falling = all(current < previous for previous, current in itertools.pairwise(parts))
    if not is_falling or parts[-1] > _DWINDLED * parts[0]:
        return None
    message = say(
        "{fall}, lower speed in each of {count} parts of the run",
        fall=_format_median_change(pace, points[:size], points[-size:]),
        count=_PARTS,
    )
    return message, points[size].line


def _format_median_change(
    pace: _StepPace, early: Sequence[Point], late: Sequence[Point]
) -> Message:
    """Word the medians of two stretches of records."""
    first, last = (statistics.median(point.value for point in part) for part in (early, late))
    return say(
        "{name} {first:.4g} → {last:.4g}{unit}",
        name=pace.name,
        first=first,
        last=last,
        unit=format_unit(pace.unit),
    )


def format_unit(unit: str) -> str:
    """Write a unit behind a number; nothing where none is known."""
    return f" {unit}" if unit else ""


_TWO: Final = 2
_FEWEST_STEPS: Final = 4
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
    stalls = _find_stalls(late) if _FEWEST_STEPS <= len(late) <= _MOST else []
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
            message = _format_speed_change(first, points[-1].value, unit)
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


def _format_speed_change(first: float, last: float, unit: str) -> Message:
    return say(
        "speed {first:.4g} → {last:.4g}{unit}",
        first=first,
        last=last,
        unit=unit,
    )
