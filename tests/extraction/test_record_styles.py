"""Records of any style: prefix, place, sign between name and figure, names that no list holds.

Each case draws one of each and prints seven records; what is printed is to be read, every figure.
"""

import random
from collections.abc import Callable, Mapping
from typing import Final

import pytest

from postmortem.extraction.formats.line_forms import parse_pair_line
from tests.extraction.read_points import read

PREFIXES: Final[tuple[Callable[[int], str], ...]] = (
    lambda _: "",
    lambda i: f"2024-05-02 10:{i:02d}:07,123 INFO ",
    lambda i: f"2024-05-02 10:{i:02d}:07,123 - trainer - INFO - ",
    lambda i: f"2024-05-02 10:{i:02d}:07 INFO eval - ",
    lambda i: f"05/02/2024 10:{i:02d}:07 - INFO - __main__ -   ",
    lambda i: f"I0502 10:{i:02d}:07.123456 140123 train.py:88] ",
    lambda i: f"2024-05-02 10:{i:02d}:07.123 | INFO     | __main__:train:88 - ",
    lambda i: f"[2024-05-02 10:{i:02d}:07] ",
    lambda _: "[INFO] ",
    lambda _: "INFO:root:",
    lambda _: "[rank0]: ",
)
PLACES: Final[tuple[Callable[[int], str], ...]] = (
    lambda _: "",
    lambda i: f"Epoch {i}: ",
    lambda i: f"Epoch [{i}/9] ",
    lambda i: f"epoch {i}, step {i * 100}, ",
    lambda i: f"[{i}/9] ",
    lambda i: f"step={i * 50} ",
    lambda i: f"Iter {i * 10:6d} | ",
    lambda i: f"Episode {i}\t",
    lambda i: f"round {i}, ",
    lambda i: f"{i * 100}: ",
    lambda i: f"update {i} of 9: ",
    lambda i: f"After epoch {i}, ",
    lambda _: "val results: ",
    lambda _: "Test results - ",
)
PAIRS: Final = (
    "{}: {}",
    "{}={}",
    "{} = {}",
    "{} {}",
    "{} : {}",
    "{}: {}%",
    "{} -> {}",
    "{0}: {1}({1})",
)
JOINS: Final = (", ", " | ", "  ", " - ", "\t", "; ")
NAMES: Final = [
    "loss", "val_loss", "acc", "F1", "Top-1", "mIoU", "avg reward", "BLEU", "grad_norm", "KL",
    "recall@10", "success rate", "FID", "MPJPE", "gNorm", "coverage", "avg rho", "hit@10",
    "SI-SDR", "alpha", "Tokens per Sec", "Q1 gap", "正解率"
]  # fmt: skip
FIGURES: Final = (2.3, 0.51, 37.2)
RECORDS: Final = 7


def print_records(seed: int) -> tuple[str, Mapping[str, list[float]]]:
    """A log of one style, and its figures by printed name."""
    choice = random.Random(seed)
    prefix, place = choice.choice(PREFIXES), choice.choice(PLACES)
    pair, join = choice.choice(PAIRS), choice.choice(JOINS)
    names = choice.sample(NAMES, choice.choice([1, 2, 3]))
    figures: dict[str, list[float]] = {name: [] for name in names}
    lines = ["Loading data ...", "Model has 12.3M parameters"]
    for i in range(1, RECORDS + 1):
        shown = []
        for number, (name, values) in enumerate(figures.items()):
            values.append(round(FIGURES[number] + 0.0137 * i + 0.0011 * number, 4))
            shown.append(pair.format(name, f"{values[-1]:.4f}"))
        lines.append(f"{prefix(i)}{place(i)}{join.join(shown)}")
    return "\n".join([*lines, ""]), figures


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_figures_of_any_style_are_read(first: int) -> None:
    """At least 0.95 of the figures printed in fifty styles are series of their own."""
    printed = missed = 0
    for seed in range(first, first + 50):
        text, figures = print_records(seed)
        found = [[value for _, value in points] for points in read(text).values()]
        printed += len(figures)
        missed += sum(values not in found for values in figures.values())
    assert missed <= 0.05 * printed, (missed, printed)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Protocol #1 Error (MPJPE): 164.3 mm", {"Protocol_#1_Error_(MPJPE)": 164.3}),
        ("round 3, avg rho 0.2445, avg mdd 1.0000", {"avg_rho": 0.2445, "avg_mdd": 1.0}),
        ("Epoch: [2][ 10/500] Q1 gap 0.51 (0.49)", {"Q1_gap": 0.51, "Q1_gap_so_far": 0.49}),
        ("[12:00:07] 正解率 = 40.8 %", {"正解率": 40.8}),
        ("hit@10 0.31\tbest hit@10 0.35", {"hit@10": 0.31}),
    ],
)
def test_a_line_of_pairs_is_read_whole(text: str, values: dict[str, float]) -> None:
    """Names are kept as printed, words joined."""
    line = parse_pair_line(text)
    assert line is not None
    assert line.values == values


