"""The units of one source: lines that come again as a whole, from one record's end to the next.

In: where records of unknown layout end that are looked at in their turn. Out: `UnitShape`s in use.
Not here: making them (`unit_making`), cutting a region at them (`row_cutter`).

What a line with one name and one figure says hangs on the lines around it, so it has no shape of
its own. Learning must be paid for, as that of lines is (`line_shapes`).
"""

from typing import Final

from postmortem.extraction.columnar.unit_making import UnitMaker, UnitShape
from postmortem.extraction.formats.templates import build_skeleton

FIRST_TRY, NEXT_TRY = 8, 4
"""Times that a unit comes behind one like it at which its shape is looked for, and how many times
more at which it is looked for again."""
_MOST_RECORDS: Final = 4
"""Records of a unit."""
_MOST_IDLE: Final = 16
_LONGEST: Final = 2000
_MOST_SEEN: Final = 512
CREDIT: Final = 4000.0
"""Lines that may be read in advance to learn."""
_PAID: Final = 1 / 4
"""What each line that is read in its turn pays for learning, in such lines."""


class RecordUnits:
    """The units of one source."""

    def __init__(self, maker: UnitMaker) -> None:
        """Know none."""
        self._maker = maker
        self._ends: list[int] = []
        """The offsets behind the last records."""
        self._known: dict[bytes, UnitShape] = {}
        self._seen: dict[bytes, tuple[int, int]] = {}
        """How often a unit came, by what it has in common with others, and when it is tried."""
        self._credit = CREDIT
        self._idle = _MOST_IDLE
        """Lines that might be records since the last that is one."""
        self.used: dict[int, tuple[UnitShape, int]] = {}
        """By identity: shapes and how many units of them were read since somebody last asked."""

    def note(self, data: bytes, base: int, end: int, *, is_record: bool) -> None:
        """Note the end of a record, or of a line that might be one, where there are no records."""
        end = data.find(b"\n", end) + 1 + base
        if end <= base or (self._ends and end <= self._ends[-1]):
            return
        self._credit = min(CREDIT, self._credit + _PAID)
        self._idle = 0 if is_record else self._idle + 1
        if 0 < self._idle < _MOST_IDLE:
            return
        self._ends = [*self._ends[-3 * _MOST_RECORDS :], end]
        for count in range(1, _MOST_RECORDS + 1):
            if len(self._ends) <= 3 * count:
                return
            first, second, third, last = (at - base for at in self._ends[-1 - 3 * count :: count])
            if first < 0 or last - third > _LONGEST:
                return
            common = build_skeleton(data, third, last)
            if build_skeleton(data, second, third) == common:
                if build_skeleton(data, first, second) == common:
                    self._meet(common, data[first:second], data[second:third], data[third:last])
                return

    def _meet(self, common: bytes, before: bytes, unit: bytes, behind: bytes) -> None:
        known = self._known.get(common)
        if known is not None and known.pattern.fullmatch(unit.rstrip(b"\r\n")):
            self.used[id(known)] = (known, self.used.get(id(known), (known, 0))[1] + 1)
            return
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        count, tried = self._seen.get(common, (0, FIRST_TRY))
        is_due = count + 1 >= tried
        self._seen[common] = (count + 1, NEXT_TRY * tried if is_due else tried)
        if is_due and self._credit >= 0:
            spent = self._maker.costs
            try:
                shape = self._maker.make(before, unit, behind)
            except (TimeoutError, UnicodeDecodeError):
                shape = None
            self._credit -= self._maker.costs - spent
            if shape is not None:
                if len(self._known) >= _MOST_SEEN:
                    self._known.clear()
                self._known[common] = shape

    def clear(self) -> None:
        """Drop all shapes."""
        self._known.clear()
        self._seen.clear()
        self.used.clear()

    def forget(self, shape: UnitShape) -> None:
        """Drop a shape to which some unit did not keep."""
        self._known = {common: known for common, known in self._known.items() if known is not shape}

    def is_so(self, shape: UnitShape, before: bytes, unit: bytes, behind: bytes) -> bool:
        """Say whether a unit keeps to what its shape states."""
        try:
            return self._maker.is_so(shape, before, unit, behind)
        except (TimeoutError, UnicodeDecodeError):
            return False
