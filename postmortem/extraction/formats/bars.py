"""Progress bars: the step of a record that prints none, and the metrics that a bar itself carries.

In: the bytes behind a record; the draws of a bar. Out: the position of the bar where it is certain;
of the draws at one position the last. Not here: what the metrics beside a bar are called
(`formats.generic`, `patterns/formats`).

`tqdm.write` clears the bar, prints the record and draws the bar again with its present position:
the first bar behind a record is exact, the last one before it may lag behind (bars are drawn at
most ten times a second). A bar with metrics of its own is drawn several times at one position, the
first time still with the metrics of the position before: only the last draw counts.
"""

import math
from collections.abc import Hashable, Iterable
from typing import Final, Generic, NamedTuple, TypeVar

from postmortem.core.lazy_regex import compile_lazily

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
