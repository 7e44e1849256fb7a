"""Weigh every cause by signatures, the conditions of its own file, and advisories.

In: a `Case` and the knowledge base. Out: `ScoredCause`s with their evidence, best first.
Not here: the order of events (`case.relevance`), the verdict (`inference.verdict`).

The figures are log-odds, in one place, and may be fitted later.
"""

import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from postmortem.core.answer import Evidence
from postmortem.core.message import NOTHING, Message, add_label, cut, parse_bilingual, say
from postmortem.diagnosis.case.values import Case, Occurrence
from postmortem.diagnosis.inference.known_defects import (
    describe_defect,
    find_symptom,
    list_matching_advisories,
)
from postmortem.diagnosis.inference.predicates import Hit, evaluate_conditions
from postmortem.diagnosis.inference.rule_index import RuleIndex, infer_needs
from postmortem.rules.base import KnowledgeBase, Signature
from postmortem.rules.causes import Advisory, Argument

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
