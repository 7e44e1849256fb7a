"""Combine the text classifier's opinion with the verdict of the rules.

In: the case, the rules' ranking, an `Opinion`. Out: the ranking with the model's items of evidence,
and with probabilities that were fitted to both. Not here: the model (`classifier`), the weights of
the rules (`inference.scoring`).

Rules name what they know: what the log itself proves is left as it is, and beside a cause that the
rules name the model counts little. It puts forward a cause of its own only where they abstain, and
never one that stands for the absence of another.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from postmortem.core.answer import Evidence
from postmortem.core.findings import Finding
from postmortem.core.message import NOTHING, Message, cut, say
from postmortem.diagnosis.case.order import ROOT_CAUSE
from postmortem.diagnosis.case.outcomes import NO_LOG, is_without_log
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.classifier.models import EvidenceModel
from postmortem.diagnosis.classifier.opinion import Opinion
from postmortem.diagnosis.inference.certainty import (
    FIRM,
    compute_proposal_features,
    compute_share_excess,
    convert_log_odds,
    estimate_probability,
    is_absence,
    log_odds,
)
from postmortem.diagnosis.inference.ranking import TEMPERATURE, RankedCause
from postmortem.diagnosis.inference.scoring import PRIOR, UNPROVED, WEIGHTS, failing_traceback
from postmortem.diagnosis.inference.verdict import Ranking, build_verdict, rank
from postmortem.extraction.line_noise import is_surrounding
from postmortem.reading.prefixes import clean
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.vocabulary import Trait, has_trait

_ITEM: Final = "text-model"
_MODEL_WEIGHT: Final = 0.2
"""Of a model beside rules that name a cause: log-odds for each e-fold of its share."""
_MOST: Final = 1.2
_SMALLEST: Final = 0.1
"""Log-odds of an item beside rules that name a cause, at most, and below which none is made."""
_SPEAKS: Final = 0.6
"""The probability from which on the text names a cause where the rules abstain.

