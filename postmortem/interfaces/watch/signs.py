"""Pass records of a file to the detectors of each process; detect growing memory, falling scale.

In: records in the order of their lines, the memory of the device and the length of the run where
they are known. Out: `Sign`s with the process that shows them. Not here: losses and gradients
(`watch.loss_signs`), an out-of-memory line (`detectors.build_memory_outcome`).

A high-water mark, a cache that fills and the first steps of a run raise memory too, but ever less.
So the later half must rise like the earlier, without falling back.

A scaler that looks for its level at the start of a run overflows many times in a row, from 2**28
down to 2**17 in a sound run. So at the start the level counts: below 2**7 no sound run settles.
Once steps have been clean, the third overflow without a clean step is one too many.
"""

import copy
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.diagnosis import MetricRecord, Sign
from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.message import say
from postmortem.interfaces.watch.loss_signs import LossSigns

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


_OVERFLOWS: Final = 3
_CLEAN: Final = 10
"""Clean steps that show that the search for a level is over."""
_SHOWN: Final = 5
_LOW: Final = 64.0
_FALLEN: Final = 8
_LEAST: Final = 1.0
"""Here many scalers stay, step after step."""
_RISES: Final = 4
"""Times by which no scaler rises at once."""
_SKIPPED: Final = 0.9
_WINDOW: Final = 20
_STARTING: Final = 50
"""Steps in which a search for a level may skip nearly all."""


