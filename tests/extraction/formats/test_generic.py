"""The reader of last resort.

Metric lines of plain PyTorch scripts, and the lines that only speak of a loss.
"""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.core import resources
from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.extraction.formats import metric_line_parser
from postmortem.extraction.formats.generic_reader import GenericReader
from postmortem.extraction.formats.records import Record

NAN = math.nan


def read(*lines: str, where: ProcessId = NOWHERE) -> list[tuple[Record, int]]:
    """All records of a log, with their lines."""
    reader = GenericReader()
    return [
        *(
            found
            for number, line in enumerate(lines, 1)
            for found in reader.read(line, where, number)
        ),
        *reader.rest(),
    ]


def same(values: dict[str, float]) -> dict[str, str]:
    """Values that compare, NaN included."""
    return {name: repr(float(value)) for name, value in values.items()}


@pytest.mark.parametrize(
    ("line", "step", "values"),
    [
        pytest.param(
            "Epoch [3/10], Step [100/500], Loss: 0.1234",
            100,
            {"loss": 0.1234, "epoch": 3},
            id="the PyTorch tutorials",
        ),
        pytest.param(
            "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.300000",
            NAN,
            {"loss": 2.3, "epoch": 1},
            id="the MNIST example",
        ),
        pytest.param("epoch 3 loss nan", NAN, {"loss": NAN, "epoch": 3}, id="words only"),
        pytest.param(
            "Epoch: [3][40/900]  Time 0.4 (0.9)  Data 0.1 (0.7)  Loss 6.1 (6.3)  Prec@1 0.0 (0.2)",
            40,
            {"loss": 6.1, "loss_so_far": 6.3, "data_time_so_far": 0.7, "step_time_so_far": 0.9},
            id="means so far in brackets",
        ),
        pytest.param(
            "Epoch 3: Loss: 0.5 (12 s) Acc: 97.5%",
            NAN,
            {"loss": 0.5, "Acc": 97.5, "loss_so_far": math.pi},
            id="a score in per cent, and a time that is no mean",
        ),
        pytest.param(
            "Step: 499 (10%)\t Avg Train Loss Per Batch: 27.5\t Avg Test Loss Per Batch: 20.8",
            499,
            {"loss": 27.5, "eval_loss": 20.8},
            id="what a loss is the mean of",
        ),
        pytest.param(
            "step 7 loss on validation set: 0.31",
            7,
            {"eval_loss": 0.31},
            id="what a loss is computed on",
        ),
        pytest.param(
            "step 7 loss 0.31 - f1-score (micro avg)  0.5652 lr:(4.9e-04,)",
            7,
            {"loss": 0.31, "f1-score (micro avg)": 0.5652, "learning_rate": 4.9e-4},
            id="words in brackets behind a name, a rate in brackets",
        ),
        pytest.param("step 5, Loss 1e-3", 5, {"loss": 1e-3}, id="no sign between name and value"),
        pytest.param(
            "epoch=3, step=120, loss=0.25", 120, {"loss": 0.25, "epoch": 3}, id="equals signs"
        ),
        pytest.param("[epoch 3] loss: 1.5", NAN, {"loss": 1.5, "epoch": 3}, id="brackets"),
        pytest.param("Iteration 100, loss = 0.3", 100, {"loss": 0.3}, id="iteration"),
        pytest.param(
            "iter 10: loss 3.2101, time 245.67ms, mfu 31.23%",
            10,
            {"loss": 3.2101, "step_time": 245.67},
            id="nanoGPT",
        ),
        pytest.param(
            "step 3 loss: 2.5 | loss_scale=65536 | 18,977 tokens/s | 54.0 ms/step | rss 336 MiB",
            3,
            {"loss": 2.5, "loss_scale": 65536, "throughput": 18977, "step_time": 54, "memory": 336},
            id="scale, speed and memory beside the loss",
        ),
        pytest.param(
            "step 3 loss: 2.5 lr_scale 0.5 best 12ms_mode",
            3,
            {"loss": 2.5},
            id="other scales and words",
        ),
        pytest.param(
            "step 0: train loss 10.9876, val loss 10.9801",
            0,
            {"loss": 10.9876, "eval_loss": 10.9801},
            id="nanoGPT, evaluation",
        ),
        pytest.param(
            "step 10 | loss: 2.3 | lr 1.00e-04 | grad_norm: 1.2",
            10,
            {"loss": 2.3, "learning_rate": 1e-4, "grad_norm": 1.2},
            id="columns",
        ),
        pytest.param(
            "Epoch 1/10 - loss: 0.5 - val_loss: 0.6 - lr: 1e-3",
            NAN,
            {"loss": 0.5, "eval_loss": 0.6, "learning_rate": 1e-3, "epoch": 1},
            id="dashes",
        ),
        pytest.param(
            "Epoch 1 | Train Loss: 0.5 | Val Loss: inf",
            NAN,
            {"loss": 0.5, "eval_loss": math.inf, "epoch": 1},
            id="capital letters",
        ),
        pytest.param(
            "Epoch: 0, Step: 12, Rank: 0, loss = 2.34375",
            12,
            {"loss": 2.34375, "epoch": 0},
            id="DeepSpeed-Chat",
        ),
        pytest.param("{'epoch': 3, 'loss': 0.5}", NAN, {"loss": 0.5, "epoch": 3}, id="a dict"),
        pytest.param(
            '{"step": 7, "train_loss": 0.5, "lr": 0.001}',
            7,
            {"loss": 0.5, "learning_rate": 1e-3},
            id="a JSON line",
        ),
        pytest.param(
            "epoch 1: loss tensor(nan, device='cuda:0')",
            NAN,
            {"loss": NAN, "epoch": 1},
            id="a tensor",
        ),
        pytest.param("step 3 loss: 1,234.5", 3, {"loss": 1234.5}, id="thousands"),
        pytest.param(
            "iter: 5, loss: 2.0, reader_cost: 0.25 s, batch_cost: 0.5 s",
            5,
            {"loss": 2, "data_time": 0.25, "step_time": 0.5},
            id="what the reader and the batch cost",
        ),
        pytest.param(
            "Iter 5 loss 2.0 rtime 0.25; itime 0.5",
            5,
            {"data_time": 0.25, "step_time": 0.5},
            id="short names of times",
        ),
        pytest.param(
            "step 5 loss 2.0 data time 0.25 step time 0.5",
            5,
            {"data_time": 0.25, "step_time": 0.5},
            id="the time of the data is not that of the step",
        ),
        pytest.param(
            "step 5 loss 2.0 cost: 0.25, train_step_cost 0.5",
            5,
            {"data_time": math.pi, "step_time": math.pi},
            id="a cost alone is no time",
        ),
        pytest.param(
            "Epoch 5, loss: 0.1234.", NAN, {"loss": 0.1234, "epoch": 5}, id="the end of a sentence"
        ),
        pytest.param("train/loss: 0.5 step: 5", 5, {"loss": 0.5}, id="wandb names"),
        pytest.param("global_step 7 loss: 0.5", 7, {"loss": 0.5}, id="global step"),
        pytest.param(
            "epoch: 1 step: 40, loss is 2.31", 40.0, {"loss": 2.31, "epoch": 1.0}, id="a sentence"
        ),
        pytest.param(
            "step 60: rec 1.02 kld inf loss inf",
            60.0,
            {"loss": math.inf, "rec": 1.02, "kld": math.inf},
            id="a figure is no part of a name",
        ),
        pytest.param(
            "step: 3 value_loss: 0.5 policy_loss: 0.1",
            3,
            {"value_loss": 0.5, "policy_loss": 0.1},
            id="value loss is no validation",
        ),
        pytest.param(
            "[10/400] loss=1.49 cached=10",
            10,
            {"loss": 1.49, "cached": 10},
            id="a position without a word",
        ),
        pytest.param(
            "2/500\tloss=1.32e-01\tlr=2e-03",
            2,
            {"loss": 0.132, "learning_rate": 2e-3},
            id="a position at the beginning",
        ),
        pytest.param("warm-up 1/5 loss 1.99", 1, {"loss": 1.99}, id="a position of something else"),
        pytest.param(
            "Epoch: [0][2/38]\tLoss 1.08e+00\tAcc@1  37.50",
            2,
            {"loss": 1.08, "epoch": 0, "Acc@1": 37.5},
            id="a position in the epoch",
        ),
        pytest.param(
            "episode    1 | transitions    20000 | loss -1.36", 1, {"loss": -1.36}, id="episodes"
        ),
        pytest.param(
            "step 4 | loss: 4.4 | norm: 1.302 | lr: 2.0e-03",
            4,
            {"loss": 4.4, "grad_norm": 1.302, "learning_rate": 2e-3},
            id="a norm alone",
        ),
        pytest.param(
            "epoch 1 step 6 loss 0.79 recon 0.69 kl 0.005",
            6,
            {"loss": 0.79, "recon": 0.69, "kl": 0.005},
            id="what stands beside the loss keeps its name",
        ),
        pytest.param(
            "epoch 1, batch 5, triplet loss 1.119",
            5,
            {"loss": 1.119},
            id="the only loss is the training loss",
        ),
        pytest.param("t=2 logloss=1.095 threads=1", 2, {"loss": 1.095}, id="log loss"),
        pytest.param(
            "[train] step=3 mse=6.345", 3, {"loss": 6.345}, id="an objective without the word"
        ),
        pytest.param(
            "iter 1 | slice (48, 48) | dice-bce 0.692 | 0.1s",
            1,
            {"loss": 0.692},
            id="two objectives in one",
        ),
        pytest.param(
            "iter 0: total 1.0029, recon 0.93, entropy 0.64",
            0,
            {"loss": 1.0029, "recon": 0.93, "entropy": 0.64},
            id="the total of several objectives",
        ),
        pytest.param(
            "epoch 3 ce 0.5 mse 0.25",
            NAN,
            {"ce": 0.5, "mse": 0.25, "epoch": 3},
            id="several objectives keep their names",
        ),
        pytest.param(
            "Epoch 3/100, train nll: -3.2, val nll: -2.9",
            NAN,
            {"loss": -3.2, "val_nll": -2.9, "epoch": 3},
            id="an objective of the validation is no second one",
        ),
        pytest.param(
            "iter = 20 loss = 2.89, accuracy (cur) = 0.35, accuracy (avg) = 0.03",
            20,
            {"loss": 2.89, "accuracy (cur)": 0.35, "accuracy (avg)": 0.03},
            id="a word in brackets belongs to the name",
        ),
        pytest.param(
            "[7][7/1200][1/1] | loss: 3.99e-02",
            7,
            {"loss": 0.0399},
            id="a position of one tells nothing",
        ),
        pytest.param(
            "validation loss at step 10: 7.46, the acc is: 0.038",
            10,
            {"eval_loss": 7.46, "acc of val": 0.038},
            id="words of a sentence",
        ),
        pytest.param(
            "[2/500] Loss_D: 1.3763 Loss_G: 0.6361",
            2,
            {"Loss_D": 1.3763, "Loss_G": 0.6361},
            id="two networks",
        ),
        pytest.param(
            "Early stopping at epoch 10; best val_loss 0.78",
            NAN,
            {"best_val_loss": 0.78},
            id="the best so far is no point of the curve",
        ),
        pytest.param(
            "step: 3 nll_loss: 8.5 loss: 9.1",
            3,
            {"loss": 9.1, "nll_loss": 8.5},
            id="components keep their names",
        ),
    ],
)
def test_a_metric_line_is_read_at_once(line: str, step: float, values: dict[str, float]) -> None:
    """A step, an iteration or an epoch beside the loss makes it a metric line."""
    found = read(line)
    assert len(found) == 1
    record, number = found[0]
    assert (number, repr(float(record.step))) == (1, repr(float(step)))
    got = dict(record.values)
    assert same({name: got.get(name, math.pi) for name in values}) == same(values)