Of logs made blind for their cause, four of five that it names are right.
"""
_SILENT: Final = 0.4
"""The highest probability of what it does not name."""
_SHOWN: Final = 0.5
"""The probability from which on a cause is shown that nothing but the text proposes."""
_FEWEST_LINES: Final = 6
"""Lines of a run that shows how far it got before it stood still."""
_SURE: Final = 0.9
"""The share of another cause from which on a verdict is disputed."""

_TEXT: Final = say("the wording is that of such failures (share {share:.0%}) — {line}")
_OTHER: Final = say("the wording is not that of such failures (share {share:.1%})")


def combine_opinions(
    case: Case,
    knowledge: KnowledgeBase,
    ranking: Ranking,
    ask: Callable[[], Opinion],
    extra: Sequence[tuple[str, Evidence[Message]]] = (),
) -> Ranking:
    """Give the ranking that rules and model come to together.

    The model is asked only where the log itself does not prove a cause. `extra` is the further
    evidence that the ranking has heard.
    """
    if ranking.verdict.status == "established":
        return ranking
    again = _combine(case, knowledge, ranking, ask(), extra)
    return _drop_guesses(again, case, knowledge) if again is not ranking else ranking


def _drop_guesses(ranking: Ranking, case: Case, knowledge: KnowledgeBase) -> Ranking:
    """Leave out what nothing but the text proposes, and that as less likely than not."""
    causes = [cause for cause in ranking.causes if _is_shown(cause) or cause.probability >= _SHOWN]
    if not causes or len(causes) == len(ranking.causes):
        return ranking
    if causes[0] is ranking.causes[0]:
        return Ranking(causes, ranking.verdict)
    return Ranking(causes, build_verdict(causes, case, knowledge))


def _combine(
    case: Case,
    knowledge: KnowledgeBase,
    ranking: Ranking,
    opinion: Opinion,
    extra: Sequence[tuple[str, Evidence[Message]]],
) -> Ranking:
    if _is_raised(ranking, case):
        return _set_first_probability(ranking, _compute_raised_belief(ranking.causes[0], opinion))
    if _is_uninformative(opinion, case):
        return _set_fitted_probability(ranking, opinion)
    again = rank(case, knowledge, [*extra, *_iter_evidence(ranking, knowledge, opinion)])
    if _is_open(ranking) and _is_put_forward(again):
        is_echo = _is_echo(again.causes[0], case, knowledge, opinion)
        return ranking if is_echo else _put_forward(again, ranking, opinion, case, knowledge)
    is_moved = again.verdict.cause != ranking.verdict.cause
    if is_moved and _is_firm(ranking, again) and not _is_taught(again, ranking, opinion):
        again = ranking
    if again.verdict.cause is None:
        return again
    if again.verdict.status == "supported" and (is_moved or _is_disputed(again, opinion)):
        again = Ranking(
            again.causes, build_verdict(again.causes, case, knowledge, is_disputed=True)
        )
    return _set_fitted_probability(again, opinion)


def _is_raised(ranking: Ranking, case: Case) -> bool:
    """Say whether the traceback of the first failure supports a verdict, whatever is worded."""
    failed = failing_traceback(case)
    return (
        failed is not None
        and ranking.verdict.status == "supported"
        and any(
            item.weight >= FIRM
            and item.source == failed.source
            and failed.line <= (item.line or 0) <= failed.end_line
            for item in ranking.causes[0].evidence
        )
    )


def _compute_raised_belief(best: RankedCause, opinion: Opinion) -> float:
    """Give the probability of what a traceback supports: a text makes it surer, never less sure."""
    evidence = opinion.model.evidence
    return max(
        estimate_probability(best, opinion.shares, evidence),
        estimate_probability(best, {}, evidence),
    )


def _is_open(ranking: Ranking) -> bool:
    """Say whether the rules name no cause, or only that some exception was raised.

    One that the user's own code raised is named for itself.
    """
    best = ranking.causes[0]
    is_any = has_trait(best.id, Trait.USER_EXCEPTION) and ranking.verdict.status != "supported"
    return ranking.verdict.cause is None or (
        is_any and max(item.weight for item in best.evidence) < WEIGHTS["strong"]
    )


def _is_uninformative(opinion: Opinion, case: Case) -> bool:
    """Say whether the text suggests no cause, or a standstill that the run does not show."""
    is_little = sum(case.extract.lines.values()) < _FEWEST_LINES
    is_no_run = is_little or case.outcome == NO_LOG or is_without_log(case.extract)
    return not opinion.shares or (
        is_no_run and has_trait(_select_top_cause(opinion), Trait.STANDSTILL)
    )


def bound_by_evidence(ranking: Ranking, evidence: EvidenceModel) -> Ranking:
    """Give what the rules say as far as it may be believed by its evidence alone."""
    if ranking.verdict.status == "established" or ranking.verdict.cause is None:
        return ranking
    return _set_first_probability(ranking, estimate_probability(ranking.causes[0], {}, evidence))


def _set_fitted_probability(ranking: Ranking, opinion: Opinion) -> Ranking:
    """Give the verdict the probability that was fitted to evidence and text."""
    if ranking.verdict.cause is None:
        return ranking
    best, evidence = ranking.causes[0], opinion.model.evidence
    if not _is_shown(best):
        return _set_first_probability(
            ranking, min(UNPROVED, convert_log_odds(compute_text_only_odds(opinion, best.id)))
        )
    return _set_first_probability(ranking, estimate_probability(best, opinion.shares, evidence))


def _set_first_probability(ranking: Ranking, probability: float) -> Ranking:
    """Give the first cause its probability; no other one has a higher."""
    most = round(probability, 4)
    causes = [
        cause._replace(probability=most if not number else min(cause.probability, most))
        for number, cause in enumerate(ranking.causes)
    ]
    return Ranking(causes, dataclasses.replace(ranking.verdict, probability=most))


def _iter_evidence(
    ranking: Ranking, knowledge: KnowledgeBase, opinion: Opinion
) -> Iterator[tuple[str, Evidence[Message]]]:
    best = _select_top_cause(opinion)
    is_open = _is_open(ranking)
    if ranking.verdict.cause is not None:
        yield from _iter_evidence_for_rules(ranking, opinion)
    if best in opinion.model.own:  # a share says no more than that it is none of the others
        if best in knowledge.causes and opinion.shares[best] >= _SURE and opinion.is_that_of(best):
            yield from _iter_text_cause_evidence(best, ranking, knowledge, opinion)
            yield from _iter_user_counterevidence(ranking, opinion)
    elif is_open:
        yield from _iter_text_cause_evidence(best, ranking, knowledge, opinion)


def _iter_evidence_for_rules(
    ranking: Ranking, opinion: Opinion
) -> Iterator[tuple[str, Evidence[Message]]]:
    """Say a little for and against each cause that the rules name."""
    for cause in ranking.causes:
        if cause.id in opinion.shares and not is_absence(cause.id):
            most = 0.0 if _is_opposed(cause) else _MOST
            weight = max(
                -_MOST, min(most, _MODEL_WEIGHT * compute_share_excess(cause.id, opinion.shares))
            )
            if abs(weight) >= _SMALLEST:
                yield cause.id, _build_evidence(cause.id, weight, opinion)


def _iter_user_counterevidence(
    ranking: Ranking, opinion: Opinion
) -> Iterator[tuple[str, Evidence[Message]]]:
    """Hold against what is named for want of a cause that there is one, taught by the user."""
    for cause in ranking.causes:
        if is_absence(cause.id):
            yield cause.id, _build_evidence(cause.id, -WEIGHTS["strong"], opinion)


def _select_top_cause(opinion: Opinion) -> str:
    return max(opinion.shares, key=lambda cause: opinion.shares[cause])


def _is_firm(ranking: Ranking, again: Ranking) -> bool:
    """Say whether no wording moves a verdict.

    Evidence supports it, it is health, which no wording tells from a fault, or nothing else would
    come.
    """
    is_healthy = has_trait(ranking.verdict.cause, Trait.SOUND)
    return ranking.verdict.status == "supported" or is_healthy or is_absence(again.causes[0].id)


def _is_taught(again: Ranking, ranking: Ranking, opinion: Opinion) -> bool:
    """Say whether what was named for want of a cause gives way to one that a user has taught."""
    return again.verdict.cause in opinion.model.own and is_absence(ranking.verdict.cause or "")


def _iter_text_cause_evidence(
    best: str, ranking: Ranking, knowledge: KnowledgeBase, opinion: Opinion
) -> Iterator[tuple[str, Evidence[Message]]]:
    """Put the text's own cause forward, at its odds: before all others only if it is named."""
    if best not in knowledge.causes or _is_cause_without_text(best):
        return
    known = next((cause for cause in ranking.causes if cause.id == best), None)
    if known is not None and _is_opposed(known):
        return
    odds = _compute_text_cause_odds(best, ranking, opinion)
    wanted, first = TEMPERATURE * odds, ranking.causes[0]
    is_wanting = ranking.verdict.cause is None or is_absence(first.id)
    if is_wanting and convert_log_odds(odds) >= _SPEAKS:
        wanted = max(wanted, first.score + _SMALLEST)
    elif not has_trait(first.id, Trait.UNEXPLAINED):
        wanted = min(wanted, first.score - _SMALLEST)
    weight = min(WEIGHTS["strong"], wanted - (PRIOR if known is None else known.score))
    if weight >= _SMALLEST:
        yield best, _build_evidence(best, weight, opinion)


