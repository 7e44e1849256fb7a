"""Order the failures of a job over files, processes and attempts.

In: what may have ended the run (`case.failures`), findings, a clock. Out: `Failure`s, the first the
first; how far a reporter is from the origin, the processes that an agent names as the root cause;
whether a watchdog of a collective fired because another process had failed before. Not here: what
each of the other findings is still worth (`case.relevance`), which attempt counts
(`case.attempts`), the clock (`case.order_of_time`).

A process that says itself what went wrong comes before a launcher that tells how a process ended,
and that before a process that waited for another in vain. What stopped a whole job from outside
comes before the processes that were only hit by it. Among equals the clock decides; torchelastic's
root cause only where the process has left a record of its exception; else it is the order in which
the agent looked, and decides between files without clocks only. What the process's own file says
stands for copies of it in a console log or in an error file.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE, Finding, ProcessId, Source, Traceback
from postmortem.core.log_text import compile_lazily, parse_whole_number
from postmortem.core.message import Message
from postmortem.diagnosis.case.failures import Failure, list_possible_failures, move_to_front
from postmortem.diagnosis.case.order_of_time import Clock
from postmortem.extraction.extract import Extract, Sighting
from postmortem.reading.windows import is_same_process
from postmortem.rules.base import Signature
from postmortem.rules.vocabulary import Trait, has_trait

ROOT_CAUSE: Final = "context.elastic-root-cause"
NO_FILE: Final = "<N/A>"
ITSELF: Final = 0
_LAUNCHER, _WAITED, _LOST = 1, 2, 3
_MOST_TEXT: Final = 600
_IN_VAIN: Final = compile_lazily(
    r"Timed out waiting \d{1,12}ms for (?:recv|send|data)|wait timeout after \d{1,12}ms"
    r"|waiting for clients\b|(?:^|: )Socket Timeout\s*(?:$|\n)"
    r"|\d{1,6}/\d{1,6} clients joined|The client has timed out after|(?:failed to"
    r" pass|successfully reached) monitoredBarrier"
)
_PEER_GONE: Final = compile_lazily(
    r"Connection (?:closed|reset) by peer|Connection refused.{0,80}remote worker|Broken"
    r" pipe|application timeout caused pair closure"
    r"|Got completion from peer .{0,80}status=12\b"
    r"|\bconnect to \S{1,80} (?:returned|failed ?:) Connection refused"
    r"|remote process exited or there was a network error|Socket closed"
    r"|Connection was likely closed|failed to recv, got 0 bytes|^-- Process \d+ terminated",
)

_OF_ANOTHER: Final = compile_lazily(
    r"(?:Train(?:ing|er)?|Task|Job|Worker|Child|Remote|Actor|Trial|Tune|Raylet)[A-Za-z]{0,20}"
    r"(?:Failed|Died|Crashed|Unavailable)[A-Za-z]{0,12}\Z|(?:RayTask|RayActor|Tune)Error\Z"
)
"""Exceptions in which a driver says that one of its processes has failed."""
_OF_SOME: Final = compile_lazily(r"\bCheckpointException\Z")
"""Exceptions that every process raises once it knows which of them have failed."""


def compute_reporter_rank(failure: Failure, rules: Mapping[str, Signature]) -> int:
    """Rank the reporter of a failure: `ITSELF` for the process that failed."""
    finding, traceback = failure.finding, failure.traceback
    reported, own = failure.reported_process.rank, failure.where.rank
    if reported is not None and own is not None and reported != own:
        return _LAUNCHER
    if traceback is not None:
        return _rank_by_exception(traceback)
    if finding is None:
        return ITSELF
    is_launcher = rules[finding.signature].told_by == "launcher"
    return _LAUNCHER if is_launcher else _rank_by_text(finding.text)


def _rank_by_exception(traceback: Traceback) -> int:
    """Rank the reporter by the class of its exception, else by its text."""
    if traceback.exception.endswith("ProcessRaisedException"):
        return _LOST
    if _OF_ANOTHER.search(traceback.exception.partition("(")[0]):
        return _LAUNCHER
    if _OF_SOME.search(traceback.exception):
        return _WAITED
    return _rank_by_text(traceback.message)


def _rank_by_text(text: str) -> int:
    """Recognise by the text a process that waited for its peer or lost it."""
    beginning = text[:_MOST_TEXT]
    if _IN_VAIN.search(beginning):
        return _WAITED
    return _LOST if _PEER_GONE.search(beginning) else ITSELF


def find_root_cause_processes(seen: Iterable[Sighting]) -> dict[bool, set[ProcessId]]:
    """Give the processes that agents name as the root cause.

    By whether they have left a record of their exception.
    """
    found: dict[bool, set[ProcessId]] = {True: set(), False: set()}
    for sight in seen:
        if sight.finding.signature == ROOT_CAUSE:
            captures = dict(sight.finding.captures)
            process = ProcessId(
                parse_whole_number(captures["rank"]),
                parse_whole_number(captures["local_rank"]),
                None,
                None,
            )
            found[captures.get("error_file", NO_FILE) != NO_FILE].add(process)
    return found


def is_named(where: ProcessId, roots: Iterable[ProcessId]) -> bool:
    """Say whether a label names one of the processes that an agent has named."""
    return any(_is_of(where, root) for root in roots)


def _is_of(where: ProcessId, root: ProcessId) -> bool:
    """Say whether a label names the process of a rank and local rank."""
    if where.rank is not None:
        return where.rank == root.rank
    return where.local_rank is not None and where.local_rank == root.local_rank


_WATCHDOG: Final = compile_lazily(
    r"Watchdog caught collective operation timeout(?:.*?ran for (?P<milliseconds>\d{1,10})"
    r" milliseconds)?"
)
_OF_COLLECTIVES: Final = compile_lazily(
    r"nccl|DistBackendError|ProcessGroup|collective|watchdog|distributed|timed? ?out", re.IGNORECASE
)


def is_collective_wait(finding: Finding | None) -> bool:
    """Say whether a finding reports that a collective timed out waiting for a peer."""
    return finding is not None and _WATCHDOG.search(finding.text) is not None


def may_have_waited(finding: Finding, failure: Failure, clock: Clock) -> bool:
    """Say whether a watchdog's collective may have waited for a failed process of another file.

    Where no time is printed, it fired so long after the last one as it says.
    """
    match = _WATCHDOG.search(finding.text)
    if match is None or finding.source == failure.source:
        return False
    passed = float(match["milliseconds"] or 0) / 1000 if finding.time is None else 0.0
    return clock.may_precede(
        (failure.source, failure.offset), (finding.source, finding.offset), passed
    )


def put_failed_before_waiting(
    failures: list[Failure], rules: Mapping[str, Signature], clock: Clock
) -> list[Failure]:
    """Put a process that failed before the watchdog that waited for it.

    Unless the clock says that it failed later.
    """
    watchdog = failures[0].finding if failures else None
    if watchdog is None or not is_collective_wait(watchdog):
        return failures
    own = next(
        (
            failure
            for failure in failures
            if failure.source != watchdog.source
            and _is_own_failure(failure, rules)
            and may_have_waited(watchdog, failure, clock)
        ),
        None,
    )
    return move_to_front(own, failures)


def _is_own_failure(failure: Failure, rules: Mapping[str, Signature]) -> bool:
    """Say whether a process reports its own failure, and not that of a collective."""
    signature = failure.finding.signature if failure.finding is not None else ""
    if has_trait(signature, Trait.ENDS_THE_JOB):
        return False
    signature = f" {signature}"
    return compute_reporter_rank(failure, rules) == ITSELF and not _OF_COLLECTIVES.search(
        failure.format_line() + signature
    )


def put_watchdog_before_stop(failures: list[Failure]) -> list[Failure]:
    """Put a watchdog before a stop from outside that is reported without a comparable clock.

    A collective that has waited for its whole time-out began to wait long before anything that
    ends the job in seconds.
    """
    stop = failures[0] if failures else None
    if stop is None or not has_trait(_get_signature_id(stop), Trait.ENDS_THE_JOB):
        return failures
    return _put_first_match(
        failures,
        lambda failure: (
            is_collective_wait(failure.finding)
            and failure.source != stop.source
            and (failure.time is None or stop.time is None)
        ),
    )


def put_stop_reason_first(failures: list[Failure]) -> list[Failure]:
    """Put the file that says why a job was stopped before processes that only got the signal.

    The signal and the record of it come within the same second, each by another clock.
    """
    hit = failures[0] if failures else None
    if hit is None or not has_trait(_get_signature_id(hit), Trait.SIGNAL_WITHOUT_REASON):
        return failures
    return _put_first_match(
        failures,
        lambda failure: (
            has_trait(_get_signature_id(failure), Trait.STOPPED_FROM_OUTSIDE)
            and not has_trait(_get_signature_id(failure), Trait.SIGNAL_WITHOUT_REASON)
            and failure.source != hit.source
        ),
    )


def _put_first_match(failures: list[Failure], is_it: Callable[[Failure], bool]) -> list[Failure]:
    """Put the first failure of which something holds before all others."""
    found = next(filter(is_it, failures), None)
    if found is None:
        return failures
    return [found, *(failure for failure in failures if failure is not found)]


def _get_signature_id(failure: Failure) -> str:
    return failure.finding.signature if failure.finding is not None else ""


Sources = Sequence[Source[Message]]


def list_failures_in_order(
    seen: Sequence[Sighting],
    tracebacks: Sequence[tuple[Traceback, int]],
    extract: Extract,
    rules: Mapping[str, Signature],
    clock: Clock,
    sources: Sources = (),
) -> list[Failure]:
    """List what could have ended the run, the first first.

    What the run demonstrably survived is left out.
    """
    roots = find_root_cause_processes(seen)
    found = sorted(
        list_possible_failures(seen, tracebacks, extract, rules),
        key=lambda failure: _build_sort_key(failure, rules, clock, roots, sources),
    )
    found = put_failed_before_waiting(put_watchdog_before_stop(found), rules, clock)
    found = put_stop_reason_first(found)
    found = _put_known_cause_first(found, rules, clock)
    if not found:
        return []
    return [_select_own_file_failure(found[0], found, sources, extract.error_files), *found]


class _Key(NamedTuple):
    """What failures sort by."""

    distance: int
    is_not_the_root: bool
    time: float
    is_elsewhere: bool
    """In the file of a process that the agent has not named, while it has named one."""
    source: int
    offset: int


def _build_sort_key(
    failure: Failure,
    rules: Mapping[str, Signature],
    clock: Clock,
    roots: Mapping[bool, set[ProcessId]],
    sources: Sources,
) -> _Key:
    time, source, offset = clock.key(failure.source, failure.offset)
    is_of_a_process = source < len(sources) and sources[source].where != NOWHERE
    unrecorded = roots[False]
    return _Key(
        compute_reporter_rank(failure, rules),
        not is_named(failure.where, roots[True]),
        time,
        is_of_a_process and bool(unrecorded) and not is_named(failure.where, unrecorded),
        source,
        offset,
    )


def _put_known_cause_first(
    failures: list[Failure], rules: Mapping[str, Signature], clock: Clock
) -> list[Failure]:
    """Put a cause that one process alone shows before exceptions of others that nothing explains.

    Where no clock tells which came first, they are what the others met when that one was gone.
    """
    first = failures[0] if failures else None
    if first is None or first.finding is not None or clock.is_of_use:
        return failures
    heads: dict[int, Failure] = {}
    for failure in sorted(
        failures, key=lambda candidate: (candidate.line, candidate.finding is None)
    ):
        heads.setdefault(failure.source, failure)
    own = [head for head in heads.values() if _is_self_explained(head, rules)]
    if len(own) != 1 or len(heads) <= len(own) + 1:
        return failures
    return move_to_front(own[0], failures)


def _is_self_explained(failure: Failure, rules: Mapping[str, Signature]) -> bool:
    """Say whether a process reports its own failure in a wording that a rule knows."""
    finding = failure.finding
    return (
        finding is not None
        and not has_trait(finding.signature, Trait.FOLLOWS_A_PEER)
        and compute_reporter_rank(failure, rules) == ITSELF
    )


def _select_own_file_failure(
    first: Failure, found: Sequence[Failure], sources: Sources, copies: Container[int]
) -> Failure:
    """Of one failure reported in several files, choose the process's own file."""
    if len(sources) <= 1:
        return first

    def strangeness(failure: Failure) -> tuple[bool, bool, bool]:
        is_known = failure.source < len(sources)
        own = sources[failure.source].where if is_known else NOWHERE
        is_own = NOWHERE not in (own, first.where) and _is_compatible_label(own, first.where)
        return failure.source in copies, own == NOWHERE, not is_own

    if not any(strangeness(first)):
        return first
    tellings = [failure for failure in found if _is_the_same(failure, first)]
    return min(tellings, key=strangeness, default=first)


def _is_the_same(failure: Failure, first: Failure) -> bool:
    """Say whether two failures say the same, of what may be the same process."""
    return failure.format_line() == first.format_line() and (
        NOWHERE in (failure.where, first.where) or _is_compatible_label(failure.where, first.where)
    )


def _is_compatible_label(label: ProcessId, other: ProcessId) -> bool:
    """Say whether two labels share a part and differ in none."""
    return is_same_process(label, other) and any(
        mine is not None and its is not None for mine, its in zip(label, other, strict=True)
    )
