"""The logs that tools are compared on, with what is wrong in each.

In: `sample_logs/`, and checkouts of other tools' repositories where they are. Out: `Case`: what a
tool is given, the right causes, whether the run is sound; and what `postmortem` says of it. Not
here: asking other tools (`rival_adapters.py`), scoring (`rivals.py`).
"""

import csv
import dataclasses
import fnmatch
import functools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml
from samples import ROOT, input_of, labels_in

import postmortem
from postmortem.rules.base import load_compiled_rules

METRICS: Final = {
    "loss": "loss",
    "eval_loss": "eval_loss",
    "learning_rate": "lr",
    "grad_norm": "grad_norm",
}
"""The series that tools for curves read, by our name of them, and the name that they know."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A log, and the causes that are right for it."""

    name: str
    inputs: dict[str, Any]
    """What a tool gets: `rival_adapters.py` says its fields."""
    causes: frozenset[str]
    own: tuple[str, ...]
    """What `postmortem` says of the same bytes: its verdict, and the lines that it quotes."""
    lines: tuple[str, ...] = ()
    """The lines that show the failure, where the label quotes them."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing failed."""
        return any(cause.startswith("healthy.") for cause in self.causes)


def of_samples(folder: Path) -> Iterator[Case]:
    """The recorded samples, without the environment dumps that no other tool reads.

    Left out is what may rightly be answered with silence: logs that do not show their cause, and
    slow runs that may be called sound.
    """
    for path in labels_in(ROOT / "sample_logs"):
        label = yaml.safe_load(path.read_text(encoding="utf-8"))
        causes = frozenset({label["cause"], *label.get("also", [])})
        silent = {"unknown"} if label["cause"].startswith("healthy.") else {"unknown", "healthy"}
        if silent & {cause.split(".")[0] for cause in causes}:
            continue
        name = str(path.relative_to(path.parents[1]).with_suffix("")).replace("/", "-")
        failed = label.get("exit_status", int(label.get("outcome") == "failed")) != 0
        source = input_of(path)
        shown = (label.get("signature"), (label.get("first_failure") or {}).get("text"))
        lines = tuple(filter(None, shown))
        yield _case(name, source, causes, folder, failed=failed, lines=lines)


def of_gpualert(checkout: Path, labels: dict[str, list[str]], folder: Path) -> Iterator[Case]:
    """The excerpts that the authors of gpualert collected from public threads."""
    for path in sorted((checkout / "corpus" / "wild").glob("*.log")):
        causes = spelled_out(labels[path.stem.split("-")[0]])
        yield _case(path.stem, path, causes, folder, failed=True)


def of_trainproof(checkout: Path, labels: dict[str, list[str]], folder: Path) -> Iterator[Case]:
    """The runs that the author of trainproof broke on purpose: states of the Trainer."""
    gallery = checkout / "examples" / "gallery"
    for path in sorted(gallery.rglob("trainer_state.json")):
        parts = path.relative_to(gallery).parts
        case = _case("-".join(parts[:-1]), path, spelled_out(labels[parts[0]]), folder, failed=True)
        yield dataclasses.replace(case, inputs=case.inputs | {"state": str(path)})


def spelled_out(patterns: list[str]) -> frozenset[str]:
    """The ids of causes that shell patterns stand for."""
    return frozenset(cause for pattern in patterns for cause in fnmatch.filter(_causes(), pattern))


@functools.cache
def _causes() -> tuple[str, ...]:
    return tuple(load_compiled_rules()["taxonomy"]["causes"])


def _case(
    name: str,
    source: Path,
    causes: frozenset[str],
    folder: Path,
    *,
    failed: bool,
    lines: tuple[str, ...] = (),
) -> Case:
    files = (
        [path for path in sorted(source.rglob("*")) if path.is_file()]
        if source.is_dir()
        else [source]
    )
    inputs: dict[str, Any] = {"files": [str(path) for path in files], "failed": failed}
    inputs["text"] = str(source)
    if source.is_dir():
        inputs |= {"folder": str(source), "text": str(folder / f"{name}.log")}
        Path(inputs["text"]).write_bytes(b"".join(path.read_bytes() for path in files))
    report = postmortem.analyze(source)
    return Case(name, inputs | tables(report, folder / name), causes, said_by(report), lines)


def said_by(report: postmortem.Report) -> tuple[str, ...]:
    """The verdict, the first failure, and the evidence for the first cause."""
    first = report.diagnosis.first_failure
    quotes = [first.why] if first else []
    quotes += [item.text for cause in report.causes[:1] for item in cause.evidence]
    return (*filter(None, [report.verdict.cause]), *(f"quote:{text}" for text in quotes))


def tables(report: postmortem.Report, stem: Path) -> dict[str, str]:
    """Write the metrics that the log prints, of the process that prints most of them."""
    series = [curve for curve in report.diagnosis.series if curve.name in METRICS]
    if not any(curve.name == "loss" for curve in series):
        return {}
    whose = max((curve for curve in series if curve.name == "loss"), key=lambda one: one.points)
    rows: dict[int, dict[str, float]] = {}
    for curve in series:
        if (curve.source, curve.where) == (whose.source, whose.where):
            for step, value, line in curve.samples:
                row = rows.setdefault(line, {"step": float("nan") if step is None else step})
                row[METRICS[curve.name]] = value
    ordered = [rows[line] for line in sorted(rows)]
    if any(math.isnan(row["step"]) for row in ordered):
        ordered = [row | {"step": number} for number, row in enumerate(ordered)]
    records = stem.with_suffix(".jsonl")
    records.write_text("".join(json.dumps(row) + "\n" for row in ordered), encoding="utf-8")
    with stem.with_suffix(".csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ["step", *METRICS.values()])
        writer.writeheader()
        writer.writerows(ordered)
    return {"records": str(records), "table": str(stem.with_suffix(".csv"))}
