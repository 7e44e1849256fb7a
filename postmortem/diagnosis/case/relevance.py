"""Weigh each finding by its relation to the first failure.

A finding that came after it or was survived counts less.

In: findings of all sources, the first failure. Out: `Occurrence`s with a factor. Not here: which
failure came first (`case.order`), weights of signatures.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Final, NamedTuple

from postmortem.core.findings import Finding
from postmortem.diagnosis.case.failures import QUOTED, SURVIVED_RECORDS, Failure
from postmortem.diagnosis.case.order_of_time import Clock
from postmortem.diagnosis.case.survived_errors import SurvivedErrors
from postmortem.diagnosis.case.values import Occurrence
from postmortem.diagnosis.case.waiting import is_collective_wait, may_have_waited
from postmortem.extraction.extract import Extract, Sighting, count_records_after
from postmortem.rules.base import Signature
from postmortem.rules.traits import Trait, has_trait

SAME_EVENT_LINES: Final = 60
_FULL: Final = 1.0
_AFTER: Final = 0.55
_LONG_AFTER: Final = 0.35
_NEXT_EVENT: Final = 0.75
_SURVIVED: Final = 0.2
_QUOTED: Final = 0.4
_BEHIND: Final = "after-first-failure"
_SAME_TEXT: Final = 120
_RIGHT_BEHIND: Final = 3
"""Lines within which what follows a failure still belongs to it."""


class _Situation(NamedTuple):
    """A finding, and what its standing depends on."""

    finding: Finding
    is_fatal: bool
    first: Failure | None
    records_after: int
    is_behind: bool
    """It stands behind the first failure."""
    is_outlived: bool
    """It stands within a traceback that ended nothing."""


class _Standing(NamedTuple):
    """How much a finding's evidence counts, and why less than in full."""

    factor: float
    because: str = ""


def build_occurrences(
    seen: Iterable[Sighting],
    rules: Mapping[str, Signature],
    first: Failure | None,
    extract: Extract,
    clock: Clock,
    dumps: Container[int] = (),
    outlived: SurvivedErrors | None = None,
) -> list[Occurrence]:
    """Give every finding its standing.

    Args:
        seen: the kept findings.
        rules: signatures by id.
        first: the first failure, if there is one.
        extract: tells how many records followed.
        clock: the order of events.
        dumps: sources that tell how things stand: nothing in them is before or behind the failure.
        outlived: the tracebacks that ended nothing.
    """
    found = []
    for sight in seen:
        finding, is_fatal = sight.finding, rules[sight.finding.signature].fatal
        standing = _Standing(_FULL)
        if finding.source not in dumps:
            is_behind = first is not None and _is_behind(finding, first, clock)
            is_passed = outlived is not None and outlived.is_passed(finding, first)
            after = count_records_after(extract, finding, sight.records_before)
            is_cause = is_fatal and finding.role == "cause"
            standing = _judge_relevance(
                _Situation(finding, is_cause, first, after, is_behind, is_passed)
            )
        found.append(Occurrence(finding, *standing, is_fatal))
    return sorted(found, key=lambda event: (event.finding.source, event.finding.offset))


def _is_behind(finding: Finding, first: Failure, clock: Clock) -> bool:
    """Say whether a finding stands behind the first failure.

    A watchdog of another process that may have waited for it does.
    """
    if clock.key(finding.source, finding.offset) > clock.key(first.source, first.offset):
        return True
    return not is_collective_wait(first.finding) and may_have_waited(finding, first, clock)


def _judge_relevance(it: _Situation) -> _Standing:
    """Judge a finding by the first case that holds: alone, then relative to the first failure."""
    for holds, standing in _BY_ITSELF:
        if holds(it):
            return standing
    if (first := it.first) is None:
        return _Standing(_FULL)
    applicable = (standing for holds, standing in _STANDINGS if holds(it, first))
    standing = next(applicable, _Standing(_LONG_AFTER, _BEHIND))
    # What is not fatal is no consequence, however late it comes.
    is_kept = it.is_fatal or standing.because != _BEHIND
    return standing if is_kept else _Standing(standing.factor)