def _is_cause_without_text(cause: str) -> bool:
    """Say whether a cause shows in no text, only in figures or in the absence of others."""
    return is_absence(cause) or has_trait(cause, Trait.SHOWN_BY_CURVES)


def _compute_text_cause_odds(best: str, ranking: Ranking, opinion: Opinion) -> float:
    if best in opinion.model.own:
        return compute_text_only_odds(opinion, best)
    is_candidate = best in {cause.id for cause in ranking.causes}
    features = compute_proposal_features(best, opinion.shares[best], is_candidate=is_candidate)
    return opinion.model.evidence.proposed.odds(features)


def _is_put_forward(ranking: Ranking) -> bool:
    return any(item.kind == "classifier" for item in ranking.causes[0].evidence)


def _is_echo(best: RankedCause, case: Case, knowledge: KnowledgeBase, opinion: Opinion) -> bool:
    """Say whether only a line supports a cause that reports another failure, or is known to a rule.

    What a rule knows of a wording, it says: it suggests other causes. And what tells of
    a version to come is no failure.
    """
    carried = opinion.carried_by(best.id)
    if carried is None:
        return False
    text = clean(carried.text).text
    return is_surrounding(carried.text, text, is_before=False) or (
        not _is_shown(best)
        and any(
            (
                event.finding.role == "consequence"
                or event.finding.signature == ROOT_CAUSE
                or _suggests_others(event.finding, best.id, knowledge)
            )
            and event.finding.source == carried.source
            and event.finding.line <= (carried.line or 0) <= event.finding.end_line
            for event in case.events
        )
    )


