"""Tables of metrics in CSV files: every row a record, on its line."""

import csv
import io
import math
import random
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import postmortem
from postmortem.extraction.formats.csv_metrics import (
    is_metrics_table,
    iter_records,
    list_metric_names,
)
from postmortem.extraction.formats.records import Record, RecordRows

NAN = math.nan


def read_records(lines: Iterable[str]) -> Iterator[tuple[Record, int]]:
    """Read the rows of a table, those that come many at once too, one by one."""
    for found in iter_records(lines):
        if isinstance(found, RecordRows):
            yield from found.iter_records()
        else:
            yield found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "epoch,step,train_loss_step,train_loss_epoch,val_loss\n0,49,0.75,,\n0,99,nan,,\n0,99,,,0.5\n0,99,,0.6,\n",
            [
                (49, {"epoch": 0, "loss": 0.75}, 2),
                (99, {"epoch": 0, "loss": NAN}, 3),
                (99, {"epoch": 0, "eval_loss": 0.5}, 4),
                (99, {"epoch": 0, "train_loss_epoch": 0.6}, 5),
            ],
            id="Lightning",
        ),
        pytest.param(
            "        epoch,   train/box_loss,   metrics/mAP50(B),   lr/pg0\n            1,            1.234,              0.605,   0.0003\n            2,              nan,              0.605,   0.0003\n",
            [
                (
                    NAN,
                    {
                        "epoch": 1,
                        "train/box_loss": 1.234,
                        "metrics/mAP50(B)": 0.605,
                        "learning_rate": 3e-4,
                    },
                    2,
                ),
                (
                    NAN,
                    {
                        "epoch": 2,
                        "train/box_loss": NAN,
                        "metrics/mAP50(B)": 0.605,
                        "learning_rate": 3e-4,
                    },
                    3,
                ),
            ],
            id="Ultralytics",
        ),
        pytest.param(
            "epoch,train_loss,eval_loss,lr\n0,6.95,6.9,1e-06\n",
            [(NAN, {"epoch": 0, "loss": 6.95, "eval_loss": 6.9, "learning_rate": 1e-6}, 2)],
            id="timm",
        ),
        pytest.param(
            "epoch,accuracy,loss,val_loss\n0,0.9,inf,0.2\n",
            [(NAN, {"epoch": 0, "accuracy": 0.9, "loss": math.inf, "eval_loss": 0.2}, 2)],
            id="Keras",
        ),
        pytest.param(
            "step,loss\n1,0.5\n2,\r0.4\r\r\n3,0.3\n",
            [(1, {"loss": 0.5}, 2), (2, {"loss": 0.4}, 3), (3, {"loss": 0.3}, 4)],
            id="stray carriage returns",
        ),
        pytest.param(
            'step,loss\n1,0.5\n2,"0.4\n3,0.3\n',
            [(1, {"loss": 0.5}, 2), (2, {"loss": 0.4}, 3), (3, {"loss": 0.3}, 4)],
            id="a quote that is never closed ends with its line",
        ),
        pytest.param(
            'step,loss\n1,0.5\n2,"' + "x" * 200_000 + '"\n3,0.3\n',
            [(1, {"loss": 0.5}, 2), (3, {"loss": 0.3}, 4)],
            id="a cell beyond the limit of Python's reader",
        ),
        pytest.param(
            "step,loss\n1,0.5\n" + "9" * 400 + ",0.4\n3," + "9" * 5000 + "\n",
            [(1, {"loss": 0.5}, 2), (math.inf, {"loss": 0.4}, 3), (3, {"loss": math.inf}, 4)],
            id="numbers that no float holds",
        ),
        pytest.param(
            "step,train_loss,loss\n1,0.5,0.25\n",
            [(1, {"loss": 0.5}, 2)],
            id="two columns for the loss: the first",
        ),
    ],
)
def test_tables_of_known_programs(
    text: str, expected: list[tuple[float, dict[str, float], int]]
) -> None:
    """Names as in every other format; an empty cell says nothing."""
    assert is_metrics_table(text)
    assert repr(
        [
            (float(record.step), {name: float(value) for name, value in record.values}, line)
            for record, line in read_records(text.split("\n"))
        ]
    ) == repr(
        [
            (float(step), {name: float(value) for name, value in values.items()}, line)
            for step, values, line in expected
        ],
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "epoch,loss\n",
        "name,loss\na,b\n",
        "step 1, loss 0.5\nstep 2, loss 0.4\n",
        "step,accuracy\n1,0.5\n",
        "id,score\n1,0.5\n2,0.6\n3,0.7\n4,0.8\n",
        ",text,label\n0,abc,1\n1,def,0\n2,ghi,1\n3,jkl,1\n",
        "loss,accuracy\n0.5,0.5\n",
        "epoch,step,loss\n0,1,0.5\n0,2,0.4\nTraceback (most recent call last):\n  File",
    ],
)
def test_other_files_are_left(text: str) -> None:
    """A heading with a place and a loss, a row of figures as wide, and nothing told between."""
    assert not is_metrics_table(text)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_curve_is_read_as_it_was_written(tmp_path: Path, seed: int) -> None:
    """As CSVLogger writes it: evaluation in rows of its own."""
    choice = random.Random(seed)
    sink = io.StringIO()
    writer = csv.DictWriter(
        sink, ["epoch", "step", "train_loss", "lr", "val_loss"], lineterminator="\n"
    )
    writer.writeheader()
    loss, rate, evaluation, line = [], [], [], 1
    for step in range(9, 10 * choice.randint(5, 20), 10):
        value = choice.choice([choice.uniform(0, 9), choice.uniform(0, 9), NAN, math.inf])
        writer.writerow({"epoch": 0, "step": step, "train_loss": value, "lr": 1e-3 / (step + 1)})
        line += 1
        loss.append((float(step), value, line))
        rate.append((float(step), 1e-3 / (step + 1), line))
        if step % 30 == 29:
            writer.writerow({"epoch": 0, "step": step, "val_loss": value / 2})
            line += 1
            evaluation.append((float(step), value / 2, line))
    path = tmp_path / "metrics.csv"
    path.write_text(sink.getvalue())
    found = {
        one.name: repr([(float(step or 0), value, line) for step, value, line in one.samples])
        for one in postmortem.analyze(path).diagnosis.series
    }
    assert (found["loss"], found["learning_rate"], found["eval_loss"]) == (
        repr(loss),
        repr(rate),
        repr(evaluation),
    )


