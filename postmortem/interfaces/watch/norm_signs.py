"""Detect gradient norms that explode or are not finite.

In: the gradient norms of one stream, one by one. Out: `Sign`s. Not here: the loss
(`watch.loss_signs`), the loss scale (`watch.scaler_signs`).
"""

import math
import statistics
from collections import deque
from collections.abc import Iterator
from typing import Final

from postmortem.core.message import quote, say
from postmortem.core.watching import MetricRecord, Sign

_CLEAN: Final = 10
"""Finite gradients that show that the scaler's search for its level is over."""
_SEARCH: Final = 14
"""Records of gradients that are not finite which no search for a level takes: from 65536 down to
4."""
_SEVERAL: Final = 3
_HUGE: Final = 100
"""Times the usual gradient norm, and the least that is large at all."""
_ENORMOUS: Final = 1e6
"""A gradient norm that has never been sound when it grows from record to record."""
_LASTS: Final = 5


class NormSigns:
    """The gradient norms of one stream of records."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._norms: deque[float] = deque(maxlen=200)
        self._enormous: list[float] = []
        """Norms that are enormous and grow, on end."""
        self._good = self._bad = self._large = 0
        """Finite ones; those on end that are not finite, and that are large."""
        self._began_bad = self._began_large = 0
        """The lines of the first of these."""

    def take(self, norm: float, record: MetricRecord, *, has_scale: bool) -> Iterator[Sign]:
        """Look at the next norm; overflows are judged by the loss scale if it is printed."""
        if not math.isfinite(norm):
            yield from self._of_bad(norm, record, has_scale=has_scale)
            return
        self._bad = 0
        self._good += 1
        yield from self._of_growth(norm, record)
        yield from self._of_size(norm, record)

    def _of_bad(self, norm: float, record: MetricRecord, *, has_scale: bool) -> Iterator[Sign]:
        """Judge a norm that is not finite: a scaler that looks for its level makes some."""
        self._bad += 1
        self._began_bad = record.line if self._bad == 1 else self._began_bad
        needed = _SEVERAL if self._good >= _CLEAN else _SEARCH
        if self._bad == needed and not has_scale:
            message = say(
                "grad_norm {norm} at {count} records on end",
                norm=norm,
                count=needed,
            )
            yield Sign("gradients", message, record.line, record.step, self._began_bad)

    def _of_growth(self, norm: float, record: MetricRecord) -> Iterator[Sign]:
        """Find norms that are enormous and grow from record to record."""
        is_growing = norm > max([_ENORMOUS, *self._enormous[-1:]])
        self._enormous = [*self._enormous[-_LASTS:], norm] if is_growing else []
        if len(self._enormous) >= _LASTS:
            shown = ", ".join(f"{value:.3g}" for value in self._enormous)
            yield Sign("gradients", quote(f"grad_norm {shown}"), record.line, record.step)

    def _of_size(self, norm: float, record: MetricRecord) -> Iterator[Sign]:
        """Find norms that are many times the usual one; these are not added to what is usual."""
        usual = statistics.median(self._norms) if len(self._norms) >= _CLEAN else math.inf
        if norm <= _HUGE * max(usual, 1.0):
            self._large = 0
            self._norms.append(norm)
            return
        self._large += 1
        self._began_large = record.line if self._large == 1 else self._began_large
        if self._large == _SEVERAL:
            message = quote(f"grad_norm {usual:.4g} → {norm:.4g}")
            yield Sign("gradients", message, record.line, record.step, self._began_large)
