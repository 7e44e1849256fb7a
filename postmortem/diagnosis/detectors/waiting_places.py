"""Detect a log that ends, before any record, where a process waits for another.

In: the ends of the sources. Out: the anomaly `waits-at-start`. Not here: for how long
(`detectors.standstill`), time-outs that are told of (`patterns/signatures/distributed`).
"""

import re
from collections.abc import Iterator
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import cut, quote
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.heartbeats import find_heartbeats
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.signs_of_life import (
    add_end_lines,
    end_of,
    has_several_steps,
    list_active_sources,
    list_lines_before,
)

_LAST: Final = 3
"""Lines at the end of a log that may be the last of their process."""
_MOST_TEXT: Final = 160
_WAITS: Final = compile_lazily(
    r"\bwait(?:ing|s)? (?:for|on|until|at)\b|\binit_process_group|\b(?:initiali[sz]|start|creat"
    r"|join|form)\w{0,12} (?:the )?(?:\w{1,24} )?"
    r"(?:process group|rendezvous|communicator|distributed)"
    r"|\brendezvous\b|\bconnecting to\b|\bbarrier\b|acquir\w{1,8} (?:the )?(?:\w{1,24} )?lock\b"
    r"|Building extension module|Loading extension module|Lock file exists|\bpending\b",
    re.IGNORECASE,
)
"""A phase in which a process waits for another, or for what another holds."""


def detect_wait_at_start(observed: Observed) -> Iterator[Anomaly]:
    """Find a last line, before any record, that names something that a process waits for.

    Of several processes in one log, it may be the last line of any of them.
    """
    if any(observed.records.values()):
        return
    observed = add_end_lines(observed)
    for source in list_active_sources(observed):
        own = list_lines_before(end_of(observed, source), observed.tails[source])
        text = observed.tails[source][1]
        watch = find_heartbeats(own)
        last = [entry for entry in own if watch is None or entry[0] < watch.line][-_LAST:]
        for number, line in reversed(last):
            if _WAITS.search(line) and not has_several_steps(text):
                message = quote(cut(line.strip(), _MOST_TEXT))
                yield Anomaly("waits-at-start", message, source, NOWHERE, number)
                return
