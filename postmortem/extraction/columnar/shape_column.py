"""The rows of one shape in one region, as columns of texts and of figures.

In: the rows that a cut has given. Out: `RowColumn`. Not here: cutting (`row_cutter`), putting rows
into series (`row_columns`).
"""

import bisect

from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.extraction.columnar.decimal_columns import parse_floats
from postmortem.extraction.columnar.row_cutter import ShapeRows
from postmortem.extraction.formats.learnt_layouts import Layout
from postmortem.extraction.formats.records import POSITION
from postmortem.extraction.points import Points


class RowColumn:
    """The rows of one shape in one region."""

    def __init__(self, rows: ShapeRows) -> None:
        """Read the figures of all rows."""
        self.rows, self.shape, self.path = rows, rows.shape, rows.shape.path
        self.begins: list[int] = rows.begins.tolist()
        self.lines: list[int] = rows.lines.tolist()
        self.at = 0
        """The first row that is not yet put into series."""
        taken = [rows.groups[group] for group in self.shape.taken]
        self.own = taken
        reader = self.path.reader
        self.is_serial = (
            reader.now is not None
            if isinstance(reader, Layout)
            else reader is not None and reader.redraws
        )
        self.is_idle = reader is None
        self.is_plain = not self.is_serial and not self.is_idle
        self.values = [parse_floats(column) for column in taken] if self.is_plain else []
        self.codes, self.wheres = self._number_processes()
        places = [index for index, _ in self.path.places]
        self.fresh = sum(
            tuple([groups[index] for index in places]) not in self.path.wheres
            for groups in self.wheres
        )
        """Processes that were not met before."""
        self._of_process: dict[ProcessId, list[int]] | None = None
        """The numbers of a process in `codes`."""

    def _number_processes(self) -> tuple[list[int] | None, list[tuple[bytes, ...]]]:
        """Number the process of each row; gives the groups of each one's first row as well."""
        places = [index for index, _ in self.path.places]
        if not places:
            return None, [tuple(column[0] for column in self.own)]
        known: dict[tuple[bytes, ...], int] = {}
        keys = list(zip(*(self.own[index] for index in places), strict=True))
        codes = [known.setdefault(key, len(known)) for key in keys]
        firsts: dict[int, int] = {}
        for number, code in enumerate(codes):
            if code not in firsts:
                firsts[code] = number
        return codes, [tuple(column[n] for column in self.own) for n in firsts.values()]

    def due(self, end: int) -> "list[Due]":
        """Give the rows that begin before an offset and are not yet put into series, if any."""
        start = self.at
        self.at = bisect.bisect_left(self.begins, end, start)
        return [(self, start, self.at)] if self.at > start else []

    def count(self, start: int, stop: int, where: ProcessId, points: Points) -> int:
        """Count the rows from one to another that are of a process or of none; of all for none."""
        if self._of_process is None:
            self._of_process = {}
            for code, groups in enumerate(self.wheres):
                self._of_process.setdefault(self.path.where(groups, points), []).append(code)
        known = self._of_process
        if where == NOWHERE or (
            self.codes is None and not known.keys().isdisjoint((where, NOWHERE))
        ):
            return stop - start
        codes = (self.codes or [])[start:stop]
        return sum(codes.count(code) for place in (where, NOWHERE) for code in known.get(place, ()))

    def next(self) -> int:
        """Give where the next row begins."""
        return self.begins[self.at] if self.at < len(self.begins) else 1 << 62

    def marks(self) -> list[list[bytes]]:
        """Give the columns with the position of a bar; none unless all rows belong to one bar."""
        reader, names = self.path.reader, self.path.template.names
        if self.codes is not None:
            return []
        if isinstance(reader, Layout):
            groups = [] if reader.now is None else [reader.now, reader.epoch]
            return [self.own[group] for group in groups if group is not None]
        return [figures for name, figures in zip(names, self.own, strict=True) if name in POSITION]

    def telling_rows(self) -> set[int]:
        """Give the first row, the last, and those with the least and the largest figures."""
        found = {0, len(self.begins) - 1}
        for values in self.values:
            found |= {int(values.argmin()), int(values.argmax())}
        return found

    def row(self, number: int) -> tuple[bytes, ...]:
        """Give the texts that the path takes of a row."""
        return tuple([column[number] for column in self.own])


Due = tuple[RowColumn, int, int]
"""Rows of a shape that are to be put into series: the first, and the one behind the last."""
