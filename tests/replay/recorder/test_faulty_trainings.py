"""The trainings that replay is proved on fail as their truths say."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from postmortem.replay.capsule.opening import open_capsule
from postmortem.rules.base import load
from tests.replay.recorder.test_attached import python

FOLDER = Path(__file__).resolve().parents[2] / "faulty_trainings"
TRUTHS: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "truths.yaml").read_text("utf-8"))
HELPERS = {"tiny_llama"}


def test_each_training_has_a_truth() -> None:
    """And each truth speaks the taxonomy."""
    assert {*TRUTHS} == {path.stem for path in FOLDER.glob("*.py")} - HELPERS
    for truth in TRUTHS.values():
        assert {truth["cause"], *truth.get("also", ()), *truth["not"]} <= {*load().causes}
        assert truth["cause"] not in truth["not"]


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(TRUTHS))
def test_a_training_fails_as_told(tmp_path: Path, name: str) -> None:
    """Its capsule is whole, of the reason and the framework, and holds the samples."""
    done = subprocess.run(
        [python(), str(FOLDER / f"{name}.py"), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(FOLDER.parents[1]), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (capsule,) = tmp_path.glob("*.capsule")
    manifest, truth = open_capsule(capsule).manifest, TRUTHS[name]
    assert manifest.reason.kind == truth["reason"]
    assert manifest.framework == truth["framework"]
    assert manifest.partial == ()
    assert (manifest.model.kind == "user") is truth.get("code", False)
    (last,) = manifest.window.steps[-1].micro_batches
    assert {*truth.get("samples", ())} <= {*(last.samples or ())}
    if "parameter" in truth:
        assert truth["parameter"] in manifest.weights.trainable
