"""Batches of rows of figures on their way into series.

In: rows (step, values, raw line) of one learnt template. Out: the series, the same as if each
figure had been appended alone. Not here: templates (`formats.records`).
"""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from postmortem.core.lines import ProcessId
from postmortem.extraction.facts.series import Series

if TYPE_CHECKING:
    import numpy as np


class Part(NamedTuple):
    """Rows of one process that go into its series at once."""

    columns: "Columns"
    keys: "np.ndarray[Any, Any]"
    """Offsets, by which rows of several kinds are put in order."""
    steps: "np.ndarray[Any, Any]"
    values: "list[np.ndarray[Any, Any]]"
    """By column."""
    lines: "np.ndarray[Any, Any]"

    def ends(self, base: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Give raw line and byte offset of the first row and the last; keys count from `base`."""
        first, last = ((int(self.lines[row]), int(self.keys[row]) + base) for row in (0, -1))
        return first, last


class Columns:
    """The waiting rows of one template; a column without a series is dropped."""

    __slots__ = (
        "_lines",
        "_steps",
        "_values",
        "first",
        "framework",
        "is_lost",
        "is_waiting",
        "last",
        "series",
        "unkept",
        "where",
    )

    def __init__(
        self, series: Sequence[Series | None], framework: str, where: ProcessId, unkept: int = 0
    ) -> None:
        """One series for each column.

        The framework and the process that print the rows, and how many columns had to be left out.
        """
        self.series, self.framework, self.where, self.unkept = series, framework, where, unkept
        self.is_lost = unkept > 0 and not any(curve is not None for curve in series)
        """Whether there is no series for any of the columns."""
        self.is_waiting = False
        """True from the first row until they are flushed."""
        self.first = self.last = (0, 0)
        """(raw line, byte offset) of the first and last waiting row."""
        self._steps, self._values, self._lines = array("d"), array("d"), array("q")

    def __len__(self) -> int:
        """Count the waiting rows."""
        return len(self._lines)

    def add(self, step: float, values: Sequence[float], line: int, offset: int) -> None:
        """Add a row."""
        self.last = (line, offset)
        if not self._lines:
            self.first = self.last
        self._steps.append(step)
        self._values.extend(values)
        self._lines.append(line)

    def flush(self) -> None:
        """Put the rows into their series."""
        self.is_waiting = False
        width = len(self.series)
        for column, series in enumerate(self.series):
            if series is not None:
                series.append_many(self._steps, self._values[column::width], self._lines)
        self._steps, self._values, self._lines = array("d"), array("d"), array("q")


def put_parts(parts: Sequence[Part]) -> None:
    """Put rows into their series, those of one series in the order of their keys."""
    import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

    of_series: dict[int, list[tuple[Series, Part, np.ndarray[Any, Any]]]] = {}
    for part in parts:
        for series, values in zip(part.columns.series, part.values, strict=True):
            if series is not None:
                of_series.setdefault(id(series), []).append((series, part, values))
    for parts_of_series in of_series.values():
        columns = [
            [part.keys for _, part, _ in parts_of_series],
            [part.steps for _, part, _ in parts_of_series],
            [values for _, _, values in parts_of_series],
            [part.lines for _, part, _ in parts_of_series],
        ]
        keys, steps, values, lines = (
            column[0] if len(parts_of_series) == 1 else np.concatenate(column) for column in columns
        )
        if len(parts_of_series) > 1:
            order = np.argsort(keys, kind="stable")
            steps, values, lines = steps[order], values[order], lines[order]
        parts_of_series[0][0].append_many(
            array("d", steps.tobytes()), array("d", values.tobytes()), array("q", lines.tobytes())
        )
