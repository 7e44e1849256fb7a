"""Build the case of a job from its extract.

The last attempt, the order of events over all processes, what failed first, how it ended.

In: `Extract`, the knowledge base. Out: `Case`. Not here: weighing causes (`inference`), what a
report shows besides (`story`).
"""

import dataclasses
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import Attempt, Traceback
from postmortem.core.message import cut, quote
from postmortem.diagnosis.case import attempts, failures, order, outcomes
from postmortem.diagnosis.case.final_errors import FinalError, find_broad_matches, find_final_errors
from postmortem.diagnosis.case.nonfatal import find_interrupted, find_nonfatal, forwarding
from postmortem.diagnosis.case.order_of_time import Clock, estimate_clock_skews
from postmortem.diagnosis.case.outcomes import find_completion_notices, find_reached_plan
from postmortem.diagnosis.case.relevance import (
    build_occurrences,
    drop_less_specific,
    is_any_exception,
)
from postmortem.diagnosis.case.survived_errors import SurvivedErrors, is_outlived_by_run
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.detectors import registry
from postmortem.diagnosis.detectors.boosted_trees import CurveModel
from postmortem.diagnosis.detectors.observed import Anomaly, Observed, build_observed
from postmortem.extraction.extract import (
    Extract,
    Sighting,
    count_records_after,
    select_sources_by_type,
)
from postmortem.extraction.facts.fact_store import build_environment
from postmortem.rules.base import KnowledgeBase, Signature

_MOST_TEXT: Final = 200
"""Characters of an error that is quoted."""


class _Attempt(NamedTuple):
    """What was found of one attempt."""

    extract: Extract
    begins: Mapping[int, int]
    """The raw line at which it begins, by source, where that is not the first."""
    seen: Sequence[Sighting]
    tracebacks: Sequence[tuple[Traceback, int]]
    """But those that only hand on another one."""

    def holds(self, source: int) -> bool:
        """Say whether a source has a part in it."""
        return self.begins.get(source, 0) <= self.extract.lines.get(source, 0)


def build_case(
    extract: Extract,
    knowledge: KnowledgeBase,
    asked: int | None = None,
    open_curve_model: Callable[[], CurveModel] | None = None,
) -> Case:
    """Bring what was gathered into order; nothing in it is changed, and no log is read.

    Args:
        extract: what was read.
        knowledge: the rules.
        asked: the number of the attempt to judge, the last without one.
        open_curve_model: gives the model that is asked about curves that decide nothing by
            themselves; none is asked without it.

    Raises:
        UsageError: there is no such attempt.
    """
    spans = attempts.list_spans(extract)
    number, count = attempts.choose_attempt(spans, asked), attempts.count_attempts(spans)
    outcomes_of, before = [], None
    ends = attempts.list_last_epochs(extract, spans)
    for one in range(1, count + 1):
        part, begins = attempts.select_attempt(extract, spans, one)
        others = {epoch for number_of, epoch in ends if number_of != one}
        opener = open_curve_model if one == number else None
        built = _build_attempt(part, begins, others, knowledge, opener)
        kind = built.first.kind if built.first is not None else None
        outcomes_of.append(outcomes.name_outcome(built.outcome, kind))
        if one == number - 1:
            before = built.first
        if one == number:
            case = built
    return dataclasses.replace(
        case,
        attempts=tuple(
            Attempt(span.source, span.first, span.last, outcomes_of[span.number - 1])
            for span in spans
        ),
        attempt=number,
        before=before,
        whole=extract,
    )


def _build_attempt(
    extract: Extract,
    begins: Mapping[int, int],
    other_last_epochs: Collection[float],
    knowledge: KnowledgeBase,
    open_curve_model: Callable[[], CurveModel] | None,
) -> Case:
    """Bring what was read of one attempt into order.

    First its anomalies, then what ended nothing, the failures in order, the outcome, and last the
    anomalies that depend on the outcome.
    """
    dump_sources = select_sources_by_type(extract, "environment", "scheduler")
    forwarded, seen = _collect_own_findings(extract, knowledge)
    attempt = _select_attempt(extract, begins, seen, forwarded)
    clock_skews = _find_clock_skews(attempt)
    clock = _build_clock(
        extract, seen, _find_sources_needing_times(attempt, knowledge), clock_skews
    )
    observed = build_observed(extract, attempt.seen, attempt.begins, knowledge)
    known = registry.detect_anomalies(observed)
    known |= find_reached_plan(attempt.extract, other_last_epochs)
    survived, nonfatal_places = _find_survived(attempt, observed, known, knowledge.by_id)
    unsurvived = _drop_survived_tracebacks(survived, attempt)
    known |= _find_handled_error(survived, attempt)
    ended_by = _list_failures(unsurvived, dump_sources, knowledge, clock)
    final_error = None if ended_by else _find_final_error(attempt)
    if final_error is not None:
        ended_by = [failures.build_from_traceback(final_error.traceback)]
    first = ended_by[0] if ended_by else None
    is_over = final_error is None or final_error.is_end
    fatal_findings = _drop_nonfatal_findings(unsurvived, nonfatal_places)
    outcome = _infer_outcome(attempt, fatal_findings, ended_by, known) if is_over else "unknown"
    return Case(
        events=tuple(
            build_occurrences(seen, knowledge.by_id, first, extract, clock, dump_sources, survived)
        ),
        tracebacks=_list_unsurvived_tracebacks(unsurvived),
        anomalies=registry.add_outcome_anomalies(
            observed, known, outcome, open_curve_model, was_stopped=_was_stopped(outcome, first)
        ),
        environment=build_environment(extract.facts, knowledge.gpus),
        settings=extract.facts.settings(),
        frameworks=outcomes.get_framework_versions(extract, knowledge.stacks),
        outcome=outcome,
        first=first,
        begins=attempt.begins,
        skews=clock_skews,
        anomaly_types=knowledge.anomalies,
        extract=extract,
    )


