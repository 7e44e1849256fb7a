"""Order the failures of a job over files, processes and attempts.

In: what may have ended the run (`case.failures`), with a clock. Out: `Failure`s, the first the
first. Not here: what each of the other findings is still worth (`case.relevance`), which attempt
counts (`case.attempts`).

A process that says itself what went wrong comes before a launcher that tells how a process ended,
and that before a process that waited for another in vain. Among equals the clock decides;
torchelastic's root cause only where the process has left a record of its exception; else it is the
order in which the agent looked, and decides between files without clocks only. What the process's
own file says stands for copies of it in a console log or in an error file.
"""

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from postmortem.core.findings import Traceback
from postmortem.core.job_facts import Source
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.message import Message
from postmortem.diagnosis.case.failures import Failure, list_possible_failures, move_to_front
from postmortem.diagnosis.case.order_of_time import Clock
from postmortem.diagnosis.case.reporter_rank import (
    ITSELF,
    compute_reporter_rank,
    find_root_cause_processes,
    is_named,
)
from postmortem.diagnosis.case.stops import put_stop_reason_first, put_watchdog_before_stop
from postmortem.diagnosis.case.waiting import put_failed_before_waiting
from postmortem.extraction.extract import Extract, Sighting
from postmortem.reading.windows import is_same_process
from postmortem.rules.base import Signature
from postmortem.rules.traits import Trait, has_trait

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