@pytest.mark.parametrize(
    "text",
    [
        "Downloading shard 3 of 7 took 12.5 seconds, then the model was loaded",
        "reducing the learning rate to 0.001",
        "torch 2.4.1 with CUDA 12.1 on a node of 8",
        "RSS: 412.5MB, threads: 8",
        "the answer is 3.5 because 7 / 2 = 3.5",
        "batch size: 32",
    ],
)
def test_prose_and_settings_are_no_line_of_pairs(text: str) -> None:
    """A word that belongs to no name makes a line prose; times and memory are no curves."""
    line = parse_pair_line(text)
    assert line is None or not line.values


def test_settings_that_every_rank_prints_are_no_series() -> None:
    """They come again, and none of their figures is another."""
    ranks = "".join(f"process {rank}/4: {{'width': 64, 'dropout': 0.1}}\n" for rank in range(4))
    assert read(ranks) == {}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Average loss from batch {i}1 to {i}9 is {v}", "loss"),
        ("After {i}01 training step(s), loss on training batch is {v}.", "loss"),
        ("Averaged Train Loss: {v}", "loss"),
        ("Epoch {i}: train loss=0.5{i} | val: {{'loss': {v}, 'ce': 6.{i}}}", "eval_loss"),
        ("{i} INFO | train | epoch 00{i} | loss {v} | ppl 9.{i} | lr 0.00{i} | wall 5", "loss"),
    ],
)
def test_a_loss_in_other_words(line: str, name: str) -> None:
    """Sentences of tutorials, a dict of the evaluation beside the training, means alone."""
    values = [6.5, 6.25, 6.0, 5.75, 5.5, 5.25, 5.0]
    text = "".join(line.format(i=i, v=value) + "\n" for i, value in enumerate(values, 1))
    assert [value for _, value in read(text)[name]] == values


def test_scores_on_a_few_lines_of_a_long_log_are_read() -> None:
    """Their name comes too seldom to be learnt while the log is read."""
    steps = "".join(f"step {step}: loss 0.{step + 1000}\n" for step in range(4000))
    evaluations = [0.25, 0.5, 0.75]
    text = "".join(
        f"{steps}05/09/2022 17:25:5{i} - INFO - __main__ -     acc = {value}\n"
        for i, value in enumerate(evaluations)
    )
    assert [value for _, value in read(text)["acc"]] == evaluations


def test_a_shorter_pass_of_one_kind_of_bar_is_an_evaluation() -> None:
    """Bars drawn with signs print both alike; the times on them come in different parts."""
    times = ["1s18ms", "996ms", "2s", "1m2s"]
    bar = " [=======>]  Step: {t} | Tot: 9s | Loss: {v} | Acc: 43.4{i}% (1/2) {n}/{n}\n"
    text = "".join(
        f"\nEpoch: {i}\n"
        + bar.format(t=time, v=2.5 - i / 4, i=i, n=391)
        + bar.format(t=time, v=2.0 - i / 8, i=i, n=100)
        for i, time in enumerate(times)
    )
    series = read(text)
    assert [value for _, value in series["loss"]] == [2.5, 2.25, 2.0, 1.75]
    assert [value for _, value in series["eval_loss"]] == [2.0, 1.875, 1.75, 1.625]


def test_rows_of_a_table_stand_at_their_epochs() -> None:
    """Below a heading whose names stand between tabs and blanks, behind a logger's time."""
    rows = "".join(
        f"[2022/02/21 14:2{i}:16] - {i} \t 169.5 \t \t 0.{9 - i} \t 0.5{i}\n" for i in range(6)
    )
    heading = "[2022/02/21 14:19:58] - Epoch \t Train Time \t \t Train Loss \t Test Acc\n"
    series = read(f"Namespace(epochs=6)\n{heading}{rows}")
    assert series["loss"] == [(i, (9 - i) / 10) for i in range(6)]
    assert series["Test_Acc"] == [(i, float(f"0.5{i}")) for i in range(6)]
