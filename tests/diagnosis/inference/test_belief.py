"""What is not proved is believed as far as evidence and wording go, and no further."""

import pytest

from postmortem.core.answer import Evidence
from postmortem.core.message import quote
from postmortem.diagnosis.classifier.models import EvidenceModel, LogOddsSum
from postmortem.diagnosis.inference.certainty import (
    UNCONFIRMED,
    compute_features,
    estimate_probability,
)
from postmortem.diagnosis.inference.ranking import RankedCause
from postmortem.diagnosis.inference.scoring import UNPROVED

CAUSE, OTHER = "memory.cuda-oom", "io.storage"
SURE = LogOddsSum(9.0, {})
MODEL = EvidenceModel(SURE, SURE, SURE)


def first(cause: str, kind: str, *weights: float) -> RankedCause:
    """A cause with evidence of one kind."""
    items = tuple(Evidence(kind, "one", "group", quote("x"), weight) for weight in weights)
    return RankedCause(cause, 0.9, 2.0, items)


@pytest.mark.parametrize(
    ("best", "shares", "most"),
    [
        (first(CAUSE, "signature", 3.0), {CAUSE: 0.9}, 1.0),
        (first(CAUSE, "signature", 3.0), {CAUSE: 0.1, OTHER: 0.3}, 1.0),
        (first(CAUSE, "signature", 3.0), {CAUSE: 0.1, OTHER: 0.6}, UNCONFIRMED),
        (first(CAUSE, "signature", 1.6), {CAUSE: 0.1, OTHER: 0.3}, UNCONFIRMED),
        (first(CAUSE, "signature", 1.6), {CAUSE: 0.4, OTHER: 0.6}, 1.0),
        (first("healthy.running", "shape", 3.0), {"healthy.running": 0.9}, UNPROVED),
        (first("code.user-exception", "traceback", 1.2), {"code.user-exception": 0.9}, UNPROVED),
        (first("code.user-exception", "traceback", 3.0), {CAUSE: 0.9}, 1.0),
    ],
)
def test_what_may_be_wrong_is_not_sure(
    best: RankedCause, shares: dict[str, float], most: float
) -> None:
    """However sure the sum is."""
    assert estimate_probability(best, shares, MODEL) == pytest.approx(most, abs=2e-4)


def test_figures_tell_the_evidence_and_not_the_model() -> None:
    """An item of the classifier is no evidence of the rules."""
    told = compute_features(first(CAUSE, "classifier", 3.0, -1.0), {})
    assert (told["strength"], told["against"], told["wording"]) == (0.0, 0.0, 0.0)
    assert compute_features(first(CAUSE, "shape", 5.0, -9.0), {})["curve"] == 1.0
    assert compute_features(first(CAUSE, "shape", 5.0, -9.0), {})["strength"] == 3.0
    assert compute_features(first(CAUSE, "shape", 5.0, -9.0), {})["against"] == -5.0


def test_without_a_text_the_evidence_alone_is_asked() -> None:
    """Each question has weights of its own."""
    model = MODEL._replace(alone=LogOddsSum(0.0, {}))
    assert estimate_probability(first(CAUSE, "signature", 3.0), {}, model) == 0.5
