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

from postmortem.formats.records import Record
from postmortem.formats.spelling import value_of
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
    names = names_of([column.strip() for column in next(rows, [])])
    for line, row in enumerate(rows, start=2):
        values = _values_of(names, row)
        step = values.pop("step", math.nan)
        if any(name != "epoch" for name in values):
            yield Record(step, list(values.items()), NOWHERE), line


def names_of(columns: list[str]) -> list[str]:
    """Name the columns; one that is no metric has no name."""
    heads = [column.lower() for column in columns]
    step_column = next((heads.index(name) for name in _STEPS if name in heads), None)
    return [
        "step" if index == step_column else "" if column.lower() in _SKIPPED else _name(column)
        for index, column in enumerate(columns)
    ]


def _values_of(names: list[str], row: list[str]) -> dict[str, float]:
    """Give the figures of a row; of several columns for the training loss the first."""
    values = dict[str, float]()
    for name, cell in zip(names, row, strict=False):
        value = value_of(cell.strip()) if name and name not in values and cell.strip() else None
        if value is not None:
            values[name] = value
    return values


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
