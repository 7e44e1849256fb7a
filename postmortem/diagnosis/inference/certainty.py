"""Limit how sure a verdict may be, and make its status word agree: the last step of a ranking.

In: a ranking with its fitted probabilities. Out: the same order and the same cause, a probability
that is no higher than what the evidence leaves open allows, a status word that fits it, and other
causes that share what the first one leaves. Not here: the fitted probability (`inference.belief`),
the evidence behind the word (`inference.verdict`).

| word | probability |
|---|---|
| established | 0.8 and more |
| supported | 0.6 and more |
| hypothesis | below 0.8 |
"""

from collections.abc import Sequence
from typing import Final

from postmortem.core.findings import Traceback
from postmortem.diagnosis.case.failures import QUOTED, is_consequence
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference.belief import UNCONFIRMED
from postmortem.diagnosis.inference.ranking import RankedCause, is_of_curves
from postmortem.diagnosis.inference.rules import WEIGHTS
from postmortem.diagnosis.inference.verdict import SURE, Ranking, restated
from postmortem.rules.base import KnowledgeBase

SUPPORTED_FROM: Final = 0.6
"""The probability below which evidence that is for a cause makes it no more than a hypothesis."""

_NEAR: Final = 0.3
"""Log-odds by which the first cause has to be ahead of another one."""


def settled(ranking: Ranking, case: Case, knowledge: KnowledgeBase) -> Ranking:
    """Limit the first probability, and make the word and the other ones agree with it."""
    best, *others = ranking.causes
    if (
        is_rivalled(ranking.causes)
        or rests_on_curves_alone(best)
        or leaves_exception_unexplained(best, case)
    ):
        best = best._replace(probability=min(best.probability, UNCONFIRMED))
    causes = share_rest([best, *others])
    status = agreed_status(ranking.verdict.status, best.probability)
    return restated(Ranking(causes, ranking.verdict), status, case, knowledge)


def is_rivalled(causes: Sequence[RankedCause]) -> bool:
    """Say whether another cause has as much for it as the first, or nearly as much."""
    best, *others = causes
    return any(other.score > best.score - _NEAR for other in others)


def rests_on_curves_alone(best: RankedCause) -> bool:
    """Say whether nothing but the course of metrics speaks for a cause, and none of it proves it.

    Of such verdicts on logs that nobody had read, 10 of 14 were right.
    """
    shown = [item for item in best.evidence if item.weight > 0 and item.kind != "classifier"]
    return (
        is_of_curves(best.id)
        and all(item.kind == "shape" for item in shown)
        and all(item.weight < WEIGHTS["decisive"] for item in shown)
    )


def leaves_exception_unexplained(best: RankedCause, case: Case) -> bool:
    """Say whether a program died of an exception to which no evidence for a cause points.

    One of a class to which evidence points elsewhere is the same failure in another process.
    """
    died = [one for one in case.tracebacks if _is_fatal(one)]
    explained = {one.exception for one in died if _is_pointed_to(one, best)}
    return any(one.exception not in explained for one in died)


def _is_fatal(traceback: Traceback) -> bool:
    """Say whether a process may have died of an exception of its own."""
    return bool(
        traceback.exception
        and not traceback.aside
        and not traceback.chained
        and not traceback.wrapped
        and not traceback.went_on
        and traceback.level not in QUOTED
        and not is_consequence(traceback)
    )


def _is_pointed_to(traceback: Traceback, best: RankedCause) -> bool:
    return any(
        item.weight > 0
        and item.kind != "classifier"
        and item.source == traceback.source
        and item.line is not None
        and traceback.line <= item.line <= traceback.end_line
        for item in best.evidence
    )


def agreed_status(status: str, probability: float) -> str:
    """Give the word for a verdict whose evidence asks for one and whose probability for another."""
    if status == "established" and probability < SURE:
        status = "supported"
    if status == "supported" and probability < SUPPORTED_FROM:
        return "hypothesis"
    return "supported" if status == "hypothesis" and probability >= SURE else status


def share_rest(causes: Sequence[RankedCause]) -> Sequence[RankedCause]:
    """Let the other causes share what the first leaves, in the proportions that they have."""
    best, *others = causes
    left, wanted = 1.0 - best.probability, sum(cause.probability for cause in others)
    if wanted <= left:
        return causes
    # rounded down, so that the sum stays within the rest
    shares = [int(1e4 * cause.probability * left / wanted) / 1e4 for cause in others]
    return [
        best,
        *(cause._replace(probability=share) for cause, share in zip(others, shares, strict=True)),
    ]
