"""A loss that some line calls not finite, though no reader took it for a record."""

import pytest

from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors import nonfinite_hints as told_losses
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Series


def told(*lines: str, bad: float | None = None) -> list[int]:
    """The lines of a log that are told of."""
    text = "\n".join(lines) + "\n"
    series = Series("loss", "test", 0, NOWHERE)
    if bad is not None:
        series.append(1.0, bad, 1)
    series.settle()
    observed = Observed(
        series=[series], heads={0: text}, tails={0: (1, text)}, processes={0: NOWHERE}
    )
    return [shape.line for shape in told_losses.detect_reported_nonfinite_loss(observed)]


@pytest.mark.parametrize(
    "line",
    [
        "asr WARNING: loss (=inf) is not correct",
        "[Iteration 7120] 1792 records in 4.0 seconds. Loss is Infinity. Rate is 0.1.",
        "nll became nan, batch skipped",
        "perplexity: nan",
        "训练到第3轮之后loss突然变成nan",
        "损失值变成了 NaN",
        "  eval_loss                    =        nan",
        "Epoch 41: 100%|####| 9375/9375 [07:11<00:00, 21.73it/s, DR=713, DF=nan, G=nan]",
    ],
)
def test_a_loss_that_is_called_not_finite_is_told(line: str) -> None:
    """In any words, among lines that are sound."""
    assert told("epoch 1 begins", line, "epoch 1 goes on") == [2]


@pytest.mark.parametrize(
    "line",
    [
        "best loss: inf",
        "val_loss improved from inf to 0.31",
        "loss scale is inf",
        "grad norm is inf, step skipped",
        "no nan loss in 400 batches",
        "if loss is nan, lower the rate",
        "如果loss为nan，请降低学习率",
        "loss is 1.25",
        "lossinfo: nano",
    ],
)
def test_a_bound_a_gradient_and_a_denial_are_none(line: str) -> None:
    """Gradients are not finite now and then under a loss scale."""
    assert told(line) == []


def test_a_curve_that_shows_it_speaks_for_itself() -> None:
    """The line says nothing new then."""
    assert told("loss is nan here", bad=float("nan")) == []
    assert told("loss is nan here", bad=1.0) == [1]