class ScalerSigns:
    """The loss scale of one process."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._last = math.nan
        self._top = 0.0
        self._fallen: list[tuple[int, float]] = []
        """(line, scale) of overflows without a clean step in between, the last few."""
        self._streak = self._loose = 0
        """Overflows without a clean step between them; the same where nothing shows a clean
        step."""
        self._is_settled = False
        self._records = 0
        """Records since the last overflow."""
        self._step = self._step_of_last = self._interval = math.nan
        self._skipped: list[tuple[float, float]] = []

    def pass_by(self, record: MetricRecord) -> Iterator[Sign]:
        """Take note of a record of the run."""
        if not math.isnan(record.step):
            self._interval = record.step - self._step
            self._step = record.step
            if math.isnan(self._step_of_last):
                self._step_of_last = record.step
        scale = record.values.get(names.LOSS_SCALE)
        if scale is None:
            self._records += 1
        elif scale < self._last:
            yield from self._overflow(scale, record, is_next=self._records == 0)
        else:
            self._last, self._top = scale, max(self._top, scale)
            self._records += 1
        yield from self._of_count(record)

    def read_event(self, record: MetricRecord) -> Iterator[Sign]:
        """Take a line about the scale alone.

        It is printed when a step overflows, or when the scale rises again.
        """
        scale = record.values[names.LOSS_SCALE]
        if scale > _RISES * self._last:  # another scaler, at its start
            self._last, self._top, self._is_settled, self._records = math.nan, 0.0, False, 0
            self._streak = self._loose = 0
        if scale > self._last:
            self._last, self._streak, self._loose, self._is_settled = scale, 0, 0, True
            return
        if scale == self._last > _LEAST:
            return  # said again by another process; or a hysteresis, which is no step down
        is_next = self._records <= (1 if self._interval <= 1 else 0)
        yield from self._overflow(scale, record, is_next=is_next)

    def _overflow(self, scale: float, record: MetricRecord, *, is_next: bool) -> Iterator[Sign]:
        """Take a step down; `is_next`: nothing shows a clean step since the one before."""
        self._is_settled = self._is_settled or self._was_clean()
        self._streak = self._streak + 1 if is_next or not self._streak else 1
        self._loose = self._loose + 1 if is_next or self._records <= 1 else 1
        before = self._fallen[1 - _SHOWN :] if self._loose > 1 else []
        self._fallen = [*before, (record.line, scale)]
        self._top = max(self._top, scale)
        self._last, self._records, self._step_of_last = scale, 0, self._step
        if not self._is_too_often():
            return
        step = record.step if not math.isnan(record.step) else self._step
        message = say(
            "{count} overflows on end, loss scale {shown}",
            count=max(self._streak, self._loose),
            shown=" → ".join(f"{value:g}" for _, value in self._fallen),
        )
        yield Sign("overflow", message, record.line, step, self._fallen[0][0])

    def _was_clean(self) -> bool:
        """Say whether enough steps were clean before this overflow to end the search for a level.

        The last overflow stands somewhere within an interval of steps.
        """
        interval = 0.0 if math.isnan(self._interval) else self._interval
        clean = self._step - self._step_of_last - interval
        return self._records >= _CLEAN or (self._records > 0 and clean >= _CLEAN)

    def _is_too_often(self) -> bool:
        is_low = self._last <= max(_LEAST, min(_LOW, self._top / _FALLEN))
        return (self._streak >= _OVERFLOWS and self._is_settled) or (
            self._loose >= _OVERFLOWS and is_low
        )

    def _of_count(self, record: MetricRecord) -> Iterator[Sign]:
        """Judge steps that are counted as skipped, over the run or since the record before."""
        total = record.values.get(names.SKIPPED_STEPS)
        since = record.values.get("skipped_iterations")
        if (total is None and since is None) or math.isnan(record.step):
            return
        before = self._skipped[-1][1] if self._skipped else 0.0
        count = total if total is not None else before + (since or 0.0)
        self._skipped = [*self._skipped[-200:], (record.step, count)]
        start = next(
            (known for known in reversed(self._skipped) if record.step - known[0] >= _WINDOW), None
        )
        if start is None or start[0] < _STARTING:
            return
        steps, skipped = record.step - start[0], count - start[1]
        if _SKIPPED * steps <= skipped <= steps:
            message = say(
                "{skipped:g} of the last {steps:g} steps skipped",
                skipped=skipped,
                steps=steps,
            )
            yield Sign("overflow", message, record.line, record.step)


_MOST_PROCESSES: Final = 4096


class Signs:
    """All that looks at the records of one file."""

    def __init__(self) -> None:
        """Know no process yet."""
        self._losses: dict[tuple[ProcessId, str], LossSigns] = {}
        self._memory: dict[tuple[ProcessId, str], MemorySigns] = {}
        self._scalers: dict[ProcessId, ScalerSigns] = {}

    def take(
        self, record: MetricRecord, unit: str, capacity: float | None, total: float
    ) -> Iterator[tuple[Sign, ProcessId]]:
        """Look at the next record.

        Of the memory, `unit`, GiB of the device and steps of the run are wanted too.
        """
        where = record.where
        if not self._knows(where):
            return
        for sign in (*self._of_scale(record), *self._of_figures(record, unit, capacity, total)):
            yield sign, where

    def _knows(self, where: ProcessId) -> bool:
        """Register a process unless too many are known already."""
        if where in self._scalers:
            return True
        if len(self._scalers) >= _MOST_PROCESSES:
            return False
        # What the lines without a label have told is of this process too.
        unlabelled = self._scalers.get(NOWHERE)
        self._scalers[where] = ScalerSigns() if unlabelled is None else copy.copy(unlabelled)
        return True

    def _of_scale(self, record: MetricRecord) -> Iterator[Sign]:
        """Hand a record to the scaler of its process; those of all that may be the same see it."""
        where = record.where
        if _is_of_scale_alone(record):
            yield from self._scalers[where].read_event(record)
            return
        for own, scaler in self._scalers.items():
            if own == where or NOWHERE in {own, where}:
                found = list(scaler.pass_by(record))
                yield from found if own == where else ()

    def _of_figures(
        self, record: MetricRecord, unit: str, capacity: float | None, total: float
    ) -> Iterator[Sign]:
        """Hand a record to what looks at the loss and at the memory of its stream."""
        if _is_of_scale_alone(record):
            return
        key = (record.where, record.producer)
        yield from self._losses.setdefault(key, LossSigns()).take(record)
        if names.MEMORY in record.values:
            memory = self._memory.setdefault(key, MemorySigns())
            yield from memory.take(record, unit, capacity, total)


def _is_of_scale_alone(record: MetricRecord) -> bool:
    return record.values.keys() == {names.LOSS_SCALE}
