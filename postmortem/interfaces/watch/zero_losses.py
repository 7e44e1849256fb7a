"""Detect a training loss of exactly 0: a NaN that the trainer filters out, or nothing to learn.

In: the records whose loss is 0, and every other loss. Out: `Sign`s. Not here: a loss that is not
finite (`watch.loss_signs`).
"""

from collections.abc import Iterator
from typing import Final

from postmortem.core.message import say
from postmortem.core.watching import MetricRecord, Sign

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
