"""Records that other output interrupts, precedes or follows on their line, and bars drawn again."""

import pytest

from postmortem import Stream, analyze
from tests.extraction.read_points import read

EPOCHS = range(1, 7)
FINISHED = "Epoch {0}: 100%|##########| 9/9 [00:26<00:00,  1.10it/s]"
LOGGED = "2021-12-17 10:50:18,337 - INFO - epoch {0} - loss: 1.{0}5, acc: 0.{0}"
DRAW = "5/5 ━━━━━━━━━━━━━━━━━━━━ {1} 5ms/step - accuracy: 0.{0} - loss: 1.{0}"


def values(text: str, name: str) -> list[float]:
    """The figures of a name in a log."""
    return [value for _, value in read(text).get(name, ())]


def write(*lines: str) -> str:
    """The same lines for each epoch."""
    return "".join(line.format(epoch) + "\n" for epoch in EPOCHS for line in lines)


EACH = [float(f"1.{epoch}5") for epoch in EPOCHS]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            LOGGED.format(1) + "\n" + write(FINISHED + LOGGED)[len(FINISHED) - 2 + len(LOGGED) :],
            "loss",
            id="some behind a bar",
        ),
        pytest.param(
            write(LOGGED).replace("0.3\n", "0.3/opt/lib/a.py:34: RuntimeWarning: empty slice.\n"),
            "loss",
            id="a warning behind one",
        ),
        pytest.param(
            write(" 4/9 [===>......] - ETA: 0s - part: 0.5Epoch [{0}/6],  Loss: 1.{0}5"),
            "loss",
            id="behind a bar of Keras",
        ),
        pytest.param(
            write("best:1.{0}, val_loss:1.{0}5, f1:0.{0}").replace("best:1.1", "best:None"),
            "eval_loss",
            id="None before the first figure",
        ),
        pytest.param(write("loss -> 1.{0}5"), "loss", id="an arrow"),
        pytest.param(write("acc:tensor(1.{0}5, device='cuda:0')"), "acc", id="a tensor of one"),
        pytest.param(
            write("step: {0}, acc: Array(1.{0}5, dtype=float32, weak_type=True)"), "acc", id="JAX"
        ),
        pytest.param(write("begin validation", " * MAE_0 1.{0}5"), "MAE_0", id="an asterisk"),
        pytest.param(write("Validation: mIoU 1.{0}5, acc 2.{0}"), "mIoU", id="no sign"),
        pytest.param(
            write("Epoch {0}/6 | train: 1.{0} (1.3 bpd) | val: 1.{0}5 (1.2 bpd)"),
            "eval_loss",
            id="a split behind brackets",
        ),
        pytest.param(write("epoch {0} loss 1.{0} val 1.{0}5"), "eval_loss", id="a split alone"),
        pytest.param(
            write("Epoch {0} Train Acc: {0}.2% Test Acc: {0}.1% Loss: 1.{0}5"),
            "loss",
            id="behind the scores of both splits",
        ),
        pytest.param(
            write("| INFO | iteration index: {0}00, batch loss: 1.{0}5"), "loss", id="an index"
        ),
        pytest.param(
            write("<epoch: {0}, Average PSNR : 1.{0}5dB"), "average_PSNR", id="behind a count"
        ),
    ],
)
def test_each_record_is_read(text: str, name: str) -> None:
    """Whatever stands around it."""
    assert values(text, name) == EACH


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [
        pytest.param(
            write("Epoch {0} | Val Loss: 1.{0}5 | LR: 0.1", "保存最佳模型（验证损失: 1.{0}5）"),
            "eval_loss",
            6,
            id="a message on a saved model in Chinese",
        ),
        pytest.param(
            write("Epoch {0} | Val Loss: 1.{0}5") + "wandb:   val_loss 1.65\nwandb:   acc 0.5\n",
            "eval_loss",
            6,
            id="the closing summary of wandb",
        ),
        pytest.param(write("loss of 1.{0} -> 1.{0}5"), "of", 0, id="from one to another"),
        pytest.param(write("accuracy None", "loss None"), "loss", 0, id="no figure at all"),
        pytest.param(write("Validation: step 1.5 of them"), "step", 0, id="prose behind a split"),
        pytest.param(
            write("Epoch {0} loss: tensor(1.{0}, device='cuda:0')"), "cuda", 0, id="a device"
        ),
        pytest.param(
            write("Epoch {0} Train Acc: 1.5% Val Acc: 1.2% Val Loss: 1.{0}"),
            "loss",
            0,
            id="a loss of its own split",
        ),
    ],
)
def test_what_is_no_further_record(text: str, name: str, count: int) -> None:
    """Nothing that says again what has been printed, and no other figure."""
    assert len(values(text, name)) == count


@pytest.mark.parametrize("between", ["\b\b\r", "\r", "\n"])
def test_the_last_bar_of_keras_counts_once(between: str) -> None:
    """It is drawn again once the evaluation is done; of draws on one line the last counts."""
    draws = [DRAW.format("{0}", "0s"), DRAW.format("{0}1", "9s") + " - val_loss: 1.{0}"]
    text = write("Epoch {0}/6", between.join(draws))
    assert values(text, "loss") == [float(f"1.{epoch}1") for epoch in EPOCHS]


def test_bars_of_epochs_of_one_batch_count_each() -> None:
    """A bar on the next line that shows the same figures is another one."""
    text = write("1/1 ━━━━━━━━━━━━━━━━━━━━ 0s 5ms/step - loss: 1.{0}")
    assert values(text, "loss") == [float(f"1.{epoch}") for epoch in EPOCHS]


def test_a_first_record_may_begin_late() -> None:
    """A warning stood within it: the rest is known once a whole one has come."""
    first = "RuntimeWarning: empty\nlength: 5.5\nscore_b: 6.5\nscore_c: 7.5\n\n"
    text = first + write("score: 1.{0}", "length: 2.{0}", "score_b: 3.{0}", "score_c: 4.{0}", "")
    assert values(text, "score_b") == [6.5, *(float(f"3.{epoch}") for epoch in EPOCHS)]
    assert values(text, "score") == [float(f"1.{epoch}") for epoch in EPOCHS]


def test_the_first_epoch_stands_with_the_others() -> None:
    """Its record is read before its bar is known to carry the loss of the steps."""
    text = write(
        "epoch [{0}]: 100%|##########| 29/29 [00:26<00:00,  1.10it/s, loss=2.{0}]",
        "epoch {0} - loss: 1.{0}5 acc: 0.{0} - test_acc: 0.1",
    )
    found = {series.producer: series for series in analyze(Stream("a.log", text.encode())).analysis.series if series.name == "loss"}  # fmt: skip
    assert {producer: series.points for producer, series in found.items()} == {
        "pytorch": 6,
        "pytorch-epoch": 6,
    }
    assert found["pytorch-epoch"].first == (1.0, 1.15)


def test_a_bar_of_one_step_is_no_course_of_steps() -> None:
    """The loss of the epochs stays the loss."""
    text = write(
        "Training: 100%|##########| 1/1 [00:00<00:00,  4.99it/s, loss=2.{0}]",
        "Epoch {0} - Train Loss: 1.{0}5, Val Loss: 1.4",
    )
    assert values(text, "loss") == EACH