def _suggests_others(finding: Finding, cause: str, knowledge: KnowledgeBase) -> bool:
    """Say whether the rule of a finding names causes, and not this one."""
    rule = knowledge.by_id.get(finding.signature)
    suggested = rule.suggests if rule is not None and finding.role == "cause" else {}
    return bool(suggested) and cause not in suggested


def _put_forward(
    again: Ranking,
    ranking: Ranking,
    opinion: Opinion,
    case: Case,
    knowledge: KnowledgeBase,
) -> Ranking:
    """Name the text's own cause where the rules abstain, if that is right often enough."""
    best = again.causes[0].id
    probability = min(UNPROVED, convert_log_odds(_compute_text_cause_odds(best, ranking, opinion)))
    if probability < _SPEAKS:
        probability = min(_SILENT, probability)
    causes = _set_first_probability(again, probability).causes
    return Ranking(causes, build_verdict(causes, case, knowledge, is_disputed=True))


def _is_shown(cause: RankedCause) -> bool:
    """Say whether anything but text supports a cause."""
    return any(item.weight > 0 and item.kind != "classifier" for item in cause.evidence)


def _is_opposed(cause: RankedCause) -> bool:
    """Say whether the rules hold something against a cause: no wording outweighs that."""
    return any(item.weight <= -WEIGHTS["moderate"] for item in cause.evidence)


def compute_text_only_odds(opinion: Opinion, cause: str) -> float:
    """Give the log-odds that a cause is right by the text alone."""
    shift, slope = opinion.model.calibration.alone
    return shift + slope * log_odds(opinion.shares[cause])


def _build_evidence(cause: str, weight: float, opinion: Opinion) -> Evidence[Message]:
    share = opinion.shares.get(cause, 0.0)
    carried = opinion.carried_by(cause) if weight > 0 else None
    if weight < 0 or carried is None:
        text = _OTHER.fill(share=share) if weight < 0 else _TEXT.fill(share=share, line=NOTHING)
        return Evidence("classifier", _ITEM, "classifier", text, round(weight, 3))
    shown = cut(" ".join(carried.text.split()), 200)
    return Evidence(
        "classifier",
        _ITEM,
        "classifier",
        _TEXT.fill(share=share, line=shown),
        round(weight, 3),
        carried.source,
        carried.where,
        carried.line,
        carried.line,
        carried=opinion.telling(cause),
    )


def _is_disputed(ranking: Ranking, opinion: Opinion) -> bool:
    """Say whether the text is surely that of another cause."""
    other = max(opinion.shares, key=lambda cause: opinion.shares[cause])
    return (
        other != ranking.verdict.cause and not is_absence(other) and opinion.shares[other] >= _SURE
    )
