"""Score every cause by its evidence, and limit what the score of health may claim.

In: a `Case` and the knowledge base. Out: `ScoredCause`s with their evidence, best first:
signatures, the conditions of a cause's own file, advisories; the traceback that ended the run,
whether the user's own code raised it, whether a cause rests on more than the class of an exception;
what speaks against health beyond the rules, and the highest probability of a cause. Not here: the
order of events (`case.relevance`), whose code a file is (`extraction.frames`), the order of causes
(`inference.ranking`), the verdict (`inference.verdict`).

The figures are log-odds, in one place, and may be fitted later. A run that goes on proves nothing
yet, and one that survived a failure even less; the same holds of a cause that stands for the
absence of rules.
"""

import functools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from postmortem.core.answer import Evidence
from postmortem.core.findings import Finding, Traceback, iter_chained
from postmortem.core.message import NOTHING, Message, add_label, cut, parse_bilingual, say
from postmortem.diagnosis.case.failures import QUOTED, SURVIVED_RECORDS, is_consequence
from postmortem.diagnosis.case.relevance import is_any_exception
from postmortem.diagnosis.case.values import Case, Occurrence
from postmortem.diagnosis.inference.known_defects import (
    describe_defect,
    find_symptom,
    list_matching_advisories,
)
from postmortem.diagnosis.inference.predicates import Hit, evaluate_conditions
from postmortem.diagnosis.inference.rule_matching import RuleIndex, infer_needs
from postmortem.extraction.extract import count_records_after
from postmortem.rules.base import KnowledgeBase, Signature
from postmortem.rules.cause_rules import Advisory, Argument
from postmortem.rules.exception_rules import Advice, fitting, raised_as
from postmortem.rules.vocabulary import Trait, has_trait

WEIGHTS: Final[Mapping[str, float]] = {"decisive": 5.0, "strong": 3.0, "moderate": 1.6, "weak": 0.7}
PRIOR: Final = -1.5
LATER_SIGNATURES: Final = 0.25
"""Share of the weight of a second, different signature for the same cause in the same group.

Agreement, counted cautiously.
"""

_ENDS: Final = frozenset({"signal", "exit_status"})
"""Facts that tell how a process ended."""


_NO_PLACE: Final = Hit("environment", "", NOTHING)
_Items = defaultdict[str, list[Evidence[Message]]]
"""Evidence by cause."""


@dataclass(frozen=True, slots=True)
class ScoredCause:
    """A cause with its evidence and log-odds."""

    id: str
    score: float
    evidence: tuple[Evidence[Message], ...]


def score(
    case: Case, knowledge: KnowledgeBase, extra: Iterable[tuple[str, Evidence[Message]]] = ()
) -> list[ScoredCause]:
    """Weigh all causes that have any evidence for them, best first.

    `extra` is evidence that no rule has found, with the id of the cause that it is for or against.
    """
    items: _Items = defaultdict(list)
    _add_signature_evidence(case, knowledge, items)
    _add_advisory_evidence(case, knowledge, items)
    for cause, item in extra:
        items[cause].append(item)
    _add_argument_evidence(case, knowledge, items)
    scored = [_score_cause(cause, evidence) for cause, evidence in items.items()]
    return sorted(
        (cause for cause in scored if any(item.weight > 0 for item in cause.evidence)),
        key=lambda cause: (-cause.score, cause.id),
    )


def _add_signature_evidence(case: Case, knowledge: KnowledgeBase, items: _Items) -> None:
    """Take what each signature suggests, where it counts most."""
    best: dict[str, Occurrence] = {}
    for event in case.events:
        known = best.get(event.finding.signature)
        if known is None or event.factor > known.factor:
            best[event.finding.signature] = event
    for event in best.values():
        rule = knowledge.by_id[event.finding.signature]
        for cause, level in rule.suggests.items():
            items[cause].append(_build_signature_evidence(event, rule, level))


