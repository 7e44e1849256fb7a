"""Anomalies that are bounds of features: proved on their examples, silent on what looks like them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from postmortem.core.resources import find_folder
from postmortem.diagnosis.inference.example_cases import find_anomaly_errors
from postmortem.rules.base import load
from postmortem.rules.compile import compile_folders
from postmortem.rules.vocabulary import FeatureCondition
from tests.diagnosis.detectors.made_curves import found

EPOCHS = [float(epoch) for epoch in range(40)]
LEVEL = [2.31 - 0.0015 * epoch for epoch in range(40)]
LOW = [0.1 + 0.0015 * epoch for epoch in range(40)]
ZERO = [0.0] * 6
STATED = {kind.id for kind in load().anomalies.values() if kind.when}


def test_the_examples_of_each_are_told_apart() -> None:
    """Those that show it are found, the others are not."""
    rows = compile_folders([Path(find_folder("patterns"))])["anomalies"]
    stated = [row for row in rows if row.get("when")]
    assert {row["id"] for row in stated} == STATED
    assert not list(find_anomaly_errors(stated))
    for row in stated:
        turned = {"shows": row["examples"]["silent"], "silent": row["examples"]["shows"]}
        errors = list(find_anomaly_errors([{**row, "examples": turned}]))
        assert len(errors) == len(turned["shows"]) + len(turned["silent"])


def test_a_feature_that_nobody_measures_is_refused() -> None:
    """A run meets it as one that has no value."""
    row = {
        "id": "own",
        "meaning": {"en": "x", "zh": "x"},
        "when": [{"role": "loss", "above": {"loss.sparkle": 1.0}, "because": "x"}],
        "examples": {"shows": [], "silent": []},
    }
    errors = [str(error) for error in find_anomaly_errors([row])]
    assert len(errors) == 1
    assert "'loss.sparkle'" in errors[0]
    assert not FeatureCondition("loss", {"loss.sparkle": 1.0}, {}, {}).holds({})


@pytest.mark.parametrize(
    ("features", "holds"),
    [
        pytest.param({"a.x": 1.0, "b.x": 0.0, "c.x": 0.0}, True, id="all are kept"),
        pytest.param({"a.x": 0.9, "b.x": 0.0, "c.x": 0.0}, False, id="one is too low"),
        pytest.param({"a.x": float("nan"), "b.x": 0.0, "c.x": 0.0}, False, id="one is not known"),
        pytest.param({"a.x": 1.0, "b.x": 0.0, "c.x": float("nan")}, True, id="it may be unknown"),
        pytest.param({"a.x": 1.0, "b.x": 0.0, "c.x": 0.2}, False, id="what must not be above is"),
    ],
)
def test_bounds(features: Mapping[str, float], *, holds: bool) -> None:
    """All of them have to be kept; `not_above` by what has no value, too."""
    condition = FeatureCondition("a", {"a.x": 1.0}, {"b.x": 0.0}, {"c.x": 0.1})
    assert condition.holds(features) == holds


@pytest.mark.parametrize(
    "series",
    [
        pytest.param({"loss": [2.31 * 0.97**n for n in range(40)], "acc": LOW}, id="loss falls"),
        pytest.param({"loss": LEVEL, "acc": [0.1 + 0.01 * n for n in range(40)]}, id="rises"),
        pytest.param({"loss": LEVEL, "acc": [0.7 + one / 10 for one in LOW]}, id="most are right"),
        pytest.param({"loss": LEVEL}, id="no accuracy"),
        pytest.param({"f1": ZERO, "accuracy": [0.9] * 6}, id="another score is sound"),
        pytest.param({"rec@1": [0.001, 0.001, 0.002, 0.003, 0.004, 0.005]}, id="on its way up"),
        pytest.param({"success_rate": [0.003 * n for n in range(40)]}, id="a rate that rises"),
        pytest.param({"loss": [0.9, 0.5, 0.4], "val_loss": [0.7, 0.7, 0.7]}, id="three records"),
    ],
)
def test_what_may_be_sound_is_left(series: Mapping[str, Sequence[float | None]]) -> None:
    """Sound courses, and those that tell too little."""
    assert not STATED & found({"epoch": EPOCHS[: len(next(iter(series.values())))], **series})


@pytest.mark.parametrize(
    ("rewards", "is_unmoved"),
    [
        pytest.param([-140.0 - (37 * n) % 60 for n in range(300)], True, id="level and noisy"),
        pytest.param([-200.0 + n / 3 + (37 * n) % 60 for n in range(300)], False, id="it rises"),
        pytest.param([1.0 if n % 3 else -2.0 for n in range(600)], False, id="games won and lost"),
        pytest.param([-140.0 - (37 * n) % 60 for n in range(60)], False, id="too few to tell"),
    ],
)
def test_hundreds_of_episodes_show_whether_a_policy_learns(
    rewards: Sequence[float],
    *,
    is_unmoved: bool,
) -> None:
    """By thirds: single episodes are noise."""
    curves = {"reward": rewards, "policy_loss": [0.1] * len(rewards)}
    assert ("policy-unmoved" in found(curves)) == is_unmoved
