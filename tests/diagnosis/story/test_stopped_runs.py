"""A run that was stopped: the stop stands first, and what its curves show right behind it."""

import math
from pathlib import Path

import pytest

import postmortem

STOPS = {
    "ctrl-c": "Traceback (most recent call last):\n"
    '  File "train.py", line 40, in <module>\n'
    "    loss.backward()\n"
    "KeyboardInterrupt\n",
    "slurm": "slurmstepd: error: *** JOB 4711 ON node07 CANCELLED AT 2026-03-01T10:00:00 ***\n",
}


def _write(folder: Path, stop: str, *, overfits: bool) -> Path:
    """Write a run of 40 epochs that was stopped."""
    lines = []
    for epoch in range(1, 41):
        train = 2.0 * math.exp(-epoch / 8) + 0.02
        best = 1.1 + 0.9 * math.exp(-epoch / 4)
        rise = 0.06 * max(0, epoch - 8) if overfits else 0.0
        held = best + rise if overfits else train + 0.05
        lines.append(f"epoch {epoch} train_loss: {train:.4f} val_loss: {held:.4f}\n")
    path = folder / "run.log"
    path.write_text("".join(lines) + STOPS[stop], encoding="utf-8")
    return path


@pytest.mark.parametrize("stop", STOPS)
def test_advice_on_the_curves_of_a_stopped_run(tmp_path: Path, stop: str) -> None:
    """A run that overfits and is stopped keeps the stop first, the reason second."""
    found = postmortem.analyze(_write(tmp_path, stop, overfits=True)).diagnosis
    assert found.outcome == "cancelled"
    assert found.verdict.cause in {"scheduler.cancelled", "scheduler.terminated"}
    assert "learning.overfitting" in [cause.id for cause in found.causes[1:]]
    assert "learning.keep-best" in [fix.id for fix in found.causes[0].fixes[:3]]


@pytest.mark.parametrize("stop", STOPS)
def test_sound_curves_of_a_stopped_run_explain_nothing(tmp_path: Path, stop: str) -> None:
    """A sound run that is stopped gets no advice on its curves."""
    found = postmortem.analyze(_write(tmp_path, stop, overfits=False)).diagnosis
    assert found.outcome == "cancelled"
    assert not [cause.id for cause in found.causes if cause.id.startswith(("learning", "numerics"))]
    assert not [fix.id for fix in found.causes[0].fixes if fix.id.startswith("learning")]
