"""Detect losses that are not finite, exactly 0 or diverge, and gradient norms that explode.

In: the records of one stream, one by one. Out: `Sign`s. Not here: the loss scale (`watch.signs`), a
curve as a whole (`diagnosis.detectors`).

Stricter than the detectors of `analyze`: the beginning of a sound run is full of rises, and a
warning that proves false is worse than one that comes a few records later. What is kept does not
grow with the run. A loss of exactly 0 is a NaN that the trainer filters out, or nothing to learn.
"""

import itertools
import math
import statistics
from collections import deque
from collections.abc import Iterator
from typing import Final

from postmortem.core import names
from postmortem.core.diagnosis import MetricRecord, Sign
from postmortem.core.message import Message, quote, say
from postmortem.diagnosis.detectors.observed import STAND_IN

_MASKED: Final = 5
"""Zeros at the start of a run."""
_GONE: Final = 3
"""Zeros on end behind a loss that was not near 0."""


class ZeroLosses:
    """The zeros on end of one stream, and the loss before them."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._zeros = self._began = 0
        """How many on end; the line of the first."""
        self._before = 0.0

    def pass_by(self, loss: float) -> None:
        """Take note of a finite loss that is not 0."""
        self._zeros, self._before = 0, loss

    def take(
        self,
        name: str,
        norm: float | None,
        record: MetricRecord,
        *,
        has_norms: bool,
        is_first: bool,
    ) -> Iterator[Sign]:
        """Judge a loss of 0.

        Args:
            name: of the loss.
            norm: the gradient norm of the same record, finite, if one is printed.
            record: that prints it.
            has_norms: whether the stream prints gradient norms at all.
            is_first: whether no other loss was printed before.
        """
        self._zeros += 1
        self._began = record.line if self._zeros == 1 else self._began
        if norm is not None and norm > 0:
            return
        if not has_norms and self._before > 0.1 and self._zeros == _GONE:
            message = say(
                "{name} {before:g}, then exactly 0.0 at {count} records",
                name=name,
                before=self._before,
                count=_GONE,
            )
            yield Sign("hidden-nan", message, record.line, record.step, self._began)
        elif self._zeros == _MASKED and is_first:
            message = say(
                "{name} exactly 0.0 at the first {count} records",
                name=name,
                count=_MASKED,
            )
            yield Sign("zero-loss", message, record.line, record.step, self._began)


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


_CLEAN: Final = 10
"""Finite gradients that show that the scaler's search for its level is over."""
_SEARCH: Final = 14
"""Records of gradients that are not finite which no search for a level takes: from 65536 down to
4."""
_NORMS_BAD: Final = 3
_HUGE: Final = 100
"""Times the usual gradient norm, and the least that is large at all."""
_ENORMOUS: Final = 1e6
"""A gradient norm that has never been sound when it grows from record to record."""
_NORMS_GROWING: Final = 5


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
        needed = _NORMS_BAD if self._good >= _CLEAN else _SEARCH
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
        self._enormous = [*self._enormous[-_NORMS_GROWING:], norm] if is_growing else []
        if len(self._enormous) >= _NORMS_GROWING:
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
        if self._large == _NORMS_BAD:
            message = quote(f"grad_norm {usual:.4g} → {norm:.4g}")
            yield Sign("gradients", message, record.line, record.step, self._began_large)


class LossSigns:
    """The loss and gradient norm of one stream of records."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._name = ""
        self._has_norms = self._has_scale = False
        self._course, self._zeros, self._norms = LossDivergence(), ZeroLosses(), NormSigns()

    def take(self, record: MetricRecord) -> Iterator[Sign]:
        """Look at the next record."""
        yield from _iter_reported_signs(record)
        self._course.pass_by(record.step)
        loss, norm = self._loss(record), record.values.get(names.GRAD_NORM)
        self._has_scale = self._has_scale or names.LOSS_SCALE in record.values
        self._has_norms = self._has_norms or norm is not None
        if loss is not None:
            yield from self._of_loss(loss, norm, record)
        if norm is not None and (loss is None or (math.isfinite(loss) and loss != 0.0)):
            yield from self._norms.take(norm, record, has_scale=self._has_scale)

    def _loss(self, record: MetricRecord) -> float | None:
        """Give the training loss, or what stands for it where no figure is called so."""
        if names.LOSS in record.values:
            self._name = names.LOSS
        elif not self._name:
            self._name = next((name for name in record.values if STAND_IN.search(name)), "")
        return record.values.get(self._name)

    def _of_loss(self, loss: float, norm: float | None, record: MetricRecord) -> Iterator[Sign]:
        if not math.isfinite(loss):
            yield Sign("nan", self._behind(f"{self._name} {loss}"), record.line, record.step)
            return
        is_policy = any("reward" in name for name in record.values)
        if loss == 0.0:
            yield from self._of_zero(norm, record, is_policy=is_policy)
            return
        self._zeros.pass_by(loss)
        if not is_policy:
            yield from self._course.take(self._name, loss, record)
        self._course.keep(loss)

    def _of_zero(
        self, norm: float | None, record: MetricRecord, *, is_policy: bool
    ) -> Iterator[Sign]:
        """Judge a loss printed as 0, which a trainer makes of a NaN whose gradients show it."""
        if norm is not None and not math.isfinite(norm):
            message = self._behind(f"{self._name} 0.0, grad_norm {norm}")
            yield Sign("hidden-nan", message, record.line, record.step)
            return
        found = list(
            self._zeros.take(
                self._name,
                norm,
                record,
                has_norms=self._has_norms,
                is_first=not self._course.count,
            )
        )
        yield from () if is_policy else found  # the loss of a policy is 0 now and then

    def _behind(self, text: str) -> Message:
        """Add the last sound losses."""
        last = self._course.format_last_losses()
        if not last:
            return quote(text)
        return say("{text}; before: {values}", text=text, values=last)


def _iter_reported_signs(record: MetricRecord) -> Iterator[Sign]:
    """Find what is wrong by the program's own words: an evaluation, a count of iterations."""
    if not math.isfinite(evaluated := record.values.get(names.EVAL_LOSS, 0.0)):
        yield Sign("eval-nan", quote(f"eval_loss {evaluated}"), record.line, record.step)
    if (count := record.values.get("nan_iterations", 0.0)) > 0:
        message = say("{count:g} nan iterations", count=count)
        yield Sign("nan", message, record.line, record.step)