def _find_survived(
    attempt: _Attempt,
    observed: Observed,
    known: Mapping[str, Anomaly],
    rules: Mapping[str, Signature],
) -> tuple[SurvivedErrors, frozenset[tuple[int, int]]]:
    """Find the errors that the run survived, and the places of the findings that ended nothing."""
    closing, extract = known.get("closing-words"), attempt.extract
    tracebacks = [traceback for traceback, _ in attempt.tracebacks]
    completion_lines = find_completion_notices(attempt.seen, tracebacks, rules, observed, closing)
    nonfatal_places = find_nonfatal(
        attempt.seen, attempt.tracebacks, extract, rules, known, completion_lines
    )
    survived = SurvivedErrors(
        attempt.tracebacks,
        attempt.seen,
        rules,
        extract,
        nonfatal_places,
        None if closing is None else (closing.source, closing.line),
        completion_lines,
    )
    return survived, nonfatal_places


def _was_stopped(outcome: str, first: failures.Failure | None) -> bool:
    """Say whether what failed was stopped from outside."""
    return first is not None and outcomes.name_outcome(outcome, first.kind) == "cancelled"


def _infer_outcome(
    attempt: _Attempt,
    counted: Sequence[Sighting],
    ended_by: Sequence[failures.Failure],
    known: Mapping[str, Anomaly],
) -> str:
    """Infer how the run ended; one that survived an error is a log, whatever else it lacks."""
    outcome = outcomes.infer_outcome(attempt.extract, counted, ended_by, known)
    has_errors = bool(attempt.seen or attempt.tracebacks)
    if outcome == outcomes.NO_LOG and has_errors and not outcomes.is_without_log(attempt.extract):
        return "incomplete"
    return outcome


def _collect_findings(extract: Extract, knowledge: KnowledgeBase) -> list[Sighting]:
    """Give what was found, with what exceptions say that no rule knows, but what does not count."""
    found = extract.seen()
    found += find_broad_matches(extract, found, knowledge)
    return drop_less_specific(
        found, knowledge.by_id, select_sources_by_type(extract, "environment")
    )


def _collect_own_findings(
    extract: Extract, knowledge: KnowledgeBase
) -> tuple[set[tuple[int, int]], list[Sighting]]:
    """Give the tracebacks that only follow from another one, and the findings without theirs."""
    interrupted = find_interrupted(extract.tracebacks)
    handed_on = {
        *forwarding(extract.tracebacks),
        *((met.source, met.offset) for met in interrupted),
    }
    found = _drop_within(interrupted, _collect_findings(extract, knowledge))
    return handed_on, _drop_copies(found, extract, handed_on, knowledge)


def _drop_copies(
    seen: Sequence[Sighting],
    extract: Extract,
    handed_on: Container[tuple[int, int]],
    knowledge: KnowledgeBase,
) -> list[Sighting]:
    """Leave out what broad rules say of an exception that only hands on another one."""
    lines = {
        (traceback.source, traceback.exception_line)
        for traceback, _ in extract.tracebacks
        if (traceback.source, traceback.offset) in handed_on
    }
    return [
        found
        for found in seen
        if (found.finding.source, found.finding.line) not in lines
        or not is_any_exception(knowledge.by_id[found.finding.signature])
    ]


def _drop_within(tracebacks: Iterable[Traceback], seen: Sequence[Sighting]) -> Sequence[Sighting]:
    """Leave out what stands on the lines of some tracebacks."""
    lines = {
        (traceback.source, line)
        for traceback in tracebacks
        for line in range(traceback.line, traceback.end_line + 1)
    }
    return [found for found in seen if (found.finding.source, found.finding.line) not in lines]


def _drop_nonfatal_findings(
    attempt: _Attempt, passed: Container[tuple[int, int]]
) -> list[Sighting]:
    """Give what was found but what ended nothing."""
    return [
        sighting
        for sighting in attempt.seen
        if (sighting.finding.source, sighting.finding.offset) not in passed
    ]


