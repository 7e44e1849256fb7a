"""What does not fit into memory is refused or skipped, with the reason, and nothing else is."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("safetensors", reason="safetensors is not installed")

from postmortem.core.errors import UsageError  # noqa: E402
from postmortem.replay.capsule.opening import open_capsule  # noqa: E402
from postmortem.replay.rerun.memory_limits import (  # noqa: E402
    GIB,
    estimate_needed_memory,
)
from postmortem.replay.rerun.regime import Regime  # noqa: E402
from postmortem.replay.rerun.requested_replay import replay_capsule  # noqa: E402
from tests.recorded_windows import record  # noqa: E402
from tests.replay.rerun.test_verdicts import half, poisoned  # noqa: E402


def test_steps_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    """With the figures, and how to mend it."""
    capsule = record(tmp_path / "step3.capsule", poisoned())
    with pytest.raises(UsageError, match="GiB"):
        replay_capsule(capsule, device="cpu", memory=0.0)


def test_a_trial_that_does_not_fit_is_skipped(tmp_path: Path) -> None:
    """In float32 16-bit weights take twice the room; what was not run proves nothing."""
    training = half()
    training.autocast = ""
    training.model.half()
    for batch in training.batches:
        batch.update({name: one.half() for name, one in batch.items()})
    capsule = record(tmp_path / "step3.capsule", training)
    opened = open_capsule(capsule)
    narrow, wide = (
        estimate_needed_memory(opened, Regime()),
        estimate_needed_memory(opened, Regime(compute="float32")),
    )
    assert narrow < wide
    found = replay_capsule(capsule, device="cpu", memory=(narrow + wide) / 2 / GIB)
    outcomes = {one.id: one for one in found.trials}
    assert outcomes["as-recorded"].outcome != "skipped"
    assert outcomes["float32"].outcome == "skipped"
    assert "GiB" in outcomes["float32"].text.en
    assert not [one.cause for one in found.tested if one.verdict == "confirmed"]
