"""A loss that has gone wrong, or is about to: not finite, hidden behind a 0, climbing away.

Gradients that grow or are not finite.

In: the records of one stream, one by one. Out: `Sign`s. Not here: the loss scale (`watch.scaler`),
a curve as a whole (`facts.shapes`).

Stricter than the shapes of a post-mortem: the beginning of a sound run is full of rises, and a
warning that proves false is worse than one that comes a few records later. What is kept does not
grow with the run.
"""

import itertools
import math
import statistics
from collections import deque
from collections.abc import Iterator
from typing import Final

from postmortem import names
from postmortem.facts.shapes.curves import STAND_IN
from postmortem.model.said import Said, quote, say
from postmortem.model.watching import Record, Sign

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
_RESTLESS: Final = 3
"""Times the usual change from one record to the next, as a logarithm."""
_CLEAN: Final = 10
"""Finite gradients that show that the scaler's search for its level is over."""
_SEARCH: Final = 14
"""Records of gradients that are not finite which no search for a level takes: from 65536 down to
4."""
_HUGE: Final = 100
"""Times the usual gradient norm, and the least that is large at all."""
_ENORMOUS: Final = 1e6
"""A gradient norm that has never been sound when it grows from record to record."""
_ZEROS: Final = 5
_GONE: Final = 3
"""Zeros on end behind a loss that was not near 0."""


