"""Detect a run that becomes slow.

In: the curves of one process. Out: the anomalies `slow-down`, `slow-fivefold`. Not here: waiting
for data (`detectors.data_waits`), a run that stands still (`detectors.stalled_output`).

A program that prints no speed, or only its mean since the start, still prints a clock: the time
between two records tells what the steps between them took.
"""

import itertools
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from postmortem.core import names
from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.printed_durations import list_durations
from postmortem.extraction.facts.clock import parse_time
from postmortem.extraction.facts.series import Point
from postmortem.reading.prefixes import convert_to_seconds

_FEWEST: Final = 10
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
    if len(points) < _FEWEST:
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
    slowed = _CRAWL if len(points) < _FEWEST else _SLOWED_FEW
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
    if len(points) < _FEWEST or statistics.median(b[1] - a[1] for a, b in pairs) < _COARSE:
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
    ends = {count // 3, tenth + max(_FEWEST // 2, count // 6)}
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
    return _format_change(pace, points[begin:end], points[-quarter:]), points[start].line


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
        fall=_format_change(pace, points[:size], points[-size:]),
        count=_PARTS,
    )
    return message, points[size].line


def _format_change(pace: _StepPace, early: Sequence[Point], late: Sequence[Point]) -> Message:
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
