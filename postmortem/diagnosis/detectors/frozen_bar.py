"""Detect a progress bar that stays at one position while its own clock runs on.

In: the end of a source as text. Out: the anomaly `same-step`. Not here: lines that name one step
(`detectors.stalled_output`).

A bar tells the time that has passed since its start. One that is refreshed by a thread or by
whoever sets its figures shows by itself for how long no step was done.
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

_DRAW: Final = compile_lazily(
    r"(?<![\d.])(?P<now>\d{1,9})/(?P<total>\d{1,9}) "
    r"\[(?:(?:(?P<days>\d{1,3}) days?, |)(?P<hours>\d{1,3}):|)(?P<minutes>\d\d):(?P<seconds>\d\d)<"
)
_FEWEST: Final = 4
"""Draws at one position."""
_LEAST: Final = 600.0
"""Seconds below which it may be a save or an evaluation."""
_TIMES: Final = 30


class _Bar(NamedTuple):
    now: int
    total: int
    passed: float
    start: int


def detect_frozen_bar(observed: Observed) -> Iterator[Anomaly]:
    """Find sources whose last bar stands at one position, short of its end, for long."""
    for source, (first, text) in observed.tails.items():
        if (found := _find_frozen_position(_parse_bars(text))) is not None:
            draw, message = found
            line = first + text.count("\n", 0, draw.start)
            yield Anomaly("same-step", message, source, NOWHERE, line)


def _parse_bars(text: str) -> list[_Bar]:
    """Read the bars on a text, in order."""
    return [
        _Bar(int(found["now"]), int(found["total"]), _parse_elapsed(found), found.start())
        for found in _DRAW.finditer(text)
    ]


def _parse_elapsed(found: re.Match[str]) -> float:
    days, hours, minutes, rest = (
        int(found[name] or 0) for name in ("days", "hours", "minutes", "seconds")
    )
    return 86_400.0 * days + 3600.0 * hours + 60.0 * minutes + rest


def _find_frozen_position(draws: Sequence[_Bar]) -> tuple[_Bar, Message] | None:
    """Find the last position of the last bar, if it is drawn there for long and nowhere else."""
    if not draws:
        return None
    last = draws[-1]
    start = len(draws)
    while start and draws[start - 1][:2] == last[:2]:
        start -= 1
    stood = last.passed - draws[start].passed
    apart = [
        current.passed - previous.passed for previous, current in itertools.pairwise(draws[start:])
    ]
    usual = _estimate_seconds_per_step(draws[:start], last)
    if (
        len(apart) + 1 < _FEWEST
        or not 0 < last.now < last.total
        or min(apart) < 0
        or stood < max(_LEAST, _TIMES * usual)
    ):
        return None
    message = say(
        "the bar is drawn {count} times at {now} of {total} while its clock goes on by"
        " {stood:.0f} s; a step had taken {usual:.2g} s",
        count=len(apart) + 1,
        now=last.now,
        total=last.total,
        stood=stood,
        usual=usual,
    )
    return draws[start], message


def _estimate_seconds_per_step(before: Sequence[_Bar], last: _Bar) -> float:
    """Give the seconds a step: of the draws before, else the mean since the bar's start."""
    own = [draw for draw in before if draw.total == last.total]
    paces = [
        (current.passed - previous.passed) / (current.now - previous.now)
        for previous, current in itertools.pairwise(own)
        if current.now > previous.now and current.passed >= previous.passed
    ]
    if paces:
        return statistics.median(paces)
    return last.passed / (last.now + 1)
