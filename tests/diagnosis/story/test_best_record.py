"""The best value of the validation, which tells which checkpoint to keep."""

import pytest

from postmortem import Stream, analyze


@pytest.mark.parametrize(
    ("line", "name", "value", "last"),
    [
        pytest.param(
            "Epoch {0}/20 train loss: {1:.3f} val loss: {2:.3f}",
            "eval_loss",
            0.1,
            0.45,
            id="a loss",
        ),
        pytest.param(
            "Epoch {0}/20 train loss: {1:.3f} val loss: {2:.3f} val acc: {3:.3f}",
            "eval_loss",
            0.1,
            0.45,
            id="the loss goes before a score",
        ),
        pytest.param(
            "Epoch {0}/20 train loss: {1:.3f} val loss: {2:.3f} val dice: {3:.3f} best_dice: 0.9",
            "val_dice",
            0.9,
            0.55,
            id="what the run itself keeps the best of goes first",
        ),
        pytest.param(
            "Epoch {0}/20 train loss: {1:.3f} fps: {2:.3f} val acc: {3:.3f}",
            "val_acc",
            0.9,
            0.55,
            id="a speed judges nothing",
        ),
        pytest.param(
            "Epoch {0}/20 train loss: {1:.3f} train acc: {3:.3f} val loss: {2:.3f}",
            "eval_loss",
            0.1,
            0.45,
            id="a score of the training judges nothing",
        ),
    ],
)
def test_the_best_value_is_found(line: str, name: str, value: float, last: float) -> None:
    """Its epoch and line are told, and what the last one costs."""
    text = "".join(
        line.format(epoch, 2 / epoch, 0.1 + 0.05 * abs(epoch - 8), 0.9 - 0.05 * abs(epoch - 8))
        + "\n"
        for epoch in range(1, 16)
    )
    best = analyze(Stream("train.log", text.encode())).analysis.progress.best
    assert best is not None
    assert (best.name, best.epoch, best.line) == (name, 8, 8)
    assert (best.value, best.last) == (pytest.approx(value), pytest.approx(last))


def test_without_a_validation_there_is_none() -> None:
    """The loss of the training judges no checkpoint."""
    text = "".join(f"step {step} loss {9 / step:.4f}\n" for step in range(1, 30))
    assert analyze(Stream("train.log", text.encode())).analysis.progress.best is None
