"""A loss scale that falls step after step: overflow without a clean step in between.

In: the loss scale as it is printed, with each record or at each overflow, and the records between.
Out: `Sign`s. Not here: the values that overflow (`watch.losses`).

A scaler that looks for its level at the start of a run overflows many times in a row, from 2**28
down to 2**17 in a sound run. So at the start the level counts: below 2**7 no sound run settles.
Once steps have been clean, the third overflow without a clean step is one too many.
"""

import math
from collections.abc import Iterator
from typing import Final

from postmortem import names
from postmortem.model.said import say
from postmortem.model.watching import Record, Sign

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

    def pass_by(self, record: Record) -> Iterator[Sign]:
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

    def event(self, record: Record) -> Iterator[Sign]:
        """Take a line about the scale alone.

        It is printed when a step overflows, or when the scale rises again.
        """
        scale = record.values[names.LOSS_SCALE]
        if scale > _RISES * self._last:  # another scaler, at its start
            self._last, self._top, self._streak, self._loose, self._is_settled, self._records = (
                math.nan,
                0.0,
                0,
                0,
                False,
                0,
            )
        if scale > self._last:
            self._last, self._streak, self._loose, self._is_settled = scale, 0, 0, True
            return
        if (
            scale == self._last > _LEAST
        ):  # said again by another process; or a hysteresis, which is no step down
            return
        yield from self._overflow(
            scale, record, is_next=self._records <= (1 if self._interval <= 1 else 0)
        )

    def _overflow(self, scale: float, record: Record, *, is_next: bool) -> Iterator[Sign]:
        clean = (
            self._step
            - self._step_of_last
            - (0.0 if math.isnan(self._interval) else self._interval)
        )  # the last overflow stands somewhere within an interval
        self._is_settled = (
            self._is_settled or self._records >= _CLEAN or (self._records > 0 and clean >= _CLEAN)
        )
        self._streak = self._streak + 1 if is_next or not self._streak else 1
        self._loose = self._loose + 1 if is_next or self._records <= 1 else 1
        self._fallen = [
            *(self._fallen[1 - _SHOWN :] if self._loose > 1 else []),
            (record.line, scale),
        ]
        self._top = max(self._top, scale)
        self._last, self._records, self._step_of_last = scale, 0, self._step
        is_low = scale <= max(_LEAST, min(_LOW, self._top / _FALLEN))
        if (self._streak >= _OVERFLOWS and self._is_settled) or (
            self._loose >= _OVERFLOWS and is_low
        ):
            shown = " → ".join(f"{value:g}" for _, value in self._fallen)
            step = record.step if not math.isnan(record.step) else self._step
            said = say(
                "{count} overflows on end, loss scale {shown}",
                "连续 {count} 次溢出，损失缩放 {shown}",
                count=max(self._streak, self._loose),
                shown=shown,
            )
            yield Sign("overflow", said, record.line, step, self._fallen[0][0])

    def _of_count(self, record: Record) -> Iterator[Sign]:
        """Judge steps that are counted as skipped, over the whole run or since the record before."""
        total, since = (
            record.values.get(names.SKIPPED_STEPS),
            record.values.get("skipped_iterations"),
        )
        if (total is None and since is None) or math.isnan(record.step):
            return
        count = (
            total
            if total is not None
            else (self._skipped[-1][1] if self._skipped else 0.0) + (since or 0.0)
        )
        self._skipped = [*self._skipped[-200:], (record.step, count)]
        start = next(
            (one for one in reversed(self._skipped) if record.step - one[0] >= _WINDOW), None
        )
        if start is None or start[0] < _STARTING:
            return
        steps, skipped = record.step - start[0], count - start[1]
        if _SKIPPED * steps <= skipped <= steps:
            yield Sign(
                "overflow",
                say(
                    "{skipped:g} of the last {steps:g} steps skipped",
                    "最近 {steps:g} 步中跳过了 {skipped:g} 步",
                    skipped=skipped,
                    steps=steps,
                ),
                record.line,
                record.step,
            )
