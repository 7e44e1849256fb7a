"""Which failure came first: over files, processes and attempts.

In: findings and tracebacks of all sources, with a clock. Out: `Failure`s, the first the first. Not
here: what each of the other findings is still worth (`inference.events`), which attempt counts
(`inference.attempts`).

A failure that the run survived is none. A process that says itself what went wrong comes before a
launcher that tells how a process ended, and that before a process that waited for another in vain.
Among equals the clock decides; torchelastic's root cause only where the process has left a record
of its exception; else it is the order in which the agent looked, and decides between files without
clocks only. What the process's own file says stands for copies of it in a console log or in an
error file.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.case.clock import Clock
from postmortem.gathering.gathered import Gathered, Seen
from postmortem.knowledge.base import Signature
from postmortem.model.diagnosis import Source
from postmortem.model.findings import Finding, Traceback
from postmortem.model.lines import NOWHERE, Where
from postmortem.model.numerals import whole_number
from postmortem.model.said import Said
from postmortem.reading.windows import same_process

SURVIVED_RECORDS: Final = 3
BUFFERED_RECORDS: Final = 20
QUOTED: Final = frozenset({"TRACE", "DEBUG", "INFO", "WARN", "WARNING"})
CONSEQUENCE_EXCEPTIONS: Final = (
    "ChildFailedError",
    "CalledProcessError",
    "SignalException",
    "ProcessExitedException",
    "BrokenProcessPool",
    "KeyboardInterrupt",
    "SystemExit",
)
SUCCESS: Final = "healthy."
ROOT_CAUSE: Final = "context.elastic-root-cause"
NO_FILE: Final = "<N/A>"
_LAUNCHER, _WAITED, _LOST = 1, 2, 3
_IN_VAIN: Final = re.compile(
    r"Timed out waiting \d+ms for (?:recv|send|data)|wait timeout after \d+ms|(?:failed to"
    r" pass|successfully reached) monitoredBarrier"
)
_WATCHDOG: Final = re.compile(
    r"Watchdog caught collective operation timeout(?:.*?ran for (?P<milliseconds>\d{1,10})"
    r" milliseconds)?"
)
_OF_COLLECTIVES: Final = re.compile(
    r"nccl|DistBackendError|ProcessGroup|collective|watchdog|distributed|timed? ?out", re.IGNORECASE
)
_PEER_GONE: Final = re.compile(
    r"Connection (?:closed|reset) by peer|Connection refused.{0,80}remote worker|Broken"
    r" pipe|application timeout caused pair closure"
    r"|remote process exited or there was a network error|Socket closed|failed to recv, got 0"
    r" bytes|^-- Process \d+ terminated",
)


class Failure(NamedTuple):
    """An event that ends a run.

    A fatal finding of role cause, or a traceback that no signature explains.
    """

    source: int
    line: int
    offset: int
    time: str | None
    end_line: int
    finding: Finding | None
    traceback: Traceback | None

    @property
    def where(self) -> Where:
        """The process, as far as it is printed."""
        return (
            self.finding.where
            if self.finding is not None
            else self.traceback.where
            if self.traceback is not None
            else NOWHERE
        )

    def said(self) -> str:
        """Give what a copy of it in another file says as well."""
        if self.traceback is not None:
            return f"{self.traceback.exception}: {self.traceback.message}".split("\n")[0].strip()[
                :160
            ]
        return (self.finding.text.split("\n")[0] if self.finding is not None else "").strip()[:160]


class Candidate(NamedTuple):
    """A possible failure and what the run did after it."""

    failure: Failure
    records_after: int
    is_quoted: bool
    """Logged below ERROR: whoever logged it has caught it."""


def failures(
    seen: Sequence[Seen],
    tracebacks: Sequence[tuple[Traceback, int]],
    gathered: Gathered,
    rules: Mapping[str, Signature],
    clock: Clock,
    sources: Sequence[Source[Said]] = (),
) -> list[Failure]:
    """List what could have ended the run, the first first.

    What the run demonstrably survived is left out.
    """
    candidates: list[Candidate] = []
    for one in seen:
        finding = one.finding
        if finding.role == "cause" and rules[finding.signature].fatal:
            failure = Failure(
                finding.source,
                finding.line,
                finding.offset,
                finding.time,
                finding.end_line,
                finding,
                None,
            )
            candidates.append(
                Candidate(
                    failure,
                    gathered.records_beside(finding.source, finding.where) - one.records_before,
                    finding.level in QUOTED,
                )
            )
    for traceback, before in tracebacks:
        if not traceback.exception.endswith(CONSEQUENCE_EXCEPTIONS):
            failure = of_traceback(traceback)
            candidates.append(
                Candidate(
                    failure,
                    gathered.records_beside(traceback.source, traceback.where) - before,
                    traceback.level in QUOTED,
                )
            )
    final = [one for one in candidates if one.records_after < SURVIVED_RECORDS]
    unquoted = [one for one in final if not one.is_quoted]
    # Standard output may arrive long after standard error: a traceback in front of some records may
    # still have ended the run.
    ends = {
        one.finding.source: one.finding.offset
        for one in seen
        if one.finding.signature.startswith(SUCCESS)
    }
    late = [
        one
        for one in candidates
        if one.failure.traceback is not None
        and one.records_after < BUFFERED_RECORDS
        and ends.get(one.failure.source, -1) < one.failure.offset
    ]
    roots = _roots(seen)
    found = sorted(
        (one.failure for one in unquoted or final or late),
        key=lambda one: _key(one, rules, clock, roots, sources),
    )
    found = _not_waiting(found, rules, clock)
    return (
        [_of_its_own_file(found[0], found, sources, gathered.error_files), *found] if found else []
    )


def _not_waiting(
    found: list[Failure], rules: Mapping[str, Signature], clock: Clock
) -> list[Failure]:
    """Put the failure of a process that failed by itself, unless the clock says that it came later, before a watchdog that waited for it."""
    waiting = found[0].finding if found else None
    if waiting is None or not waited(waiting):
        return found

    def is_own(one: Failure) -> bool:
        said = f"{one.said()} {one.finding.signature}" if one.finding is not None else one.said()
        return (
            one.source != waiting.source
            and _distance(one, rules) == 0
            and not _OF_COLLECTIVES.search(said)
            and may_have_waited(waiting, one, clock)
        )

    own = next((one for one in found if is_own(one)), None)
    return found if own is None else [own, *(one for one in found if one is not own)]


def waited(finding: Finding | None) -> bool:
    """Say whether a finding tells that a collective waited for a peer in vain."""
    return finding is not None and _WATCHDOG.search(finding.text) is not None


def may_have_waited(finding: Finding, failure: Failure, clock: Clock) -> bool:
    """Say whether a watchdog's collective may have waited for a process of another file that has failed: where no time is printed, it fired so long after the last one as it says."""
    match = _WATCHDOG.search(finding.text)
    if match is None or finding.source == failure.source:
        return False
    passed = float(match["milliseconds"] or 0) / 1000 if finding.time is None else 0.0
    return clock.may_precede(
        (failure.source, failure.offset), (finding.source, finding.offset), passed
    )