def _drop_survived_tracebacks(outlived: SurvivedErrors, attempt: _Attempt) -> _Attempt:
    """Give the attempt without the tracebacks that it has outlived, and what they hold."""
    return attempt._replace(
        seen=[found for found in attempt.seen if not outlived.holds(found.finding)],
        tracebacks=[
            (traceback, before)
            for traceback, before in attempt.tracebacks
            if not outlived.has(traceback)
        ],
    )


def _find_handled_error(outlived: SurvivedErrors, attempt: _Attempt) -> dict[str, Anomaly]:
    """Find the last error that the program has caught, and behind which it goes on."""
    handled = [
        traceback
        for traceback, _ in attempt.tracebacks
        if is_outlived_by_run(traceback) and outlived.has(traceback)
    ]
    if not handled:
        return {}
    last = handled[-1]
    text = quote(cut(f"{last.exception}: {last.message}", _MOST_TEXT))
    name = "handled-error"
    return {name: Anomaly(name, text, last.source, last.where, last.went_on)}


def _list_unsurvived_tracebacks(attempt: _Attempt) -> tuple[Traceback, ...]:
    """Give the tracebacks of the attempt but those that many records follow."""
    return tuple(
        traceback
        for traceback, before in attempt.tracebacks
        if count_records_after(attempt.extract, traceback, before) < failures.BUFFERED_RECORDS
    )


def _select_attempt(
    extract: Extract,
    begins: Mapping[int, int],
    seen: Sequence[Sighting],
    handed_on: Container[tuple[int, int]],
) -> _Attempt:
    tracebacks = [
        (traceback, before)
        for traceback, before in extract.tracebacks
        if (traceback.source, traceback.offset) not in handed_on
    ]
    return _Attempt(extract, begins, seen, tracebacks)


def _find_sources_needing_times(attempt: _Attempt, knowledge: KnowledgeBase) -> set[int]:
    """Name the sources that must have times for the clock to be of use."""
    return failures.find_reporting_sources(attempt.seen, attempt.tracebacks, knowledge.by_id)


def _list_failures(
    attempt: _Attempt, about: Container[int], knowledge: KnowledgeBase, clock: Clock
) -> list[failures.Failure]:
    """List what could have ended the run, by the logs, else by files about the run."""
    extract = attempt.extract
    in_logs = [found for found in attempt.seen if found.finding.source not in about]

    def among(seen: Sequence[Sighting]) -> list[failures.Failure]:
        return order.list_failures_in_order(
            seen, attempt.tracebacks, extract, knowledge.by_id, clock, extract.sources
        )

    return among(in_logs) or among(attempt.seen)


def _find_clock_skews(attempt: _Attempt) -> dict[int, float]:
    """Find clocks that stand apart among the files of the attempt."""
    extract = attempt.extract
    current = [source for source in extract.lines if attempt.holds(source)]
    if len(current) <= 1:
        return {}
    return estimate_clock_skews(
        {
            source: (extract.heads.get(source, ""), extract.tails.get(source, (0, ""))[1])
            for source in current
        }
    )


def _find_final_error(attempt: _Attempt) -> FinalError | None:
    """Find the final error of a log in which nothing else reports a failure.

    Of one that was not training only an exception or the last line counts: anything else may be
    another program's.
    """
    extract = attempt.extract
    is_training = any(extract.records.values())
    known = _collect_explained_lines(attempt)
    for source, found in find_final_errors(extract, known):
        if attempt.holds(source) and (is_training or found.is_end or found.is_last):
            where = found.traceback.where.filled(extract.sources[source].where)
            return found._replace(traceback=dataclasses.replace(found.traceback, where=where))
    return None


def _collect_explained_lines(attempt: _Attempt) -> dict[int, set[int]]:
    """Give the lines, by source, that a rule or a traceback explains."""
    spans = [
        (found.finding.source, found.finding.line, found.finding.end_line)
        for found in attempt.seen
        if found.finding.role != "context"
    ]
    spans += [
        (traceback.source, traceback.line, traceback.end_line)
        for traceback, _ in attempt.extract.tracebacks
    ]
    known: dict[int, set[int]] = {}
    for source, first, last in spans:
        known.setdefault(source, set()).update(range(first, last + 1))
    return known


def _build_clock(
    extract: Extract, seen: Iterable[Sighting], needed: Iterable[int], apart: Mapping[int, float]
) -> Clock:
    """Build the clock from the times of all findings, tracebacks and possible failures."""
    times: list[tuple[int, int, str | None]] = [
        (found.finding.source, found.finding.offset, found.finding.time) for found in seen
    ]
    times += [
        (traceback.source, traceback.offset, traceback.time) for traceback, _ in extract.tracebacks
    ]
    times += [
        (source, offset, time)
        for source, stamps in extract.stamps.items()
        for offset, time in stamps
    ]
    return Clock(times, apart, needed)
