"""Build the analysis: all that a report shows of a job, in every language.

In: the case and its ranking. Out: `Analysis`. Files are looked into a last time, for the lines that
a report quotes. Not here: judging (`inference`), the language and the layout (`report`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from postmortem.core.answer import Cause, Event, FirstFailure, Progress, SeriesView
from postmortem.core.diagnosis import Analysis, Diagnosis
from postmortem.core.findings import Framework
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import NOTHING, Message, parse_bilingual
from postmortem.core.names import EPOCH, LOSS, PLAIN_LOOP
from postmortem.core.wording import convert_texts
from postmortem.diagnosis.case.outcomes import count_framework_lines, name_outcome
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.fixes.close_names import find_spelling_fix
from postmortem.diagnosis.fixes.exception_advice import (
    WordedAdvice,
    explain_signature,
    explained,
    list_messages,
    text_around,
    word_advice,
)
from postmortem.diagnosis.fixes.figures import collect_captures, collect_known_numbers, set_in
from postmortem.diagnosis.fixes.select import (
    add_advisory_fixes,
    drop_repeated_fixes,
    is_refuted,
    select_fixes,
)
from postmortem.diagnosis.fixes.stack_selection import select_stacks
from postmortem.diagnosis.inference.ranking import RankedCause, is_shown_by_curve
from postmortem.diagnosis.inference.verdict import Ranking, describe_distinction
from postmortem.diagnosis.story import (
    first_failure,
    progress,
    shown_places,
    timeline,
    timeline_events,
)
from postmortem.diagnosis.story.notes import iter_notes
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.series import Series
from postmortem.extraction.headings import list_with_epochs
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.vocabulary import Trait, get_id, has_trait

_SUMMARY: Final = compile_lazily(r"^(?:epoch|train(?:ing)?|avg|average|mean)_loss$")
"""What programs call the training loss of a whole epoch."""
_OF_THE_CURVES: Final = 2
"""Fixes of what the curves show that stand among those of a run that was stopped."""
_MANY_CURVES: Final = 2000
"""Curves of other attempts that are shown."""


def build_analysis(case: Case, ranking: Ranking, knowledge: KnowledgeBase) -> Analysis:
    """Put together all that a report shows."""
    extract, best, is_sound = case.extract, _select_best_cause(ranking), _is_sound(case, ranking)
    failure = None
    if not is_sound:
        failure = first_failure.build_first_failure(case, knowledge, area=best.partition(".")[0])
        failure = shown_places.add_frame(failure, case)
    excerpt = shown_places.build_excerpt(case, failure)
    clocks = progress.collect_stamps(extract, failure, excerpt)
    failure = progress.add_time(failure, clocks)
    done = replace(
        progress.compute_progress(extract, case, failure, best, clocks, case.logs),
        best=progress.find_best_record(extract, knowledge.metrics),
    )
    happened, left = timeline.build_timeline(
        case,
        failure,
        done,
        lambda name: knowledge.by_id[name].title,
        _collect_evidence_places(ranking),
    )
    analysis = Diagnosis(
        knowledge_base=knowledge.version,
        sources=tuple(case.sources),
        attempts=case.attempts,
        outcome=name_outcome(case.outcome, ranking.verdict.cause),
        frameworks=_list_frameworks(case),
        verdict=ranking.verdict,
        causes=_build_causes(case, ranking, knowledge, done, failure),
        signatures=shown_places.list_signature_hits(case, extract, knowledge),
        first_failure=failure,
        timeline=tuple(map(_mark_survived, happened)) if is_sound else happened,
        series=_build_curves(case, failure),
        environment=case.environment,
        settings=dict(case.settings),
        progress=done,
        warnings=(*extract.warnings, *iter_notes(case, ranking, knowledge)),
        excerpt=excerpt,
        marks=timeline_events.list_marks(case, extract, failure, is_sound=is_sound),
        events_left=left,
        given=tuple(extract.input_names),
        other_series=_build_other_curves(case),
    )
    settled: Analysis = convert_texts(
        shown_places.add_quotes(analysis, extract.origins), Message.settled
    )
    return settled


def _select_best_cause(ranking: Ranking) -> str:
    """Give the id of the first cause; where health is not believed, that of no cause."""
    best = ranking.causes[0].id
    is_denied = has_trait(best, Trait.SOUND) and ranking.verdict.cause is None
    return get_id(Trait.NO_CAUSE_SHOWN) if is_denied else best


def _is_sound(case: Case, ranking: Ranking) -> bool:
    """Say whether the verdict is that the run is sound; then nothing is shown as a failure."""
    is_healthy = has_trait(ranking.verdict.cause, Trait.SOUND)
    return is_healthy and case.outcome not in {"failed", "stalled"}


def _mark_survived(event: Event[Message]) -> Event[Message]:
    """Show errors that ended nothing as warnings."""
    return replace(event, role="warning") if event.role == "cause" else event


def _collect_evidence_places(ranking: Ranking) -> set[tuple[int | None, int | None]]:
    """Collect the places of the evidence for the first causes."""
    return {
        (item.source, item.line)
        for cause in ranking.causes[:2]
        for item in cause.evidence
        if item.weight > 0
    }


def _list_frameworks(case: Case) -> tuple[Framework, ...]:
    """Name the stacks that a line shows; a loop that is merely assumed is not named."""
    counted = {name: count_framework_lines(name, case.extract) for name in case.frameworks}
    return tuple(
        Framework(name, version, counted[name])
        for name, version in case.frameworks.items()
        if counted[name] or name != PLAIN_LOOP
    )


def _build_causes(
    case: Case,
    ranking: Ranking,
    knowledge: KnowledgeBase,
    done: Progress,
    failure: FirstFailure[Message] | None,
) -> tuple[Cause[Message], ...]:
    known, answer = collect_known_numbers(case, done), ranking.verdict
    proved = answer.cause if answer.status == "established" else None
    best = ranking.causes[0]
    causes = [
        _build_cause(ranked, best, case, knowledge, known, is_proved=ranked.id == proved)
        for ranked in ranking.causes
    ]
    advice = _build_advice(case, best, knowledge, failure)
    if advice is not None:
        causes = [_apply_advice(cause, advice, is_best=cause.id == best.id) for cause in causes]
    causes = [
        replace(
            cause,
            fixes=drop_repeated_fixes(add_advisory_fixes(cause, knowledge.advisories, case)),
        )
        for cause in causes
    ]
    if failure is not None:
        causes[0] = _put_spelling_first(causes[0], case, knowledge, failure)
    return _join_fixes_of_stopped_run(causes, ranking.causes)


def _put_spelling_first(
    cause: Cause[Message],
    case: Case,
    knowledge: KnowledgeBase,
    failure: FirstFailure[Message],
) -> Cause[Message]:
    """Put a misspelt name of the failure right first; a fix that names both names says the same."""
    messages = list_messages(case, failure.source, failure.line)
    tail = case.extract.tails.get(failure.source, (0, ""))[1]
    found = find_spelling_fix(messages, tail, case.frameworks, knowledge)
    if found is None:
        return cause
    fix, names = found
    others = (one for one in cause.fixes if not all(name in one.title.en for name in names))
    return replace(cause, fixes=(fix, *others))


def _join_fixes_of_stopped_run(
    causes: Sequence[Cause[Message]], ranked: Iterable[RankedCause]
) -> tuple[Cause[Message], ...]:
    """Put what the curves of a run that was stopped ask for behind the first fix of the stop.

    People stop a run that goes wrong; to resume it as it is would not help them.
    """
    best, *others = causes
    shown = {one.id for one in ranked if is_shown_by_curve(one)}
    reason = next((one for one in others if one.id in shown), None)
    if reason is None or not has_trait(best.id, Trait.STOPPED_BY_SOMEBODY):
        return tuple(causes)
    fixes = [*best.fixes[:1], *reason.fixes[:_OF_THE_CURVES], *best.fixes[1:]]
    return (replace(best, fixes=tuple(fixes)), *others)


def _build_advice(
    case: Case, best: RankedCause, knowledge: KnowledgeBase, failure: FirstFailure[Message] | None
) -> WordedAdvice | None:
    """Find what the message of the first failure asks for, or of a cause that ended nothing."""
    signs = sorted(
        (item for item in best.evidence if item.kind == "signature" and item.weight > 0),
        key=lambda item: -item.weight,
    )
    names = [sign.id for sign in signs]
    found = (
        explain_signature(case, knowledge, names)
        if failure is None
        else explained(case, knowledge, failure.source, failure.line, names)
    )
    if found is None:
        return None
    advice, settings = word_advice(found, text_around(found, case)), set_in(case)
    voice = select_stacks(case, knowledge.stacks, best.id)
    fixes = (
        fix if voice.may_say(fix.snippet.en) else replace(fix, snippet=NOTHING, language="")
        for fix in advice.fixes
        if voice.may_say(fix.title.en)
        and not is_refuted(fix, best.id, case, settings, knowledge.actions)
    )
    return advice._replace(fixes=tuple(fixes))


def _apply_advice(cause: Cause[Message], advice: WordedAdvice, *, is_best: bool) -> Cause[Message]:
    """Put advice on the message before the general text and fixes of a cause."""
    if not advice.fits(cause.id, cause.evidence, is_best=is_best):
        return cause
    return replace(
        cause,
        explanation=advice.explanation or cause.explanation,
        fixes=advice.before(cause.id, cause.fixes),
    )


def _build_cause(
    ranked: RankedCause,
    best: RankedCause,
    case: Case,
    knowledge: KnowledgeBase,
    known: dict[str, str],
    *,
    is_proved: bool,
) -> Cause[Message]:
    explanation = knowledge.cause(ranked.id).explanation
    extra = known | collect_captures(ranked.evidence, case)
    fixes = select_fixes(ranked.id, case, knowledge, is_proved=is_proved, extra=extra)
    return Cause(
        ranked.id,
        ranked.id.split(".")[0],
        knowledge.title(ranked.id),
        ranked.probability,
        parse_bilingual(explanation) if explanation else NOTHING,
        ranked.evidence,
        fixes,
        ranked.score,
        describe_distinction(best.id, ranked.id, knowledge),
    )


def _build_curves(case: Case, failure: FirstFailure[Message] | None) -> tuple[SeriesView, ...]:
    numbers = {source: case.number_at(source, begin) for source, begin in case.begins.items()}
    series = list_with_epochs(_sort_series(case.extract))
    return tuple(
        _name_summary(
            shown_places.build_series_view(
                curve, failure, len(series), numbers.get(curve.source, 1)
            ),
            curve,
            series,
        )
        for curve in series
        if curve.points
    )


def _name_summary(view: SeriesView, curve: Series, every: Sequence[Series]) -> SeriesView:
    """Call a figure of whole epochs by its own name, beside that of their steps."""
    bare = LOSS if _SUMMARY.match(curve.name) else curve.name.removeprefix(f"{EPOCH}_")
    is_summary = (
        curve.producer == PLAIN_LOOP
        and bare != curve.name
        and any(
            steps.name == bare
            and (steps.source, steps.where) == (curve.source, curve.where)
            and curve.points <= steps.points
            and not _share_records(curve, steps)
            for steps in every
        )
    )
    return replace(view, name=bare, producer=f"{view.producer}-epoch") if is_summary else view


def _share_records(curve: Series, steps: Series) -> bool:
    """Say whether two series stand in the same records; a bar's draws share a line with others."""
    shared = set(curve.lines).intersection(steps.lines)
    return bool(shared) and sum(line in shared for line in steps.lines) <= len(shared)


def _build_other_curves(case: Case) -> tuple[SeriesView, ...]:
    """Give the curves of the attempts that are not judged, few samples of each."""
    judged = {(source, case.begins.get(source, 1)) for source in range(len(case.sources))}
    series = list_with_epochs(_sort_series(case.whole)) if len(case.attempts) > 1 else []
    found = [
        (part, case.number_at(attempt.source, attempt.first_line))
        for attempt in case.attempts
        if (attempt.source, attempt.first_line) not in judged
        for curve in series
        if curve.source == attempt.source
        and (part := curve.within(attempt.first_line, attempt.last_line)).points
    ]
    parts = [part for part, _ in found[:_MANY_CURVES]]
    return tuple(
        _name_summary(shown_places.build_series_view(part, None, _MANY_CURVES, number), part, parts)
        for part, number in found[:_MANY_CURVES]
    )


def _sort_series(extract: Extract) -> list[Series]:
    return sorted(
        extract.copies.leading(extract.series),
        key=lambda curve: (curve.source, curve.name, curve.where.rank or 0, curve.producer),
    )
