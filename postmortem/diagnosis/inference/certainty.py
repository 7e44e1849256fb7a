"""Compute how sure a verdict may be, and make its status word agree: the last step of a ranking.

In: the ranked causes, the shares that a text gives to causes. Out: the probability of a verdict
that its log does not prove; the same order and the same cause with a probability that is no higher
than what the evidence leaves open allows, a status word that fits it, and other causes that share
what the first one leaves. Not here: the order of causes (`inference.ranking`), the weights
(`classifier.models`), the evidence behind the word (`inference.verdict`).

Rules are right far more often on logs that they were written from than on new ones, and nothing in
their own sum tells the two apart. What does: whether curves alone name the cause, whether it is
named for want of another, and whether the wording of the log is that of such failures.

| word | probability |
|---|---|
| established | 0.8 and more |
| supported | 0.6 and more |
| hypothesis | below 0.8 |
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from postmortem.core.findings import Traceback
from postmortem.diagnosis.case.failures import QUOTED, is_consequence
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.classifier.models import EvidenceModel
from postmortem.diagnosis.inference.ranking import RankedCause, is_of_curves
from postmortem.diagnosis.inference.scoring import (
    MOST_CERTAIN,
    UNPROVED,
    WEIGHTS,
    get_max_probability,
)
from postmortem.diagnosis.inference.verdict import SURE, Ranking, restate_verdict
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.vocabulary import Trait, has_trait

_ABSENCE: Final = (Trait.RESIDUAL, Trait.PEER_FAILURE, Trait.SOUND, Trait.UNEXPLAINED)
_EXPECTED: Final = 0.03
"""The share that speaks neither for nor against a cause."""
_LEAST_SHARE: Final = 1e-3
_FITS: Final = 0.2
"""The share from which on a wording is that of a cause."""
_OF_ANOTHER: Final = 0.5
"""The share from which on a wording is rather that of another cause."""
FIRM: Final = 0.8 * WEIGHTS["strong"]
"""The weight of evidence that stands for itself."""
UNCONFIRMED: Final = 0.79
"""The highest probability of what the wording does not confirm, and weak evidence or another
wording makes doubtful: on new logs half of such verdicts are wrong."""
_WORDING: Final = (-3.4, 2.2)
_MOST_AGAINST: Final = -5.0


def estimate_probability(
    best: RankedCause, shares: Mapping[str, float], model: EvidenceModel
) -> float:
    """Give the probability that a cause is right, by what was fitted."""
    features = compute_features(best, shares)
    odds = (model.together if shares else model.alone).odds(features)
    shown = [item for item in best.evidence if item.kind != "classifier"]
    most = min(
        UNPROVED if features["left_over"] else MOST_CERTAIN, get_max_probability(best.id, shown)
    )
    is_doubtful = features["other"] or features["strength"] < FIRM
    if shares and not features["fits"] and is_doubtful and not is_raised_by_user(best):
        most = min(most, UNCONFIRMED)
    return min(most, round(convert_log_odds(odds), 4))


def compute_features(best: RankedCause, shares: Mapping[str, float]) -> dict[str, float]:
    """Give what the probability of a verdict rests on, by name."""
    items = [item for item in best.evidence if item.kind != "classifier"]
    kinds = {item.kind for item in items if item.weight > 0}
    strength = max([0.0, *(item.weight for item in items)])
    against = sum(min(0.0, item.weight) for item in items)
    return {
        "odds": log_odds(best.probability),
        "strength": min(WEIGHTS["strong"], strength),
        "against": max(_MOST_AGAINST, against),
        "curve": float("signature" not in kinds and "shape" in kinds),
        "left_over": float(
            is_absence(best.id)
            and not has_trait(best.id, Trait.COMPLETED)
            and not is_raised_by_user(best)
        ),
        "completed": float(has_trait(best.id, Trait.COMPLETED)),
        **_compute_text_features(best.id, shares),
    }


def _compute_text_features(cause: str, shares: Mapping[str, float]) -> dict[str, float]:
    own = shares.get(cause, 0.0)
    other = max((share for name, share in shares.items() if name != cause), default=0.0)
    least, most = _WORDING
    return {
        "wording": min(most, max(least, compute_share_excess(cause, shares))) if shares else 0.0,
        "fits": float(own >= _FITS),
        "other": float(own < _FITS and other >= _OF_ANOTHER),
    }


def compute_proposal_features(cause: str, share: float, *, is_candidate: bool) -> dict[str, float]:
    """Give what a cause rests on that the text puts forward where the rules abstain."""
    return {
        "share": min(4.0, max(-4.0, log_odds(share))),
        "candidate": float(is_candidate and not is_absence(cause)),
    }


def is_raised_by_user(best: RankedCause) -> bool:
    """Say whether a cause is named for an exception that the user's own code raised."""
    return has_trait(best.id, Trait.USER_EXCEPTION) and any(
        item.kind == "traceback" and item.weight >= FIRM for item in best.evidence
    )


def is_absence(cause: str) -> bool:
    """Say whether a cause is named where no other one is shown: no wording is that of it."""
    return any(has_trait(cause, trait) for trait in _ABSENCE)


def log_odds(share: float) -> float:
    """Give the log-odds of a share, which are never infinite."""
    return math.log(max(share, 1e-4) / max(1.0 - share, 1e-4))


def convert_log_odds(odds: float) -> float:
    """Give the probability of log-odds."""
    return 1.0 / (1.0 + math.exp(-odds))


def compute_share_excess(cause: str, shares: Mapping[str, float]) -> float:
    """Compute how far a cause's share of a text exceeds the neutral share."""
    return math.log(max(shares.get(cause, 0.0), _LEAST_SHARE) / _EXPECTED)


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
    status = reconcile_status(ranking.verdict.status, best.probability)
    return restate_verdict(Ranking(causes, ranking.verdict), status, case, knowledge)


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


def reconcile_status(status: str, probability: float) -> str:
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
