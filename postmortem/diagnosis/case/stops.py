"""Put what stopped a whole job from outside before the processes that were only hit by it.

In: failures in their order so far. Out: the same, who tells the reason first. Not here: the order
of all other failures (`case.order`), watchdogs (`case.waiting`).
"""

from collections.abc import Callable

from postmortem.diagnosis.case.failures import Failure
from postmortem.diagnosis.case.waiting import is_collective_wait
from postmortem.rules.traits import Trait, has_trait


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
