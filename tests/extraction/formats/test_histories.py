"""Which lists of figures are curves, what they are called and where in the run they stand."""

import json
from typing import Any

import pytest

from postmortem.extraction.formats.arrays import parse_arrays
from postmortem.extraction.formats.histories import is_history, iter_records
from postmortem.extraction.formats.records import RecordLists
from postmortem.rules.base import load

LOSS = [2.0, 1.5, 1.25, 1.0]
EVAL = [2.25, 1.75, 1.5, 1.25]
Curves = dict[str, list[tuple[float, float]]]


def curves(data: Any) -> Curves:
    """The steps and figures of each curve."""
    found: Curves = {}
    for record in iter_records(parse_arrays(json.dumps(data)), load().metrics):
        if isinstance(record, RecordLists):
            for curve in record.curves:
                points = list(zip(curve.steps, curve.values, strict=True))
                found.setdefault(curve.name, []).extend(points)
            continue
        for name, value in record[0].values:
            found.setdefault(name, []).append((record[0].step, value))
    return found


def at(values: list[float], steps: tuple[float, ...] = (1, 2, 3, 4)) -> list[tuple[float, float]]:
    """Figures at steps."""
    return list(zip(steps, values, strict=True))


def test_a_history_of_keras_is_read() -> None:
    """Each figure at its place in the list; what has no known name stands beside the loss."""
    found = curves({"loss": LOSS, "val_loss": EVAL, "accuracy": EVAL, "my figure": LOSS})
    assert found == {
        "loss": at(LOSS),
        "eval_loss": at(EVAL),
        "accuracy": at(EVAL),
        "my_figure": at(LOSS),
    }


@pytest.mark.parametrize("name", ["epochs", "epoch", "Epochs"])
def test_a_list_of_epochs_gives_the_steps(name: str) -> None:
    """It is a curve itself, as in a table."""
    found = curves({name: [2, 4, 6, 8], "loss": LOSS, "dev_loss": EVAL})
    assert found["loss"] == at(LOSS, (2, 4, 6, 8))
    assert found["eval_loss"] == at(EVAL, (2, 4, 6, 8))
    assert found["epoch"] == at([2, 4, 6, 8], (2, 4, 6, 8))


@pytest.mark.parametrize("name", ["steps", "iterations", "global_step", "episode"])
def test_a_list_of_steps_gives_the_steps(name: str) -> None:
    """It is no curve."""
    found = curves({name: [10, 20, 30, 40], "loss": LOSS})
    assert found == {"loss": at(LOSS, (10, 20, 30, 40))}


def test_nested_lists_are_named_by_what_tells_them_apart() -> None:
    """What leads to all of them tells nothing, unless it is a split."""
    of_splits = {"history": {"train": {"loss": LOSS, "acc": EVAL}, "val": {"loss": EVAL}}}
    assert set(curves(of_splits)) == {"loss", "train/acc", "eval_loss"}
    assert set(curves({"val": {"loss": EVAL, "f1": LOSS}})) == {"eval_loss", "val/f1"}
    assert set(curves({"history": {"loss": LOSS, "acc": EVAL}})) == {"loss", "acc"}


def test_places_may_stand_beside_the_mapping_of_the_lists() -> None:
    """So may a rate; those of an evaluation have its name."""
    found = curves({"epoch": [0, 1, 2, 3], "lr": LOSS, "history": {"loss": LOSS}})
    assert found["loss"] == at(LOSS, (0, 1, 2, 3))
    assert "learning_rate" in curves({"lr": LOSS, "train": {"loss": LOSS}, "val": {"loss": EVAL}})
    of_both = curves({"loss": LOSS * 5, "eval_step": [5, 10, 15, 20], "eval_loss": EVAL})
    assert of_both["eval_loss"] == at(EVAL, (5, 10, 15, 20))
    assert len(of_both["loss"]) == 20
    assert set(curves({"loss": {"train": LOSS, "val": EVAL}})) == {"loss", "eval_loss"}