def _build_signature_evidence(event: Occurrence, rule: Signature, level: str) -> Evidence[Message]:
    finding = event.finding
    return Evidence(
        "signature",
        rule.id,
        rule.group,
        add_label(rule.title, cut(finding.text.splitlines()[0], 300)),
        round(WEIGHTS[level] * event.factor, 3),
        finding.source,
        finding.where,
        finding.line,
        finding.end_line,
    )


def _add_argument_evidence(case: Case, knowledge: KnowledgeBase, items: _Items) -> None:
    """Take what each cause's own file says for and against it, where it holds."""
    arguments, due = _list_arguments(knowledge)
    for number in due.of(case):
        cause, argument, sign = arguments[number]
        known = case.answers.get(id(argument))
        if known is None:
            hits = evaluate_conditions(argument.asked, case)
            item = None if hits is None else _build_argument_evidence(argument, hits, sign)
            known = case.answers[id(argument)] = (argument, item)
        if known[1] is not None:
            items[cause].append(known[1])


@functools.lru_cache(maxsize=4)
def _list_arguments(
    knowledge: KnowledgeBase,
) -> tuple[Sequence[tuple[str, Argument, int]], RuleIndex]:
    """List the arguments of the cause files for (1) and against (-1) each, with their index."""
    arguments = [
        (cause, argument, sign)
        for cause, rule in knowledge.causes.items()
        for sign, rule_arguments in ((1, rule.supporting), (-1, rule.opposing))
        for argument in rule_arguments
    ]
    return arguments, RuleIndex(infer_needs(argument.asked) for _, argument, _ in arguments)


def _add_advisory_evidence(case: Case, knowledge: KnowledgeBase, items: _Items) -> None:
    """Add the known defects of installed versions whose symptom the run shows."""
    for entry in list_matching_advisories(case, knowledge):
        hits = find_symptom(entry, case)
        for cause, level in entry.causes.items() if hits is not None else ():
            items[cause].append(_build_advisory_evidence(entry, hits or [], case, level))


def _build_advisory_evidence(
    entry: Advisory, hits: list[Hit], case: Case, level: str
) -> Evidence[Message]:
    place = next((hit for hit in hits if hit.line is not None), _NO_PLACE)
    factor = min((hit.factor for hit in hits), default=1.0)
    return Evidence(
        "advisory",
        entry.id,
        "advisory",
        describe_defect(entry, case),
        round(WEIGHTS[level] * factor, 3),
        place.source,
        place.where,
        place.line,
        place.line,
        references=entry.references,
    )


def _build_argument_evidence(item: Argument, hits: list[Hit], sign: int) -> Evidence[Message]:
    absent = Hit("setting", "absent", NOTHING)
    hit = next((hit for hit in hits if hit.line is not None), hits[0] if hits else absent)
    text, shown = parse_bilingual(item.text), hit.message.settled()
    if shown:
        text = say("{text} — {shown}", text=text, shown=shown.cut(240))
    factor = min((hit.factor for hit in hits), default=1.0)
    return Evidence(
        hit.kind,
        hit.id,
        item.group or hit.kind,
        text,
        round(sign * WEIGHTS[item.level] * factor, 3),
        hit.source,
        hit.where,
        hit.line,
        hit.line,
    )


def _drop_duplicate_evidence(evidence: list[Evidence[Message]]) -> list[Evidence[Message]]:
    """Keep the stronger of two items of evidence for the same fact.

    Of an exit status and the signal that it stands for. Signatures of one line share a group, in
    which the second counts little.
    """
    strongest: dict[tuple[object, ...], Evidence[Message]] = {}
    for number, item in enumerate(evidence):
        key: tuple[object, ...] = (number,)
        if item.kind == "environment" and item.id in _ENDS:
            key = (item.group, "end", item.weight > 0)
        if key not in strongest or abs(item.weight) > abs(strongest[key].weight):
            strongest[key] = item
    return list(strongest.values())


def _score_cause(cause: str, evidence: list[Evidence[Message]]) -> ScoredCause:
    evidence = _drop_duplicate_evidence(evidence)
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for item in evidence:
        groups[item.group].append(item.weight)
    total = PRIOR
    for weights in groups.values():
        positive = sorted((weight for weight in weights if weight > 0), reverse=True)
        negative = min((weight for weight in weights if weight < 0), default=0.0)
        total += (
            (positive[0] if positive else 0.0) + negative + LATER_SIGNATURES * sum(positive[1:3])
        )
    ordered = tuple(sorted(evidence, key=lambda item: -abs(item.weight)))
    return ScoredCause(cause, total, ordered)


