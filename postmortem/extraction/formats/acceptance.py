"""Decide which layouts are those of metric lines.

In: what stands on lines of unknown layout, one after the other. Out: those that are metric lines,
as soon as it is certain. Not here: what stands on a line (`formats.metric_line_parser`), what its
loss is called (`formats.losses`).

A layout is the line up to its last loss, with the numbers taken out. The first layout of a process
that names a step, an iteration or an epoch beside the loss is a metric line; any other must come
again with other numbers, or many times with one figure of several digits. Its first line is kept
until then, so that nothing is lost but what comes once, such as a closing summary.
"""

import math
from typing import Final

from postmortem.core.findings import ProcessId
from postmortem.core.names import EPOCH, EVAL_LOSS, LEARNING_RATE
from postmortem.extraction.formats.metric_line_parser import Found

_OFTEN: Final = 12
"""Times that the same line comes before it is a loss that stands still: no setting comes so often
with so many digits."""
_DIGITS: Final = 4
_LONG: Final = 8
_OFTEN_LONG: Final = 3
"""The same for a loss of so many digits, and for the loss of an evaluation."""
_LEAST_CHANGED: Final = 3
"""One figure in so many changes from record to record."""
_FEWEST: Final = 3
"""Figures that identify a record whose beginning is missing."""
_NUMBER: Final = "#"
"""Stands in every layout of a single line."""
_MOST_LAYOUTS: Final = 64
_MOST_WAITING: Final = 64
"""Lines of a layout that are kept until it has shown what it is."""
_MOST_KNOWN: Final = 16_384
_MOST_FORGOTTEN: Final = 4096


class Acceptance:
    """Keeps which layouts of one source are known, and which wait to come again."""

    def __init__(self) -> None:
        """Know no layout yet."""
        self._waiting: dict[tuple[str, ProcessId], list[Found]] = {}
        self._known: set[tuple[str, ProcessId]] = set()
        self._uncounted: set[tuple[str, ProcessId]] = set()
        """Layouts whose number in brackets does not grow."""
        self._forgotten = 0
        """Layouts that did not come again while they were waited for."""

    @property
    def is_crowded(self) -> bool:
        """Whether most lines are never the same again."""
        return self._forgotten > _MOST_FORGOTTEN

    def is_known(self, layout: str, where: ProcessId) -> bool:
        """Say whether lines of a layout are metric lines of this process."""
        return (layout, where) in self._known

    def is_counted(self, layout: str, where: ProcessId) -> bool:
        """Say whether the number in brackets on lines of a layout may be a step."""
        return (layout, where) not in self._uncounted

    def take(self, found: Found, *, is_owned: bool) -> list[Found]:
        """Take a line; gives those that are certain now: none, this one, or the one before too.

        Args:
            found: what stands on the line.
            is_owned: the process has a training loss already.
        """
        key = (found.layout, found.record.where)
        if key in self._known:
            return [found]
        waiting = self._waiting.get(key, [])
        is_first = found.has_place and not (found.printed and is_owned)
        if is_first or (waiting and _is_again(waiting[0], found)):
            return self._accept(key, waiting, found)
        if not waiting:
            self._wait(key, found)
        elif len(waiting) < _MOST_WAITING:
            waiting.append(found)
            is_certain = _count_digits(found) >= _LONG or _is_evaluation(found)
            often = _OFTEN_LONG if is_certain else _OFTEN
            if len(waiting) == often and _may_stand_still(found):
                return self._accept(key, waiting[:-1], found)
        return []

    def take_ends(self, whole: Found) -> list[Found]:
        """Give the records that wait and are the end of one of several lines, now that it is known.

        Something was printed between the lines of these.
        """
        names, where = _list_names(whole), whole.record.where
        ends = [
            key
            for key, (first, *_) in self._waiting.items()
            if key[1] == where and _NUMBER not in key[0] and _is_end(_list_names(first), names)
        ]
        return [found for key in ends for found in self._waiting.pop(key)]

    def _accept(
        self, key: tuple[str, ProcessId], waiting: list[Found], found: Found
    ) -> list[Found]:
        """Know a layout from now on; gives its lines so far."""
        self._waiting.pop(key, None)
        if len(self._known) < _MOST_KNOWN:
            self._known.add(key)
        if not waiting:
            return [found]
        if (
            found.is_numbered
            and found.record.step <= waiting[0].record.step
            and len(self._uncounted) < _MOST_LAYOUTS
        ):
            self._uncounted.add(key)
        return [*waiting, found]

    def _wait(self, key: tuple[str, ProcessId], found: Found) -> None:
        """Keep the first line of a layout; the one that waits longest makes room."""
        if len(self._waiting) >= _MOST_LAYOUTS:
            del self._waiting[next(iter(self._waiting))]
            self._forgotten += 1
        self._waiting[key] = [found]


def _list_names(found: Found) -> list[str]:
    return [name for name, _ in found.record.values]


def _is_end(part: list[str], names: list[str]) -> bool:
    """Say whether figures are the last ones of a longer record."""
    return _FEWEST <= len(part) < len(names) and names[-len(part) :] == part


def _is_again(waiting: Found, found: Found) -> bool:
    """Say whether a line is another one of its layout, not the same one printed twice."""
    if found.must_change and not _has_changed(waiting, found):
        return False
    if found.must_rise:
        return _has_risen(waiting, found)
    is_named = found.has_step and not found.has_place and not found.is_numbered
    if is_named and _get_place(waiting) == _get_place(found):
        return False  # a dump of settings
    return (
        waiting.record.values != found.record.values
        or (waiting.record.step != found.record.step and found.has_step)
        or any(
            name.endswith("loss") and not math.isfinite(value)
            for name, value in found.record.values
        )
    )


def _has_changed(waiting: Found, found: Found) -> bool:
    """Say whether enough figures of a line are others: of settings that come again, few are."""
    pairs = list(zip(waiting.record.values, found.record.values, strict=False))
    changed = sum(before != after for before, after in pairs if after[0] != EPOCH)
    return changed * _LEAST_CHANGED >= len(pairs) and changed > 0


def _may_stand_still(found: Found) -> bool:
    """Say whether a line that comes again and again may be a metric line, not a setting."""
    return (
        not found.must_rise
        and not found.must_change
        and (_is_precise(found) or _is_rate(found) or _is_evaluation(found))
    )


def _is_evaluation(found: Found) -> bool:
    """Say whether a line holds the loss of an evaluation, which no setting does."""
    return _list_names(found)[:1] == [EVAL_LOSS]


def _is_rate(found: Found) -> bool:
    """Say whether a line holds the learning rate alone, which stays the same for long."""
    return [name for name, _ in found.record.values] == [LEARNING_RATE]


def _is_precise(found: Found) -> bool:
    """Say whether the loss of a line has several digits."""
    return _count_digits(found) >= _DIGITS


def _count_digits(found: Found) -> int:
    """Count the digits of the loss of a line."""
    values = dict(found.record.values)
    loss = values.get("loss", values.get("eval_loss", 0.0))
    return len(f"{abs(loss):.12g}".replace(".", "").strip("0"))


def _has_risen(waiting: Found, found: Found) -> bool:
    """Say whether a line stands further on in the run than another."""
    before, after = _get_place(waiting), _get_place(found)
    return after[0] > before[0] or (after[0] == before[0] and after[1] > before[1])


def _get_place(found: Found) -> tuple[float, float]:
    """Give the epoch and the step of a line."""
    return dict(found.record.values).get("epoch", 0.0), found.record.step
