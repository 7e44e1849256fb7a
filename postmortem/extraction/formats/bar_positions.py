"""The step that a draw of a bar with metrics belongs to.

In: the positions of bars with metrics, in order. Out: steps of the bar. Not here: the draws
(`formats.bars`), the steps of the run (`formats.step_counting`).

A loop that sets the metrics within its body draws those of its first step while the bar stands at
0, and so on: the metrics are a step ahead of the bar.
"""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

_MOST: Final = 64


class BarPositions:
    """Keeps which bars have their metrics drawn ahead."""

    def __init__(self) -> None:
        """Know no bar yet."""
        self._ahead: dict[Hashable, bool] = {}
        """Whether the metrics of a step are drawn before the bar moves on to it."""

    def step(self, stream: Hashable, now: int, total: int | None) -> int:
        """Give the step that a draw with metrics belongs to.

        0 for a bar that begins with those of the epoch before.
        """
        if stream not in self._ahead and len(self._ahead) < _MOST:
            self._ahead[stream] = now == 0
        if not self._ahead.get(stream):
            return now
        return now + 1 if total is None else min(now + 1, total)

    def steps(
        self, stream: Hashable, positions: "np.ndarray[Any, Any]", total: int | None
    ) -> "np.ndarray[Any, Any]":
        """Give the steps of many draws of a bar in order; the same as `step` for each."""
        self.step(stream, int(positions[0]), total)
        if not self._ahead.get(stream):
            return positions
        return positions + 1 if total is None else (positions + 1).clip(max=total)
