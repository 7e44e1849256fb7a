"""Tables of metrics in CSV files: Lightning's `metrics.csv`, YOLO's `results.csv`, the logs of Keras and timm.

In: the whole text of the file. Out: a record for each row, with its raw line.
Not here: tables in notebooks (`formats.table`).
"""

import csv
import math
import re
from collections.abc import Iterator
from typing import Final

from postmortem.formats.records import Record, value_of
from postmortem.model.lines import NOWHERE

PRODUCER: Final = "pytorch"
_STEPS: Final = ("step", "global_step", "iteration", "iter", "train/global_step")
_SKIPPED: Final = frozenset({"time", "elapsed_time", "created_at", "wall_time"})
_NAMES: Final = {
    "lr": "learning_rate", "learning-rate": "learning_rate", "lr/pg0": "learning_rate", "train/lr": "learning_rate", "train_loss": "loss", "train_loss_step": "loss",
    "loss_step": "loss", "train/loss": "loss", "train/loss_step": "loss", "train/grad_norm": "grad_norm",
}
_EVAL: Final = re.compile(r"^(?:val|valid|validation|eval|test)[_/]loss(?:_epoch)?$")
_HEAD: Final = re.compile(r"^[\w ./()%-]{1,60}(?:,[\w ./()%-]{0,60}){1,400}\s*$")


def claims(head: str) -> bool:
    """Say whether a file that begins like this is a table of metrics: a heading that names a loss and a step or epoch, then a row as wide."""
    lines = head.split("\n", 2)
    if len(lines) < 2 or len(lines[0]) > 20_000 or not _HEAD.match(lines[0]):
        return False
    columns = [column.strip().lower() for column in lines[0].split(",")]
    has_place = any(column in {*_STEPS, "epoch"} for column in columns)
    is_row = lines[1].count(",") == len(columns) - 1 and re.match(r"[\s\d.,eE+naif-]+$", lines[1].replace("nan", ""), re.IGNORECASE) is not None
    return has_place and is_row and any("loss" in column for column in columns)


def records(text: str) -> Iterator[tuple[Record, int]]:
    """Yield every row with a figure in it; a column that is empty in a row says nothing there."""
    rows = csv.reader(line.replace("\0", "") for line in text.split("\n"))
    columns = [column.strip() for column in next(rows, [])]
    step_column = next((index for name in _STEPS for index, column in enumerate(columns) if column.lower() == name), None)
    for line, row in enumerate(rows, start=2):
        step, values = math.nan, list[tuple[str, float]]()
        for index, (column, cell) in enumerate(zip(columns, row, strict=False)):
            value = value_of(cell.strip())
            if value is None or column.lower() in _SKIPPED:
                continue
            if index == step_column:
                step = value
            elif (name := _name(column)) not in {one for one, _ in values}:     # of several columns for the training loss the first
                values.append((name, value))
        if any(name != "epoch" for name, _ in values):
            yield Record(step, values, NOWHERE), line


def _name(column: str) -> str:
    lower = column.lower()
    return "eval_loss" if _EVAL.match(lower) else _NAMES.get(lower, lower if lower in {"loss", "epoch", "grad_norm"} else column)
