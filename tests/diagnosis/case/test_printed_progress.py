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


def test_a_position_within_the_epoch_is_printed() -> None:
    """The step over the run is computed then, and is no printed one."""
    text = "".join(
        f"Epoch [{epoch}/9], Step[{step}/0444], Loss: {1 / (epoch * step):.4f}\n"
        for epoch in range(1, 4)
        for step in range(20, 441, 20)
    )
    progress = analyze(Stream("train.log", text.encode())).analysis.progress
    assert (progress.last_step, progress.planned_steps, progress.epoch) == (440, 444, 3)


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "num_train_steps=40\n"
            + "".join(f"step {at}: loss=1.{at}\n" for at in range(10, 90))
            + "num_train_steps=100\n",
            (89, 100, None, None),
            id="a plan that the run has outgrown",
        ),
        pytest.param(
            "".join(
                f"{{'loss': 1.{at}, 'learning_rate': 1e-05, 'epoch': {at / 50:.2f}}}\n"
                f"{at}%|##  | {at}/150 [00:01<00:09,  1.5it/s]\n"
                for at in range(10, 91, 10)
            ),
            (90, 150, 1.8, 3),
            id="epochs by the steps of the bar",
        ),
        pytest.param(
            "".join(f"Iter {at}00/9000 train loss : 1.{at}\n" for at in range(10, 50))
            + "wandb: Run summary:\nwandb:     num_iters 4957\nwandb:    train_loss 1.49\n",
            (4957, 9000, None, None),
            id="the summary of a run",
        ),
        pytest.param(
            "".join(f"Episode: {at}, Reward: 1.{at}, Steps: {90 - at}\n" for at in range(10, 60)),
            (59, None, None, None),
            id="steps of an episode",
        ),
        pytest.param(
            "".join(
                f"[{at // 20}/4][{at % 20}/20] Loss_D: 1.{at} Loss_G: 2.{at}\n"
                for at in range(10, 60)
            ),
            (None, None, 2, 4),
            id="an epoch by its length alone",
        ),
    ],
)
def test_what_is_planned(text: str, expected: tuple[float | None, ...]) -> None:
    """The plan that the run has kept to, printed or computed."""
    progress = analyze(Stream("train.log", text.encode())).analysis.progress
    found = (progress.last_step, progress.planned_steps, progress.epoch, progress.planned_epochs)
    wanted = [at for at, one in enumerate(expected) if one is not None]
    assert [found[at] for at in wanted] == [expected[at] for at in wanted]
