"""Tell steps that are counted anew in each epoch from steps that run on.

In: the printed epoch, step and length of an epoch of one stream, in order. Out: the step of the
run, or NaN where it is not certain. Not here: formats that say in their rule how they count
(`formats.records`).

Whether `batch 3/100` of the second epoch is the third step or the hundred and third shows at the
first change of the epoch: a step that falls back is counted anew. Whether epochs are counted from 0
or from 1 is told by the first that is seen; a log that begins in the middle does not tell.
"""

import itertools
import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

_MOST: Final = 256


class StepCounting:
    """Keeps what each stream has shown of its way to count."""

    def __init__(self) -> None:
        """Have seen nothing yet."""
        self._first: dict[Hashable, int] = {}
        self._last: dict[Hashable, tuple[int, float]] = {}
        self._anew: set[Hashable] = set()

    def step(
        self, stream: Hashable, epoch: float, step: float, length: float, *, anew: bool = False
    ) -> float:
        """Give the step of the run.

        Args:
            stream: whoever counts: a process and a layout.
            epoch: as printed; NaN if none is.
            step: as printed; NaN if none is.
            length: steps of an epoch as printed; NaN if none are.
            anew: it is known to be counted anew in each epoch, as the position of a bar is. Else
                the printed step stands until it falls back.
        """
        if not math.isfinite(epoch) or math.isnan(step) or epoch != int(epoch):
            return step
        number = int(epoch)
        if stream not in self._first and len(self._first) >= _MOST:
            return math.nan if anew else step
        first = self._note(stream, number, step)
        if not anew and stream not in self._anew:
            return step
        if first in {0, 1}:
            if number == first:
                return step
            if not math.isnan(length):
                return (number - first) * length + step
        return math.nan if anew else step

    def steps(
        self,
        stream: Hashable,
        epochs: "np.ndarray[Any, Any]",
        steps: "np.ndarray[Any, Any]",
        length: float,
    ) -> "np.ndarray[Any, Any]":
        """Give the steps of the run of many printed steps in order, the same as `step` for each."""
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        own = np.flatnonzero(np.isfinite(epochs) & ~np.isnan(steps) & (epochs == np.floor(epochs)))
        if not len(own) or (stream not in self._first and len(self._first) >= _MOST):
            return steps
        numbers, printed = epochs[own], steps[own]
        before, step_before = self._last.get(stream, (int(numbers[0]), float(printed[0])))
        firsts = np.minimum.accumulate(np.append(self._first.get(stream, numbers[0]), numbers))[1:]
        has_fallen = (np.diff(numbers, prepend=before) > 0) & (
            np.diff(printed, prepend=step_before) < 0
        )
        is_anew = np.logical_or.accumulate(has_fallen) | (stream in self._anew)
        self._first[stream] = int(firsts[-1])
        self._last[stream] = (int(numbers[-1]), float(printed[-1]))
        if is_anew[-1]:
            self._anew.add(stream)
        if math.isnan(length):
            return steps
        found: np.ndarray[Any, Any] = steps.copy()
        is_moved = is_anew & (numbers != firsts) & ((firsts == 0) | (firsts == 1))
        found[own] += np.where(is_moved, (numbers - firsts) * length, 0.0)
        return found

    def steps_anew(
        self,
        stream: Hashable,
        epochs: "np.ndarray[Any, Any]",
        steps: "np.ndarray[Any, Any]",
        length: float,
    ) -> "np.ndarray[Any, Any]":
        """Give the steps of the run of many positions of a bar in order.

        The same as `step` for each, which is known to be counted anew in each epoch.
        """
        import numpy as np  # noqa: PLC0415 -- only long sources pay for its import

        if np.isnan(epochs).all():
            return steps
        found: np.ndarray[Any, Any] = steps.copy()
        starts = [0, *(np.flatnonzero(epochs[1:] != epochs[:-1]) + 1).tolist()]
        for start, end in itertools.pairwise([*starts, len(steps)]):
            epoch, first, last = float(epochs[start]), float(steps[start]), float(steps[end - 1])
            found[start:end] += self.step(stream, epoch, first, length, anew=True) - first
            self.step(stream, epoch, last, length, anew=True)
        return found

    def _note(self, stream: Hashable, number: int, step: float) -> int:
        """Note where a stream is and whether its step fell back; gives its first epoch."""
        first = self._first.setdefault(stream, number)
        if number < first:
            first = self._first[stream] = number
        before = self._last.get(stream)
        self._last[stream] = (number, step)
        if before is not None and number > before[0] and step < before[1]:
            self._anew.add(stream)
        return first