@pytest.mark.parametrize(
    ("first", "second", "losses"),
    [
        pytest.param(
            "train_loss=0.5 val_loss=0.6",
            "train_loss=0.4 val_loss=nan",
            [0.5, 0.4],
            id="other numbers",
        ),
        pytest.param("loss: nan", "loss: nan", [NAN, NAN], id="NaN is another number each time"),
        pytest.param(
            "loss: tensor(0.5, device='cuda:0')",
            "loss: tensor(0.4, device='cuda:0')",
            [0.5, 0.4],
            id="tensors",
        ),
    ],
)
def test_a_line_without_a_place_must_come_again(
    first: str, second: str, losses: list[float]
) -> None:
    """The first of such lines is kept until the second shows that they are metrics.

    Nothing is lost.
    """
    assert read(first) == []
    found = read(first, second)
    assert [number for _, number in found] == [1, 2]
    assert [repr(dict(record.values)["loss"]) for record, _ in found] == [
        repr(value) for value in losses
    ]


@pytest.mark.parametrize(
    ("lines", "step"),
    [
        pytest.param(["It: 10, Loss: 0.5", "It: 20, Loss: 0.25"], 20, id="a short name"),
        pytest.param(["#0010 loss: 0.5", "#0020 loss: 0.25"], 20, id="behind a sign"),
        pytest.param(["10 | loss 0.5", "20 | loss 0.25"], 20, id="before a bar"),
        pytest.param(["[10 | 2.5] loss=0.5", "[20 | 4.5] loss=0.25"], 20, id="beside a time"),
        pytest.param(["iter: 2,000 loss: 0.5"], 2000, id="with a comma"),
        pytest.param(["epoch: 1, batch_id: 30, loss: 0.5"], 30, id="of a batch"),
        pytest.param(["Loss at training iteration 500: 0.5"], 500, id="behind the name"),
        pytest.param(["12:30:01 loss: 0.5", "12:40:01 loss: 0.25"], NAN, id="a clock is none"),
        pytest.param(["3 loss: 0.5", "1 loss: 0.25"], NAN, id="a count that falls is none"),
    ],
)
def test_a_position_of_any_spelling(lines: list[str], step: float) -> None:
    """A number before anything else is a step if it grows."""
    assert repr(read(*lines)[-1][0].step) == repr(float(step))


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        (
            [f"Epoca {step}: tensor({2 - step / 4}, grad_fn=<DivBackward0>)" for step in range(4)],
            {"loss": [2.0, 1.75, 1.5, 1.25], "epoch": [0.0, 1.0, 2.0, 3.0]},
        ),
        (
            [
                f"tensor({2 - step / 4}, device='cuda:0', grad_fn=<NllLossBackward0>)"
                for step in range(4)
            ],
            {"loss": [2.0, 1.75, 1.5, 1.25]},
        ),
        (
            [f"['Epoch:', {step}, 'Loss:', {2 - step / 4}]" for step in range(4)],
            {"loss": [2.0, 1.75, 1.5, 1.25], "epoch": [0.0, 1.0, 2.0, 3.0]},
        ),
        ([f"Epoca {step}: tensor({2 - step / 4})" for step in range(4)], {}),
        ([f"tensor({2 - step / 4}, requires_grad=True)" for step in range(4)], {}),
    ],
    ids=["at a place", "alone", "a printed list", "without a graph", "a parameter"],
)
def test_a_tensor_with_its_graph_is_the_loss(
    lines: list[str], values: dict[str, list[float]]
) -> None:
    """Without a name it is what is minimised; a list of names and figures has its own names."""
    found: dict[str, list[float]] = {}
    for record, _ in read(*lines):
        for name, value in record.values:
            found.setdefault(name, []).append(value)
    assert found == values


