"""Files that hold the history of a run and nothing else, through the whole program."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

import postmortem
from postmortem.core.errors import InputError

EPOCHS = 12
LOSS = [round(2 / (1 + epoch), 4) for epoch in range(EPOCHS)]
EVAL = [round(2.25 / (1 + epoch), 4) for epoch in range(EPOCHS)]
HISTORY = {"loss": LOSS, "val_loss": EVAL}


def report(path: Path, text: str) -> dict[str, Any]:
    """The report of a file."""
    path.write_text(text, encoding="utf-8")
    return dict(json.loads(postmortem.analyze(path).render("json", redact=False)))


def series(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The series of a report by name."""
    return {one["name"]: one for one in told["series"]}


@pytest.mark.parametrize("indent", [None, 2], ids=["one line", "many lines"])
@pytest.mark.parametrize("name", ["history.json", "history.txt"])
def test_a_history_is_a_file_of_metrics(tmp_path: Path, name: str, indent: int | None) -> None:
    """However it is laid out, and whatever it is called."""
    text = json.dumps(HISTORY, indent=indent)
    told = report(tmp_path / name, text)
    assert told["sources"][0]["kind"] == "metrics"
    assert told["outcome"] in {"running", "completed"}
    assert {one: found["points"] for one, found in series(told).items()} == {
        "loss": EPOCHS,
        "eval_loss": EPOCHS,
    }
    lines = text.split("\n")
    for found in told["series"]:
        assert all(repr(value) in lines[line - 1] for _, value, line in found["samples"])


def test_the_best_epoch_is_that_of_the_list_of_epochs(tmp_path: Path) -> None:
    """The lists stand one behind the other, and the epochs first."""
    values = [2.0, 1.5, 1.0, 1.25, 1.5]
    data = {"epochs": [2, 4, 6, 8, 10], "loss": sorted(values)[::-1], "val_loss": values}
    best = report(tmp_path / "h.json", json.dumps(data, indent=1))["progress"]["best"]
    assert (best["name"], best["value"], best["epoch"]) == ("eval_loss", 1.0, 6)


@pytest.mark.parametrize("indent", [None, 2], ids=["one line", "many lines"])
def test_a_loss_that_is_not_finite_is_found(tmp_path: Path, indent: int | None) -> None:
    """At its place in the list."""
    data = {"loss": LOSS[:6] + [float("nan")] * 6, "val_loss": EVAL}
    told = report(tmp_path / "h.json", json.dumps(data, indent=indent))
    assert told["verdict"]["cause"].startswith("numerics.")
    assert series(told)["loss"]["nonfinite"] == 6
    assert series(told)["loss"]["first_nonfinite"] == [7, 9 if indent else 1]


def test_a_configuration_stays_one(tmp_path: Path) -> None:
    """Though it holds lists of figures."""
    text = json.dumps({"learning_rate": 0.1, "batch_size": 8, "betas": [0.9, 0.99]}, indent=1)
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    told = report(tmp_path / "train.log", "step 1 loss 0.5\nstep 2 loss 0.25\n")
    folder = json.loads(postmortem.analyze(tmp_path).render("json", redact=False))
    assert told["outcome"] == "running"
    assert {one["kind"] for one in folder["sources"]} == {"log", "environment"}


def test_lists_of_other_things_are_no_source_code(tmp_path: Path) -> None:
    """The refusal says what the file is."""
    text = json.dumps({"predictions": [0, 1] * 9, "matrix": [[5, 1], [2, 6]]}, indent=2)
    with pytest.raises(InputError, match="JSON in which no metric"):
        report(tmp_path / "eval.json", text)


def test_a_long_history_is_read_in_seconds(tmp_path: Path) -> None:
    """Five megabytes, a figure a line."""
    values = [1 / (1 + number) for number in range(60_000)]
    text = json.dumps({"loss": values, "val_loss": values, "acc": values}, indent=2)
    began = time.process_time()
    told = report(tmp_path / "h.json", text)
    assert series(told)["loss"]["points"] == len(values)
    assert time.process_time() - began < 20
