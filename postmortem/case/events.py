"""What each finding is worth, given the first failure.

What came after it, was survived or belongs to an earlier attempt counts less.

In: gathered findings of all sources, the first failure. Out: `Event`s with a factor.
Not here: which failure came first (`inference.order`), weights of signatures.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Final

from postmortem.case.case import Event
from postmortem.case.clock import Clock
from postmortem.case.order import QUOTED, SURVIVED_RECORDS, Failure, may_have_waited, waited
from postmortem.gathering.gathered import Gathered, Seen
from postmortem.knowledge.base import Signature
from postmortem.model.findings import Finding

SAME_EVENT_LINES: Final = 60
ECHOES: Final = ("distributed.", "unknown.")
"""Collectives and launchers fail because a peer has failed: behind another failure they are its echo."""
EXITS: Final = "scheduler."
"""A scheduler that ends what is left of a job behind an exception names the exit, however near it stands."""
_AFTER: Final = 0.55
_LONG_AFTER: Final = 0.35
_NEXT_EVENT: Final = 0.75
_SURVIVED: Final = 0.2
_QUOTED: Final = 0.4
_EARLIER_ATTEMPT: Final = 0.2


def events(
    seen: Iterable[Seen],
    rules: Mapping[str, Signature],
    first: Failure | None,
    gathered: Gathered,
    attempt_starts: Mapping[int, int],
    clock: Clock,
    dumps: Container[int] = (),
) -> list[Event]:
    """Give every finding its standing.

    Args:
        seen: the kept findings.
        rules: signatures by id.
        first: the first failure, if there is one.
        gathered: tells how many records followed.
        attempt_starts: raw line by source at which the last attempt begins.
        clock: the order of events.
        dumps: sources that tell how things stand (environment dumps), not what happened when:
            nothing in them is before or behind the failure.
    """
    found = []
    for one in seen:
        finding = one.finding
        rule = rules[finding.signature]
        after = gathered.records_beside(finding.source, finding.where) - one.records_before
        is_behind = first is not None and _is_behind(finding, first, clock)
        factor, because = (
            _standing(finding, rule, first, after, attempt_starts, is_behind=is_behind)
            if finding.source not in dumps
            else (1.0, "")
        )
        found.append(Event(finding, factor, because, rule.fatal))
    return sorted(found, key=lambda event: (event.finding.source, event.finding.offset))


def _is_behind(finding: Finding, first: Failure, clock: Clock) -> bool:
    """Say whether a finding stands behind the first failure.

    A watchdog of another process that may have waited for it does.
    """
    if clock.key(finding.source, finding.offset) > clock.key(first.source, first.offset):
        return True
    return not waited(first.finding) and may_have_waited(finding, first, clock)


def _standing(  # noqa: C901, PLR0911 -- a table of cases, the first that holds
    finding: Finding,
    rule: Signature,
    first: Failure | None,
    records_after: int,
    attempt_starts: Mapping[int, int],
    *,
    is_behind: bool,
) -> tuple[float, str]:
    if finding.role == "harmless":
        return 1.0, ""
    if finding.line < attempt_starts.get(finding.source, 0):
        return _EARLIER_ATTEMPT, "earlier-attempt"
    is_fatal = rule.fatal and finding.role == "cause"
    if (
        is_fatal
        and records_after >= SURVIVED_RECORDS
        and (first is None or (finding.source, finding.line) < (first.source, first.line))
    ):
        return _SURVIVED, "survived"
    if first is None:
        return 1.0, ""
    if (
        finding.level in QUOTED
        and is_fatal
        and not is_behind
        and (first.source, first.line) != (finding.source, finding.line)
    ):
        return _QUOTED, "survived"
    if not is_behind or (finding.source == first.source and finding.line <= first.end_line):
        return 1.0, ""
    if finding.signature.startswith(ECHOES) and not (
        first.finding and first.finding.signature.startswith(ECHOES)
    ):
        return _LONG_AFTER, "after-first-failure" if is_fatal else ""
    if finding.signature.startswith(EXITS) and first.traceback is not None and is_fatal:
        return _AFTER, "after-first-failure"
    if finding.source == first.source and finding.line <= first.end_line + 3:
        return 1.0, ""
    if first.finding is not None and (
        finding.signature == first.finding.signature
        or finding.text[:120] == first.finding.text[:120]
    ):
        return 1.0, ""
    if finding.source == first.source and finding.line <= first.end_line + SAME_EVENT_LINES:
        return _NEXT_EVENT, "after-first-failure" if is_fatal else ""
    far = finding.source != first.source or finding.line > first.end_line + 10 * SAME_EVENT_LINES
    return (_LONG_AFTER if far else _AFTER), "after-first-failure" if is_fatal else ""