def test_the_same_line_again_is_a_setting() -> None:
    """Equal numbers may be a configuration printed by every rank."""
    assert read("loss: 0.5", "loss: 0.5", "loss: 0.5") == []
    assert len(read(*["test loss=0.8123440917"] * 4)) == 4  # no setting has so many digits


@pytest.mark.parametrize(
    ("texts", "name", "count"),
    [
        pytest.param(["Mean Reward: 2.5", "Mean Reward: 3.75"], "mean_reward", 2, id="alone"),
        pytest.param(["Mean Reward: 2.5", "Mean Reward: 2.5"], "mean_reward", 0, id="a setting"),
        pytest.param(["the reward: 2.5 is too low", "the reward: 3 is low"], "", 0, id="prose"),
        pytest.param(
            [f"Epoch[2] Batch [{n}00] Speed: 40{n}.5 samples/sec Accuracy=0.5" for n in (1, 2)],
            "throughput",
            2,
            id="a speed beside a score",
        ),
    ],
)
def test_figures_that_name_no_loss(texts: list[str], name: str, count: int) -> None:
    """They are to come again."""
    found = [dict(record.values) for record, _ in read(*texts)]
    assert sum(name in values for values in found) == count
    assert len(found) == count


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("loss = criterion(out, y)", id="code"),
        pytest.param("    loss.backward()", id="a call"),
        pytest.param("loss: Tensor = f(x)", id="an annotation"),
        pytest.param('  File "/x/loss.py", line 12, in forward', id="a frame"),
        pytest.param("/data/loss/3/x.bin", id="a path"),
        pytest.param("loss_fn = nn.CrossEntropyLoss()", id="a function"),
        pytest.param("the loss is 3 times higher", id="prose"),
        pytest.param("step 3: saving loss curve to loss.png", id="prose with a step"),
        pytest.param("UserWarning: Using a target size that is different: loss 3", id="a warning"),
        pytest.param("epoch 3 finished, loss improved from inf to 0.5", id="a callback"),
        pytest.param(
            "Epoch 00003: val_loss improved from inf to 0.53210, saving model to x.h5",
            id="a checkpoint callback",
        ),
        pytest.param("info: step 1 loss: inference", id="a word that begins like a number"),
        pytest.param("step 5 loss_weight: 1.0", id="a weight"),
        pytest.param("epoch 3 val_mse 0.25", id="an objective on other data"),
        pytest.param("epoch 3 eval: mse 0.25", id="an objective of an evaluation"),
        pytest.param("mse = ((a - b) ** 2).mean() * 2.0", id="code with an objective"),
        pytest.param("loss=2", id="no place"),
        pytest.param(
            "{'train_runtime': 812.4, 'train_samples_per_second': 3.7, 'train_loss': 1.234, 'epoch': 3.0}",
            id="a closing summary",
        ),
        pytest.param("epoch 3 " + "x" * 5000 + " loss: 0.5", id="a dump"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_only_speaks_of_a_loss_is_left(line: str) -> None:
    """Code, paths, prose and settings give no point, however often they come."""
    assert read(line, line, line) == []


def test_a_known_layout_is_read_whatever_its_numbers() -> None:
    """Once a layout is known, equal numbers count too: a frozen loss is a curve."""
    found = read("epoch 1 loss: 0.5", "epoch 1 loss: 0.5", "epoch 1 loss: 0.5")
    assert len(found) == 3


def test_processes_are_kept_apart() -> None:
    """A line of another rank does not confirm the first."""
    reader = GenericReader()
    assert reader.read("loss: 0.5", ProcessId(rank=0), 1) == []
    assert reader.read("loss: 0.4", ProcessId(rank=1), 2) == []
    assert [number for _, number in reader.read("loss: 0.3", ProcessId(rank=0), 3)] == [1, 3]


@pytest.mark.parametrize(
    "bar",
    [
        "Epoch 1/2: {percent}%|█| {now}/10 [00:03<01:37, 10.84it/s, loss={loss}]",
        "{percent}%|█| {now}/10 [00:03<01:37, loss={loss}]",
    ],
)
def test_a_bar_is_one_record_for_each_position(bar: str) -> None:
    """A redraw is no point; of one position the last draw counts."""
    lines = [
        bar.format(percent=10 * now, now=now, loss=loss)
        for now, loss in ((1, 0.9), (1, 0.5), (2, 0.5), (2, 0.4), (3, 0.4), (3, "nan"))
    ]
    losses = [dict(record.values)["loss"] for record, _ in read(*lines)]
    assert [repr(loss) for loss in losses] == ["0.5", "0.4", "nan"]


def test_numbers_in_brackets_are_steps_if_they_grow() -> None:
    """`[3] loss` may be a step or a rank."""
    assert [
        record.step for record, _ in read("[1] loss: 0.5", "[2] loss: 0.4", "[3] loss: 0.3")
    ] == [1, 2, 3]
    assert all(
        math.isnan(record.step)
        for record, _ in read("[1] loss: 0.5", "[0] loss: 0.4", "[1] loss: 0.3")[1:]
    )


@pytest.mark.parametrize("first", [0, 1])
def test_steps_of_an_epoch_become_steps_of_the_run(first: int) -> None:
    """From the first step that falls back on."""
    found = read(
        *(
            f"Epoch [{epoch}/9], Batch [{batch}/4], Loss: 0.{batch}"
            for epoch in (first, first + 1, first + 2)
            for batch in range(1, 5)
        )
    )
    assert [record.step for record, _ in found] == list(range(1, 13))


def test_metrics_drawn_before_the_bar_moves_belong_to_the_next_step() -> None:
    """A loop that sets the metrics of a bar within its body begins at 0, and ends with a redraw."""
    lines = [
        f"{now}/3 |#| {now}/3 [00:03<01:37, loss={loss}]"
        for now, loss in ((0, 0.9), (1, 0.9), (1, 0.8), (2, 0.8), (2, 0.7), (3, 0.7))
    ]
    assert [(record.step, dict(record.values)["loss"]) for record, _ in read(*lines)] == [
        (1, 0.9),
        (2, 0.8),
        (3, 0.7),
    ]


def test_a_new_bar_with_the_metrics_of_the_last_is_no_record() -> None:
    """Lightning draws the bar of the next epoch at 0 with what it showed before."""
    bar = "Epoch {}: |#| {}/10 [00:03<01:37, 9.10it/s, loss={}]"
    found = read(
        bar.format(0, 5, 0.9),
        bar.format(0, 10, 0.8),
        bar.format(0, 0, 0.8),
        bar.format(1, 0, 0.8),
        bar.format(1, 5, 0.7),
    )
    assert [(record.step, dict(record.values)["loss"]) for record, _ in found] == [
        (5, 0.9),
        (10, 0.8),
        (15, 0.7),
    ]


def test_what_is_kept_is_bounded() -> None:
    """Ten thousand layouts that never come again do not pile up.

    A real one behind them is still found.
    """
    reader = GenericReader()
    for number in range(10_000):
        reader.read(
            f"{'ab' * (number % 100 + 1)}{'c' * (number // 100)} loss: 0.5", NOWHERE, number + 1
        )
    assert len(reader.acceptance._waiting) <= 64
    assert reader.read("loss: 0.5", NOWHERE, 10_001) == []
    assert len(reader.read("loss: 0.4", NOWHERE, 10_002)) == 2


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=60),
            st.sampled_from(
                [
                    "loss",
                    " loss: ",
                    "=",
                    "nan",
                    "0.5",
                    "epoch 3 ",
                    "step 4",
                    "{'loss': ",
                    "tensor(",
                    "1,2",
                    "|",
                    "10/20 [00:01<00:02, ",
                    "]",
                    "%|",
                ]
            ),
        ),
        max_size=12,
    ).map("".join)
)
def test_reading_never_fails(line: str) -> None:
    """Whatever the line, every value of every record is a float."""
    for record, number in read(line, line):
        assert number in {1, 2}
        assert all(isinstance(value, float) for _, value in record.values)


