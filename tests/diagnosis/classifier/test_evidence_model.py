"""The evidence model is a file that can be read; a damaged one is refused."""

import json
from pathlib import Path

import pytest

from postmortem.core.errors import InputError
from postmortem.core.resources import find_shipped_model
from postmortem.diagnosis.classifier.models import (
    EvidenceModel,
    LogOddsSum,
    load_evidence_model,
    serialize_evidence_model,
)

MODEL = EvidenceModel(
    LogOddsSum(1.0, {"strength": 0.5}), LogOddsSum(0.0, {}), LogOddsSum(-1.0, {"share": 2.0})
)


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    """The same model has the same bytes, and so the same digest."""
    path = tmp_path / "evidence.json"
    path.write_bytes(serialize_evidence_model(MODEL))
    read = load_evidence_model(path)
    assert read._replace(digest="") == MODEL
    assert serialize_evidence_model(read) == path.read_bytes()
    assert read.digest


def test_log_odds_are_one_sum() -> None:
    """A figure without a weight says nothing, and so does a weight without its figure."""
    assert MODEL.alone.odds({"strength": 3.0, "walrus": 9.0}) == 2.5
    assert MODEL.proposed.odds({}) == -1.0


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"format": 99}', '{"format": 1, "alone": 3}', "[" * 200_000]
)
def test_a_damaged_one_is_refused(tmp_path: Path, content: str) -> None:
    """In a sentence."""
    path = tmp_path / "evidence.json"
    path.write_text(content)
    with pytest.raises(InputError, match="cannot be used"):
        load_evidence_model(path)


def test_the_package_has_one_whose_signs_are_kept() -> None:
    """What speaks for a cause makes it likelier, what speaks against it less so."""
    path = find_shipped_model("evidence.json")
    assert path is not None
    for question in ("alone", "together"):
        weights = json.loads(path.read_bytes())[question]
        assert weights["strength"] > 0
        assert weights["against"] > 0  # its figure is negative
        assert weights["left_over"] < 0
        assert weights["curve"] < 0
    assert load_evidence_model(path).together.weights["wording"] > 0
