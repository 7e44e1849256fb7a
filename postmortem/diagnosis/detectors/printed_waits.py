"""Detect waiting for data by printed parts of a step: `data 1.9s | forward 0.1s`.

In: the lines of records, as far as both ends of a source hold them. Out: the anomalies
`input-bound`, `input-starved`. Not here: data times beside times of a step that formats read
(`detectors.data_waits`).

The parts have whatever names, and one of them may be the whole. What is read must be told by its
name, the rest by its unit alone.
"""

import re
import statistics
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.speed import get_longest_series_points

_PART: Final = compile_lazily(
    r"(?<![\w.])(?P<name>[A-Za-z][\w. ]{0,24}?)\s?[:=(]?\s{0,4}"
    r"(?P<value>\d{1,6}\.\d{1,9})\s?(?P<unit>ms|s(?:ec(?:ond)?s?)?)(?![\w/%])"
)
_WAIT: Final = compile_lazily(
    r"(?:^|[\s_.])(?:data|load(?:ing|er)?|read(?:ing|er)?|fetch(?:ing)?|input|io|prefetch|wait)"
    r"(?:[\s_.]?(?:time|cost|data|batch|load\w{0,3}|wait\w{0,3}|read\w{0,3}|fetch\w{0,3}))?$",
    re.IGNORECASE,
)
_NO_PART: Final = compile_lazily(r"eta|elapsed|remain|since|start|avg|mean|epoch", re.IGNORECASE)
_FEWEST: Final = 3
_NEARLY_ALL: Final = 0.8
_LONG: Final = 0.5
"""Seconds of each step."""
_SAME: Final = 0.7
"""Share of the sum of the other parts from which on the longest of them is the whole of all."""
_LONGEST: Final = 400


class _Parts(NamedTuple):
    line: int
    wait: float
    whole: float


def detect_waits_in_step_parts(observed: Observed, curves: Curves) -> Iterable[Anomaly]:
    """Detect steps whose printed parts are mostly waiting for data.

    Args:
        observed: holds the lines.
        curves: of the process that is looked at, without times of a step.
    """
    found = list(_iter_step_parts(observed, curves))
    # The first step is none like the others.
    late = found[1:] if len(found) > _FEWEST else found
    if len(late) < _FEWEST or any(step.wait < _NEARLY_ALL * step.whole for step in late):
        return []
    wait, whole = (
        statistics.median(figures)
        for figures in zip(*((step.wait, step.whole) for step in late), strict=True)
    )
    if wait < _LONG:
        return []
    message = say(
        "data {part:.4g} s of {whole:.4g} s a step ({share:.0%}), medians of {count} records",
        part=wait,
        whole=whole,
        share=wait / whole,
        count=len(late),
    )
    return [curves.shape(name, message, late[0].line) for name in ("input-bound", "input-starved")]


def _iter_step_parts(observed: Observed, curves: Curves) -> Iterator[_Parts]:
    """Yield the wait and the total of each record that prints both."""
    lines = {point.line for point in get_longest_series_points(curves)}
    for number, text in observed.kept_lines(curves.source) if lines else ():
        if number in lines and len(text) <= _LONGEST:
            found = _parse_step_parts(number, text)
            if found is not None:
                yield found


def _parse_step_parts(number: int, text: str) -> _Parts | None:
    """Parse the parts of a step on a line; None where waiting, or everything else, is missing."""
    waits, others = [], []
    for part in _PART.finditer(text):
        seconds = float(part["value"]) / (1000.0 if part["unit"] == "ms" else 1.0)
        if _WAIT.search(part["name"]):
            waits.append(seconds)
        elif not _NO_PART.search(part["name"]):
            others.append(seconds)
    if not waits or not others:
        return None
    wait, most = max(waits), max(others)
    is_whole = most >= wait and most >= _SAME * (wait + sum(others) - most)
    return _Parts(number, wait, most if is_whole else wait + sum(others))
