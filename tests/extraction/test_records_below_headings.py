"""Figures whose position or split stands on a line above them."""

import math

import pytest

from postmortem import Stream, analyze

Ends = tuple[int, float | None, float, float | None, float]
"""Points of a series, its first step and value, its last."""


def read(text: str) -> dict[str, Ends]:
    """The series of a log by name: count, first step and value, last step and value."""
    analysis = analyze(Stream("train.log", text.encode())).analysis
    found: dict[str, Ends] = {}
    for series in [*analysis.series, *analysis.other_series]:
        if series.first is not None and series.last is not None:
            ends = [series.first[0], series.first[1], series.last[0], series.last[1]]
            steps = [None if step is None or math.isnan(step) else step for step in ends]
            found[series.name] = (series.points, *steps)  # type: ignore[assignment]
    return found


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        pytest.param(
            "[epoch 1][iter {1}/900] loss: 1.{0}5\n\tfg/bg=(23/105)\n\tcls: 0.{0}5, box 0.{0}75\n",
            {"cls": (8, 10, 0.15, 80, 0.85), "box": (8, 10, 0.175, 80, 0.875)},
            id="the rest of a record of several lines",
        ),
        pytest.param(
            "current step: {1}th step\nbatch loss:1.{0}5\n",
            {"loss": (8, 10, 1.15, 80, 1.85)},
            id="an ordinal",
        ),
        pytest.param(
            "epoch   {0}\r\nloss: 1.{0}5\r\ntest accuracy: 5{0}.5%, (51/90)\r\n",
            {"loss": (8, 1, 1.15, 8, 1.85), "test_accuracy": (8, 1, 51.5, 8, 58.5)},
            id="lines that end in both breaks, and the next epoch below",
        ),
        pytest.param(
            "my_main Recent Stats | t_env: {1} | Episode: {0}\nreturn_mean:      1.{0}\tq_mean:  0.{0}\n",
            {"return_mean": (8, 10, 1.1, 80, 1.8)},
            id="steps of the environment",
        ),
    ],
)
def test_a_position_above(record: str, expected: dict[str, Ends]) -> None:
    """Each figure of a record takes the position of the line above it."""
    found = read("".join(record.format(number, number * 10) for number in range(1, 9)))
    assert {name: found.get(name) for name in expected} == expected


def test_an_epoch_of_its_own_needs_no_step() -> None:
    """A summary that names its epoch does not take the step of the last batch."""
    batch = "epoch {0} step {1}0 loss 1.{1}5\n"
    text = "".join(
        "".join(batch.format(epoch, step) for step in range(1, 4))
        + f"Epoch {epoch}: val_acc: 0.{epoch}5, val_f1: 0.{epoch}25\n"
        for epoch in range(1, 9)
    )
    assert read(text)["val_acc"][3] in {None, 8}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        pytest.param("Episode {0}\tAverage Score: 1.{0}5\n", "average_score", id="a name"),
        pytest.param("Epoch {0} R@1 : 0.{0}5\n", "R@1", id="with a sign in it"),
    ],
)
def test_a_name_that_no_rule_knows(line: str, name: str) -> None:
    """It is learnt where it comes again, though the last line with it is a sentence."""
    text = "".join(line.format(number) for number in range(1, 9))
    assert read(f"{text}Solved! Average Score: 9.5\n")[name][0] == 8
