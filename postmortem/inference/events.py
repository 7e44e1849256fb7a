"""The order of events: which failure came first, which of them the run survived, which attempt counts.

In: gathered findings and tracebacks of all sources. Out: `Event`s with a factor, and the first failure.
Not here: weights of signatures.

Of several attempts the last counts. In it the first fatal event is the failure; what comes after it is weighed down, and so is
what the run survived (records were printed after it, and something else ended the run). Clocks order events over files where they are printed in full;
within a file its own order counts.
"""

import bisect
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.gathered import Gathered, Seen
from postmortem.inference.case import Event
from postmortem.knowledge.base import Signature
from postmortem.model.findings import Finding, Traceback
from postmortem.reading.prefixes import time_basis

SAME_EVENT_LINES: Final = 60
SURVIVED_RECORDS: Final = 3
BUFFERED_RECORDS: Final = 20
QUOTED: Final = frozenset({"TRACE", "DEBUG", "INFO", "WARN", "WARNING"})
ECHOES: Final = ("distributed.", "unknown.")
"""Collectives and launchers fail because a peer has failed: behind another failure they are its echo."""
_OF_A_PEER: Final = re.compile(
    r"Connection (?:closed|reset) by peer|Connection refused.{0,80}remote worker|Broken pipe|Timed out waiting \d+ms for (?:recv|send|data)|wait timeout after \d+ms|application timeout caused pair closure"
    r"|(?:failed to pass|successfully reached) monitoredBarrier|remote process exited or there was a network error|Socket closed|failed to recv, got 0 bytes|^-- Process \d+ terminated",
)
"""What a process says that waited for another: any failure of another kind, in whatever file, is nearer to the origin."""
EXITS: Final = "scheduler."
"""A scheduler that ends what is left of a job behind an exception names the exit, however near it stands."""
_AFTER: Final = 0.55
_LONG_AFTER: Final = 0.35
_NEXT_EVENT: Final = 0.75
_SURVIVED: Final = 0.2
_QUOTED: Final = 0.4
_EARLIER_ATTEMPT: Final = 0.2
CONSEQUENCE_EXCEPTIONS: Final = ("ChildFailedError", "CalledProcessError", "SignalException", "ProcessExitedException", "BrokenProcessPool", "KeyboardInterrupt", "SystemExit")


class Failure(NamedTuple):
    """An event that ends a run: a fatal finding of role cause, or a traceback that no signature explains."""

    source: int
    line: int
    offset: int
    time: str | None
    end_line: int
    finding: Finding | None
    traceback: Traceback | None


class Clock:
    """Orders events: within a file by position, over files by the printed time that stands nearest before them."""

    def __init__(self, stamps: Iterable[tuple[int, int, str | None]]) -> None:
        """Take (source, byte offset, printed time) of whatever was found."""
        found: dict[int, list[tuple[int, str]]] = {}
        for source, offset, time in stamps:
            known = found.setdefault(source, [])
            if time is not None and time_basis(time) == "full":
                known.append((offset, time))
        self._stamps = {source: sorted(known) for source, known in found.items()}
        self._is_of_use = len(found) > 1 and all(found.values())

    def key(self, source: int, offset: int) -> tuple[str, int, int]:
        """Give what events sort by."""
        stamps = self._stamps.get(source)
        if not self._is_of_use or not stamps:
            return ("", source, offset)
        index = bisect.bisect_right(stamps, (offset, "￿"))
        return (stamps[max(0, index - 1)][1], source, offset)


def clock_of(seen: Iterable[Seen], tracebacks: Iterable[tuple[Traceback, int]]) -> Clock:
    """Build the clock of a job."""
    stamps = [(one.finding.source, one.finding.offset, one.finding.time) for one in seen]
    return Clock([*stamps, *((one.source, one.offset, one.time) for one, _ in tracebacks)])


class Candidate(NamedTuple):
    """A possible failure and what the run did after it."""

    failure: Failure
    records_after: int
    is_quoted: bool
    """Logged below ERROR: whoever logged it has caught it."""