_ENOUGH: Final = WEIGHTS["moderate"] * 0.7
"""The weight from which on evidence speaks for a narrower cause."""
_OF_THE_FAILURE: Final = frozenset({"signature", "traceback", "advisory"})
"""Kinds of evidence that stand in a message, a statement or a frame."""


def failing_traceback(case: Case) -> Traceback | None:
    """Give the traceback of the first failure, the one that a signature found there stands in."""
    first = case.first
    if first is None or first.traceback is not None:
        return first.traceback if first is not None else None
    around = [
        one
        for one in case.tracebacks
        if one.source == first.source and one.line <= first.line <= one.end_line
    ]
    return min(around, key=lambda one: (one.end_line - one.line, -one.line), default=None)


def own_exception(case: Case) -> Traceback | None:
    """Give the traceback of the first failure if the user's own code raised it."""
    failed = failing_traceback(case)
    if failed is None or not failed.exception or is_consequence(failed):
        return None
    return failed if failed.raised_by_user() else None


def has_narrower(scored: Iterable[ScoredCause], knowledge: KnowledgeBase) -> bool:
    """Say whether a cause other than the user's code rests on more than an exception's class."""
    return any(
        not has_trait(cause.id, Trait.USER_EXCEPTION)
        and not has_trait(cause.id, Trait.UNEXPLAINED)
        and sum(item.weight for item in cause.evidence if _is_narrow(item, knowledge)) >= _ENOUGH
        for cause in scored
    )


def find_known_message(
    failed: Traceback, case: Case, knowledge: KnowledgeBase
) -> tuple[Traceback, Advice] | None:
    """Find what is known of a failure's message, or of one that was raised while it was handled.

    A last resort, which fits any message, is nothing known.
    """
    behind = iter_chained(failed, (traceback for traceback, _ in case.extract.tracebacks))
    for traceback in (failed, *behind):
        raised = raised_as(traceback.exception, traceback.message, traceback.frames)
        found = fitting(raised, knowledge.exceptions)
        if found is not None and not found[0].advice.is_last_resort:
            return traceback, found[0].advice
    return None


def rests_on_message(cause: ScoredCause, knowledge: KnowledgeBase) -> bool:
    """Say whether more than moderate evidence stands in words, not in frames or a class."""
    return any(
        item.kind != "traceback"
        and item.weight > WEIGHTS["moderate"]
        and not (item.id in knowledge.by_id and is_any_exception(knowledge.by_id[item.id]))
        for item in cause.evidence
    )


def is_misuse(failed: Traceback, case: Case, knowledge: KnowledgeBase) -> bool:
    """Say whether the user's code raised an exception, or gave a library what it cannot take."""
    known = find_known_message(failed, case, knowledge)
    return failed.raised_by_user() or (
        known is not None
        and known[0].own_frame() is not None
        and has_trait(known[1].main_cause, Trait.USER_EXCEPTION)
    )


def _is_narrow(item: Evidence[Message], knowledge: KnowledgeBase) -> bool:
    """Say whether an item stands in the failure's words, and is no more than an exception's class.

    What another rule says against a cause counts, whatever it rests on.
    """
    if item.weight < 0:
        return True
    if item.kind not in _OF_THE_FAILURE:
        return False
    rule = knowledge.by_id.get(item.id) if item.kind == "signature" else None
    return rule is None or item.group != rule.group or not is_any_exception(rule)


_BEHIND_FAILURE: Final = -6.0
_TIE: Final = 0.2
"""Log-odds by which health must be ahead of a fault: it wins no tie."""
UNPROVED: Final = 0.75
"""The highest probability of what is left, and of health, without anything that proves it."""
_DOUBT: Final = ((Trait.RUNNING, 0.0), (Trait.COMPLETED, -WEIGHTS["weak"]))
"""The weight below which evidence against a health leaves it unproved."""
_CONTRADICTED: Final = 0.55
"""The same of a health that strong evidence is against: as likely as not."""
_VETOED: Final = 0.4
"""The same of a health that a broken figure vetoes: too little for a verdict."""
MOST_CERTAIN: Final = 0.9999


