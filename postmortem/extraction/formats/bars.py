"""Progress bars and counted steps: the step of a record, the metrics of a bar, a bar cut off.

In: the bytes behind a record; the draws of a bar; lines of unknown layout; the printed epoch, step
and length of an epoch of one stream, in order. Out: the position of the bar where it is certain; of
the draws at one position the last; the last draw of a Keras bar on its way, once the source has
ended, if a figure of it is not finite or nothing else tells of the run; the step of the run, or NaN
where it is not certain. Not here: what the metrics beside a bar are called
(`formats.metric_line_parser`, `patterns/formats`), finished bars of Keras
(`patterns/formats/keras.yaml`), formats that say in their rule how they count (`formats.records`).

`tqdm.write` clears the bar, prints the record and draws the bar again with its present position:
the first bar behind a record is exact, the last one before it may lag behind (bars are drawn at
most ten times a second). A bar with metrics of its own is drawn several times at one position, the
first time still with the metrics of the position before: only the last draw counts.

A Keras bar on its way shows the mean of its epoch so far, dozens of times: no point of a curve. But
where a run was cut off within an epoch, its last bar alone may tell that a figure is no number any
more.

Whether `batch 3/100` of the second epoch is the third step or the hundred and third shows at the
first change of the epoch: a step that falls back is counted anew. Whether epochs are counted from 0
or from 1 is told by the first that is seen; a log that begins in the middle does not tell.
"""

import itertools
import math
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from postmortem.core.findings import ProcessId
from postmortem.core.log_text import compile_lazily
from postmortem.extraction.formats.figures import FIGURE, parse_value
from postmortem.extraction.formats.records import Record

if TYPE_CHECKING:
    import numpy as np

_MOST_COUNTED: Final = 256


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
        if stream not in self._first and len(self._first) >= _MOST_COUNTED:
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
        if not len(own) or (stream not in self._first and len(self._first) >= _MOST_COUNTED):
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


_BAR: Final = compile_lazily(rb"\|\s{0,9}(\d{1,12})/(\d{1,12}) \[")
_NEAR: Final = 400
_RECORD: Final = b"{'"
_DRAW: Final = compile_lazily(
    r"(?:(?:(?<!\d)(?P<percent>\d{1,3}%)?\|[^|\n]{0,300}\||^\s{0,9}\|)\s{0,9}(?P<now>\d{1,12})/(?P<total>\d{1,12}|\?)|(?<![\w.])(?P<count>\d{1,12})it)"
    r" \[(?P<inside>[^\]\n]{0,600})\]?"
    r"|(?<![━╸╺])[━╸╺]{3,}\s{1,4}(?P<now2>\d{1,12})/(?P<total2>\d{1,12})\s(?P<inside2>[^\n]{0,400})",
)
_MOST_STREAMS: Final = 64
_Drawn = TypeVar("_Drawn")


class Draw(NamedTuple):
    """One draw of a bar."""

    label: str
    """What stands before it."""
    now: int
    total: int | None
    inside: str
    """Times, rate and the metrics behind them."""
    behind: str
    """What was printed behind the bar on the same line: no part of it."""

    def counts_steps(self) -> bool:
        """Say whether it counts steps: a bar of a single step is the epoch itself."""
        return self.total != 1


class RunBar:
    """Gives records without a step the position of the bar behind them."""

    def __init__(self) -> None:
        """Know no length yet."""
        self._length = math.nan

    def step(self, data: bytes, end: int, total: float, *, is_training: bool) -> float:
        """Read the position of the run's bar behind a record.

        Args:
            data: the block.
            end: where the record's line ends.
            total: the last step of the run where a line has named it, else NaN.
            is_training: the record is one of training; the bar of an evaluation may follow any
                other.

        Returns:
            The position, or NaN where it is not certain: no bar follows before the next record, or
            bars of different length do and none is known to be the run's.
        """
        if data.find(b"|", end, end + _NEAR) < 0:  # the usual case of a log without bars
            return math.nan
        run = self._length if math.isnan(total) else total
        first = _BAR.search(data, end, end + _NEAR)
        if first is None:
            return math.nan
        if float(first[2]) == run and data.find(_RECORD, end, first.end()) < 0:
            return float(first[1])  # whatever other bars there are
        return self._read_position_among(data, end, total, is_training=is_training)

    def _read_position_among(
        self, data: bytes, end: int, total: float, *, is_training: bool
    ) -> float:
        """Read the position of the run's bar among those behind a record."""
        behind = data[end : end + _NEAR]
        next_record = behind.find(_RECORD)
        found = _BAR.findall(behind if next_record < 0 else behind[:next_record])
        if not found:
            return math.nan
        has_one_length = len({length for _, length in found}) == 1
        if is_training and math.isnan(total) and has_one_length:
            self._length = float(found[0][1])
        run = self._length if math.isnan(total) else total
        return next(
            (
                float(now)
                for now, length in (found[:1] if has_one_length else found)
                if float(length) == run
            ),
            math.nan,
        )


