"""Detect memory that rises steadily over the whole run and will run out at this slope.

In: the memory figures of one stream, one by one, the memory of the device and the length of the run
where they are known. Out: `Sign`s. Not here: an out-of-memory line
(`detectors.build_memory_outcome`).

A high-water mark, a cache that fills and the first steps of a run rise too, but ever less. So the
later half must rise like the earlier, without falling back.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.core.watching import MetricRecord, Sign

_MOST: Final = 64
_FEWEST: Final = 12
_RISING: Final = 0.65
"""Share of the intervals of either half."""
_EVENLY: Final = 0.7
"""Rise of the later half, in rises of the earlier."""
_BACK: Final = 0.2
"""Share of the whole rise by which it may fall back on its way."""
_GROWN: Final = 1.4
_PER_GIB: Final = {"MiB": 1024.0, "MB": 1024.0, "M": 1024.0, "GiB": 1.0, "GB": 1.0}
"""Programs divide by 1024 whatever they call it."""

Point = tuple[float, float, int]
"""Step, value, raw line."""


class MemorySigns:
    """The memory of one process; of a long run every second, fourth ... record."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._points: list[Point] = []
        self._every, self._passed = 1, 0

    def take(
        self, record: MetricRecord, unit: str, capacity: float | None, total: float
    ) -> Iterator[Sign]:
        """Look at the next record.

        Args:
            record: with a figure of memory in it.
            unit: of the figure, as printed.
            capacity: GiB of the device, or None.
            total: steps of the run, or NaN.
        """
        value = record.values.get(names.MEMORY)
        if value is None or not math.isfinite(value):
            return
        self._passed += 1
        if self._passed % self._every:
            return
        self._points.append((record.step, value, record.line))
        if _is_rising(self._points):
            yield from _iter_growth_signs(
                self._points,
                unit,
                (
                    capacity * _PER_GIB[unit]
                    if capacity is not None and unit in _PER_GIB
                    else math.nan
                ),
                total,
            )
        if len(self._points) >= _MOST:
            self._points, self._every = self._points[::2], 2 * self._every


def _is_rising(points: Sequence[Point]) -> bool:
    values = [value for _, value, _ in points]
    if len(values) < _FEWEST or values[0] <= 0 or values[-1] < max(values):
        return False
    if any(
        top - value > _BACK * (values[-1] - values[0])
        for top, value in zip(itertools.accumulate(values, max), values, strict=True)
    ):
        return False
    middle = len(values) // 2
    early, late = values[: middle + 1], values[middle:]
    if late[-1] - late[0] < _EVENLY * (early[-1] - early[0]) or early[-1] <= early[0]:
        return False
    return all(
        sum(later > earlier for earlier, later in itertools.pairwise(half))
        >= _RISING * (len(half) - 1)
        for half in (early, late)
    )


def _iter_growth_signs(
    points: Sequence[Point], unit: str, capacity: float, total: float
) -> Iterator[Sign]:
    """Warn where the device will be full before the run ends.

    Where neither is known, of what has grown by half.
    """
    (first_step, first, first_line), (step, value, line) = points[0], points[-1]
    slope = (value - first) / (step - first_step) if step > first_step else math.nan
    full = step + (capacity - value) / slope
    if full > total or (math.isnan(full) and value < _GROWN * first) or value < 1.2 * first:
        return
    message = say(
        "memory {first:g} → {value:g}{unit} over {count} records",
        first=first,
        value=value,
        unit=f" {unit}" if unit else "",
        count=len(points),
    )
    if not math.isnan(slope):
        message = say("{said}, {slope:.3g} a step", said=message, slope=slope)
    if not math.isnan(full):
        message = say(
            "{said}; {capacity:g} {unit} are full at step {full:.0f}",
            said=message,
            capacity=capacity,
            unit=unit,
            full=full,
        )
    yield Sign("memory", message, line, step, first_line)
