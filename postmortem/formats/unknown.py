"""The reader of last resort: metric lines of unknown layout become records.

In: cleaned lines with a metric word in them, one after the other, or lines that a learnt template
has matched. Out: a `Record`, once the line's layout is known to be a metric line. Not here: the
figures on a line (`formats.generic`), which layouts are metric lines (`formats.acceptance`), which
loss is the process's own (`formats.owners`), learning templates (`formats.layouts`).

A bar with metrics gives one record for each of its positions.
"""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from postmortem.formats.acceptance import Acceptance
from postmortem.formats.bar_positions import BarPositions
from postmortem.formats.bars import Redraws
from postmortem.formats.counting import Counting
from postmortem.formats.generic import Found, Looked, look
from postmortem.formats.owners import Owners
from postmortem.formats.records import Record
from postmortem.formats.templates import Template
from postmortem.model.lines import Where


class Layout(NamedTuple):
    """A learnt line: which of the template's groups is what (`formats.layouts`)."""

    template: Template
    looked: Looked
    """What the line held that it was learnt from; any such line differs in figures alone."""
    columns: tuple[tuple[str, int], ...]
    """Each value's name and group."""
    step: int | None
    now: int | None
    """The position of the bar."""
    epoch: int | None
    """The epoch in the label of the bar."""
    counted: int | None
    """Which column is the epoch."""


class Late(NamedTuple):
    """What a learnt line gives; a record is made of it only where it must be."""

    layout: Layout
    where: Where
    step: float
    values: list[float]
    line: int

    def found(self) -> Found:
        """Make what the slow path would have found, its step settled."""
        found = self.layout.looked.found
        record = found.record._replace(
            step=self.step,
            where=self.where,
            values=[
                (name, value)
                for (name, _), value in zip(self.layout.columns, self.values, strict=True)
            ],
        )
        return found._replace(
            record=record,
            has_step=found.has_step or self.layout.now is not None,
            layout="",
            is_numbered=False,
            line=self.line,
        )


class GenericReader:
    """Reads metric lines of unknown layout; keeps what it has learnt about one source."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.has_read = False
        """Whether the line that was read last is a metric line."""
        self.acceptance = Acceptance()
        self._owners = Owners()
        self._bars: Redraws[Found | Late] = Redraws()
        self._counting = Counting()
        self._positions = BarPositions()

    @property
    def is_crowded(self) -> bool:
        """Whether most lines are never the same again."""
        return self.acceptance.is_crowded

    @property
    def owners(self) -> int:
        """How often the training loss of a process has got another name."""
        return self._owners.changes

    def read(self, text: str, where: Where, line: int) -> list[tuple[Record, int] | Late]:
        """Read a line; gives the records that are certain now, with their raw lines.

        None, this one, or the one that had waited too.
        """
        looked, self.has_read = look(text, where, line), False
        if looked is None:
            return []
        if looked.bar is None:
            is_owned = self._owners.is_owned(where)
            accepted = self.acceptance.take(looked.found, is_owned=is_owned)
            self.has_read = bool(accepted)
            return [self._settled(found) for found in accepted]
        now = self._positions.step((where, looked.stream), looked.bar.now, looked.bar.total)
        self.has_read = looked.has_metrics()
        if now == 0 or not self.has_read:
            return []
        step = self._step_of_bar(looked, where, now, looked.epoch, looked.found.record.step)
        found = looked.found._replace(
            record=looked.found.record._replace(step=step), has_step=True, layout=""
        )
        return self._given((where, looked.stream), (looked.epoch, now, looked.bar.total), found)

    def read_block(
        self, text: str, kind: str, where: Where, line: int
    ) -> list[tuple[Record, int] | Late]:
        """Read a record of several lines, of this kind, that has been written on one."""
        looked = look(text, where, line)
        accepted = []
        if looked is not None and looked.bar is None:
            found = looked.found._replace(layout=kind)
            accepted = self.acceptance.take(found, is_owned=self._owners.is_owned(where))
        self.has_read = bool(accepted)
        return [self._settled(one) for one in accepted]

    def read_learnt(
        self, layout: Layout, where: Where, groups: Sequence[bytes], line: int
    ) -> list[tuple[Record, int] | Late]:
        """Read a line that a template has matched."""
        looked, values = layout.looked, [float(groups[group]) for _, group in layout.columns]
        step = math.nan if layout.step is None else float(groups[layout.step])
        if layout.now is None or looked.bar is None:
            epoch = math.nan if layout.counted is None else values[layout.counted]
            return [
                Late(layout, where, self._counted(looked.found, where, step, epoch), values, line)
            ]
        now = self._positions.step(
            (where, looked.stream), int(groups[layout.now]), looked.bar.total
        )
        if now == 0:
            return []
        label = looked.epoch if layout.epoch is None else groups[layout.epoch].decode()
        late = Late(layout, where, self._step_of_bar(looked, where, now, label, step), values, line)
        return self._given((where, looked.stream), (label, now, looked.bar.total), late)

    def is_known(self, layout: Layout, where: Where) -> bool:
        """Say whether lines of a layout are metric lines of this process."""
        return layout.now is not None or self.acceptance.is_known(layout.looked.found.layout, where)

    def names(self, layout: Layout, where: Where) -> list[str]:
        """Give the names of a layout's values in this process."""
        found = layout.looked.found
        has_step = found.has_step or layout.now is not None
        called = self._owners.called((found.printed, has_step), where)
        return [called if name == "loss" else name for name, _ in layout.columns]

    def settled(self, late: Late) -> tuple[Record, int]:
        """Make the record of a learnt line."""
        return self._settled(late.found())

    def rest(self) -> list[tuple[Record, int]]:
        """Give the records of bars that still stand at a position."""
        return [
            self._settled(found if isinstance(found, Found) else found.found())
            for found in self._bars.rest()
        ]

    def _given(
        self, stream: Hashable, position: Hashable, found: Found | Late
    ) -> list[tuple[Record, int] | Late]:
        """Take a draw of a bar; gives the last at the position before, once the bar has left it."""
        given = self._bars.take(stream, position, found)
        return (
            [] if given is None else [self._settled(given) if isinstance(given, Found) else given]
        )

    def _settled(self, found: Found) -> tuple[Record, int]:
        """Decide whether the training loss of a record is the `loss` of its process."""
        record = found.record
        if found.layout:
            record = record._replace(
                step=self._counted(
                    found, record.where, record.step, dict(record.values).get("epoch", math.nan)
                )
            )
        called = self._owners.called((found.printed, found.has_step), record.where)
        if called != "loss":
            record = record._replace(
                values=[
                    (called if name == "loss" else name, value) for name, value in record.values
                ]
            )
        return record, found.line

    def _counted(self, found: Found, where: Where, step: float, epoch: float) -> float:
        """Give the step of the run of a line of this layout."""
        if found.is_numbered and not self.acceptance.is_counted(found.layout, where):
            return math.nan
        if math.isnan(epoch):
            return step
        return self._counting.step((found.layout, where), epoch, step, found.length)

    def _step_of_bar(
        self, looked: Looked, where: Where, now: int, epoch: str, printed: float
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
