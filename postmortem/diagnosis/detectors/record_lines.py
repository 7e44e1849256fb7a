"""Read around records what no format reads: the epoch of a heading, how long a record took.

In: both ends of a source, the series of a process. Out: the series `epoch`, as records below a
heading such as `Epoch 3/50` would have printed it; the seconds of each record (`(10.7s)`, `took
10.7 sec`). Not here: records that name their epoch, those of several lines (`formats.blocks`),
times of a step that formats read, clocks, what is slow (`detectors.speed`).
"""

import bisect
import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.findings import ProcessId
from postmortem.core.log_text import compile_lazily
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Point, Series

_HEADING: Final = compile_lazily(
    r"(?:^|[\s\]>=*#|:-])(?:[Ee]poch|EPOCH)\s?[:#]?\s?\[?\s?(?P<epoch>\d{1,6})"
    r"(?:\s?(?:/|of)\s?\d{1,6})?[\s\]=*#:.|<-]{0,80}$"
)
_LONGEST: Final = 160
_FEWEST: Final = 2


def build_epoch_series(
    observed: Observed, members: Sequence[Series], process: tuple[int, ProcessId]
) -> list[Series]:
    """Give the epochs below whose headings the records of a process stand.

    None where records name their own, or where several processes write one source.

    Args:
        observed: of the job.
        members: the series of the process.
        process: its source and its name.
    """
    source, where = process
    of_source = (curve for curve in observed.series if curve.source == source)
    if any(curve.name == names.EPOCH or curve.where != where for curve in of_source):
        return []
    below = dict(_iter_lines_with_epoch(observed.kept_lines(source)))
    records = set[int]().union(*(below.keys() & curve.lines for curve in members if below))
    epochs = Series(names.EPOCH, "", source, where)
    for line in sorted(records):
        epochs.append(math.nan, below[line], line)
    epochs.settle()
    return [epochs] if len(set(epochs.values)) >= _FEWEST else []


def _iter_lines_with_epoch(kept: Iterable[tuple[int, str]]) -> Iterator[tuple[int, float]]:
    """Give the lines below headings with their epoch; behind a gap a heading must come again."""
    epoch, before = math.nan, 0
    for number, text in kept:
        epoch = epoch if number <= before + 1 else math.nan
        before = number
        found = _HEADING.search(text) if len(text) <= _LONGEST else None
        if found is not None:
            epoch = float(found["epoch"])
        elif not math.isnan(epoch):
            yield number, epoch


_DURATION: Final = compile_lazily(
    r"(?P<label>\(|(?<![A-Za-z])(?:took|time|elapsed|duration|cost|secs?|seconds)"
    r"(?:[_ ](?:taken|cost|used|elapsed))?(?: ?\((?:s|sec|ms)\))?[\"']?\s?[:=]?\s?)"
    r"(?P<value>\d{1,9}(?:\.\d{1,9})?)\s?(?P<unit>ms|s(?:ec(?:ond)?s?)?)?"
    r"(?![\w:.%]|\s?/(?!\s?(?:step|it(?:er(?:ation)?)?|batch)\b))",
    re.IGNORECASE,
)
_OTHER: Final = compile_lazily(
    r"(?:data|load(?:ing)?|wait(?:ing)?|eval|val(?:id(?:ation)?)?|test|eta|remain(?:ing)?|total|all"
    r"|since|start|comm|fwd|bwd|forward|backward|average|avg|mean)[ _:=(-]{0,3}$",
    re.IGNORECASE,
)
"""What stands before a time that is not that of the record."""
_RATE: Final = compile_lazily(
    r"(?<![\w.])(?P<value>\d{1,9}(?:\.\d{1,9})?)\s?(?P<unit>(?:it(?:er(?:ation)?)?s?|batch(?:es)?"
    r"|steps?)/s(?:ec)?|(?:s|ms|sec)/(?:it(?:er)?|batch|step))(?![\w/])"
)
"""The rate of a bar, whose unit turns over where it becomes slow."""
_MOST_TEXT: Final = 400
_STEPS_UP: Final = 3
"""Times that a pace may fall without ever rising again."""
_RISING: Final = 0.8
"""Share of the records above which times only grow: they are since some start."""


def list_durations(observed: Observed, records: Sequence[Point]) -> list[Point]:
    """Give the seconds that records took, by the label that most of them have.

    Args:
        observed: of the process.
        records: points of a series of it, one a record.
    """
    found: defaultdict[str, list[Point]] = defaultdict(list)
    for record, text in _iter_record_lines(observed, records):
        for label, seconds in _parse_times(text):
            found[label].append(Point(record.step, seconds, record.line))
    points = max(found.values(), key=len, default=[])
    return [] if _is_since_start([point.value for point in points]) else points


def list_step_rates(observed: Observed, records: Sequence[Point]) -> list[Point]:
    """List the steps per second that records print, as a rate or its inverse.

    Args:
        observed: of the process.
        records: points of a series of it, one a record.
    """
    found: dict[int, Point] = {}
    lines = {record.line for record in records}
    for record, text in _iter_record_lines(observed, records):
        # Of a bar that is drawn again and again on one line the last draw counts.
        rates = list(_RATE.finditer(text)) if record.line in lines else []
        if not rates or not float(rates[-1]["value"]):
            continue
        value, unit = float(rates[-1]["value"]), rates[-1]["unit"]
        per_second = value if unit[-2:] in {"/s", "ec"} else (1000 if unit[0] == "m" else 1) / value
        found[record.line] = Point(record.step, per_second, record.line)
    return list(found.values())


def _is_since_start(seconds: Sequence[float]) -> bool:
    """Say whether times only grow, but for what rounding hides."""
    pairs = list(itertools.pairwise(seconds))
    rising = sum(current > previous for previous, current in pairs)
    falling = sum(current < previous for previous, current in pairs)
    return rising > _RISING * len(pairs) or (rising > _STEPS_UP and not falling)


def _iter_record_lines(observed: Observed, records: Sequence[Point]) -> Iterator[tuple[Point, str]]:
    """Give each line with the record that it is of: its own, or that before it."""
    lines = [record.line for record in records]
    behind = 0
    for number, text in observed.kept_lines(observed.curves.source):
        place = bisect.bisect(lines, number) - 1
        if place < 0:
            continue
        behind = 0 if lines[place] == number else behind + 1
        if behind <= 1 and len(text) <= _MOST_TEXT:
            yield records[place], text


def _parse_times(text: str) -> Iterable[tuple[str, float]]:
    """Parse the durations on a line by label; the first of each label counts."""
    found: dict[str, float] = {}
    for match in _DURATION.finditer(text):
        if match["label"] == "(" and not match["unit"]:
            continue
        if _OTHER.search(text, max(0, match.start() - 24), match.start()):
            continue
        per = 1000.0 if (match["unit"] or "").lower() == "ms" else 1.0
        found.setdefault(match["label"].strip(" :=").lower(), float(match["value"]) / per)
    durations: Mapping[str, float] = found
    return durations.items()
