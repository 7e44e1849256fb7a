"""The reader of last resort: metric lines of unknown layout become records.

In: cleaned lines with a metric word in them, one after the other, or lines that a learnt template
has matched. Out: a `Record`, once the line's layout is known to be a metric line. Not here: the
figures on a line (`formats.generic`), learning templates (`formats.layouts`).

A layout is the line up to its last loss, with the numbers taken out. The first layout of a process
that names a step, an iteration or an epoch beside the loss is a metric line; any other must come
again with other numbers. Its first line is kept until then, so that nothing is lost but what comes
once, such as a closing summary.

Of several printed names of the training loss only one is `loss`: a plain `loss` with a step before
anything else, else the first. The others (`avg. loss` at the end of an epoch) keep their names. A
bar with metrics gives one record for each of its positions.
"""

import math
from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

from postmortem.formats.bars import Redraws
from postmortem.formats.counting import Counting
from postmortem.formats.generic import Found, Looked, look
from postmortem.formats.records import Record
from postmortem.formats.templates import Template
from postmortem.model.lines import Where

_MOST_LAYOUTS: Final = 64
_MOST_KNOWN: Final = 16_384
_MOST_FORGOTTEN: Final = 4096


class Layout(NamedTuple):
    """A learnt line: which of the template's groups is what (`formats.layouts`)."""

    template: Template
    looked: Looked
    """What the line held that it was learnt from: all but the figures is the same on every such line."""
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
        self._waiting: dict[tuple[str, Where], Found] = {}
        self._known: set[tuple[str, Where]] = set()
        self._owner: dict[Where, tuple[str, bool]] = {}
        self.has_read = False
        """Whether the line that was read last is a metric line."""
        self._forgotten = 0
        """Layouts that did not come again while they were waited for."""
        self.owners = 0
        """How often the training loss of a process has got another name."""
        self._bars: Redraws[Found | Late] = Redraws()
        self._counting = Counting()
        self._uncounted: set[tuple[str, Where]] = set()
        """Layouts whose number in brackets does not grow."""
        self._ahead: dict[Hashable, bool] = {}
        """Of bars: whether the metrics of a step are drawn before the bar moves on to it."""

    @property
    def is_crowded(self) -> bool:
        """Whether most lines are never the same again."""
        return self._forgotten > _MOST_FORGOTTEN

    def read(self, text: str, where: Where, line: int) -> list[tuple[Record, int] | Late]:
        """Read a line; gives the records that are certain now, with their raw lines.

        None, this one, or the one that had waited too.
        """
        looked, self.has_read = look(text, where, line), False
        if looked is None:
            return []
        if looked.bar is None:
            accepted = self._accepted(looked.found)
            self.has_read = bool(accepted)
            return [self._settled(one) for one in accepted]
        now = self._position((where, looked.stream), looked.bar.now, looked.bar.total)
        self.has_read = looked.has_metrics()
        if now == 0 or not self.has_read:
            return []
        step = self._step_of_bar(looked, where, now, looked.epoch, looked.found.record.step)
        found = looked.found._replace(
            record=looked.found.record._replace(step=step), has_step=True, layout=""
        )
        return self._given((where, looked.stream), (looked.epoch, now, looked.bar.total), found)

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
        now = self._position((where, looked.stream), int(groups[layout.now]), looked.bar.total)
        if now == 0:
            return []
        label = looked.epoch if layout.epoch is None else groups[layout.epoch].decode()
        late = Late(layout, where, self._step_of_bar(looked, where, now, label, step), values, line)
        return self._given((where, looked.stream), (label, now, looked.bar.total), late)

    def is_known(self, layout: Layout, where: Where) -> bool:
        """Say whether lines of a layout are metric lines of this process."""
        return layout.now is not None or (layout.looked.found.layout, where) in self._known

    def names(self, layout: Layout, where: Where) -> list[str]:
        """Give the names of a layout's values in this process."""
        found = layout.looked.found
        called = self._called((found.printed, found.has_step or layout.now is not None), where)
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
        """Take a draw of a bar; gives what stood at the position before, once the bar has left it."""
        given = self._bars.take(stream, position, found)
        return (
            [] if given is None else [self._settled(given) if isinstance(given, Found) else given]
        )

    def _accepted(self, found: Found) -> list[Found]:
        key = (found.layout, found.record.where)
        if key in self._known:
            return [found]
        is_first = bool(found.has_place) and (
            not found.printed or found.record.where not in self._owner
        )
        waiting = self._waiting.get(key)
        is_again = waiting is not None and (
            waiting.record.values != found.record.values
            or (waiting.record.step != found.record.step and found.has_step)
            or _is_bad(found)
        )
        if is_first or is_again:
            self._waiting.pop(key, None)
            if (
                waiting is not None
                and found.is_numbered
                and found.record.step <= waiting.record.step
                and len(self._uncounted) < _MOST_LAYOUTS
            ):
                self._uncounted.add(key)
            if len(self._known) < _MOST_KNOWN:
                self._known.add(key)
            return [*([waiting] if waiting else []), found]
        if waiting is None:
            if len(self._waiting) >= _MOST_LAYOUTS:
                del self._waiting[next(iter(self._waiting))]
                self._forgotten += 1
            self._waiting[key] = found
        return []

    def _settled(self, found: Found) -> tuple[Record, int]:
        """Decide whether the training loss of a record is the `loss` of its process."""
        record = found.record
        if found.layout:
            record = record._replace(
                step=self._counted(
                    found, record.where, record.step, dict(record.values).get("epoch", math.nan)
                )
            )
        called = self._called((found.printed, found.has_step), record.where)
        if called != "loss":
            record = record._replace(
                values=[(called if one == "loss" else one, value) for one, value in record.values]
            )
        return record, found.line

    def _counted(self, found: Found, where: Where, step: float, epoch: float) -> float:
        """Give the step of the run of a line of this layout."""
        key = (found.layout, where)
        if found.is_numbered and key in self._uncounted:
            return math.nan
        return step if math.isnan(epoch) else self._counting.step(key, epoch, step, found.length)

    def _called(self, mine: tuple[str, bool], where: Where) -> str:
        """Give the name of a `loss` by its printed name and whether it has a step.

        One such spelling is a process's own.
        """
        printed = mine[0]
        if not printed or self._owner.setdefault(where, mine) == mine:
            return "loss"
        if mine == ("loss", True):
            self._owner[where] = mine
            self.owners += 1
            return "loss"
        return printed if printed != "loss" else "epoch_loss"

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

    def _position(self, stream: Hashable, now: int, total: int | None) -> int:
        """Give the step that a draw with metrics belongs to.

        0 for a bar that begins with those of the epoch before.

        A loop that sets the metrics within its body draws those of its first step while the bar
        stands at 0.
        """
        if stream not in self._ahead and len(self._ahead) < _MOST_LAYOUTS:
            self._ahead[stream] = now == 0
        if not self._ahead.get(stream):
            return now
        return now + 1 if total is None else min(now + 1, total)


def _is_bad(found: Found) -> bool:
    return any(
        name.endswith("loss") and not math.isfinite(value) for name, value in found.record.values
    )
