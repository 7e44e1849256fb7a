"""Figures below headings of training and evaluation, and headings that part nothing."""

import pytest

from postmortem import Stream, analyze

EPOCHS = 4
COUNTED = "[{at}/{of}] loss: {value:.4f}"
NUMBERED = "batch {at} loss {value:.4f}"
PLAIN = "epoch {epoch} loss {value:.4f} acc 0.5{at}"


def write(train: str, line: str, evaluation: str, line_below: str, *, most: int = 3) -> str:
    """A log of both passes of each epoch: six figures of the training, fewer of the evaluation."""
    text = []
    for epoch in range(1, EPOCHS + 1):
        for heading, row, count, level in (
            (train, line, 6, 2.5),
            (evaluation, line_below, most, 3.5),
        ):
            text += [heading.format(epoch=epoch)] if heading else []
            text += [
                row.format(at=at, of=count, epoch=epoch, value=level - epoch / 10 - at / 100)
                for at in range(1, count + 1)
            ]
    return "\n".join(text) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            write("train at epoch {epoch}", COUNTED, "validation at epoch{epoch}", COUNTED)
        ),
        pytest.param(write("Train:", COUNTED, "Val:", COUNTED), id="a word"),
        pytest.param(write("Epoch {epoch}/4", NUMBERED, "Validating...", NUMBERED), id="an epoch"),
        pytest.param(
            write(
                "--- TRAIN epoch {epoch}/4 ---", NUMBERED, "--- TEST epoch {epoch}/4 ---", NUMBERED
            ),
            id="rules",
        ),
        pytest.param(write("Training", PLAIN, "Testing", PLAIN), id="no count but the epoch"),
    ],
)
def test_figures_below_the_heading_of_an_evaluation_are_its_own(text: str) -> None:
    """Six of each training pass, three of each evaluation, printed alike."""
    series = {
        curve.name: curve for curve in analyze(Stream("a.log", text.encode())).analysis.series
    }
    assert (series["loss"].points, series["eval_loss"].points) == (6 * EPOCHS, 3 * EPOCHS)
    assert series["eval_loss"].first[1] == pytest.approx(3.39)


def test_the_only_figures_below_headings_are_of_the_evaluation() -> None:
    """They need not look like those of the training."""
    text = write(
        "Epoch {epoch}/4", NUMBERED, "=== Validation ===", "loss {value:.4f} acc 0.3", most=1
    )
    series = {
        curve.name: curve for curve in analyze(Stream("a.log", text.encode())).analysis.series
    }
    assert (series["loss"].points, series["eval_loss"].points) == (6 * EPOCHS, EPOCHS)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "".join(
                f"step {step} loss {2 - step / 100:.3f}\n"
                + ("Validation\n" if step % 10 == 0 else "")
                for step in range(1, 60)
            ),
            id="the count runs on",
        ),
        pytest.param(
            write("Epoch {epoch}/4", NUMBERED, "Loading the test set", NUMBERED), id="data"
        ),
    ],
)
def test_a_heading_that_parts_nothing_is_none(text: str) -> None:
    """The training goes on below it."""
    names = {curve.name for curve in analyze(Stream("a.log", text.encode())).analysis.series}
    assert "eval_loss" not in names
