"""The last step and epoch of a run, and what was planned."""

import pytest

from postmortem import Stream, analyze


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("Epoch {0}/20 loss: 0.{1}", (None, None, 9, 20), id="epochs"),
        pytest.param("step {1}/500 | loss 1.{1}", (99, 500, None, None), id="steps"),
        pytest.param("[{1}/500] Train loss: 1.{1}", (99, 500, None, None), id="a bare position"),
        pytest.param(
            "Epoch(train) [{0}][{1}/500] loss: 1.{1}", (None, None, 9, None), id="steps of an epoch"
        ),
    ],
)
def test_positions_are_read_off_the_last_lines(
    line: str, expected: tuple[float | None, ...]
) -> None:
    """Whatever the wording; what is not printed is null."""
    text = "".join(line.format(number // 10, number) + "\n" for number in range(10, 100))
    progress = analyze(Stream("train.log", text.encode())).analysis.progress
    found = (progress.last_step, progress.planned_steps, progress.epoch, progress.planned_epochs)
    wanted = [at for at, one in enumerate(expected) if one is not None]
    assert [found[at] for at in wanted] == [expected[at] for at in wanted]
