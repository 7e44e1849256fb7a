"""The reader of last resort: metric lines and bars of unknown layout become records.

In: cleaned lines with a metric word in them, or draws of bars with metrics, one after the other;
lines that a learnt template has matched. Out: a `Record`, once the line's layout is known to be a
metric line; for bars one for each position, the last that was drawn there, once the bar has left
it. Not here: the figures on a line (`formats.metric_line_parser`), which layouts are metric lines
(`formats.acceptance`), which loss is the process's own (`formats.losses`), learning templates
(`formats.layouts`), the draws themselves (`formats.bars`).

A loop that sets the metrics of a bar within its body draws those of its first step while the bar
stands at 0, and so on: the metrics are a step ahead of the bar.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final

from postmortem.core.findings import ProcessId
from postmortem.core.names import LOSS
from postmortem.extraction.formats.acceptance import Acceptance
from postmortem.extraction.formats.bars import Draw, Redraws, StepCounting
from postmortem.extraction.formats.layouts import Layout, LearntFigures
from postmortem.extraction.formats.losses import LossOwners
from postmortem.extraction.formats.metric_line_parser import (
    BAR_END,
    Found,
    LineFigures,
    parse_metric_line,
)
from postmortem.extraction.formats.records import Record

if TYPE_CHECKING:
    import numpy as np

_MOST_STREAMS: Final = 64


class BarPositions:
    """Keeps which bars have their metrics drawn ahead."""

    def __init__(self) -> None:
        """Know no bar yet."""
        self._ahead: dict[Hashable, bool] = {}
        """Whether the metrics of a step are drawn before the bar moves on to it."""

    def step(self, stream: Hashable, now: int, total: int | None) -> int:
        """Give the step that a draw with metrics belongs to.

        0 for a bar that begins with those of the epoch before.
        """
        if stream not in self._ahead and len(self._ahead) < _MOST_STREAMS:
            self._ahead[stream] = now == 0
        if not self._ahead.get(stream):
            return now
        return now + 1 if total is None else min(now + 1, total)

    def steps(
        self, stream: Hashable, positions: "np.ndarray[Any, Any]", total: int | None
    ) -> "np.ndarray[Any, Any]":
        """Give the steps of many draws of a bar in order; the same as `step` for each."""
        self.step(stream, int(positions[0]), total)
        if not self._ahead.get(stream):
            return positions
        return positions + 1 if total is None else (positions + 1).clip(max=total)


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


_MOST_KINDS: Final = 64


class GenericReader:
    """Reads metric lines of unknown layout; keeps what it has learnt about one source."""

    def __init__(self, rename: Callable[[str, ProcessId], None] | None = None) -> None:
        """Know nothing yet; `rename` gives what was `loss` so far another name."""
        self.has_read = False
        """Whether the line that was read last is a metric line."""
        self.acceptance = Acceptance()
        self._kinds = set[str]()
        """Of records of several lines that have been read."""
        self._owners = LossOwners()
        if rename is not None:
            self._owners.rename = rename
        self._ends: dict[tuple[str, ProcessId], Found] = {}
        """The last draw of each bar of an evaluation that came to its end."""
        self._counting = StepCounting()
        self.bars = BarRecords(self._counting)
        """Gives one record for each position of a bar."""

    @property
    def is_crowded(self) -> bool:
        """Whether most lines are never the same again."""
        return self.acceptance.is_crowded

    @property
    def owners(self) -> int:
        """How often the training loss of a process has got another name."""
        return self._owners.changes

    def read(
        self, text: str, where: ProcessId, line: int
    ) -> list[tuple[Record, int] | LearntFigures]:
        """Read a line; gives the records that are certain now, with their raw lines.

        None, this one, or the one that had waited too.
        """
        looked, self.has_read = parse_metric_line(text, where, line), False
        if looked is None:
            return []
        if looked.bar is None and self._is_redraw(looked.found):
            return []
        if looked.bar is None:
            is_owned = self._owners.is_owned(where)
            accepted = self.acceptance.take(looked.found, is_owned=is_owned)
            self.has_read = bool(accepted) and not looked.found.layout.startswith(BAR_END)
            return [self._settle_record(found) for found in accepted]
        self.has_read = looked.has_metrics()
        return self._list_settled(self.bars.read(looked, looked.bar, where))

    def _is_redraw(self, found: Found) -> bool:
        """Say whether the end of a bar is drawn again, on the same line or the next."""
        if not found.layout.startswith(BAR_END):
            return False
        key = (found.layout, found.record.where)
        before, self._ends[key] = self._ends.get(key), found
        return (
            before is not None
            and found.line - before.line <= 1
            and found.record.values == before.record.values
        )

    def read_block(
        self, text: str, kind: str, where: ProcessId, line: int
    ) -> list[tuple[Record, int] | LearntFigures]:
        """Read a record of several lines, of this kind, that has been written on one."""
        looked = parse_metric_line(text, where, line)
        accepted, ends = list[Found](), list[Found]()
        if looked is not None and looked.bar is None:
            found = looked.found._replace(
                layout=self._get_full_kind(kind, where), must_change=not looked.found.has_place
            )
            is_known = self.acceptance.is_known(found.layout, where)
            accepted = self.acceptance.take(found, is_owned=self._owners.is_owned(where))
            ends = self.acceptance.take_ends(found) if accepted and not is_known else []
        self.has_read = bool(accepted)
        if accepted and len(self._kinds) < _MOST_KINDS:
            self._kinds.add(accepted[-1].layout)
        accepted = sorted([*ends, *accepted], key=lambda record: record.line)
        return [self._settle_record(record) for record in accepted]

    def _get_full_kind(self, kind: str, where: ProcessId) -> str:
        """Give the kind of record that one is the beginning of: the end of the log may cut it."""
        if " " not in kind or self.acceptance.is_known(kind, where):
            return kind
        return next(
            (
                known
                for known in sorted(self._kinds)
                if known.startswith(f"{kind} ") and self.acceptance.is_known(known, where)
            ),
            kind,
        )

    def read_learnt(
        self, layout: Layout, where: ProcessId, groups: Sequence[bytes], line: int
    ) -> list[tuple[Record, int] | LearntFigures]:
        """Read a line that a template has matched."""
        looked, values = layout.looked, layout.read_values(groups)
        step = math.nan if layout.step is None else float(groups[layout.step]) * layout.scale
        if layout.now is None or looked.bar is None:
            epoch = math.nan if layout.counted is None else values[layout.counted]
            return [
                LearntFigures(
                    layout,
                    where,
                    self._compute_run_step(looked.found, where, step, epoch),
                    values,
                    line,
                )
            ]
        return self._list_settled(self.bars.read_learnt(layout, looked.bar, where, groups, line))

    def compute_run_steps(
        self,
        layout: Layout,
        where: ProcessId,
        steps: "np.ndarray[Any, Any]",
        epochs: "np.ndarray[Any, Any] | None",
    ) -> "np.ndarray[Any, Any]":
        """Give the steps of the run of many lines of a layout, in order."""
        found = layout.looked.found
        if found.is_numbered and not self.acceptance.is_counted(found.layout, where):
            return steps * math.nan
        if epochs is None:
            return steps
        return self._counting.steps((found.layout, where), epochs, steps, found.length)

    def is_known(self, layout: Layout, where: ProcessId) -> bool:
        """Say whether lines of a layout are metric lines of this process."""
        return layout.now is not None or self.acceptance.is_known(layout.looked.found.layout, where)

    def names(self, layout: Layout, where: ProcessId) -> list[str]:
        """Give the names of a layout's values in this process."""
        found = layout.looked.found
        names = [name for name, _ in layout.columns]
        names = self._owners.name_pass(found.passed, found.printed, names, where)
        return self._name_all(found.printed, names, where, has_step=layout.has_step())

    def settled(self, late: LearntFigures) -> tuple[Record, int]:
        """Make the record of a learnt line."""
        return self._settle_record(late.found())

    def rest(self) -> list[tuple[Record, int]]:
        """Give the records of bars that still stand at a position."""
        return [
            self._settle_record(found if isinstance(found, Found) else found.found())
            for found in self.bars.rest()
        ]

    def _list_settled(
        self, found: Found | LearntFigures | None
    ) -> list[tuple[Record, int] | LearntFigures]:
        """Give the record of a bar that is certain, if there is one."""
        return (
            []
            if found is None
            else [self._settle_record(found) if isinstance(found, Found) else found]
        )

    def _settle_record(self, found: Found) -> tuple[Record, int]:
        """Decide whether the training loss of a record is the `loss` of its process."""
        record = found.record
        if found.layout:
            record = record._replace(
                step=self._compute_run_step(
                    found, record.where, record.step, dict(record.values).get("epoch", math.nan)
                )
            )
        names, figures = [name for name, _ in record.values], [value for _, value in record.values]
        names = self._owners.name_pass(found.passed, found.printed, names, record.where)
        called = self._name_all(found.printed, names, record.where, has_step=found.has_step)
        if called != [name for name, _ in record.values]:
            record = record._replace(values=list(zip(called, figures, strict=True)))
        return record, found.line

    def _name_all(
        self, printed: str, names: Sequence[str], where: ProcessId, *, has_step: bool
    ) -> list[str]:
        """Give the names of the figures of a record, whose loss was printed under a name."""
        loss = self._owners.called((printed, has_step), where)
        return [
            loss if name == LOSS else self._owners.name_figure(name, where, has_step=has_step)
            for name in names
        ]

    def _compute_run_step(self, found: Found, where: ProcessId, step: float, epoch: float) -> float:
        """Give the step of the run of a line of this layout."""
        if found.is_numbered and not self.acceptance.is_counted(found.layout, where):
            return math.nan
        if math.isnan(epoch):
            return step
        return self._counting.step((found.layout, where), epoch, step, found.length)
