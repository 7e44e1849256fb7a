"""The records of bars of unknown layout: one for each position, the last that was drawn there.

In: draws of bars with metrics, one after the other, or the last draws at many positions of one bar.
Out: the record of the position before, once a bar has left it; of many, their steps. Not here: the
figures on a draw (`formats.generic`), what its loss is called (`formats.loss_owners`).
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from postmortem.core.lines import ProcessId
from postmortem.extraction.formats.bar_positions import BarPositions
from postmortem.extraction.formats.bars import Draw, Redraws
from postmortem.extraction.formats.generic import Found, LineFigures
from postmortem.extraction.formats.learnt_layouts import Layout, LearntFigures
from postmortem.extraction.formats.step_counting import StepCounting

if TYPE_CHECKING:
    import numpy as np


class BarRecords:
    """Keeps where the bars of one source stand."""

    def __init__(self, counting: StepCounting) -> None:
        """Know no bar yet; `counting` tells how epochs count."""
        self._counting = counting
        self._draws: Redraws[Found | LearntFigures] = Redraws()
        self._positions = BarPositions()

    def read(
        self, looked: LineFigures, bar: Draw, where: ProcessId
    ) -> Found | LearntFigures | None:
        """Take a draw; gives the record that is certain now, if there is one."""
        stream = (where, looked.stream)
        now = self._positions.step(stream, bar.now, bar.total)
        if now == 0 or not looked.has_metrics():
            return None
        step = self._step(looked, where, now, looked.epoch, looked.found.record.step)
        found = looked.found._replace(
            record=looked.found.record._replace(step=step), has_step=bar.counts_steps(), layout=""
        )
        return self._draws.take(stream, (looked.epoch, now, bar.total), found)

    def read_learnt(
        self, layout: Layout, bar: Draw, where: ProcessId, groups: Sequence[bytes], line: int
    ) -> Found | LearntFigures | None:
        """Take a draw that a template has matched."""
        looked = layout.looked
        stream = (where, looked.stream)
        position = 0 if layout.now is None else int(groups[layout.now])
        now = self._positions.step(stream, position, bar.total)
        if now == 0:
            return None
        label = looked.epoch if layout.epoch is None else groups[layout.epoch].decode()
        printed = math.nan if layout.step is None else float(groups[layout.step]) * layout.scale
        step = self._step(looked, where, now, label, printed)
        late = LearntFigures(layout, where, step, layout.read_values(groups), line)
        return self._draws.take(stream, (label, now, bar.total), late)

    def positions(
        self, layout: Layout, where: ProcessId, printed: "np.ndarray[Any, Any]"
    ) -> "np.ndarray[Any, Any]":
        """Give the steps of a bar that draws with these positions belong to, 0 where to none."""
        bar, stream = layout.looked.bar, (where, layout.looked.stream)
        return self._positions.steps(stream, printed, None if bar is None else bar.total)

    def holds(self, layout: Layout, where: ProcessId) -> bool:
        """Say whether a record waits for the bar to leave its position."""
        return self._draws.holds((where, layout.looked.stream))

    def steps(
        self,
        layout: Layout,
        where: ProcessId,
        positions: "np.ndarray[Any, Any]",
        epochs: "np.ndarray[Any, Any]",
    ) -> "np.ndarray[Any, Any]":
        """Give the steps of the run of draws that print none, in order.

        Args:
            layout: of the draws.
            where: their process.
            positions: the steps of the bar that they belong to.
            epochs: in the label of the bar; NaN where none is.
        """
        bar = layout.looked.bar
        length = math.nan if bar is None or bar.total is None else float(bar.total)
        stream = (where, layout.looked.stream)
        return self._counting.steps_anew(stream, epochs, positions.astype(float), length)

    def hold(self, late: LearntFigures, epoch: str, position: int) -> None:
        """Let the last of many draws wait; the one that waited has been given with them."""
        looked = late.layout.looked
        total = None if looked.bar is None else looked.bar.total
        self._draws.hold((late.where, looked.stream), (epoch, position, total), late)

    def rest(self) -> list[Found | LearntFigures]:
        """Give what still stands at a position; later draws there are passed over."""
        return self._draws.rest()

    def _step(
        self, looked: LineFigures, where: ProcessId, now: int, epoch: str, printed: float
    ) -> float:
        if looked.found.has_step or looked.bar is None:
            return printed
        length = math.nan if looked.bar.total is None else float(looked.bar.total)
        return self._counting.step(
            (where, looked.stream),
            float(epoch) if epoch else math.nan,
            float(now),
            length,
            anew=True,
        )
