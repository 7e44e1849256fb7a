"""The analysis: all that a report shows of a job, in every language.

In: the case and its ranking. Out: `Analysis`. Files are looked into a last time, for the lines that
a report quotes. Not here: judging (`inference`), the language and the layout (`report`).
"""

from collections.abc import Container
from dataclasses import replace

from postmortem.case.values import Case
from postmortem.fixes.advised import with_advised
from postmortem.fixes.known import captures_of, known_numbers
from postmortem.fixes.raised import explained
from postmortem.fixes.select import fixes_for
from postmortem.fixes.speakers import own_snippets
from postmortem.fixes.worded_advice import WordedAdvice, text_around, word_advice
from postmortem.inference.doubt import HEALTHY
from postmortem.inference.ranking import NO_CAUSE, Ranked
from postmortem.inference.verdict import Ranking, separated
from postmortem.knowledge.base import KnowledgeBase
from postmortem.model.answer import Cause
from postmortem.model.diagnosis import Analysis, Diagnosis
from postmortem.model.job_facts import Attempt, Framework
from postmortem.model.said import NOTHING, Said, both
from postmortem.model.shown import Event, FirstFailure, Progress, SeriesView
from postmortem.model.wording import worded
from postmortem.story import (
    beginning,
    marks,
    own_code,
    places,
    progress,
    quotes,
    remarks,
    timeline,
)


def tell(case: Case, ranking: Ranking, knowledge: KnowledgeBase) -> Analysis:
    """Put together all that a report shows."""
    gathered, best, is_sound = case.gathered, _best(ranking), _is_sound(case, ranking)
    failure = None
    if not is_sound:
        failure = beginning.first_failure(case, knowledge, area=best.partition(".")[0])
        failure = own_code.with_frame(failure, case)
    excerpt = places.excerpt(case, failure)
    clocks = progress.clocks(gathered, failure, excerpt)
    failure = progress.dated(failure, clocks)
    done = progress.progress_of(gathered, case, failure, best, clocks, case.logs)
    happened, left = timeline.timeline_of(
        case, failure, done, lambda name: knowledge.by_id[name].title, _told(ranking)
    )
    analysis = Diagnosis(
        knowledge_base=knowledge.version,
        sources=tuple(case.sources),
        attempts=_attempts(case),
        outcome=case.outcome,
        frameworks=_frameworks(case),
        verdict=ranking.verdict,
        causes=_causes(case, ranking, knowledge, done, failure),
        signatures=places.signature_hits(case, gathered, knowledge),
        first_failure=failure,
        timeline=tuple(map(_survived, happened)) if is_sound else happened,
        series=_curves(case, failure),
        environment=case.environment,
        settings=dict(case.settings),
        progress=done,
        warnings=(*gathered.warnings, *remarks.all_of(case, ranking, knowledge)),
        excerpt=excerpt,
        marks=marks.marks_of(case, gathered, failure, is_sound=is_sound),
        events_left=left,
        given=tuple(gathered.given),
    )
    settled: Analysis = worded(quotes.quoted(analysis, gathered.origins), Said.settled)
    return settled


def _best(ranking: Ranking) -> str:
    """Give the id of the first cause; where health is not believed, that of no cause."""
    best = ranking.causes[0].id
    is_denied = best.startswith(HEALTHY) and ranking.verdict.cause is None
    return NO_CAUSE if is_denied else best


def _is_sound(case: Case, ranking: Ranking) -> bool:
    """Say whether the run is told to be sound: then nothing in it is shown as a failure."""
    is_healthy = (ranking.verdict.cause or "").startswith(HEALTHY)
    return is_healthy and case.outcome not in {"failed", "stalled"}


def _survived(event: Event[Said]) -> Event[Said]:
    """Tell of what ended nothing as a warning."""
    return replace(event, role="warning") if event.role == "cause" else event


