"""trainer_state.json: exact steps, also from a file that the crash cut off."""

import io
import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from postmortem.extraction import run_files
from postmortem.extraction.formats.records import Record
from postmortem.extraction.run_files import is_trainer_state
from postmortem.reading.sources import iter_blocks

STATE = {
    "best_metric": None,
    "best_model_checkpoint": None,
    "epoch": 1.0,
    "eval_steps": 500,
    "global_step": 20,
    "is_hyper_param_search": False,
    "is_local_process_zero": True,
    "log_history": [
        {"epoch": 0.25, "grad_norm": 1.5, "learning_rate": 1e-05, "loss": 2.25, "step": 5},
        {"epoch": 0.5, "grad_norm": math.nan, "learning_rate": 1e-05, "loss": 0.0, "step": 10},
        {"epoch": 0.5, "eval_loss": math.inf, "eval_runtime": 3.5, "step": 10},
        {"epoch": 0.75, "lr": 1e-05, "loss": "n/a", "flag": True, "step": 15},
        {
            "epoch": 1.0,
            "step": 20,
            "total_flos": 1e15,
            "train_loss": 1.0,
            "train_runtime": 10.0,
            "train_samples_per_second": 3.0,
            "train_steps_per_second": 2.0,
        },
    ],
    "logging_steps": 5,
    "max_steps": 20,
    "num_train_epochs": 1,
    "stateful_callbacks": {"TrainerControl": {"args": {"should_log": False}, "attributes": {}}},
    "total_flos": 1e15,
    "train_batch_size": 1,
}
TEXT = json.dumps(STATE, indent=2)


def records(text: str, size: int = 1 << 20) -> Iterator[tuple[Record, int]]:
    """The records of a file that is read in blocks."""
    return run_files.iter_trainer_records(
        iter_blocks(io.BytesIO(text.encode("utf-8", "surrogatepass")), size)
    )


def test_every_entry_is_a_record_with_its_step_and_line() -> None:
    """Values under canonical names, NaN and infinity included.

    The raw line is where the entry begins.
    """
    found = list(records(TEXT))
    assert [record.step for record, _ in found] == [5, 10, 10, 15]
    assert [TEXT.split("\n")[line - 1].strip() for _, line in found] == ["{"] * 4
    first, second, third, fourth = (dict(record.values) for record, _ in found)
    assert first == {"epoch": 0.25, "grad_norm": 1.5, "learning_rate": 1e-05, "loss": 2.25}
    assert math.isnan(second["grad_norm"])
    assert third["eval_loss"] == math.inf
    assert fourth == {"epoch": 0.75, "learning_rate": 1e-05}


@pytest.mark.parametrize("share", [0.3, 0.45, 0.6, 0.8, 1.0])
def test_a_cut_file_gives_its_whole_entries(share: float) -> None:
    """What was written before the crash is read; the entry that is cut off is passed over."""
    cut = TEXT[: int(len(TEXT) * share)]
    found = list(records(cut))
    assert [record.step for record, _ in found] == [record.step for record, _ in records(TEXT)][
        : len(found)
    ]
    assert len(found) >= cut.count('"step"') - 1 - ("train_runtime" in cut)


@pytest.mark.parametrize("size", [1, 700, 100_000])
def test_the_size_of_the_blocks_changes_nothing(size: int) -> None:
    """Entries and lines are the same, also where a block ends within an entry."""
    long = json.dumps(
        STATE
        | {
            "log_history": [
                {"loss": 1.0 / step, "step": step, "note": "x" * (step % 90)}
                for step in range(1, 3000)
            ]
        },
        indent=2,
    )
    assert repr(list(records(long, size))) == repr(list(records(long)))
    assert [record.step for record, _ in records(long, size)] == list(range(1, 3000))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param(
            '{"loss": 0.5, "grad_norm": ' + "9" * 400 + ', "step": 1}',
            {"loss": 0.5, "grad_norm": math.inf},
            id="an integer that no float holds",
        ),
        pytest.param(
            '{"loss": 0.5, "grad_norm": ' + "9" * 5000 + ', "step": 1}',
            {"loss": 0.5, "grad_norm": math.inf},
            id="an integer that Python refuses to read",
        ),
        pytest.param('{"loss": 0.5, "step": ' + "9" * 400 + "}", None, id="such a step is none"),
        pytest.param(
            '{"loss": 0.5, "step": 1, "x": ' + "[" * 9000 + "]" * 9000 + "}",
            None,
            id="lists nested without end",
        ),
    ],
)
def test_an_absurd_entry_spoils_no_other(entry: str, expected: dict[str, float] | None) -> None:
    """Its neighbours are read."""
    found = [
        dict(record.values)
        for record, _ in records(
            '{"log_history": [{"loss": 2.0, "step": 1}, ' + entry + ', {"loss": 1.0, "step": 2}]}'
        )
    ]
    assert found == [{"loss": 2.0}, *([] if expected is None else [expected]), {"loss": 1.0}]


def test_the_closing_summary_is_no_point() -> None:
    """`train_loss` is the mean of the run."""
    assert not any("train_loss" in dict(record.values) for record, _ in records(TEXT))


def test_the_last_record_knows_the_steps_of_the_run() -> None:
    """They stand behind the history; a file that is cut off before them tells none."""
    state = {"global_step": 8, "log_history": [{"loss": 2.0, "step": 4}, {"loss": 1.0, "step": 8}]}
    whole = [record.total for record, _ in records(json.dumps({**state, "max_steps": 8}))]
    assert (math.isnan(whole[0]), whole[1]) == (True, 8.0)
    assert all(math.isnan(record.total) for record, _ in records(json.dumps(state)))


def test_one_line_files_are_read() -> None:
    """Without indentation all entries stand on line 1."""
    assert [line for _, line in records(json.dumps(STATE))] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        pytest.param(TEXT, True, id="indented"),
        pytest.param(json.dumps(STATE), True, id="one line"),
        pytest.param(
            "\n  " + TEXT[:600], True, id="blank lines before it, cut behind the first entry"
        ),
        pytest.param('{"log_history": []}', False, id="no step"),
        pytest.param('{"step": 1, "loss": 0.5}\n', False, id="JSON lines"),
        pytest.param("see log_history and global_step\n", False, id="prose"),
        pytest.param("", False, id="empty"),
    ],
)
def test_a_trainer_state_is_told_from_a_log(head: str, expected: bool) -> None:  # noqa: FBT001 -- a table
    """A JSON object with a history and a step."""
    assert is_trainer_state(head) is expected


def test_hostile_braces_cost_linear_time() -> None:
    """A file of opening braces is no reason to wait."""
    assert list(records('{"global_step": 1, "log_history": [' + "{" * 300_000)) == []
    assert list(records('"log_history"' + "{}" * 300_000)) == []


def test_a_state_is_a_source_of_its_own(tmp_path: Path) -> None:
    """Through the whole program: kind, series with steps, NaN counted."""
    from postmortem.pipeline import run_pipeline

    path = tmp_path / "trainer_state.json"
    path.write_text(TEXT)
    diagnosis = run_pipeline(path)
    assert [(source.kind, source.lines) for source in diagnosis.sources] == [
        ("metrics", TEXT.count("\n") + 1)
    ]
    series = {one.name: one for one in diagnosis.series}
    assert (series["loss"].points, series["loss"].first, series["grad_norm"].nonfinite) == (
        2,
        (5, 2.25),
        1,
    )
    assert series["grad_norm"].first_nonfinite is not None
    assert series["grad_norm"].first_nonfinite[0] == 10
