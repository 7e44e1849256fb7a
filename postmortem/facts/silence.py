"""A long silence between the last metric record and the next line of the log, measured by the printed clock.

In: the end of a source as text, the line of its last metric record. Out: shape `silence`.
Not here: output that simply ends (nothing shows how long it has been still), time-outs of collectives.
"""

import itertools
import math
import statistics
from datetime import datetime
from typing import Final

from postmortem.facts.shapes import Shape
from postmortem.model.lines import NOWHERE
from postmortem.reading.prefixes import clean

_FEWEST: Final = 5
_TIMES: Final = 30
_SHORTEST_SECONDS: Final = 10.0


def seconds(time: str | None) -> float:
    """Give a printed time as seconds on some clock of its own; NaN if it cannot be read. Times without a date count from midnight."""
    if time is None:
        return math.nan
    if time.startswith("+"):
        return float(time[1:-1])
    if time.startswith("T"):
        time = f"2000-01-01{time}"
    elif time.startswith("--"):
        time = f"2000-{time[2:]}"
    try:
        return datetime.fromisoformat(time.rstrip("Z")).replace(tzinfo=None).timestamp()
    except ValueError:
        return math.nan


def shape(tail: tuple[int, str], source: int, last_record: int) -> Shape | None:
    """Find a silence behind the last record that is many times as long as the usual distance of the lines before it.

    Args:
        tail: raw number of the first line of the text, and the text.
        source: index of the source.
        last_record: raw line of the last metric record.
    """
    first, text = tail
    stamped = [(number, at) for number, line in enumerate(text.split("\n"), first) if not math.isnan(at := seconds(clean(line[:200]).time))]
    before, behind = [entry for entry in stamped if entry[0] <= last_record], [entry for entry in stamped if entry[0] > last_record]
    if len(before) < _FEWEST or not behind or before[-1][0] != last_record:
        return None
    usual = max(statistics.median(other - one for (_, one), (_, other) in itertools.pairwise(before)), (before[-1][1] - before[0][1]) / (len(before) - 1))
    gap = behind[0][1] - before[-1][1]
    if gap < max(_SHORTEST_SECONDS, _TIMES * usual):
        return None
    return Shape("silence", f"{gap:.0f} s without a line after the last record, which came every {max(usual, 0.01):.2g} s", source, NOWHERE, last_record)
