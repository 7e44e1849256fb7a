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


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(
            "Epoch {0}/40 train loss: 0.{1}\n", "Epoch 21/40 train:  65%\n", id="one that has begun"
        ),
        pytest.param(
            "WARMUP_EPOCHS: 5\nMAX_EPOCHS: 40\nEpoch[{0}] loss: 0.{1}\n",
            "Epoch[21]\n",
            id="no warm-up",
        ),
    ],
)
def test_the_last_epoch_and_its_plan(lines: str, expected: str) -> None:
    """An epoch that has no record yet is the last one where its end is printed."""
    head, _, line = lines[:-1].rpartition("\n")
    text = head + "\n" + "".join(line.format(at, 90 - at) + "\n" for at in range(1, 21)) + expected
    progress = analyze(Stream("train.log", text.encode())).analysis.progress
    assert (progress.epoch, progress.planned_epochs) == (21 if "/40" in lines else 20, 40)
