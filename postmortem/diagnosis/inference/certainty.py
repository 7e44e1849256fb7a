"""Make the status word and the probability agree: the last step of every ranking.

In: a ranking with its final probabilities. Out: the same order and the same cause, a status word
that fits the probability, and other causes that share what the first one leaves. Not here: the
probability itself (`inference.belief`), the evidence behind the word (`inference.verdict`).

| word | probability |
|---|---|
| established | 0.8 and more |
| supported | 0.6 and more |
| hypothesis | below 0.8 |
"""

from collections.abc import Sequence
from typing import Final

from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference.ranking import RankedCause
from postmortem.diagnosis.inference.verdict import SURE, Ranking, restated
from postmortem.rules.base import KnowledgeBase

SUPPORTED_FROM: Final = 0.6
"""The probability below which evidence that is for a cause makes it no more than a hypothesis."""


def settled(ranking: Ranking, case: Case, knowledge: KnowledgeBase) -> Ranking:
    """Make the word and the probabilities of a ranking agree."""
    causes = share_rest(ranking.causes)
    status = agreed_status(ranking.verdict.status, ranking.verdict.probability)
    return restated(Ranking(causes, ranking.verdict), status, case, knowledge)


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