class LossSigns:
    """The loss and gradient norm of one stream of records."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._name = ""
        self._has_norms = self._has_scale = False
        self._first: list[float] = []
        self._count = self._calm = 0
        """Records with a loss; those that stood above nothing."""
        self._top = -math.inf
        """The highest loss before those that stand above it now."""
        self._above: list[Record] = []
        self._recent: deque[float] = deque(maxlen=_CLIMB)
        self._changes: deque[float] = deque(maxlen=60)
        self._best = math.inf
        self._absurd = self._blown = self._zeros = 0
        self._before_zeros = 0.0
        self._norms: deque[float] = deque(maxlen=200)
        self._enormous: list[float] = []
        """Norms that are enormous and grow, on end."""
        self._good_norms = self._bad_norms = self._large_norms = 0
        self._began = 0
        self._first_step = math.nan
        self._is_each_step = False

    def take(self, record: Record) -> Iterator[Sign]:
        """Look at the next record."""
        if not math.isfinite(evaluated := record.values.get(names.EVAL_LOSS, 0.0)):
            yield Sign("eval-nan", quote(f"eval_loss {evaluated}"), record.line, record.step)
        if record.values.get("nan_iterations", 0.0) > 0:
            yield Sign(
                "nan",
                say(
                    "{count:g} nan iterations",
                    "{count:g} 次 NaN 迭代",
                    count=record.values["nan_iterations"],
                ),
                record.line,
                record.step,
            )
        if math.isnan(self._first_step):
            self._first_step = record.step
        self._is_each_step = self._is_each_step or (
            self._first_step <= 1 and record.step == self._first_step + 1
        )
        loss, norm = self._loss(record), record.values.get(names.GRAD_NORM)
        self._has_scale = self._has_scale or names.LOSS_SCALE in record.values
        self._has_norms = self._has_norms or norm is not None
        if loss is not None:
            yield from self._of_loss(loss, norm, record)
        if norm is not None and (loss is None or (math.isfinite(loss) and loss != 0.0)):
            yield from self._of_norm(norm, record)

    def _loss(self, record: Record) -> float | None:
        """Give the training loss, or what stands for it where no figure is called so."""
        if names.LOSS in record.values:
            self._name = names.LOSS
        elif not self._name:
            self._name = next((name for name in record.values if STAND_IN.search(name)), "")
        return record.values.get(self._name)

    def _of_loss(self, loss: float, norm: float | None, record: Record) -> Iterator[Sign]:
        if not math.isfinite(loss):
            yield Sign("nan", self._behind(f"{self._name} {loss}"), record.line, record.step)
            return
        is_policy = any("reward" in name for name in record.values)
        if loss == 0.0:
            yield from self._of_zero(norm, record, is_policy=is_policy)
            return
        self._zeros, self._before_zeros = 0, loss
        if not is_policy:
            yield from self._of_course(loss, record)
        self._keep(loss)

    def _of_zero(self, norm: float | None, record: Record, *, is_policy: bool) -> Iterator[Sign]:
        """Judge a loss printed as 0.

        The NaN that a trainer filters out of its mean, or labels that are all masked.
        """
        if norm is not None and not math.isfinite(norm):
            yield Sign(
                "hidden-nan",
                self._behind(f"{self._name} 0.0, grad_norm {norm}"),
                record.line,
                record.step,
            )
            return
        self._zeros += 1
        self._began = record.line if self._zeros == 1 else self._began
        if is_policy or (norm is not None and norm > 0):
            return
        if not self._has_norms and self._before_zeros > 0.1 and self._zeros == _GONE:
            said = say(
                "{name} {before:g}, then exactly 0.0 at {count} records",
                "{name} 从 {before:g} 变为连续 {count} 条记录恰好为 0.0",
                name=self._name,
                before=self._before_zeros,
                count=_GONE,
            )
            yield Sign("hidden-nan", said, record.line, record.step, self._began)
        elif self._zeros == _ZEROS and not self._count:
            said = say(
                "{name} exactly 0.0 at the first {count} records",
                "前 {count} 条记录的 {name} 恰好为 0.0",
                name=self._name,
                count=_ZEROS,
            )
            yield Sign("zero-loss", said, record.line, record.step, self._began)

    def _of_course(self, loss: float, record: Record) -> Iterator[Sign]:
        """Find a finite loss that has left all it had shown, at once or record by record."""
        self._absurd = self._absurd + 1 if abs(loss) > _ABSURD else 0
        start = statistics.median(self._first) if self._first else math.inf
        is_above = self._top > _LEAST and loss > _ABOVE * self._top
        self._above = [*self._above[-_LASTS:], record] if is_above else []
        is_blown = start > _LEAST and loss > max(_BLOWN * start, 10 * self._top, 100)
        self._blown = self._blown + 1 if is_blown else 0
        if self._absurd == _SEVERAL or self._blown == _TWICE:
            yield Sign(
                "divergence",
                quote(f"{self._name} {start if start < math.inf else loss:.4g} → {loss:.4g}"),
                record.line,
                record.step,
            )
        elif len(self._above) >= _LASTS and (self._calm >= _UNKNOWN or self._is_each_step):
            shown = ", ".join(f"{one.values[self._name]:.4g}" for one in self._above[-_LASTS:])
            said = say(
                "{name} at most {top:.4g} before, now {shown}",
                "{name} 此前最高 {top:.4g}，现在 {shown}",
                name=self._name,
                top=self._top,
                shown=shown,
            )
            yield Sign("divergence", said, record.line, record.step, self._above[0].line)
        elif self._has_climbed(loss, start):
            yield Sign(
                "divergence",
                quote(f"{self._name} {self._best:.4g} → {loss:.4g}"),
                record.line,
                record.step,
            )

    def _has_climbed(self, loss: float, start: float) -> bool:
        last = [*self._recent, loss][-_CLIMB:]
        if self._count < _YOUNG or not 0 < self._best < math.inf or min(last) <= 2 * self._best:
            return False
        level = statistics.median(last)
        return (
            level > _FAR * self._best
            and level > 2 * start
            and loss > 0.7 * max(last)
            and math.log(level / self._best) > _RESTLESS * statistics.median(self._changes or [0.0])
        )

    def _keep(self, loss: float) -> None:
        """Add a finite loss to what the run has shown."""
        if self._recent and min(self._recent[-1], loss) > 0:
            self._changes.append(abs(math.log(loss / self._recent[-1])))
        self._count += 1
        self._recent.append(loss)
        if len(self._first) < 3:
            self._first.append(loss)
        if not self._above:
            self._top, self._calm = max(self._top, loss), self._calm + 1
        if len(self._recent) >= _LEVEL:
            self._best = min(
                self._best,
                statistics.median(itertools.islice(self._recent, len(self._recent) - _LEVEL, None)),
            )

    def _of_norm(self, norm: float, record: Record) -> Iterator[Sign]:
        if not math.isfinite(norm):
            self._bad_norms += 1
            self._began = record.line if self._bad_norms == 1 else self._began
            needed = _SEVERAL if self._good_norms >= _CLEAN else _SEARCH
            if self._bad_norms == needed and not self._has_scale:
                yield Sign(
                    "gradients",
                    say(
                        "grad_norm {norm} at {count} records on end",
                        "连续 {count} 条记录的 grad_norm 为 {norm}",
                        norm=norm,
                        count=needed,
                    ),
                    record.line,
                    record.step,
                    self._began,
                )
            return
        self._bad_norms = 0
        self._good_norms += 1
        self._enormous = (
            [*self._enormous[-_LASTS:], norm]
            if norm > max([_ENORMOUS, *self._enormous[-1:]])
            else []
        )
        if len(self._enormous) >= _LASTS:
            yield Sign(
                "gradients",
                quote(f"grad_norm {', '.join(f'{value:.3g}' for value in self._enormous)}"),
                record.line,
                record.step,
            )
        usual = statistics.median(self._norms) if len(self._norms) >= _CLEAN else math.inf
        if norm > _HUGE * max(usual, 1.0):
            self._large_norms += 1
            self._began = record.line if self._large_norms == 1 else self._began
            if self._large_norms == _SEVERAL:
                yield Sign(
                    "gradients",
                    quote(f"grad_norm {usual:.4g} → {norm:.4g}"),
                    record.line,
                    record.step,
                    self._began,
                )
            return
        self._large_norms = 0
        self._norms.append(norm)

    def _behind(self, text: str) -> Said:
        """Add the last sound losses."""
        if not self._recent:
            return quote(text)
        return say(
            "{text}; before: {values}",
            "{text}；此前：{values}",
            text=text,
            values=", ".join(f"{value:.4g}" for value in [*self._recent][-_LEVEL:]),
        )
