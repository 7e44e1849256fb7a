"""Find the process whose exception another process prints: collected, sent back, raised again.

In: findings of the lines that name the process, the tracebacks below them. Out: the process that a
line names. Not here: who tells of a failure in other words (`case.reporter_rank`), which process is
meant by the first failure (`case.faulty_process`).
"""

import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from postmortem.core.findings import Finding, Traceback
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.numerals import parse_whole_number
from postmortem.extraction.extract import Sighting

NAMED: Final = "context.exception-of-another"
_BELOW: Final = 2
"""Lines below the one that names a process, within which its traceback begins."""


def build_process_lookup(
    seen: Iterable[Sighting], tracebacks: Iterable[tuple[Traceback, int]]
) -> Callable[[int, int], ProcessId]:
    """Give a function from a source and a line to the process whose exception stands there.

    It gives `NOWHERE` where a process speaks for itself, or where nothing tells.
    """
    named: dict[int, list[Finding]] = defaultdict(list)
    for sighting in seen:
        if sighting.finding.signature == NAMED:
            named[sighting.finding.source].append(sighting.finding)
    spans: dict[int, list[tuple[int, int, ProcessId]]] = defaultdict(list)
    for traceback, _ in tracebacks if named else ():
        for finding in named.get(traceback.source, ()):
            if finding.line <= traceback.line <= finding.line + _BELOW:
                span = (traceback.line, traceback.end_line, _find_process(finding))
                spans[traceback.source].append(span)

    def find_process(source: int, line: int) -> ProcessId:
        known = sorted(spans.get(source, ()))
        index = bisect.bisect_right(known, line, key=lambda span: span[0]) - 1
        return known[index][2] if index >= 0 and line <= known[index][1] else NOWHERE

    return find_process


def _find_process(finding: Finding) -> ProcessId:
    """Read the process off a line that names one."""
    return ProcessId(
        parse_whole_number(finding.capture("rank")),
        parse_whole_number(finding.capture("local_rank")),
        finding.capture("node"),
        parse_whole_number(finding.capture("pid")),
    )
