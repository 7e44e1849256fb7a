"""Detect a finite loss that rises far above all earlier values, at once or record by record.

In: the finite losses of one stream, one by one. Out: `Sign`s. Not here: losses that are not finite
or exactly 0 (`watch.loss_signs`), a curve as a whole (`diagnosis.detectors`).

Stricter than the detectors of `analyze`: the beginning of a sound run is full of rises, and a
warning that proves false is worse than one that comes a few records later. What is kept does not
grow with the run.
"""

import itertools
import math
import statistics
from collections import deque
from collections.abc import Iterator
from typing import Final

from postmortem.core.message import Message, quote, say
from postmortem.core.watching import MetricRecord, Sign

_ABSURD: Final = 1e9
"""A loss that no sound run has, whatever it sums over."""
_LEAST: Final = 0.01
"""Below this, a multiple says nothing."""
_BLOWN: Final = 1000
"""Times the first records, and ten times all that the run had shown before, for two records on
end."""
_TWICE: Final = 2
_ABOVE: Final = 3
"""Times all that the run had shown before, for as many records as no passing spike takes."""
_LASTS: Final = 5
_SEVERAL: Final = 3
_UNKNOWN: Final = 3
"""Records below which nothing is known of a run: the first behind a start may be of fewer steps or
micro-batches than the others, unless each step is printed from the first on."""
_FAR: Final = 4
"""Times the lowest level that the loss kept, for a climb without a leap."""
_CLIMB: Final = 8
"""Records that such a climb must last."""
_LEVEL: Final = 5
"""Records whose median is a level."""
_YOUNG: Final = 12
_SETTLED: Final = 24
"""Records in which a sound loss has come back to where it began."""
_FURTHER: Final = 1.4
"""Times the second loss, for one that goes on climbing."""
_RESTLESS: Final = 3
"""Times the usual change from one record to the next, as a logarithm."""


class LossDivergence:
    """The course of one loss: where it began, its highest and lowest, and what stands above."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.count = 0
        """Losses that were kept."""
        self._calm = 0
        """Those of them that stood above nothing."""
        self._first: list[float] = []
        self._top = -math.inf
        """The highest loss before those that stand above it now."""
        self._above: list[tuple[int, float]] = []
        """(line, loss) of those."""
        self._recent: deque[float] = deque(maxlen=_CLIMB)
        self._changes: deque[float] = deque(maxlen=60)
        self._best = self._lowest = math.inf
        """The lowest level that the loss kept, and its lowest value behind the first one."""
        self._absurd = self._blown = 0
        self._first_step = math.nan
        self._is_each_step = False

    def pass_by(self, step: float) -> None:
        """Take note of a record, with a loss or without; NaN where it prints no step."""
        if math.isnan(self._first_step):
            self._first_step = step
        self._is_each_step = self._is_each_step or (
            self._first_step <= 1 and step == self._first_step + 1
        )

    def take(self, name: str, loss: float, record: MetricRecord) -> Iterator[Sign]:
        """Find a loss that has left all it had shown; it is kept apart, by `keep`."""
        start = statistics.median(self._first) if self._first else math.inf
        has_leapt = self._has_leapt(loss, start)
        is_above = self._top > _LEAST and loss > _ABOVE * self._top
        self._above = [*self._above[-_LASTS:], (record.line, loss)] if is_above else []
        if has_leapt:
            before = start if start < math.inf else loss
            yield self._sign(quote(f"{name} {before:.4g} → {loss:.4g}"), record)
        elif len(self._above) >= _LASTS and (self._calm >= _UNKNOWN or self._is_each_step):
            yield self._sign(self._describe_rise(name), record, self._above[0][0])
        elif self._has_climbed(loss, start):
            yield self._sign(quote(f"{name} {self._best:.4g} → {loss:.4g}"), record)
        elif self._has_never_come_back(loss):
            yield self._sign(quote(f"{name} {self._first[0]:.4g} → {loss:.4g}"), record)

    def keep(self, loss: float) -> None:
        """Add a finite loss to what the run has shown."""
        if self._recent and min(self._recent[-1], loss) > 0:
            self._changes.append(abs(math.log(loss / self._recent[-1])))
        if self.count:
            self._lowest = min(self._lowest, loss)
        self.count += 1
        self._recent.append(loss)
        if len(self._first) < 3:
            self._first.append(loss)
        if not self._above:
            self._top, self._calm = max(self._top, loss), self._calm + 1
        if len(self._recent) >= _LEVEL:
            level = itertools.islice(self._recent, len(self._recent) - _LEVEL, None)
            self._best = min(self._best, statistics.median(level))

    def format_last_losses(self) -> str:
        """Write the last sound losses, or an empty string."""
        return ", ".join(f"{value:.4g}" for value in [*self._recent][-_LEVEL:])

    def _sign(self, message: Message, record: MetricRecord, first: int = 0) -> Sign:
        return Sign("divergence", message, record.line, record.step, first)

    def _has_leapt(self, loss: float, start: float) -> bool:
        """Count losses on end that no sound run has, and such as are far above this one's first."""
        self._absurd = self._absurd + 1 if abs(loss) > _ABSURD else 0
        is_blown = start > _LEAST and loss > max(_BLOWN * start, 10 * self._top, 100)
        self._blown = self._blown + 1 if is_blown else 0
        return self._absurd == _SEVERAL or self._blown == _TWICE

    def _describe_rise(self, name: str) -> Message:
        return say(
            "{name} at most {top:.4g} before, now {shown}",
            name=name,
            top=self._top,
            shown=", ".join(f"{loss:.4g}" for _, loss in self._above[-_LASTS:]),
        )

    def _has_never_come_back(self, loss: float) -> bool:
        """Say whether the loss left its first value at once, and has only gone further since.

        A first record of another size than all others is followed by a level.
        """
        if self.count != _SETTLED or self._first[0] <= _LEAST:
            return False
        is_far = min(self._lowest, loss) > _TWICE * self._first[0]
        return is_far and max(self._recent) > _FURTHER * self._first[1]

    def _has_climbed(self, loss: float, start: float) -> bool:
        """Say whether the loss has been far above its lowest level for long, without a jump."""
        last = [*self._recent, loss][-_CLIMB:]
        if self.count < _YOUNG or not 0 < self._best < math.inf or min(last) <= 2 * self._best:
            return False
        level = statistics.median(last)
        return (
            level > _FAR * self._best
            and level > 2 * start
            and loss > 0.7 * max(last)
            and math.log(level / self._best) > _RESTLESS * statistics.median(self._changes or [0.0])
        )
