"""Runs that end where guessing stands: what each part of them tells of the cause."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import postmortem

EPOCHS = 14
LEARNT = [2.0 * 0.8**epoch for epoch in range(EPOCHS)]
RISEN = [min(0.97, 0.3 + 0.06 * epoch) for epoch in range(EPOCHS)]
GUESSED = [2.083, 2.079, 2.081, 2.080, 2.082, 2.078, 2.081]
CHANCE = [0.128, 0.121, 0.134, 0.119, 0.131, 0.126, 0.124]


def judge(folder: Path, **curves: Sequence[float]) -> str | None:
    """Print curves of a classifier with eight classes, one record an epoch; give the verdict."""
    lines = [f"epochs={EPOCHS} num_classes=8 optimizer=sgd lr=0.05"]
    for epoch in range(EPOCHS):
        record = " ".join(f"{name}={row[epoch]:.4g}" for name, row in curves.items())
        lines.append(f"epoch {epoch + 1}/{EPOCHS} {record}")
    log = folder / "run.log"
    log.write_text("\n".join([*lines, "training finished"]) + "\n", encoding="utf-8")
    return postmortem.analyze(log).verdict.cause


def test_a_validation_at_chance_is_no_overfitting(tmp_path: Path) -> None:
    """Its loss rises far from the first evaluation on, and it was never better than a guess."""
    rising = [3.9 + 2 * epoch for epoch in range(EPOCHS)]
    curves = {"train_loss": LEARNT, "train_acc": RISEN, "val_loss": rising}
    cause = judge(tmp_path, **curves, val_acc=[*CHANCE, *CHANCE])
    assert cause == "learning.validation-mismatch"
    turned = [*LEARNT[:5], *(0.8 + 0.2 * epoch for epoch in range(EPOCHS - 5))]
    worse = [*RISEN[:5], *(0.52 - 0.01 * epoch for epoch in range(EPOCHS - 5))]
    cause = judge(tmp_path, **{**curves, "val_loss": turned}, val_acc=worse)
    assert cause == "learning.overfitting"


@pytest.mark.parametrize("first", [2.08, 3.4e7])
def test_a_loss_that_falls_to_that_of_a_guess_is_learnt_by_nobody(
    tmp_path: Path, first: float
) -> None:
    """However far above it began."""
    loss, score = [first, *GUESSED, *GUESSED][:EPOCHS], [*CHANCE, *CHANCE]
    cause = judge(
        tmp_path,
        train_loss=loss,
        train_acc=score,
        val_loss=[*GUESSED, *GUESSED],
        val_acc=score[::-1],
    )
    assert cause == "learning.plateau"


def test_a_loss_beside_that_of_a_guess_may_be_learnt(tmp_path: Path) -> None:
    """Where the answers are better than guesses."""
    curves = {"train_loss": LEARNT, "train_acc": RISEN, "val_loss": LEARNT}
    assert judge(tmp_path, **curves, val_acc=RISEN) == "healthy.completed"
