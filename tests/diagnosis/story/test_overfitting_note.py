"""What is remarked on a run that learnt its training data by heart."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import postmortem

FALLING = (1.9, 1.1, 0.7, 0.4, 0.2, 0.1)
RISING = (1.4, 1.2, 1.3, 1.8, 2.4, 2.9)


def warnings(folder: Path, losses: Sequence[float], evaluated: Sequence[float]) -> list[str]:
    """The remarks on a run of the Trainer with so many epochs."""
    log = folder / "run.log"
    lines = []
    for epoch, (loss, later) in enumerate(zip(losses, evaluated, strict=True), 1):
        lines.append(f"{{'loss': {loss}, 'learning_rate': 1e-05, 'epoch': {epoch}.0}}")
        lines.append(f"{{'eval_loss': {later}, 'eval_runtime': 3.1, 'epoch': {epoch}.0}}")
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = postmortem.analyze(log).to_dict()
    return [text for text in report["warnings"] if "overfits" in text]


def test_the_best_evaluation_is_named(tmp_path: Path) -> None:
    """With its place, its loss and what came of it."""
    (told,) = warnings(tmp_path, FALLING, RISING)
    assert "from line 4" in told
    assert "1.2 at best, 2.4 at last" in told


@pytest.mark.parametrize(
    ("losses", "evaluated"),
    [
        pytest.param(FALLING, FALLING, id="both fall"),
        pytest.param((1.9, 1.1, 1.3, 1.8, 2.4, 2.9), RISING, id="both rise: it diverges"),
        pytest.param(FALLING, (1.4, 1.2, 1.25, 1.22, 1.24, 1.21), id="it wavers"),
        pytest.param(FALLING, (1.4, 1.2, 1.9, 2.1, 1.9, 1.2), id="it comes back"),
        pytest.param(FALLING[:4], RISING[:4], id="too few"),
    ],
)
def test_nothing_is_remarked_without_it(
    tmp_path: Path, losses: Sequence[float], evaluated: Sequence[float]
) -> None:
    """A run whose evaluation does not rise for good, or not alone."""
    assert warnings(tmp_path, losses, evaluated) == []
