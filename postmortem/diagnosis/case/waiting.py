"""Find watchdogs of collectives that fired because another process had failed before.

In: findings, failures, the clock. Out: whether one waited for the other. Not here: the order of all
other failures (`case.order`).
"""

import re
from collections.abc import Mapping
from typing import Final

from postmortem.core.findings import Finding
from postmortem.core.lazy_regex import compile_lazily
from postmortem.diagnosis.case.failures import Failure, move_to_front
from postmortem.diagnosis.case.order_of_time import Clock
from postmortem.diagnosis.case.reporter_rank import ITSELF, compute_reporter_rank
from postmortem.rules.base import Signature
from postmortem.rules.traits import Trait, has_trait

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
