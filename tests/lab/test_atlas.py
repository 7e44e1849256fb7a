"""The re-run of training-failure-atlas: runs repeat themselves, their labels name causes that exist."""

from pathlib import Path

import pytest
import yaml

torch = pytest.importorskip("torch")

from atlas.record import FAULTS, describe, draw_run, iter_lines, main  # noqa: E402

from postmortem.rules.base import load_compiled_rules  # noqa: E402


def test_a_run_repeats_itself(tmp_path: Path) -> None:
    """Same seed, same log; the label says what was changed."""
    for folder in ("a", "b"):
        assert main([str(tmp_path / folder), "overfitting", "--seeds", "1", "--first", "7"]) == 0
    first, second = (tmp_path / one / "overfitting-7.log" for one in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    label = yaml.safe_load(first.with_suffix(".yaml").read_text(encoding="utf-8"))
    assert (label["cause"], label["fault"]) == ("learning.overfitting", "overfitting")


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_changes_a_sound_run(name: str) -> None:
    """In nothing but what it names, and its causes are ours."""
    sound, faulty = draw_run("sound", 3), draw_run(name, 3)
    changed = {
        one for one in sound.__dataclass_fields__ if getattr(sound, one) != getattr(faulty, one)
    }
    assert changed
    assert changed <= FAULTS[name].changes.keys()
    assert {*FAULTS[name].causes} <= load_compiled_rules()["taxonomy"]["causes"].keys()


def test_an_unlearnt_order_is_a_plateau() -> None:
    """What the log shows is right as well."""
    run = draw_run("unshuffled", 3)
    shown = ["epoch 1/2 train_loss=2.1 train_acc=0.1", "epoch 2/2 train_loss=2.1 train_acc=0.13"]
    assert "learning.plateau" in describe("unshuffled", run, shown)["also"]  # type: ignore[operator]
    learnt = [*shown[:1], "epoch 2/2 train_loss=0.4 train_acc=0.9"]
    assert describe("unshuffled", run, learnt)["also"] == []


def test_a_log_prints_what_the_atlas_prints() -> None:
    """Before the first step the inputs and gradients, then a record for each epoch."""
    lines = iter_lines(draw_run("sound", 1))
    head = [next(lines) for _ in range(5)]
    assert "input std" in head[1]
    assert "gradient norms" in head[2]
    assert head[4].startswith("epoch 1/")
    assert "val_acc=" in head[4]
