"""Tables of metrics in CSV files.

Lightning's `metrics.csv`, YOLO's `results.csv`, the logs of Keras and timm.

In: the lines of the file. Out: a record for each row, with its raw line. A row ends with its line,
whatever quotes are open. Not here: tables in notebooks (`formats.table`).
"""

import csv
import math
import re
from collections.abc import Iterable, Iterator
from typing import Final

from postmortem.formats.records import Record, value_of
from postmortem.model.lines import NOWHERE

PRODUCER: Final = "pytorch"
_STEPS: Final = ("step", "global_step", "iteration", "iter", "train/global_step")
_SKIPPED: Final = frozenset({"time", "elapsed_time", "created_at", "wall_time"})
_NAMES: Final = {
    "lr": "learning_rate",
    "learning-rate": "learning_rate",
    "lr/pg0": "learning_rate",
    "train/lr": "learning_rate",
    "train_loss": "loss",
    "train_loss_step": "loss",
    "loss_step": "loss",
    "train/loss": "loss",
    "train/loss_step": "loss",
    "train/grad_norm": "grad_norm",
}
_EVAL: Final = re.compile(r"^(?:val|valid|validation|eval|test)[_/]loss(?:_epoch)?$")
_HEAD: Final = re.compile(r"^[\w ./()%-]{1,60}(?:,[\w ./()%-]{0,60}){1,400}\s*$")


def claims(head: str) -> bool:
    """Say whether a file that begins like this is a table of metrics.

    A heading that names a loss and a step or epoch, then a row as wide.
    """
    lines = head.split("\n", 2)
    if len(lines) < 2 or len(lines[0]) > 20_000 or not _HEAD.match(lines[0]):
        return False
    columns = [column.strip().lower() for column in lines[0].split(",")]
    has_place = any(column in {*_STEPS, "epoch"} for column in columns)
    is_row = (
        lines[1].count(",") == len(columns) - 1
        and re.match(r"[\s\d.,eE+naif-]+$", lines[1].replace("nan", ""), re.IGNORECASE) is not None
    )
    return has_place and is_row and any("loss" in column for column in columns)


def records(lines: Iterable[str]) -> Iterator[tuple[Record, int]]:
    """Yield every row with a figure in it; a column that is empty in a row says nothing there."""
    rows = map(_cells, lines)
    columns = [column.strip() for column in next(rows, [])]
    step_column = next(
        (
            index
            for name in _STEPS
            for index, column in enumerate(columns)
            if column.lower() == name
        ),
        None,
    )
    names = [
        "step" if index == step_column else "" if column.lower() in _SKIPPED else _name(column)
        for index, column in enumerate(columns)
    ]
    for line, row in enumerate(rows, start=2):
        values = dict[str, float]()
        for name, cell in zip(names, row, strict=False):
            if (
                name
                and name not in values
                and (text := cell.strip())
                and (value := value_of(text)) is not None
            ):  # of several columns for the training loss the first
                values[name] = value
        step = values.pop("step", math.nan)
        if any(name != "epoch" for name in values):
            yield Record(step, list(values.items()), NOWHERE), line


def _cells(line: str) -> list[str]:
    line = line.replace("\0", "").replace("\r", "")
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a cell beyond the reader's limit
        return []


def _name(column: str) -> str:
    lower = column.lower()
    return (
        "eval_loss"
        if _EVAL.match(lower)
        else _NAMES.get(lower, lower if lower in {"loss", "epoch", "grad_norm"} else column)
    )
