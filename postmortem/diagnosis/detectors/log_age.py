"""Detect a log that was still being written when somebody looked at it.

In: the ends of the sources. Out: the anomaly `log-goes-on`. Not here: a job whose output has
stopped (`detectors.standstill`), what people say of it (`patterns/signatures/hang`).

A pause that ended is none: who asks about it looks at the file's time of change, and the clock of
the same dump shows how long ago that was.
"""

from collections.abc import Iterator
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.moments import (
    compute_seconds_between,
    find_newest_timestamp,
    iter_timed_lines,
)

_CHANGED: Final = compile_lazily(
    r"^\s*(?:Modify: |mtime[ =:]{1,3})?(?P<date>20\d\d-\d\d-\d\d) (?P<clock>\d\d:\d\d:\d\d)"
    r"\.\d{6,9} [+-]\d{4}\s*$"
)
"""The time of change of a file, as `stat` prints it."""
_STAT_COMMAND: Final = compile_lazily(r"\bstat\b|^\s*File: ")
_ABOVE: Final = 8
"""Lines above the time, in which the file is named."""
_LATEST: Final = 300.0
"""Seconds after which a log is no longer being written to."""


def detect_recent_log_change(observed: Observed) -> Iterator[Anomaly]:
    """Find the time of change of a log, shortly before the newest clock of the same dump."""
    if not any(observed.records.values()):
        return
    for source, tail in observed.tails.items():
        lines = tail[1].split("\n")
        for index, line in enumerate(lines):
            above = lines[max(0, index - _ABOVE) : index]
            match = _CHANGED.match(line)
            if match is None or not any(_STAT_COMMAND.search(line) for line in above):
                continue
            changed = f"{match['date']}T{match['clock']}"
            age = find_newest_timestamp(
                (moment.time for moment, _ in iter_timed_lines(tail)), changed
            )
            if (
                age is not None
                and age[0] <= _LATEST
                and compute_seconds_between(changed, age[1]) is not None
            ):
                message = say(
                    "the log was written to {age:.0f} s before it was looked at",
                    age=age[0],
                )
                yield Anomaly("log-goes-on", message, source, NOWHERE, tail[0] + index)
                return
