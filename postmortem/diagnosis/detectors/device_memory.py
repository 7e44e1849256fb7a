"""Detect memory use that rises to the limit of the device, or stays level.

In: the curves of one process, the memory of the device, what lines of their own tell. Out: the
anomalies `memory-rising`, `memory-flat`, `host-memory-rising`. Not here: the arithmetic of an
out-of-memory line (`detectors.out_of_memory`).
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import Message, quote, say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.speed import format_unit
from postmortem.extraction.facts.fact_store import Testimony
from postmortem.extraction.facts.series import Point

_LARGEST: Final = 1e150
"""Figures beyond are no memory, in whatever unit, and their sums are no numbers."""
_FEWEST: Final = 5
_ALL_BUT_FULL: Final = 0.8
_FIGURE: Final = compile_lazily(r"(\d+(?:\.\d+)?)(?: ?/ ?\d+(?:\.\d+)?)? ?([GgMmTtKk]?)")
_IN_A_GIB: Final = {"G": 1.0, "M": 1024.0, "": 1024.0, "T": 1 / 1024, "K": 1024.0**2}
_OF_HOST: Final = frozenset({"host_rss", "host_used"})
_PER_GIB: Final = {"MiB": 1024.0, "MB": 1024.0, "M": 1024.0, "GiB": 1.0, "GB": 1.0}
"""Programs divide by 1024 whatever they call it."""


def detect_memory_trend(observed: Observed) -> Iterable[Anomaly]:
    """Find memory that rises over the run, with its slope and where that leads, or is level."""
    curves = observed.curves
    points = [point for point in curves.points(names.MEMORY) if 0 <= point.value < _LARGEST]
    if len(points) < _FEWEST:
        return []
    values, unit = [point.value for point in points], curves.by_name[names.MEMORY].unit
    if _is_rising(values):
        capacity = observed.facts.cards.largest_gib()
        return [
            curves.shape("memory-rising", _format_growth(points, unit, capacity), points[0].line)
        ]
    late = values[len(values) // 2 :]
    if _is_level(late):
        message = say(
            "memory {low:g} to {high:g}{unit} over {count} records",
            low=min(late),
            high=max(late),
            unit=format_unit(unit),
            count=len(late),
        )
        return [curves.shape("memory-flat", message, points[-1].line)]
    return []


def detect_printed_memory_growth(observed: Observed) -> Iterable[Anomaly]:
    """Find memory that rises by figures that are part of no metric record."""
    if any(curve.name == names.MEMORY for curve in observed.series):
        return
    capacity = observed.facts.cards.largest_gib()
    for source, what, course, figures in _iter_memory_trends(observed):
        if what != "memory":
            continue
        if _is_rising(figures) or _is_filling_device(figures, capacity):
            message = say(
                "memory {first} → {last} over {count} lines",
                first=course[0].value,
                last=course[-1].value,
                count=len(course),
            )
            yield Anomaly("memory-rising", message, source, NOWHERE, course[0].line)


def detect_host_memory_growth(observed: Observed) -> Iterable[Anomaly]:
    """Find memory of the host, or of the process on it, that rises line by line."""
    for source, what, course, figures in _iter_memory_trends(observed):
        if what in _OF_HOST and _is_rising(figures):
            message = say(
                "memory of the host {first} → {last} over {count} lines",
                first=course[0].value,
                last=course[-1].value,
                count=len(course),
            )
            yield Anomaly("host-memory-rising", message, source, NOWHERE, course[0].line)


def _iter_memory_trends(
    observed: Observed,
) -> Iterator[tuple[int, str, Sequence[Testimony], Sequence[float]]]:
    """Yield memory use printed on lines of its own: source, subject, lines, values in GiB."""
    for (source, what), course in sorted(observed.facts.courses.items()):
        yield (
            source,
            what,
            course,
            [gib for statement in course if (gib := _parse_gib(statement.value)) is not None],
        )


def _parse_gib(text: str) -> float | None:
    """Read a printed figure in GiB; where programs print no unit they mean MiB."""
    match = _FIGURE.match(text)
    return None if match is None else float(match[1]) / _IN_A_GIB[match[2].upper()]


def _is_filling_device(values: Sequence[float], capacity: float | None) -> bool:
    """Say whether a few figures, each above the one before, lead to the end of the card."""
    return (
        3 <= len(values) < _FEWEST
        and capacity is not None
        and values[-1] > 1.2 * values[0]
        and values[-1] >= _ALL_BUT_FULL * capacity
        and all(current > previous for previous, current in itertools.pairwise(values))
    )


def _is_rising(values: Sequence[float]) -> bool:
    """Say whether memory ends well above its start, and hardly ever fell on the way."""
    rising = sum(current > previous for previous, current in itertools.pairwise(values))
    falling = sum(current < previous for previous, current in itertools.pairwise(values))
    return (
        len(values) >= _FEWEST
        and values[-1] > 1.2 * values[0]
        and rising >= 4
        and falling <= 0.2 * rising
        and rising >= 0.3 * len(values)
    )


def _is_level(late: Sequence[float]) -> bool:
    """Say whether the later half of the records stays within bounds and rises no more."""
    middle = len(late) // 2
    if len(late) < 8 or statistics.fmean(late[middle:]) >= 1.08 * statistics.fmean(late[:middle]):
        return False
    return 0 < max(late) < 1.5 * min(late) and late[-1] < 1.1 * statistics.median(late)


def _format_growth(points: Sequence[Point], unit: str, capacity: float | None) -> Message:
    return say(
        "memory {first:g} → {last:g}{unit} over {count} records{slope}",
        first=points[0].value,
        last=points[-1].value,
        unit=format_unit(unit),
        count=len(points),
        slope=_format_growth_rate(points, unit, capacity),
    )


def _format_growth_rate(points: Sequence[Point], unit: str, capacity: float | None) -> Message:
    """Say how much is added a step, and at which step that would fill the device.

    Args:
        points: of a memory that rises.
        unit: of their values.
        capacity: memory of the device in GiB, or None if it is not known.
    """
    steps = points[-1].step - points[0].step
    if not 0 < steps < math.inf:
        return quote("")
    slope = (points[-1].value - points[0].value) / steps
    message = say(", {slope:.3g} a step", slope=slope)
    if capacity is None or unit not in _PER_GIB:
        return message
    full = points[-1].step + (capacity * _PER_GIB[unit] - points[-1].value) / slope
    if full <= points[-1].step:
        return message
    return say(
        "{slope}: {capacity:g} GiB are full at step {step:.0f}",
        slope=message,
        capacity=capacity,
        step=full,
    )
