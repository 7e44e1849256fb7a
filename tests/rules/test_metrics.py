"""The table of metrics: what names mean, how a folder adds to it, which rows are faulty."""

from pathlib import Path
from typing import Any

import pytest

from postmortem.core import resources
from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors import registry
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Series
from postmortem.extraction.proof import find_metric_errors
from postmortem.rules.base import load
from postmortem.rules.check import find_faults
from postmortem.rules.compile import read_yaml

ROWS: list[dict[str, Any]] = read_yaml(resources.find_folder("patterns") / "metrics.yaml")
OWN = r"""
- id: accuracy
  names: 'treffer'
  examples: {belongs: [val_treffer], others: [{name: volltreffer, because: no word of its own}]}
"""


@pytest.mark.parametrize(
    ("name", "known", "better"),
    [
        pytest.param("val_acc", "accuracy", "higher", id="an accuracy"),
        pytest.param("test/Acc@1", "accuracy", "higher", id="the first of several accuracies"),
        pytest.param("acc@5", "top-accuracy", "higher", id="one of five answers is right"),
        pytest.param("macro avg/precision", "retrieval", "higher", id="of one class of answers"),
        pytest.param("sacrebleu_chrf", "quality", "higher", id="a score of translations"),
        pytest.param("ep_rew_mean", "reward", "higher", id="a reward"),
        pytest.param("train/reward_std", "reward-spread", "", id="the spread of rewards"),
        pytest.param("valid_wer", "error-rate", "lower", id="a rate of errors"),
        pytest.param("train_loss", "loss", "lower", id="a loss"),
        pytest.param("qf1_loss", "loss", "lower", id="an error of values is a loss"),
        pytest.param("cross_entropy", "loss", "lower", id="an entropy that is a loss"),
        pytest.param("policy_entropy", "entropy", "", id="the entropy of a policy"),
        pytest.param("mean_kl", "divergence", "", id="a divergence"),
        pytest.param("tokens_per_sec", "throughput", "higher", id="a speed"),
        pytest.param("loss_scale", "coefficient", "", id="a setting that names a loss"),
        pytest.param("best_acc", "aside", "", id="a bound"),
        pytest.param("gpu_memory", "machine", "", id="of the machine"),
    ],
)
def test_a_name_has_the_class_of_the_first_row(name: str, known: str, better: str) -> None:
    """The rows stand from the narrow to the wide."""
    found = load().metrics.classify(name)
    assert found is not None
    assert (found.id, found.better) == (known, better)


@pytest.mark.parametrize("name", ["x", "accumulated", "iter", "feature_maps"])
def test_other_names_have_no_class(name: str) -> None:
    """A name that holds the letters of a metric is none for that."""
    assert load().metrics.classify(name) is None


def test_bounds_are_those_of_the_table() -> None:
    """A share is of 0 to 1; of a reward nothing is known."""
    (accuracy,), (reward,) = load().metrics["accuracy"], load().metrics["reward"]
    assert accuracy.bounds == (0.0, 1.0)
    assert reward.bounds == (-float("inf"), float("inf"))


def test_a_folder_adds_names_to_a_class(tmp_path: Path) -> None:
    """A detector then looks at a series of the user's own name as at any accuracy."""
    (tmp_path / "metrics.yaml").write_text(OWN, encoding="utf-8")
    series = Series("val_treffer", "test", 0, NOWHERE)
    for step in range(12):
        series.append(2000.0 + step, 0.1134328, step + 1)
    series.settle()
    shapes = [
        set(registry.detect_anomalies(Observed(series=[series], metrics=load(folders).metrics)))
        for folders in ((), (tmp_path,))
    ]
    assert [("score-unmoved" in found) for found in shapes] == [False, True]


@pytest.mark.parametrize(
    ("row", "what"),
    [
        pytest.param(OWN, "", id="well formed"),
        pytest.param(OWN.replace("names:", "name:"), "Extra inputs", id="an unknown key"),
        pytest.param(OWN.replace("  names: 'treffer'\n", ""), "either `names`", id="no pattern"),
        pytest.param(OWN.replace("others:", "silent:"), "Field required", id="no look-alike"),
        pytest.param(OWN.replace("'treffer'", "'treff(er'"), "not a valid regex", id="no regex"),
        pytest.param(OWN.replace("[val_treffer]", "[genau]"), "does not take", id="not taken"),
        pytest.param(OWN.replace("volltreffer", "treffer"), "it takes", id="taken"),
        pytest.param(OWN + "  not: [nothing]\n", "no class has the id", id="an unknown class"),
    ],
)
def test_a_faulty_row_is_found(tmp_path: Path, row: str, what: str) -> None:
    """By its shape, by its pattern, by its own examples."""
    (tmp_path / "metrics.yaml").write_text(row, encoding="utf-8")
    faults = find_faults([tmp_path])
    if not faults:
        rows = read_yaml(tmp_path / "metrics.yaml")
        faults = [*find_metric_errors(rows, [*ROWS, *rows], attacks=False)]
    assert [what in str(fault.what) for fault in faults[:1]] == [True] * bool(what)


def test_a_slow_pattern_is_found() -> None:
    """Names are short, and a log has many."""
    row = {**ROWS[0], "names": r"\w+_x", "examples": {"belongs": ["a_x"], "others": []}}
    (fault,) = find_metric_errors([row], ROWS, attacks=True)
    assert "slow" in str(fault.what)
