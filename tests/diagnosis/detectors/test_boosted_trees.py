"""Tests for the model of curves."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from postmortem.core.errors import InputError
from postmortem.diagnosis.detectors.boosted_trees import (
    CurveModel,
    Node,
    load_curve_model,
    serialize_curve_model,
)

_TREE = [Node(0, 0.5, 1, 2, missing_above=True, value=0.0), Node(-1, 0, 0, 0, False, -1.0)]
_MODEL = CurveModel(
    "",
    ["sound", "fault"],
    ["loss.lost"],
    [0.0, 0.0],
    1.0,
    [[], [[*_TREE, Node(-1, 0, 0, 0, False, 2.0)]]],
)


def test_a_file_gives_the_same_answers(tmp_path: Path) -> None:
    """What was written is read, and a missing feature takes its own side."""
    path = tmp_path / "curves.json"
    path.write_bytes(serialize_curve_model(_MODEL))
    model = load_curve_model(path)
    for value in (0.1, 0.5, 0.6, math.nan):
        features = {"loss.lost": value}
        assert model.compute_shares(features) == _MODEL.compute_shares(features)
    assert model.compute_shares({})["fault"] == pytest.approx(1 / (1 + math.exp(-2)))
    assert model.compute_shares({"loss.lost": 0.5})["fault"] == pytest.approx(1 / (1 + math.e))
    assert model.compute_pulls({"loss.lost": 1.0}, "fault") == {"loss.lost": 2.0}


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": 2}', "nonsense"])
def test_a_damaged_file_is_refused(tmp_path: Path, content: str) -> None:
    """It says what is wrong, and how to go on without it."""
    path = tmp_path / "curves.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="cannot be used"):
        load_curve_model(path)


def test_a_tree_that_leads_back_is_refused(tmp_path: Path) -> None:
    """No way through a tree is endless."""
    content = json.loads(serialize_curve_model(_MODEL))
    content["trees"][1][0][0][2] = 0
    path = tmp_path / "curves.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError):
        load_curve_model(path)


def test_the_answers_are_those_of_the_library() -> None:
    """A fitted model answers as the one that it was taken from, missing values too."""
    ensemble = pytest.importorskip("sklearn.ensemble", reason="fitting needs the extra `train`")
    from postmortem.learn import curve_fitting

    random = np.random.default_rng(0)
    table = random.normal(size=(300, 5))
    table[random.random(table.shape) < 0.2] = np.nan
    answers = np.where(np.nan_to_num(table[:, 0]) > 0.3, "b", "a")
    answers[np.nan_to_num(table[:, 1]) > 0.8] = "c"
    names = [f"loss.{index}" for index in range(5)]
    samples = [
        curve_fitting.CurveSample(dict(zip(names, row, strict=True)), answer, "group")
        for row, answer in zip(table, answers, strict=True)
    ]
    fitted: list[ensemble.HistGradientBoostingClassifier] = []
    model = curve_fitting.fit_curve_model(samples, names, keep=fitted.append)
    shares = [[*model.compute_shares(sample.features).values()] for sample in samples]
    assert np.allclose(shares, fitted[0].predict_proba(table), atol=1e-3)