def _told(ranking: Ranking) -> set[tuple[int | None, int | None]]:
    """Give the places of what speaks for the first causes."""
    return {
        (item.source, item.line)
        for cause in ranking.causes[:2]
        for item in cause.evidence
        if item.weight > 0
    }


def _frameworks(case: Case) -> tuple[Framework, ...]:
    lines = case.gathered.facts.framework_lines
    return tuple(
        Framework(name, version, lines.get(name, 0)) for name, version in case.frameworks.items()
    )


def _causes(
    case: Case,
    ranking: Ranking,
    knowledge: KnowledgeBase,
    done: Progress,
    failure: FirstFailure[Said] | None,
) -> tuple[Cause[Said], ...]:
    known, answer = known_numbers(case, done), ranking.verdict
    proved = answer.cause if answer.status == "established" else None
    best = ranking.causes[0]
    causes = [
        _cause(ranked, best, case, knowledge, known, is_proved=ranked.id == proved)
        for ranked in ranking.causes
    ]
    advice = _advice(case, best, knowledge, failure)
    if advice is None:
        return tuple(causes)
    return tuple(
        _advised(
            cause,
            advice,
            own_snippets(case, knowledge.stacks, cause.id),
            is_best=cause.id == best.id,
        )
        for cause in causes
    )


def _advice(
    case: Case, best: Ranked, knowledge: KnowledgeBase, failure: FirstFailure[Said] | None
) -> WordedAdvice | None:
    """Find what the message of the first failure asks for."""
    if failure is None:
        return None
    signs = sorted(
        (item for item in best.evidence if item.kind == "signature" and item.weight > 0),
        key=lambda item: -item.weight,
    )
    found = explained(case, knowledge, failure.source, failure.line, [one.id for one in signs])
    return None if found is None else word_advice(found, text_around(found, case))


def _advised(
    cause: Cause[Said], advice: WordedAdvice, own: Container[str], *, is_best: bool
) -> Cause[Said]:
    """Let the message speak before the general text and the general fixes of a cause."""
    if not advice.fits(cause.id, cause.evidence, is_best=is_best):
        return cause
    return replace(
        cause,
        explanation=advice.explanation or cause.explanation,
        fixes=advice.before(cause.id, cause.fixes, own),
    )


def _cause(
    ranked: Ranked,
    best: Ranked,
    case: Case,
    knowledge: KnowledgeBase,
    known: dict[str, str],
    *,
    is_proved: bool,
) -> Cause[Said]:
    explanation = knowledge.cause(ranked.id).explanation
    extra = known | captures_of(ranked.evidence, case)
    fixes = fixes_for(ranked.id, case, knowledge, is_proved=is_proved, extra=extra)
    return Cause(
        ranked.id,
        ranked.id.split(".")[0],
        knowledge.title(ranked.id),
        ranked.probability,
        both(explanation) if explanation else NOTHING,
        ranked.evidence,
        with_advised(fixes, ranked.evidence, knowledge.advisories, case),
        ranked.score,
        separated(best.id, ranked.id, knowledge),
    )


def _curves(case: Case, failure: FirstFailure[Said] | None) -> tuple[SeriesView, ...]:
    series = sorted(
        case.gathered.copies.leading(case.gathered.series),
        key=lambda curve: (curve.source, curve.name, curve.where.rank or 0, curve.producer),
    )
    return tuple(
        places.series_view(curve, failure, len(series)) for curve in series if curve.points
    )


def _attempts(case: Case) -> tuple[Attempt, ...]:
    found = []
    mirrored = {source for source, _ in case.gathered.copies.mirrored}
    for index, source in enumerate(case.sources):
        is_log = source.kind in {"log", "notebook"} and index not in mirrored
        if not is_log or not source.lines:
            continue
        begin = case.begins.get(index, 1)
        if begin > 1:
            found.append(Attempt(index, 1, min(begin - 1, source.lines), "failed"))
        if begin <= source.lines:
            found.append(Attempt(index, begin, source.lines, case.outcome))
    return tuple(found)
