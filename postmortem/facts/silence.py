"""A run that stands still behind its last metric record, measured by the printed clock.

No line for long, or lines that name the same step again and again.

In: the end of a source as text, the line of its last metric record. Out: shapes `silence`,
`same-step`. Not here: output that simply ends (nothing shows how long it has been still), time-outs
of collectives.
"""

import itertools
import re
import statistics
from typing import Final

from postmortem.facts.clock import time_of
from postmortem.facts.shapes import Shape
from postmortem.model.lines import NOWHERE
from postmortem.model.said import say
from postmortem.reading.prefixes import seconds

_FEWEST: Final = 5
_TIMES: Final = 30
_SHORTEST_SECONDS: Final = 10.0
_AGAIN: Final = 4
"""Lines with the same step that no program prints while it is working."""
STEP: Final = re.compile(
    r"(?<![A-Za-z])(?:global[_"
    r" ])?(?:step|iter(?:ation)?|update|batch)s?[\"']?\s?[:=]?\s?(?P<step>\d{1,12})(?![\d.])",
    re.IGNORECASE,
)
"""A step as programs print it in any line."""


def shape(
    tail: tuple[int, str], source: int, last_record: int, least: float = _SHORTEST_SECONDS
) -> Shape | None:
    """Find a time behind the last record that is many times as long as the usual distance of the lines before it, and in which nothing, or no step, was done.

    Args:
        tail: raw number of the first line of the text, and the text.
        source: index of the source.
        last_record: raw line of the last metric record.
        least: seconds below which no time is long.
    """
    first, text = tail
    stamped = [
        (number, seconds(time), line)
        for number, line in enumerate(text.split("\n"), first)
        if (time := time_of(line)) is not None
    ]
    before, behind = (
        [entry for entry in stamped if entry[0] <= last_record],
        [entry for entry in stamped if entry[0] > last_record],
    )
    if len(before) < _FEWEST or not behind or before[-1][0] != last_record:
        return None
    usual = max(
        statistics.median(other[1] - one[1] for one, other in itertools.pairwise(before)),
        (before[-1][1] - before[0][1]) / (len(before) - 1),
    )
    long = max(least, _TIMES * usual)
    steps = [match["step"] for _, _, line in behind if (match := STEP.search(line))]
    stood = behind[-1][1] - before[-1][1]
    gap = behind[0][1] - before[-1][1]
    if len(steps) < _AGAIN or len(set(steps)) > 1 or stood < long:
        if gap < long:
            return None
        said = say(
            "{gap:.0f} s without a line after the last record, which came every {usual:.2g} s",
            "最后一条记录之后 {gap:.0f} 秒没有任何输出，而此前平均每 {usual:.2g} 秒一条",
            gap=gap,
            usual=max(usual, 0.01),
        )
        return Shape("silence", said, source, NOWHERE, last_record)
    said = say(
        "{count} lines over {stood:.0f} s still name step {step}; records had come every"
        " {usual:.2g} s",
        "{stood:.0f} 秒内的 {count} 行仍停在第 {step} 步，而此前每 {usual:.2g} 秒就有一条记录",
        count=len(steps),
        stood=stood,
        step=steps[0],
        usual=max(usual, 0.01),
    )
    return Shape("same-step", said, source, NOWHERE, behind[0][0])
