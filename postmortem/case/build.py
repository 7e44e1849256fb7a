"""From what was gathered to the case.

The last attempt, the order of events over all processes, what failed first, how it ended.

In: `Gathered`, the knowledge base. Out: `Case`. Not here: weighing causes (`inference`), what is
told beside them (`story`).
"""

import dataclasses
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from postmortem.case import attempts, failures, in_words, order, outcomes, standing
from postmortem.case.forwarded import forwarding
from postmortem.case.last_words import LastWords, of_logs
from postmortem.case.narrower import is_any_exception, narrowest
from postmortem.case.order_of_time import Clock, skews
from postmortem.case.own_end import own_ends
from postmortem.case.passed_over import ended_nothing
from postmortem.case.survival import Outlived
from postmortem.case.values import Case
from postmortem.facts import fact_store as env
from postmortem.gathering.gathered import Gathered, Seen, of_kind, records_behind
from postmortem.knowledge.base import KnowledgeBase
from postmortem.model.findings import Traceback
from postmortem.shapes import registry
from postmortem.shapes.observed import observe


class _LastAttempt(NamedTuple):
    """What was found of the attempt that counts, the last one."""

    gathered: Gathered
    begins: Mapping[int, int]
    """The raw line at which it begins, by source."""
    seen: Sequence[Seen]
    tracebacks: Sequence[tuple[Traceback, int]]
    """But those that only hand on another one."""

    def holds(self, source: int) -> bool:
        """Say whether a source has a part in it."""
        return self.begins.get(source, 0) <= self.gathered.lines.get(source, 0)


def case_of(gathered: Gathered, knowledge: KnowledgeBase) -> Case:
    """Bring what was gathered into order; nothing in it is changed, and no file is read."""
    about = of_kind(gathered, "environment", "scheduler")
    handed_on = forwarding(gathered.tracebacks)
    seen = _without_copies(_all_seen(gathered, knowledge), gathered, handed_on, knowledge)
    attempt = _last_attempt(gathered, seen, handed_on)
    apart = _skews(attempt)
    clock = _clock(gathered, seen, _needed(attempt, knowledge), apart)
    observed = observe(gathered, attempt.seen, attempt.begins)
    known = registry.found(observed)
    rules = knowledge.by_id
    closing = known.get("closing-words")
    told = [traceback for traceback, _ in attempt.tracebacks]
    ends = own_ends(attempt.seen, told, rules, observed, closing)
    passed = ended_nothing(attempt.seen, attempt.tracebacks, gathered, rules, known, ends)
    outlived = Outlived(
        attempt.tracebacks,
        attempt.seen,
        rules,
        gathered,
        passed,
        None if closing is None else (closing.source, closing.line),
        ends,
    )
    left = _without(outlived, attempt)
    ended_by = _failures(left, about, knowledge, clock)
    spoken = None if ended_by else _last_words(attempt)
    ended_by = ended_by or ([failures.of_traceback(spoken.said)] if spoken is not None else [])
    first = ended_by[0] if ended_by else None
    is_over = spoken is None or spoken.is_end
    outcome = (
        outcomes.how_it_ended(gathered, _counting(attempt, passed), ended_by, known)
        if is_over
        else "unknown"
    )
    return Case(
        events=tuple(
            standing.occurrences(
                seen, knowledge.by_id, first, gathered, attempt.begins, clock, about, outlived
            )
        ),
        tracebacks=_unsurvived(left),
        shapes=registry.with_outcome(observed, known, outcome),
        environment=env.environment(gathered.facts, knowledge.gpus),
        settings=gathered.facts.settings(),
        frameworks=outcomes.frameworks(gathered, knowledge.stacks),
        outcome=outcome,
        first=first,
        begins=attempt.begins,
        skews=apart,
        gathered=gathered,
    )


def _all_seen(gathered: Gathered, knowledge: KnowledgeBase) -> list[Seen]:
    """Give what was found, with what exceptions say that no rule knows, but what does not count."""
    found = gathered.seen()
    found += in_words.told(gathered, found, knowledge)
    return narrowest(found, knowledge.by_id, of_kind(gathered, "environment"))


def _without_copies(
    seen: Sequence[Seen],
    gathered: Gathered,
    handed_on: Container[tuple[int, int]],
    knowledge: KnowledgeBase,
) -> list[Seen]:
    """Leave out what broad rules say of an exception that only hands on another one."""
    lines = {
        (one.source, one.exception_line)
        for one, _ in gathered.tracebacks
        if (one.source, one.offset) in handed_on
    }
    return [
        found
        for found in seen
        if (found.finding.source, found.finding.line) not in lines
        or not is_any_exception(knowledge.by_id[found.finding.signature])
    ]


def _counting(attempt: _LastAttempt, passed: Container[tuple[int, int]]) -> list[Seen]:
    """Give what was found but what ended nothing."""
    return [one for one in attempt.seen if (one.finding.source, one.finding.offset) not in passed]


