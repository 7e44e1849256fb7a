"""Limit how sure health, and a cause that stands for the absence of rules, may be.

A run that goes on proves nothing yet, and one that survived a failure even less.

In: scored causes, the case. Out: the same with what speaks against health beyond the rules, and the
highest probability of a cause. Not here: weighing (`inference.rules`), order (`inference.ranking`).
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core.answer import Evidence
from postmortem.core.findings import Finding, Traceback
from postmortem.core.message import Message, cut, say
from postmortem.diagnosis.case.failures import QUOTED, SURVIVED_RECORDS
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference.rules import WEIGHTS, ScoredCause
from postmortem.extraction.extract import count_records_after
from postmortem.rules.traits import Trait, has_trait

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
    first = case.gathered.first_record
    for event in case.events:
        finding = event.finding
        is_amid = first.get(finding.source, (0, 0))[0] < finding.line
        if event.is_fatal and event.because == "survived" and is_amid:
            return _build_counterevidence("signature", finding.signature, finding.text, finding)
    for traceback, before in case.gathered.tracebacks:
        after = count_records_after(case.gathered, traceback, before)
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