@pytest.mark.parametrize(
    ("line", "units"),
    [
        pytest.param(
            "step 3 loss: 2.5 | 18,977 tokens/s | 54.0 ms/step | rss 336 MiB",
            {"throughput": "tokens/s", "step_time": "ms", "memory": "MiB"},
            id="speed and memory",
        ),
        pytest.param(
            "step 5 loss 2.1 allocated 21.65 GiB 417.6 ms",
            {"memory": "GiB", "step_time": "ms"},
            id="a unit apart from its number",
        ),
        pytest.param(
            "step 1 loss 2.0 data 0.412s step 0.451s",
            {"data_time": "s", "step_time": "s"},
            id="seconds",
        ),
        pytest.param("step 1 loss 2.0 data 0.412 step 0.451", {}, id="none printed"),
        pytest.param(
            "iter: 5, loss: 2.0, reader_cost: 0.25 s, batch_cost: 0.5 s, ips: 40.0",
            {"data_time": "s", "step_time": "s"},
            id="costs in seconds",
        ),
        pytest.param(
            "step 1 loss 2.0 data 0.412 steps 0.451", {}, id="a word that begins like a unit"
        ),
    ],
)
def test_units_are_those_printed_behind_the_numbers(line: str, units: dict[str, str]) -> None:
    """As printed; none is guessed."""
    assert [dict(record.units) for record, _ in read(line)] == [units]