def test_the_cost_of_a_row_grows_with_its_cells() -> None:
    """Four times as many columns take about four times as long."""

    def seconds(columns: int) -> float:
        lines = [
            "step,loss," + ",".join(f"m{number}" for number in range(columns)),
            *(["1,0.5," + ",".join(["0.25"] * columns)] * 30),
        ]
        began = time.process_time()
        assert len(list(read_records(lines))) == 30
        return time.process_time() - began

    assert min(seconds(4000) for _ in range(3)) < 10 * min(seconds(1000) for _ in range(3)) + 0.02


@pytest.mark.parametrize(
    ("text", "first", "names"),
    [
        pytest.param(
            "episode,total_reward\n1,0.0\n2,1.0\n3,1.0\n4,2.0\n",
            (1.0, {"total_reward": 0.0}),
            ["step", "total_reward"],
            id="a reward beside its episode",
        ),
        pytest.param(
            "d2_loss\tgan_loss\t\n1.5\t0.5\t\n1.4\t0.6\t\n1.3\t0.7\t\n1.2\t0.8\t\n",
            (float("nan"), {"d2_loss": 1.5, "gan_loss": 0.5}),
            ["d2_loss", "gan_loss"],
            id="tabs, and no place",
        ),
        pytest.param(
            ",training_losses,validation_losses\n0,1.5,1.6\n1,1.4,1.7\n",
            (0.0, {"loss": 1.5, "eval_loss": 1.6}),
            ["step", "loss", "eval_loss"],
            id="the numbered rows of a data frame",
        ),
        pytest.param(
            "Epoch,Time,Loss,Action\n1,1.3m,2.75,SAVE\n2,2.7m,2.07,Stop: 1/50\n",
            (float("nan"), {"epoch": 1.0, "loss": 2.75}),
            ["epoch", "", "loss", "Action"],
            id="times and words among figures",
        ),
        pytest.param(
            "Episode,Reward,Length\n0,-3.5,20\n1,-3.25,21\n",
            (0.0, {"Reward": -3.5, "Length": 20.0}),
            ["step", "Reward", "Length"],
            id="counted by episodes",
        ),
        pytest.param(
            "epoch;step;train/loss_g;eval/distance\n1;10;0.7168;\n1;20;0.7092;\n1;30;;1.4\n",
            (10.0, {"epoch": 1.0, "train/loss_g": 0.7168}),
            ["epoch", "step", "train/loss_g", "eval/distance"],
            id="semicolons, and cells without a figure",
        ),
    ],
)
def test_tables_of_any_kind(
    text: str, first: tuple[float, dict[str, float]], names: list[str]
) -> None:
    """Whatever stands between their cells and beside their figures."""
    heading = text.split("\n", maxsplit=1)[0].rstrip("\t")
    assert is_metrics_table(text)
    assert list_metric_names(re.split("[,;\t]", heading)) == names
    record, line = next(iter(read_records(text.split("\n"))))
    assert line == 2
    assert repr((float(record.step), dict(record.values))) == repr(first)