def _without(outlived: Outlived, attempt: _LastAttempt) -> _LastAttempt:
    """Give the attempt without the tracebacks that it has outlived, and what they hold."""
    return attempt._replace(
        seen=[found for found in attempt.seen if not outlived.holds(found.finding)],
        tracebacks=[
            (traceback, before)
            for traceback, before in attempt.tracebacks
            if not outlived.has(traceback)
        ],
    )


def _unsurvived(attempt: _LastAttempt) -> tuple[Traceback, ...]:
    """Give the tracebacks of the attempt but those that many records follow."""
    return tuple(
        traceback
        for traceback, before in attempt.tracebacks
        if records_behind(attempt.gathered, traceback, before) < failures.BUFFERED_RECORDS
    )


def _last_attempt(
    gathered: Gathered, seen: Sequence[Seen], handed_on: Container[tuple[int, int]]
) -> _LastAttempt:
    findings = [found.finding for found in seen]
    starts = [
        finding
        for finding in findings
        if finding.signature.startswith((attempts.START, attempts.COMMAND))
    ]
    fatal: dict[int, list[int]] = {}
    for finding in findings:
        if finding.role in {"cause", "consequence"}:
            fatal.setdefault(finding.source, []).append(finding.line)
    for traceback, _ in gathered.tracebacks:
        fatal.setdefault(traceback.source, []).append(traceback.line)
    begins = attempts.begin_of_the_last(gathered, starts, fatal, gathered.sources)
    return _LastAttempt(
        gathered,
        begins,
        [found for found in seen if found.finding.line >= begins.get(found.finding.source, 0)],
        [
            (traceback, before)
            for traceback, before in gathered.tracebacks
            if traceback.line >= begins.get(traceback.source, 0)
            and (traceback.source, traceback.offset) not in handed_on
        ],
    )


def _needed(attempt: _LastAttempt, knowledge: KnowledgeBase) -> set[int]:
    """Name the sources that must have times for the clock to be of use."""
    return failures.sources_that_tell(attempt.seen, attempt.tracebacks, knowledge.by_id)


def _failures(
    attempt: _LastAttempt, about: Container[int], knowledge: KnowledgeBase, clock: Clock
) -> list[failures.Failure]:
    """List what could have ended the run: what the logs tell of, else what files about it do."""
    gathered = attempt.gathered
    in_logs = [found for found in attempt.seen if found.finding.source not in about]

    def among(seen: Sequence[Seen]) -> list[failures.Failure]:
        return order.first_to_last(
            seen, attempt.tracebacks, gathered, knowledge.by_id, clock, gathered.sources
        )

    return among(in_logs) or among(attempt.seen)


def _skews(attempt: _LastAttempt) -> dict[int, float]:
    """Find clocks that stand apart among the files of the attempt."""
    gathered = attempt.gathered
    current = [source for source in gathered.lines if attempt.holds(source)]
    if len(current) <= 1:
        return {}
    return skews(
        {
            source: (gathered.heads.get(source, ""), gathered.tails.get(source, (0, ""))[1])
            for source in current
        }
    )


def _last_words(attempt: _LastAttempt) -> LastWords | None:
    """Give what ends the log of a run, where nothing tells of a failure.

    Of one that was not training only an exception counts: anything else may be another program's.
    """
    gathered = attempt.gathered
    is_training = any(gathered.records.values())
    known = _explained(attempt)
    for source, found in of_logs(gathered, known):
        if attempt.holds(source) and (is_training or found.is_end):
            where = found.said.where.filled(gathered.sources[source].where)
            return found._replace(said=dataclasses.replace(found.said, where=where))
    return None


def _explained(attempt: _LastAttempt) -> dict[int, set[int]]:
    """Give the lines, by source, that a rule or a traceback explains."""
    spans = [
        (found.finding.source, found.finding.line, found.finding.end_line)
        for found in attempt.seen
        if found.finding.role != "context"
    ]
    spans += [
        (traceback.source, traceback.line, traceback.end_line)
        for traceback, _ in attempt.gathered.tracebacks
    ]
    known: dict[int, set[int]] = {}
    for source, first, last in spans:
        known.setdefault(source, set()).update(range(first, last + 1))
    return known


def _clock(
    gathered: Gathered, seen: Iterable[Seen], needed: Iterable[int], apart: Mapping[int, float]
) -> Clock:
    """Build the clock from every time beside a finding, a traceback or a possible failure."""
    times: list[tuple[int, int, str | None]] = [
        (found.finding.source, found.finding.offset, found.finding.time) for found in seen
    ]
    times += [
        (traceback.source, traceback.offset, traceback.time) for traceback, _ in gathered.tracebacks
    ]
    times += [
        (source, offset, time)
        for source, stamps in gathered.stamps.items()
        for offset, time in stamps
    ]
    return Clock(times, apart, needed)