def failures(seen: Iterable[Seen], tracebacks: Iterable[tuple[Traceback, int]], gathered: Gathered, rules: Mapping[str, Signature], clock: Clock) -> list[Failure]:
    """List what could have ended the run, the first first; what the run demonstrably survived is left out."""
    candidates: list[Candidate] = []
    for one in seen:
        finding = one.finding
        if finding.role == "cause" and rules[finding.signature].fatal:
            failure = Failure(finding.source, finding.line, finding.offset, finding.time, finding.end_line, finding, None)
            candidates.append(Candidate(failure, gathered.records_beside(finding.source, finding.where) - one.records_before, finding.level in QUOTED))
    for traceback, before in tracebacks:
        if not traceback.exception.endswith(CONSEQUENCE_EXCEPTIONS):
            failure = Failure(traceback.source, traceback.exception_line, traceback.offset, traceback.time, traceback.end_line, None, traceback)
            candidates.append(Candidate(failure, gathered.records_beside(traceback.source, traceback.where) - before, traceback.level in QUOTED))
    final = [one for one in candidates if one.records_after < SURVIVED_RECORDS]
    unquoted = [one for one in final if not one.is_quoted]
    # Standard output may arrive long after standard error: a traceback in front of some records may still have ended the run.
    late = [one for one in candidates if one.failure.traceback is not None and one.records_after < BUFFERED_RECORDS]
    return sorted((one.failure for one in unquoted or final or late), key=lambda failure: (_is_of_a_peer(failure), clock.key(failure.source, failure.offset)))


def _is_of_a_peer(failure: Failure) -> bool:
    """Say whether a failure only tells that another process has gone or did not come."""
    if failure.traceback is not None:
        return bool(_OF_A_PEER.search(failure.traceback.message[:600])) or failure.traceback.exception.endswith("ProcessRaisedException")
    return failure.finding is not None and bool(_OF_A_PEER.search(failure.finding.text[:600]))


def events(
    seen: Iterable[Seen], rules: Mapping[str, Signature], first: Failure | None, gathered: Gathered, attempt_starts: Mapping[int, int], clock: Clock, dumps: Container[int] = (),
) -> list[Event]:
    """Give every finding its standing.

    Args:
        seen: the kept findings.
        rules: signatures by id.
        first: the first failure, if there is one.
        gathered: tells how many records followed.
        attempt_starts: raw line by source at which the last attempt begins.
        clock: the order of events.
        dumps: sources that tell how things stand (environment dumps), not what happened when: nothing in them is before or behind the failure.
    """
    found = []
    for one in seen:
        finding = one.finding
        rule = rules[finding.signature]
        after = gathered.records_beside(finding.source, finding.where) - one.records_before
        is_behind = first is not None and clock.key(finding.source, finding.offset) > clock.key(first.source, first.offset)
        factor, because = _standing(finding, rule, first, after, attempt_starts, is_behind=is_behind) if finding.source not in dumps else (1.0, "")
        found.append(Event(finding, factor, because, rule.fatal))
    return sorted(found, key=lambda event: (event.finding.source, event.finding.offset))


def _standing(  # noqa: C901, PLR0911 -- a table of cases, the first that holds
    finding: Finding, rule: Signature, first: Failure | None, records_after: int, attempt_starts: Mapping[int, int], *, is_behind: bool,
) -> tuple[float, str]:
    if finding.role == "harmless":
        return 1.0, ""
    if finding.line < attempt_starts.get(finding.source, 0):
        return _EARLIER_ATTEMPT, "earlier-attempt"
    is_fatal = rule.fatal and finding.role == "cause"
    if is_fatal and records_after >= SURVIVED_RECORDS and (first is None or (finding.source, finding.line) < (first.source, first.line)):
        return _SURVIVED, "survived"
    if first is None:
        return 1.0, ""
    if finding.level in QUOTED and is_fatal and not is_behind and (first.source, first.line) != (finding.source, finding.line):
        return _QUOTED, "survived"
    if not is_behind or (finding.source == first.source and finding.line <= first.end_line):
        return 1.0, ""
    if finding.signature.startswith(ECHOES) and not (first.finding and first.finding.signature.startswith(ECHOES)):
        return _LONG_AFTER, "after-first-failure" if is_fatal else ""
    if finding.signature.startswith(EXITS) and first.traceback is not None and is_fatal:
        return _AFTER, "after-first-failure"
    if finding.source == first.source and finding.line <= first.end_line + 3:
        return 1.0, ""
    if first.finding is not None and (finding.signature == first.finding.signature or finding.text[:120] == first.finding.text[:120]):
        return 1.0, ""
    if finding.source == first.source and finding.line <= first.end_line + SAME_EVENT_LINES:
        return _NEXT_EVENT, "after-first-failure" if is_fatal else ""
    far = finding.source != first.source or finding.line > first.end_line + 10 * SAME_EVENT_LINES
    return (_LONG_AFTER if far else _AFTER), "after-first-failure" if is_fatal else ""


def last_attempts(gathered: Gathered, starts: Sequence[Finding], fatal_lines: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Find where the last attempt of each source begins: at a start marker that stands behind a failure and has something behind it."""
    begins: dict[int, int] = {}
    for finding in starts:
        earlier = [line for line in fatal_lines.get(finding.source, ()) if line < finding.line]
        has_more = gathered.lines.get(finding.source, 0) > finding.line + 1
        if earlier and has_more:
            begins[finding.source] = max(begins.get(finding.source, 0), finding.line)
    return begins
