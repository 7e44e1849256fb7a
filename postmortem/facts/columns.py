"""Rows of figures on their way into series, a whole batch at a time.

In: rows (step, values, raw line) of one learnt template. Out: the series, the same as if each
figure had been appended alone. Not here: templates (`formats.records`).
"""

from array import array
from collections.abc import Sequence

from postmortem.facts.series import Series
from postmortem.model.lines import Where


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
        self, series: Sequence[Series | None], framework: str, where: Where, unkept: int = 0
    ) -> None:
        """One series for each column.

        The framework and the process that print the rows, and how many columns had to be left out.
        """
        self.series, self.framework, self.where, self.unkept = series, framework, where, unkept
        self.is_lost = unkept > 0 and not any(one is not None for one in series)
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
