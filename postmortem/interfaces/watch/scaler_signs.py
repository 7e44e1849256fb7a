"""Detect a loss scale that falls step after step: overflows without a clean step in between.

In: the loss scale as it is printed, with each record or at each overflow, and the records between.
Out: `Sign`s. Not here: the values that overflow (`watch.loss_signs`).

A scaler that looks for its level at the start of a run overflows many times in a row, from 2**28
down to 2**17 in a sound run. So at the start the level counts: below 2**7 no sound run settles.
Once steps have been clean, the third overflow without a clean step is one too many.
"""

import math
from collections.abc import Iterator
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.core.watching import MetricRecord, Sign

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
