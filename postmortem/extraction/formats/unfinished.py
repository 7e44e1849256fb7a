"""The bar of a Keras epoch that never came to its end.

In: lines of unknown layout. Out: the last draw of a bar on its way, once the source has ended, if a
figure of it is not finite or nothing else tells of the run; none if a record of Keras came behind
it. Not here: finished bars (`patterns/formats/keras.yaml`).

A bar on its way shows the mean of its epoch so far, dozens of times: no point of a curve. But where
a run was cut off within an epoch, its last bar alone may tell that a figure is no number any more.
"""

import math
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import ProcessId
from postmortem.extraction.formats.records import Record
from postmortem.extraction.formats.spelling import FIGURE, parse_value

FRAMEWORK: Final = "keras"
BAR: Final = compile_lazily(
    r"(?:^|[\x08\s])\d+/(?:\d+|Unknown)\s+(?:\[=*[>.]*\]|━+|-)[^\n]{0,60}?\s-\s(?=[\w. ]{1,40}: )"
)
_PAIR: Final = compile_lazily(rf"(?<!\w)(?P<key>[A-Za-z]\w{{0,60}}): (?P<value>{FIGURE})")
_NAMES: Final = {"val_loss": "eval_loss", "lr": "learning_rate"}
_MOST: Final = 64


def is_unfinished(text: str) -> bool:
    """Say whether a line is the draw of a bar on its way."""
    return "/" in text and BAR.search(text) is not None


class UnfinishedBars:
    """Keeps the last bar on its way of each process."""

    def __init__(self) -> None:
        """Have seen none."""
        self._bars: dict[ProcessId, tuple[str, int, int]] = {}
        self._given: set[ProcessId] = set()
        """Processes whose bar was given before it ended: later draws of it are passed over."""

    def take(self, text: str, where: ProcessId, line: int, offset: int) -> None:
        """Keep a line if it is the draw of a bar on its way."""
        if where in self._given or (where not in self._bars and len(self._bars) >= _MOST):
            return
        if is_unfinished(text):
            self._bars[where] = (text, line, offset)

    def end(self, where: ProcessId) -> None:
        """Forget the bar of a process whose epoch has ended."""
        self._bars.pop(where, None)
        self._given.discard(where)

    def rest(self, *, alone: bool = False) -> list[tuple[Record, int, int]]:
        """Give the bars that never ended, with raw line and offset; each is given once.

        Args:
            alone: the source has no record but them: they are all that tells that it runs.
        """
        bars, self._bars = self._bars, {}
        self._given.update(bars)
        return [
            (Record(math.nan, list(values.items()), where), line, offset)
            for where, (text, line, offset) in bars.items()
            if (values := _parse_values(text))
            and (alone or not all(map(math.isfinite, values.values())))
        ]


def _parse_values(text: str) -> dict[str, float]:
    found = BAR.search(text)
    pairs = _PAIR.finditer(text, found.end()) if found else ()
    return {
        _NAMES.get(pair["key"], pair["key"]): value
        for pair in pairs
        if pair["key"] != "ETA" and (value := parse_value(pair["value"])) is not None
    }
