"""Detect a loss that is not finite, is printed as 0 instead, or diverges.

In: the records of one stream, one by one. Out: `Sign`s. Not here: what a climb is
(`watch.loss_divergence`), what a 0 means (`watch.zero_losses`), gradients (`watch.norm_signs`), the
loss scale (`watch.scaler_signs`).
"""

import math
from collections.abc import Iterator

from postmortem.core import names
from postmortem.core.message import Message, quote, say
from postmortem.core.watching import MetricRecord, Sign
from postmortem.diagnosis.detectors.aligned import STAND_IN
from postmortem.interfaces.watch.loss_divergence import LossDivergence
from postmortem.interfaces.watch.norm_signs import NormSigns
from postmortem.interfaces.watch.zero_losses import ZeroLosses


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