def is_training(names: Iterable[str]) -> bool:
    """Say whether a record with these names is one of training."""
    return not any(name.startswith("eval") for name in names)


def draw(text: str) -> Draw | None:
    """Read the last bar on a line, or None if there is none."""
    found, start = None, 0
    for match in _DRAW.finditer(text):
        found, start = match, found.end() if found else 0
    if found is None:
        return None
    total = found["total"] or found["total2"]
    return Draw(
        text[start : found.start()].strip().rstrip(":").rstrip(),
        int(found["now"] or found["count"] or found["now2"]),
        int(total) if total and total != "?" else None,
        found["inside"] or found["inside2"] or "",
        text[found.end() :],
    )


class Redraws(Generic[_Drawn]):
    """Gives one record for each position of a bar: the last that was drawn there."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._held: dict[Hashable, tuple[Hashable, _Drawn | None]] = {}

    def take(self, stream: Hashable, position: Hashable, drawn: _Drawn) -> _Drawn | None:
        """Take a draw; gives the one of the position before, once the bar has left it."""
        before = self._held.get(stream)
        if before is None and len(self._held) >= _MOST_STREAMS:
            return drawn
        if before is not None and before[0] == position:
            if before[1] is not None:
                self._held[stream] = (position, drawn)
            return None
        self._held[stream] = (position, drawn)
        return before[1] if before is not None else None

    def holds(self, stream: Hashable) -> bool:
        """Say whether a draw of a stream waits for the bar to leave its position."""
        return self._held.get(stream, (None, None))[1] is not None

    def hold(self, stream: Hashable, position: Hashable, drawn: _Drawn) -> None:
        """Let the last of many draws wait in the place of the one that does."""
        self._held[stream] = (position, drawn)

    def rest(self) -> list[_Drawn]:
        """Give what is still held; later draws at these positions are passed over."""
        held = [drawn for _, drawn in self._held.values() if drawn is not None]
        self._held = {stream: (position, None) for stream, (position, _) in self._held.items()}
        return held


FRAMEWORK: Final = "keras"
KERAS_BAR: Final = compile_lazily(
    r"(?:^|[\x08\s])\d+/(?:\d+|Unknown)\s+(?:\[=*[>.]*\]|━+|-)[^\n]{0,60}?\s-\s(?=[\w. ]{1,40}: )"
)
_KERAS_PAIR: Final = compile_lazily(rf"(?<!\w)(?P<key>[A-Za-z]\w{{0,60}}): (?P<value>{FIGURE})")
_KERAS_NAMES: Final = {"val_loss": "eval_loss", "lr": "learning_rate"}
_MOST_UNFINISHED: Final = 64


def is_unfinished(text: str) -> bool:
    """Say whether a line is the draw of a bar on its way."""
    return "/" in text and KERAS_BAR.search(text) is not None


class UnfinishedBars:
    """Keeps the last bar on its way of each process."""

    def __init__(self) -> None:
        """Have seen none."""
        self._bars: dict[ProcessId, tuple[str, int, int]] = {}
        self._given: set[ProcessId] = set()
        """Processes whose bar was given before it ended: later draws of it are passed over."""

    def take(self, text: str, where: ProcessId, line: int, offset: int) -> None:
        """Keep a line if it is the draw of a bar on its way."""
        if where in self._given or (
            where not in self._bars and len(self._bars) >= _MOST_UNFINISHED
        ):
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
    found = KERAS_BAR.search(text)
    pairs = _KERAS_PAIR.finditer(text, found.end()) if found else ()
    return {
        _KERAS_NAMES.get(pair["key"], pair["key"]): value
        for pair in pairs
        if pair["key"] != "ETA" and (value := parse_value(pair["value"])) is not None
    }
