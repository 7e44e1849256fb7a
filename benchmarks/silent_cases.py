"""Runs whose fault only their curves show, and sound ones, as each tool is given them.

In: folders of labelled logs (`postmortem.learn.labelled_logs`). Out: `SilentCase`s. Not here:
asking other tools (`rival_adapters.py`), counting (`silent_faults.py`).

Of a folder those cases are taken that the log decides and whose cause is one of `AREAS`. A tool
that reads no text gets all points of all curves of the attempt and training that are judged, of the
process that prints most of them: as CSV and as JSON lines, a row for each printed line.
"""

import contextlib
import csv
import dataclasses
import gzip
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from unittest import mock

from postmortem import pipeline
from postmortem.core.errors import InputError
from postmortem.core.names import SHIPPED
from postmortem.diagnosis.case import attempts
from postmortem.diagnosis.detectors.observed import build_observed
from postmortem.diagnosis.detectors.registry import view_main_process
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.series import Series
from postmortem.extraction.job import read
from postmortem.learn.labelled_logs import LabelledLog, list_labelled_cases
from postmortem.learn.samples import fold_of

AREAS: Final = frozenset({"learning", "performance", "numerics", "healthy"})
TABLES: Final = (".csv", ".json", ".jsonl")
FOLDS: Final = 6
_NAMES: Final = {"learning_rate": "lr"}
"""Our name of a curve, where tools for curves know another one."""
_COUNTS: Final = frozenset(
    {"epoch", "epochs", "step", "steps", "iter", "iteration", "iterations", "batch", "update"}
)
"""Names of printed counts: beside `step` they would be a second axis."""


@dataclasses.dataclass(frozen=True)
class SilentCase:
    """A run, and what may be said of it."""

    name: str
    is_sound: bool
    right: frozenset[str]
    """The causes that are right; of a sound run those that its label allows."""
    inputs: dict[str, Any]
    """What a tool gets: `rival_adapters.py` says its fields."""
    own: list[str]
    """What `postmortem` says: the cause of its verdict, if it gives one."""
    is_read: bool = True
    """Whether `postmortem` read any curve of it."""


def read_cases(folder: Path, work: Path, folds: Path | None = None) -> Iterator[SilentCase]:
    """Read the cases of a folder.

    Args:
        folder: labels and logs.
        work: where tables are written.
        folds: models of curves that have not seen the folds of groups (`tools/fit_curve_model.py
            --folds`), for cases that the shipped one was fitted to.
    """
    for label in list_labelled_cases([folder]):
        if label.is_decidable and label.cause.split(".")[0] in AREAS:
            model = folds and folds / f"fold-{fold_of(label.group, FOLDS)}.json"
            yield _read_case(label, work, model)


def _read_case(label: LabelledLog, work: Path, model: Path | None) -> SilentCase:
    stem = work / label.log.name.split(".")[0]
    path = label.log
    if path.suffix == ".gz":
        path = stem.with_suffix(".log")
        path.write_bytes(gzip.decompress(label.log.read_bytes()))
    inputs: dict[str, Any] = {"text": str(path), "files": [str(path)], "failed": False}
    if path.suffix in TABLES:
        inputs["original"] = str(path)
    own, series = list[str](), list[Series]()
    with contextlib.suppress(InputError):
        extract = read([path], pipeline.get_matcher(()))
        own = [cause] if (cause := judge_with(extract, model)) else []
        if series := list_judged_series(extract):
            inputs |= write_tables(series, stem)
    right = frozenset(cause for cause in label.right if not cause.startswith("healthy."))
    is_sound = label.cause.startswith("healthy.")
    return SilentCase(stem.name, is_sound, right, inputs, own, bool(series))


def judge_with(extract: Extract, model: Path | None) -> str | None:
    """Give the cause of the verdict, by another model of curves than the shipped one if asked."""
    knowledge, text = pipeline.get_matcher(()).knowledge, pipeline.open_model(SHIPPED)
    if model is None:
        return pipeline.judge(extract, knowledge, text).verdict.cause
    with mock.patch.object(pipeline, "find_shipped_model", return_value=model):
        return pipeline.judge(extract, knowledge, text).verdict.cause


def list_judged_series(extract: Extract) -> list[Series]:
    """List the curves of the last training in the last attempt, of the main process."""
    spans = attempts.list_spans(extract)
    number = attempts.choose_attempt(spans, None)
    part, begins = attempts.select_attempt(extract, spans, number)
    view = view_main_process(build_observed(part, (), begins, pipeline.get_matcher(()).knowledge))
    return [] if view is None else list(view.curves.by_name.values())


def write_tables(series: Sequence[Series], stem: Path) -> dict[str, str]:
    """Write curves as CSV and as JSON lines; rows are counted where a line has no step."""
    rows: dict[int, dict[str, float]] = {}
    for curve in (one for one in series if one.name not in _COUNTS):
        for step, value, line in curve.kept():
            row = rows.setdefault(line, {"step": step})
            row[_NAMES.get(curve.name, curve.name)] = value
            if math.isnan(row["step"]):
                row["step"] = step
    ordered = [rows[line] for line in sorted(rows)]
    if any(math.isnan(row["step"]) for row in ordered):
        ordered = [row | {"step": number} for number, row in enumerate(ordered)]
    names = list(dict.fromkeys(name for row in ordered for name in row))
    records, table = stem.with_suffix(".history.jsonl"), stem.with_suffix(".history.csv")
    records.write_text("".join(json.dumps(row) + "\n" for row in ordered), encoding="utf-8")
    with table.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, names)
        writer.writeheader()
        writer.writerows(ordered)
    return {"records": str(records), "table": str(table), "history": str(table)}
