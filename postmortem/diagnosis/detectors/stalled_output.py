"""Detect a run that stalls after its last metric record, by the printed clock.

No line for long, or lines that name the same step again and again.

In: the end of a source as text, the line of its last metric record. Out: the anomalies `silence`,
`same-step`. Not here: bars (`detectors.frozen_bar`), output that simply ends (nothing shows how
long it has been still), time-outs of collectives.
"""

import itertools
import re
import statistics
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.clock import parse_time
from postmortem.reading.prefixes import convert_to_seconds

_FEWEST: Final = 5
_TIMES: Final = 30
_SHORTEST_SECONDS: Final = 10.0
_AGAIN: Final = 4
"""Lines with the same step that no program prints while it is working."""
STEP: Final = compile_lazily(
    r"(?<![A-Za-z])(?:global[_ ])?(?:step|iter(?:ation)?|update|batch)s?[\"']?\s?[:=]?\s?"
    r"(?P<step>\d{1,12})(?![\d.])",
    re.IGNORECASE,
)
"""A step as programs print it in any line."""


class _TimedLine(NamedTuple):
    """A line that prints a clock."""

    number: int
    second: float
    text: str


def detect_stalled_output(observed: Observed) -> Iterator[Anomaly]:
    """Find sources behind whose last record nothing was done for long; the last one counts."""
    for source, record in reversed(list(observed.last_records.items())):
        if source in observed.tails:
            anomaly = detect_stall_after_record(observed.tails[source], source, record)
            if anomaly is not None:
                yield anomaly


def detect_stall_after_record(
    tail: tuple[int, str], source: int, last_record: int, least: float = _SHORTEST_SECONDS
) -> Anomaly | None:
    """Find a time behind the last record in which nothing, or no step, was done.

    It is many times as long as the usual distance of the lines before it.

    Args:
        tail: raw number of the first line of the text, and the text.
        source: index of the source.
        last_record: raw line of the last metric record.
        least: seconds below which no time is long.
    """
    lines = _list_clocked_lines(tail)
    before = [line for line in lines if line.number <= last_record]
    after = [line for line in lines if line.number > last_record]
    if len(before) < _FEWEST or not after or before[-1].number != last_record:
        return None
    usual = _compute_usual_interval(before)
    long = max(least, _TIMES * usual)
    if (message := _describe_repeated_step(before[-1], after, usual, long)) is not None:
        return Anomaly("same-step", message, source, NOWHERE, after[0].number)
    if (message := _describe_missing_output(before[-1], after, usual, long)) is not None:
        return Anomaly("silence", message, source, NOWHERE, last_record)
    return None


def _list_clocked_lines(tail: tuple[int, str]) -> list[_TimedLine]:
    first, text = tail
    return [
        _TimedLine(number, convert_to_seconds(time), line)
        for number, line in enumerate(text.split("\n"), first)
        if (time := parse_time(line)) is not None
    ]


def _compute_usual_interval(lines: Sequence[_TimedLine]) -> float:
    """Give the seconds between two lines: the median or the mean, whichever is longer."""
    return max(
        statistics.median(
            current.second - previous.second for previous, current in itertools.pairwise(lines)
        ),
        (lines[-1].second - lines[0].second) / (len(lines) - 1),
    )


def _describe_repeated_step(
    record: _TimedLine, after: Sequence[_TimedLine], usual: float, long: float
) -> Message | None:
    """Say how many lines behind a record name one step, if that goes on for long."""
    steps = [match["step"] for line in after if (match := STEP.search(line.text))]
    stood = after[-1].second - record.second
    if len(steps) < _AGAIN or len(set(steps)) > 1 or stood < long:
        return None
    return say(
        "{count} lines over {stood:.0f} s still name step {step}; records had come every"
        " {usual:.2g} s",
        count=len(steps),
        stood=stood,
        step=steps[0],
        usual=max(usual, 0.01),
    )


def _describe_missing_output(
    record: _TimedLine, after: Sequence[_TimedLine], usual: float, long: float
) -> Message | None:
    """Say for how long no line came behind a record, if that is long."""
    gap = after[0].second - record.second
    if gap < long:
        return None
    return say(
        "{gap:.0f} s without a line after the last record, which came every {usual:.2g} s",
        gap=gap,
        usual=max(usual, 0.01),
    )