def of_traceback(one: Traceback) -> Failure:
    """Take an exception as what ended the run."""
    return Failure(one.source, one.exception_line, one.offset, one.time, one.end_line, None, one)


def candidates_in(
    seen: Iterable[Seen],
    tracebacks: Iterable[tuple[Traceback, int]],
    rules: Mapping[str, Signature],
) -> set[int]:
    """Name the sources that may hold the failure: one that a process tells itself."""
    found = {
        one.finding.source
        for one in seen
        if one.finding.role == "cause"
        and rules[one.finding.signature].fatal
        and not rules[one.finding.signature].told_by
    }
    return found | {
        one.source for one, _ in tracebacks if not one.exception.endswith(CONSEQUENCE_EXCEPTIONS)
    }


def _key(
    failure: Failure,
    rules: Mapping[str, Signature],
    clock: Clock,
    roots: Mapping[bool, set[Where]],
    sources: Sequence[Source[Said]],
) -> tuple[int, bool, float, bool, int, int]:
    time, source, offset = clock.key(failure.source, failure.offset)
    is_root = {
        has_file: any(_is_of(failure.where, root) for root in roots[has_file])
        for has_file in (True, False)
    }
    is_elsewhere = (
        source < len(sources)
        and sources[source].where != NOWHERE
        and bool(roots[False])
        and not is_root[False]
    )
    return _distance(failure, rules), not is_root[True], time, is_elsewhere, source, offset


def _distance(failure: Failure, rules: Mapping[str, Signature]) -> int:
    """Say how far from the origin whoever tells it stands: 0 for the process to which it happened."""
    if failure.traceback is not None:
        text = failure.traceback.message[:600]
        if failure.traceback.exception.endswith("ProcessRaisedException"):
            return _LOST
    else:
        text = failure.finding.text[:600] if failure.finding is not None else ""
        if failure.finding is not None and rules[failure.finding.signature].told_by == "launcher":
            return _LAUNCHER
    return _WAITED if _IN_VAIN.search(text) else _LOST if _PEER_GONE.search(text) else 0


def _roots(seen: Iterable[Seen]) -> dict[bool, set[Where]]:
    """Give the processes that agents name as the root cause, those apart that have left a record of their exception."""
    found: dict[bool, set[Where]] = {True: set(), False: set()}
    for one in seen:
        if one.finding.signature == ROOT_CAUSE:
            told = dict(one.finding.captures)
            found[told.get("error_file", NO_FILE) != NO_FILE].add(
                Where(whole_number(told["rank"]), whole_number(told["local_rank"]), None, None)
            )
    return found


def _is_of(where: Where, root: Where) -> bool:
    """Say whether a label names the process of a rank and local rank."""
    if where.rank is not None:
        return where.rank == root.rank
    return where.local_rank is not None and where.local_rank == root.local_rank


def _of_its_own_file(
    first: Failure,
    found: Sequence[Failure],
    sources: Sequence[Source[Said]],
    copies: Container[int],
) -> Failure:
    """Of one failure told in several files, take the telling of the process's own file."""
    if len(sources) <= 1:
        return first

    def distance(one: Failure) -> tuple[bool, bool, bool]:
        own = sources[one.source].where if one.source < len(sources) else NOWHERE
        return (
            one.source in copies,
            own == NOWHERE,
            not (NOWHERE not in (own, first.where) and _same(own, first.where)),
        )

    same = [
        one
        for one in found
        if one.said() == first.said()
        and (NOWHERE in (one.where, first.where) or _same(one.where, first.where))
    ]
    return (
        min(same, key=distance, default=first)
        if distance(first) != (False, False, False)
        else first
    )


def _same(one: Where, other: Where) -> bool:
    """Say whether two labels share a part and differ in none."""
    return same_process(one, other) and any(
        mine is not None and its is not None for mine, its in zip(one, other, strict=True)
    )