def test_folds_are_trainings_one_behind_the_other() -> None:
    """Of a mapping for each, and of a list of mappings."""
    fold = {"loss": LOSS, "val_loss": EVAL}
    expected = {"loss": at(LOSS) * 2, "eval_loss": at(EVAL) * 2}
    assert curves({"fold_1": fold, "fold_2": fold}) == expected
    assert curves([fold, fold]) == expected
    assert set(curves({"valid_0": fold, "valid_1": fold})) >= {"valid_0/loss", "valid_1/loss"}


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("train_loss_history", "loss"),
        ("losses", "loss"),
        ("val losses", "eval_loss"),
        ("reward_list", "reward"),
    ],
)
def test_a_name_says_that_it_is_of_a_list(printed: str, name: str) -> None:
    """That is no part of the name of the curve."""
    assert curves({printed: LOSS}) == {name: at(LOSS)}


def test_lists_may_differ_by_one() -> None:
    """A run was stopped between the two."""
    assert curves({"loss": LOSS, "val_loss": EVAL[:-1]})["eval_loss"] == at(EVAL[:-1], (1, 2, 3))


SILENT: dict[str, Any] = {
    "predictions": {"predictions": [0, 1, 1, 0] * 50, "labels": [0, 1, 0, 0] * 50},
    "tokens": {"input_ids": [5, 6, 7] * 100, "loss_weights": [1.0, 0.5, 0.5]},
    "confusion": {"confusion_matrix": [[5, 1], [2, 6]], "accuracy": 0.9},
    "classes": {"per_class_accuracy": [0.9, 0.8, 0.7], "class_f1": [0.9, 0.8, 0.7]},
    "folds": {"cv_accuracy": [0.9, 0.8, 0.7, 0.8, 0.9]},
    "a curve over thresholds": {"precision": LOSS, "recall": EVAL, "thresholds": LOSS},
    "another curve": {"fpr": LOSS, "tpr": EVAL, "auc": 0.9},
    "weights": {"weights": [0.1] * 300, "bias": [0.2] * 300},
    "settings": {"lr": [0.1, 0.01], "betas": [0.9, 0.999], "loss": "mse", "epochs": 10},
    "one alone and short": {"loss": [1.0, 2.0]},
    "rows of other things": [{"id": 1, "score": 0.5}, {"id": 2, "score": 0.25}],
    "rows without a place": [{"loss": 0.5, "name": "a"}, {"loss": 0.25, "name": "b"}],
    "nothing": {},
}


@pytest.mark.parametrize("data", SILENT.values(), ids=SILENT)
def test_other_lists_are_no_curves(data: Any) -> None:
    """However many figures they hold."""
    assert curves(data) == {}
    assert not is_history(json.dumps(data, indent=2), load().metrics)


def test_what_stands_beside_a_history_is_left_out() -> None:
    """Lists of another length, and of other things."""
    found = curves(
        {"loss": LOSS, "val_loss": EVAL, "weights": LOSS, "bins": [1, 2], "x": [3.0] * 9}
    )
    assert set(found) == {"loss", "eval_loss"}


def test_rows_are_records() -> None:
    """In a list, or under the number of their epoch; all on one line have their steps."""
    rows = [{"epoch": 1, "loss": 2.0}, {"epoch": 2, "loss": 1.5, "val_loss": 1.75}]
    expected = {"epoch": [(1, 1), (2, 2)], "loss": [(1, 2.0), (2, 1.5)], "eval_loss": [(2, 1.75)]}
    assert curves(rows) == expected
    assert curves({"log": rows, "lr": 0.1}) == expected
    assert curves({"1": {"loss": 2.0}, "2": {"loss": 1.5}})["loss"] == [(1, 2.0), (2, 1.5)]
    steps = [{"step": 10, "loss": 2.0}, {"step": 20, "loss": 1.5}]
    assert curves(steps) == {"loss": [(10, 2.0), (20, 1.5)]}


@pytest.mark.parametrize(
    "text",
    [
        '{"loss": 0.5, "step": 1}\n{"loss": 0.25, "step": 2}\n',
        "{'loss': 0.5, 'epoch': 1}\n{'loss': 0.25, 'epoch': 2}\n",
        '{"loss": [2.0, 1.5, 1.0]}\nTraceback (most recent call last):\n',
        "step 1 loss 0.5\n",
    ],
    ids=["JSON lines", "printed records", "a log behind it", "a log"],
)
def test_a_log_is_no_history(text: str) -> None:
    """Though it may begin with a mapping."""
    assert not is_history(text, load().metrics)
