"""Compute the probability of a verdict that its log does not prove.

In: the first of the ranked causes, the shares that a text gives to causes. Out: a probability. Not
here: the order of causes (`inference.ranking`), the weights (`classifier.evidence_model`).

Rules are right far more often on logs that they were written from than on new ones, and nothing in
their own sum tells the two apart. What does: whether curves alone name the cause, whether it is
named for want of another, and whether the wording of the log is that of such failures.
"""

import math
from collections.abc import Mapping
from typing import Final

from postmortem.diagnosis.classifier.evidence_model import EvidenceModel
from postmortem.diagnosis.inference.confidence_limits import (
    MOST_CERTAIN,
    UNPROVED,
    get_max_probability,
)
from postmortem.diagnosis.inference.ranking import RankedCause
from postmortem.diagnosis.inference.rules import WEIGHTS
from postmortem.rules.traits import Trait, has_trait

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