@pytest.mark.parametrize(
    ("lines", "last"),
    [
        pytest.param(
            ["[   3] mse=7.14e+05 |g|=4171", "[   6] mse=inf |g|=nan"],
            {"loss": math.inf, "grad_norm": NAN},
            id="a count in brackets",
        ),
        pytest.param(
            ["Total iter: 10, epoch: 0, loss: [2.5]", "Total iter: 20, epoch: 0, loss: [nan]"],
            {"epoch": 0.0, "loss": NAN},
            id="a loss in brackets",
        ),
        pytest.param(
            [
                "Epoch: [2][ 7/90] Time 0.675 Err 6.5 LR 1e-02 Wait 0.5",
                "Epoch: [2][ 8/90] Time 0.675 Err 6.25 LR 1e-02 Wait 0.5",
            ],
            {"Err": 6.25, "Wait": 0.5, "learning_rate": 0.01, "epoch": 2.0},
            id="a position in brackets behind the epoch",
        ),
        pytest.param(
            ["upd   7  L 1.94e+01  gradnorm 2.5", "upd   8  L 1.71e+01  gradnorm 2.1"],
            {"loss": 17.1, "grad_norm": 2.1},
            id="short names behind a count",
        ),
        pytest.param(
            ["[40/500] errD: 0.5 errG: 1.25", "[80/500] errD: 0.25 errG: 1.5"],
            {"errD": 0.25, "errG": 1.5},
            id="two networks",
        ),
        pytest.param(
            ["#0004 rec=0.75 t=0.2s", "#0008 rec=0.5 t=0.2s"],
            {"loss": 0.5},
            id="a reconstruction by a short name",
        ),
        pytest.param(
            ["#0004 rec=0.75 kld=1.5", "#0008 rec=0.5 kld=2.5"],
            {"loss": 0.5, "rec": 0.5, "kld": 2.5},
            id="a reconstruction beside a divergence keeps its name too",
        ),
        pytest.param(
            ["[4/60] rec=0.75 P=0.5", "[8/60] rec=0.5 P=0.25"],
            {"rec": 0.5, "P": 0.25},
            id="a recall",
        ),
        pytest.param(
            ["step 10 td_loss 0.5", "step 20 td_loss 0.25"],
            {"loss": 0.25, "td_loss": 0.25},
            id="an error of values keeps its name too",
        ),
        pytest.param(
            ["#10 td_err=0.5", "#20 td_err=0.25"],
            {"loss": 0.25, "td_err": 0.25},
            id="one that is not called a loss",
        ),
        pytest.param(
            ["trainer: CE: 2.5", "trainer: CE: 2.25"], {"loss": 2.25}, id="behind a logger's name"
        ),
        pytest.param(
            ["[E 00] CE 2.5", "[E 01] CE 2.25"], {"loss": 2.25, "epoch": 1.0}, id="in brackets"
        ),
        pytest.param([">> 100 nll 2.5", ">> 200 nll 2.25"], {"loss": 2.25}, id="behind a mark"),
        pytest.param(["best: CE: 2.5", "best: CE: 2.25"], None, id="the best one"),
        pytest.param(
            ["e003 | NLL 2.5", "e004 | NLL 2.25"], {"loss": 2.25, "epoch": 4.0}, id="short epochs"
        ),
        pytest.param(["kld=1.5", "kld=1.25"], {"loss": 1.25}, id="a divergence alone"),
        pytest.param(["CE: 2.5", "CE: 2.25"], {"loss": 2.25}, id="an objective and no place"),
        pytest.param(["CE: 2.3026"] * 12, {"loss": 2.3026}, id="an objective that stands still"),
        pytest.param(["bce=0.5"] * 40, None, id="a setting of one digit, by every rank"),
        pytest.param(
            ["the best CE: 2.5", "the best CE: 2.25"], None, id="words before an objective"
        ),
        pytest.param(
            ['{"step": 3, "train/ce": 3.5}', '{"step": 4, "train/ce": 3.25}'],
            {"loss": 3.25},
            id="an object that names an objective",
        ),
        pytest.param(
            [
                "Epoch: [1]  [10/90]  lr: 0.01  closs: 0.9 (0.95)",
                "Epoch: [1]  [20/90]  lr: 0.01  closs: 0.8 (0.9)",
            ],
            {"loss": 0.8, "learning_rate": 0.01, "epoch": 1.0, "loss_so_far": 0.9},
            id="a letter before the loss",
        ),
        pytest.param(
            ["epoch 7 best test acc: 0.9, train loss: 1.5, val acc: 0.5 test acc: 0.25"],
            {"loss": 1.5, "best_test_acc": 0.9, "val_acc": 0.5, "test_acc": 0.25, "epoch": 7.0},
            id="several of one name",
        ),
        pytest.param(
            ["Epoch[2] Batch [50] Speed: 9000.5 samples/sec Train-accuracy=0.5"],
            None,
            id="a score beside a place waits for another",
        ),
        pytest.param(
            [
                "seg INFO: Sample: 7, Validation pixAcc: 0.5, mIoU: 0.25",
                "seg INFO: Sample: 8, Validation pixAcc: 0.625, mIoU: nan",
            ],
            {"validation_pixAcc_so_far": 0.625, "val_mIoU_so_far": NAN},
            id="scores of an evaluation on its way",
        ),
        pytest.param(
            ["Image 20/90 mean IoU 0.5 Dice: 0.75", "Image 21/90 mean IoU 0.25 Dice: 0.5"],
            {"val_mean_IoU_so_far": 0.25, "val_Dice_so_far": 0.5},
            id="image by image, and no split",
        ),
        pytest.param(
            ["Epoch: 3, Validation mIoU: 0.25", "Epoch: 4, Validation mIoU: 0.5"],
            {"validation_mIoU": 0.5, "epoch": 4.0},
            id="the score of an epoch's evaluation",
        ),
        pytest.param(
            ["Sample: 8, Validation mIoU: 0.5", "Sample: 8, Validation mIoU: 0.25"],
            None,
            id="a sample that does not rise",
        ),
        pytest.param(
            ["Sample: 7, min_iou: 0.5", "Sample: 8, min_iou: 0.25"], None, id="a threshold"
        ),
        pytest.param(
            ["Epoch 1 R@10 : 0.5", "Epoch 2 R@10 : 0.625"],
            {"R@10": 0.625, "epoch": 2.0},
            id="one figure behind an epoch, whatever it is called",
        ),
        pytest.param(
            ["Ep 3 took: 4.5 s", "Ep 4 took: 4.25 s"], None, id="how long an epoch has taken"
        ),
        pytest.param(
            ["iter: 200 - acc full seq: 0.5 - acc per char: 0.75"] * 2,
            None,
            id="the same figures again are no record",
        ),
        pytest.param(
            [
                "iter: 200 - acc full seq: 0.5 - acc per char: 0.75",
                "iter: 400 - acc full seq: 0.625 - acc per char: 0.875",
            ],
            {"acc_full_seq": 0.625, "acc_per_char": 0.875},
            id="names of several words",
        ),
        pytest.param(
            [
                "accuracy:  50.5%; precision:  25.5%; FB1:  33.5",
                "accuracy: 60.5%; precision: 30.5%; FB1: 40.5",
            ],
            {"accuracy": 60.5, "precision": 30.5, "FB1": 40.5},
            id="figures in per cent and no place",
        ),
        pytest.param(
            ["Iter 10, mfu: 21.5%, GPU mem: 45.5%", "Iter 20, mfu: 22.5%, GPU mem: 46.5%"],
            None,
            id="shares of a machine",
        ),
        pytest.param(
            ["Epoch 3 [5.1s]: loss=0.5, recall=[0.25, 0.75]"],
            {"loss": 0.5, "recall": 0.25, "epoch": 3.0},
            id="the first of a list",
        ),
        pytest.param(
            ["[Dev] nDCG=0.5", "[Dev] nDCG=0.25", "[Test] nDCG=0.5", "[Test] nDCG=0.75"],
            {"test_nDCG": 0.75},
            id="a split in brackets",
        ),
        pytest.param(
            ["[Epoch 4] Train Loss: 0.5, Acc: 0.75 | Test Loss: 1.5, Acc: 0.25"],
            {"loss": 0.5, "Acc": 0.75, "eval_loss": 1.5, "test_Acc": 0.25, "epoch": 4.0},
            id="two halves with the same names",
        ),
        pytest.param(
            ["Epoch 1 [train]: 2.5 - [valid]: 2.75 (3.1s)"],
            {"loss": 2.5, "eval_loss": 2.75, "epoch": 1.0},
            id="losses that are called by their split in brackets",
        ),
        pytest.param(
            ["('Epoch:', 3, 'Loss:', 0.5, 'Accuracy:', 0.75)"],
            {"loss": 0.5, "Accuracy": 0.75, "epoch": 3.0},
            id="a tuple that Python 2 has printed",
        ),
        pytest.param(
            ["[2,  4000] loss: 1.375"],
            {"loss": 1.375, "epoch": 2.0},
            id="epoch and step in one bracket",
        ),
        pytest.param(
            ["[4/25][300/1583] Loss_D: 0.5 Loss_G: 1.5"],
            {"Loss_D": 0.5, "Loss_G": 1.5, "epoch": 4.0},
            id="the epoch before the step, by their lengths alone",
        ),
        pytest.param(
            [
                "->> pal1 conf loss:1.5 || pal2 conf loss:2.5",
                "->> pal1 conf loss:1.25 || pal2 conf loss:2.25",
            ],
            {"pal1_conf_loss": 1.25, "pal2_conf_loss": 2.25},
            id="parts of a loss by their whole names",
        ),
        pytest.param(
            ["Epoch 3 | Train MSE 2.5e-02 | Val MSE 7.5e-02"],
            {"loss": 0.025, "val_MSE": 0.075, "epoch": 3.0},
            id="an objective of both splits",
        ),
        pytest.param(
            ["New best model (epoch 3)! val loss: 0.5", "New best model (epoch 4)! val loss: 0.25"],
            None,
            id="what the best is says again what was printed",
        ),
        pytest.param(
            [
                "10 [D loss: 0.5, acc.: 50.5%] [G loss: 1.5]",
                "20 [D loss: 0.25, acc.: 60.5%] [G loss: 1.25]",
            ],
            {"D_loss": 0.25, "G_loss": 1.25, "acc.": 60.5},
            id="a count without a name",
        ),
        pytest.param(
            [
                "Accuracy of the network on the 10000 test images: 50.5 %",
                "Accuracy of the network on the 10000 test images: 60.5 %",
            ],
            {"test_Accuracy": 60.5},
            id="a score that says over what it is taken",
        ),
    ],
)
def test_other_ways_to_print_a_record(lines: list[str], last: dict[str, float] | None) -> None:
    """A count before anything else, figures of other names; it takes two of them to be one."""
    records = read(*lines)
    assert (same(dict(records[-1][0].values)) if records else None) == (last and same(last))


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["[3/60] c++ -std=c++17 norm.o", "[4/60] c++ -std=c++17 b.o"], id="a build"),
        pytest.param(["8 files 2 norms", "7 files 2 norms"], id="a count that falls"),
        pytest.param(["GET /norm 200 0.5", "GET /norm 200 0.75"], id="no count"),
    ],
)
def test_lines_that_count_something_else(lines: list[str]) -> None:
    """Nothing is read where no figure of a training stands."""
    assert not read(*lines)


def test_no_figure_stands_where_none_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is passed over at a glance is read as nothing: of all lines of the samples."""
    passed_over = {
        line
        for log in resources.find_folder("sample_logs").rglob("*.log")
        for line in log.read_text("utf-8", "replace").splitlines()
        if len(line) < 1000 and not metric_line_parser.MAY_HOLD_VALUE.search(line)
    }
    monkeypatch.setattr(metric_line_parser, "MAY_HOLD_VALUE", re.compile(""))
    assert len(passed_over) > 4000
    assert [
        line for line in passed_over if metric_line_parser.parse_metric_line(line) is not None
    ] == []


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(
            "pes {} loss 0.{} episode-step 20", id="a step within an episode stands still"
        ),
        pytest.param("[#{}] loss_A: 0.{}", id="a number behind a sign"),
        pytest.param("Epochs: 1/3 || Iters: {}/90 || Loss: 0.{}", id="an epoch and its plan"),
    ],
)
def test_the_count_that_grows_is_the_step(line: str) -> None:
    """Whatever it is called, unless it counts within an episode."""
    records = read(*(line.format(step, step) for step in (11, 12, 13)))
    assert [record.step for record, _ in records] == [11, 12, 13]