def _is_harmless(it: _Situation) -> bool:
    return it.finding.role == "harmless"


def _is_survived(it: _Situation) -> bool:
    """Say whether the run went on behind it, and nothing had failed before it."""
    is_before = it.first is None or _place(it.finding) < _place(it.first)
    return it.is_fatal and it.records_after >= SURVIVED_RECORDS and is_before


def _is_outlived(it: _Situation) -> bool:
    return it.is_outlived


def _is_caught(it: _Situation, first: Failure) -> bool:
    """Say whether it was logged below ERROR before something else failed.

    A signal from outside is no more than a warning to a launcher, and ends the run all the same.
    """
    if has_trait(it.finding.signature, Trait.STOPPED_FROM_OUTSIDE):
        return False
    is_another = _place(it.finding) != _place(first)
    return it.finding.level in QUOTED and it.is_fatal and not it.is_behind and is_another


def _is_not_behind(it: _Situation, first: Failure) -> bool:
    return not it.is_behind or _is_within(it, first, 0)


def _is_echo(it: _Situation, first: Failure) -> bool:
    is_origin = first.finding is not None and has_trait(
        first.finding.signature, Trait.ECHO_OF_A_FAILURE
    )
    return has_trait(it.finding.signature, Trait.ECHO_OF_A_FAILURE) and not is_origin


def _is_echo_origin(it: _Situation, first: Failure) -> bool:
    is_echo = first.finding is not None and has_trait(
        first.finding.signature, Trait.ECHO_OF_A_FAILURE
    )
    return is_echo and it.is_fatal and has_trait(it.finding.signature, Trait.MACHINE_LOST)


def _is_exit_report(it: _Situation, first: Failure) -> bool:
    is_exit = has_trait(it.finding.signature, Trait.STOPPED_FROM_OUTSIDE)
    return is_exit and first.traceback is not None and it.is_fatal


def _is_right_behind(it: _Situation, first: Failure) -> bool:
    return _is_within(it, first, _RIGHT_BEHIND)


def _is_duplicate(it: _Situation, first: Failure) -> bool:
    return first.finding is not None and (
        it.finding.signature == first.finding.signature
        or it.finding.text[:_SAME_TEXT] == first.finding.text[:_SAME_TEXT]
    )


def _is_next(it: _Situation, first: Failure) -> bool:
    return _is_within(it, first, SAME_EVENT_LINES)


def _is_near(it: _Situation, first: Failure) -> bool:
    return _is_within(it, first, 10 * SAME_EVENT_LINES)


def _is_within(it: _Situation, first: Failure, lines: int) -> bool:
    """Say whether a finding stands so many lines behind a failure of its source, or before it."""
    return it.finding.source == first.source and it.finding.line <= first.end_line + lines


def _place(event: Finding | Failure) -> tuple[int, int]:
    return event.source, event.line


_BY_ITSELF: Final[tuple[tuple[Callable[[_Situation], bool], _Standing], ...]] = (
    (_is_harmless, _Standing(_FULL)),
    (_is_survived, _Standing(_SURVIVED, "survived")),
    (_is_outlived, _Standing(_SURVIVED, "survived")),
)
_STANDINGS: Final[tuple[tuple[Callable[[_Situation, Failure], bool], _Standing], ...]] = (
    (_is_caught, _Standing(_QUOTED, "survived")),
    (_is_not_behind, _Standing(_FULL)),
    (_is_echo, _Standing(_LONG_AFTER, _BEHIND)),
    (_is_echo_origin, _Standing(_FULL)),
    (_is_exit_report, _Standing(_AFTER, _BEHIND)),
    (_is_right_behind, _Standing(_FULL)),
    (_is_duplicate, _Standing(_FULL)),
    (_is_next, _Standing(_NEXT_EVENT, _BEHIND)),
    (_is_near, _Standing(_AFTER, _BEHIND)),
)