def reduce_health_score(health: ScoredCause, case: Case, faults: Iterable[float]) -> ScoredCause:
    """Lower the score of health behind a failure, survived or not, and where a fault ties with it.

    Args:
        health: one of the healthy causes.
        case: the evidence.
        faults: scores of the causes that are a fault.
    """
    if case.outcome in {"failed", "stalled"}:
        return ScoredCause(health.id, health.score + _BEHIND_FAILURE, health.evidence)
    survived = _find_survived_failure(case) if has_trait(health.id, Trait.RUNNING) else None
    if survived is not None:
        health = ScoredCause(
            health.id, health.score + survived.weight, (*health.evidence, survived)
        )
    highest = max(faults, default=None)
    lead = math.inf if _is_vetoed(health.evidence) else _TIE
    if highest is not None and 0 <= health.score - highest < lead:
        return ScoredCause(health.id, highest - 0.01, health.evidence)
    return health


def _is_vetoed(evidence: Iterable[Evidence[Message]]) -> bool:
    """Say whether something is shown that no sound run has, whatever its end looks like."""
    return any(item.weight <= -WEIGHTS["decisive"] for item in evidence)


def get_max_probability(cause: str, evidence: Sequence[Evidence[Message]]) -> float:
    """Give the highest probability that a cause may have with its evidence."""
    if has_trait(cause, Trait.SOUND) and _is_vetoed(evidence):
        return _VETOED
    if has_trait(cause, Trait.SOUND) and any(
        item.weight <= -WEIGHTS["strong"] for item in evidence
    ):
        return _CONTRADICTED
    return UNPROVED if _is_unproved(cause, evidence) else MOST_CERTAIN


def _is_unproved(cause: str, evidence: Sequence[Evidence[Message]]) -> bool:
    """Say whether health, or what is named for want of another cause, lacks its proof."""
    is_proved = any(item.weight >= WEIGHTS["strong"] for item in evidence)
    least = next((weight for trait, weight in _DOUBT if has_trait(cause, trait)), -math.inf)
    is_doubted = any(item.weight < least for item in evidence)
    return (
        is_doubted
        or (has_trait(cause, Trait.RESIDUAL) and not is_proved)
        or (has_trait(cause, Trait.COMPLETED) and not _shows_learning(evidence))
    )


def _shows_learning(evidence: Iterable[Evidence[Message]]) -> bool:
    """Say whether a curve speaks for health: that a run came to its end says nothing of it."""
    return any(item.group == "curve" and item.weight > 0 for item in evidence)


def _find_survived_failure(case: Case) -> Evidence[Message] | None:
    """Point to a failure among the records that several follow: it was caught."""
    first = case.extract.first_record
    for event in case.events:
        finding = event.finding
        is_amid = first.get(finding.source, (0, 0))[0] < finding.line
        if event.is_fatal and event.because == "survived" and is_amid:
            return _build_counterevidence("signature", finding.signature, finding.text, finding)
    for traceback, before in case.extract.tracebacks:
        after = count_records_after(case.extract, traceback, before)
        if after >= SURVIVED_RECORDS and traceback.level not in QUOTED:
            text = f"{traceback.exception}: {traceback.message}"
            return _build_counterevidence("traceback", "survived-exception", text, traceback)
    return None


def _build_counterevidence(
    kind: str, name: str, text: str, item: Finding | Traceback
) -> Evidence[Message]:
    """Hold what looks like the end against health, by its first line."""
    return Evidence(
        kind,
        name,
        "survived",
        say(
            "records follow what looks like the end — {first}",
            first=cut((text.splitlines() or [""])[0], 200),
        ),
        -WEIGHTS["weak"],
        item.source,
        item.where,
        item.line,
        item.end_line,
    )
