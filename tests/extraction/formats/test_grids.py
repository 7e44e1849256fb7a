"""Tables that are printed as text."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.core.findings import NOWHERE
from postmortem.extraction.formats.tables import (
    Grid,
    build_grid,
    build_headless_grid,
    split_columns,
)


def made(*lines: str) -> Grid:
    """The table of a heading and the lines behind it."""
    found = build_grid(split_columns(lines[0]), lines[1:], has_prefix=False)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        pytest.param(
            (
                "  epoch    train_loss    valid_loss     dur",
                "-----  ----  ----  ---",
                "1  0.5  0.6  0.1",
            ),
            ("epoch", "loss", "eval_loss", ""),
            id="skorch",
        ),
        pytest.param(
            (
                "| episode_reward_mean | episode_len_mean | time_this_iter_s |",
                "|-----|-----|-----|",
                "| 12.25 | 31.5 | 8.25 |",
            ),
            ("episode_reward_mean", "episode_len_mean", ""),
            id="bars and no loss",
        ),
        pytest.param(
            (
                "accuracy | loss | epoch | train | time",
                "-- | -- | --",
                "0.8 | 0.7 | 0 | True | 00:21",
            ),
            ("accuracy", "loss", "epoch", "train", ""),
            id="words of truth",
        ),
        pytest.param(
            ("epoch,step,triplet_loss,active", "0,1,0.5,0.75"),
            ("epoch", "step", "loss", "active"),
            id="one objective is the loss",
        ),
        pytest.param(
            ("step  box_loss  cls_loss  best_loss", "1  0.5  0.2  0.1"),
            ("step", "box_loss", "cls_loss", "best_loss"),
            id="parts of a loss keep their names",
        ),
        pytest.param(
            ("epoch | ce     | mse", "------+-----+----", "    1 | 0.5 | 0.1"),
            ("epoch", "ce", "mse"),
            id="bars",
        ),
        pytest.param(
            (
                "Step | Training Loss | rewards / check_grounding_references_from_response",
                "-- | -- | --",
                "1 | 0.5 | -16.0",
            ),
            ("step", "loss", "rewards_/_check_grounding_references_from_response"),
            id="a long name",
        ),
        pytest.param(("step\tloss", "10\t8.46"), ("step", "loss"), id="tabs"),
        pytest.param(
            ("Epoch \t LR \t \t Train Loss \t Test Acc", "3 \t 0.1 \t \t 1.25 \t 0.5"),
            ("epoch", "learning_rate", "loss", "Test_Acc"),
            id="tabs among blanks",
        ),
        pytest.param(
            ("epoch train loss valid loss dice_score time", "0 nan inf 0.25 00:12"),
            ("epoch", "loss", "eval_loss", "dice_score", ""),
            id="names of two words a blank apart",
        ),
        pytest.param(("INFO: step\tloss", "INFO: 10\t8.46"), ("step", "loss"), id="a level"),
        pytest.param(
            ("epoch,iter,train_loss,lr", "1,100,nan,0.001"),
            ("epoch", "step", "loss", "learning_rate"),
            id="commas",
        ),
        pytest.param(
            ("┃ Epoch ┃ Loss   ┃", "┡━━━━━━━╇━━━━━━━━┩", "│ 1     │ 2.3010 │"),
            ("epoch", "loss"),
            id="drawn",
        ),
        pytest.param(
            ("   epoch      loss", "0      1  2.301000"), ("", "epoch", "loss"), id="a data frame"
        ),
    ],
)
def test_the_columns_of_a_heading(lines: tuple[str, ...], names: tuple[str, ...]) -> None:
    """Named as other metrics are; what is none has no name."""
    assert made(*lines).names == names


@pytest.mark.parametrize(
    ("heading", "behind"),
    [
        pytest.param("training loss and accuracy", "of the model", id="prose"),
        pytest.param("step  loss", "10  0.5  0.3  0.2", id="rows of another width"),
        pytest.param("step  lr", "10  0.5", id="no loss"),
        pytest.param("step  accuracy", "10  0.5", id="scores, and no bars between them"),
    ],
)
def test_no_heading(heading: str, behind: str) -> None:
    """A line is a heading only if a row follows that has as many cells."""
    assert build_grid(split_columns(heading), [behind], has_prefix=False) is None


def test_rows_and_what_stands_between() -> None:
    """A row has as many cells as the heading; other lines are none."""
    table = made("step  loss  lr", "10  0.5  0.1")
    text = b"10  0.5  0.1\nsaved\n20  nan  0.1\n30 x\n40 0.25 0.1 12\n"
    rows = [table.record(row[0].decode(), NOWHERE) for row in table.row.finditer(text)]
    kept = [row for row in rows if row is not None]
    assert [row.step for row in kept] == [10, 20]
    assert math.isnan(dict(kept[1].values)["loss"])


SCORES = made(
    "steps\tepisodes\telapsed\tmean\tmax\tmin\taverage_v\taverage_loss",
    "500\t4\t9.5\t-2.5\t1.0\t-4.0\t[-1.25]\t0.5",
)


def test_a_table_of_episodes() -> None:
    """What is told of the episodes are their returns, and `steps` is the step."""
    assert SCORES.names[0] == "step"
    assert SCORES.names[3:] == ("mean_return", "max_return", "min_return", "average_v", "loss")


@pytest.mark.parametrize(
    ("row", "values"),
    [
        pytest.param(
            "500\t4\t9.5\t-2.5\t1.0\t-4.0\t[ 0.25]\t0.5\n",
            {"average_v": 0.25, "loss": 0.5},
            id="a blank within brackets",
        ),
        pytest.param(
            "500\t4\t9.5\t-2.5\t1.0\t-4.0\t[ 0.25]\n", {"average_v": 0.25}, id="a row that is cut"
        ),
        pytest.param("500\t4\t9.5\n", None, id="too little of one"),
        pytest.param("500\t4\t9.5\t\t1.0\t-4.0\t[ 0.25]\n", None, id="an empty cell"),
        pytest.param("500 4 9.5 and 1.0 of 4.0 rows\n", None, id="prose"),
    ],
)
def test_rows_of_arrays_and_rows_that_are_cut(row: str, values: dict[str, float] | None) -> None:
    """Tabs tell which cells a row has, brackets where one ends."""
    found = next(SCORES.row.finditer(row.encode()), None)
    record = SCORES.record(found[0].decode(), NOWHERE) if found else None
    assert (record is None) == (values is None)
    if record is not None and values is not None:
        assert record.step == 500
        assert {name: dict(record.values).get(name) for name in ("average_v", "loss")} == {
            "average_v": None,
            "loss": None,
        } | values


def test_rows_between_blanks_are_whole_or_none() -> None:
    """Without tabs nothing tells which cells a row lacks."""
    assert made("step  loss  lr", "10  0.5  0.1").record("20  0.25", NOWHERE) is None


def test_a_heading_of_two_lines() -> None:
    """MATLAB writes a word of each name on each line."""
    above = "|  Epoch  |  Iteration  |  Mini-batch  |"
    ways = split_columns("|         |             |     Loss     |", above)
    found = build_grid(ways, ["|   1 |   50 |   NaN |"], has_prefix=False)
    assert found is not None
    assert found.names == ("epoch", "step", "loss")


@pytest.mark.parametrize(
    ("rows", "is_table"),
    [
        pytest.param([f"{10 * n}\t{8 / n:.4f}" for n in range(1, 9)], True, id="steps and losses"),
        pytest.param([f"{n * n} {8 / n:.4f}" for n in range(1, 9)], False, id="uneven"),
        pytest.param([f"{n} {n}" for n in range(1, 9)], False, id="no decimals"),
        pytest.param(["10 0.5", "20 0.4"], False, id="too few"),
    ],
)
def test_a_table_without_a_heading(rows: list[str], *, is_table: bool) -> None:
    """Even steps and figures from the first line on are a table."""
    assert (build_headless_grid(rows) is not None) == is_table


def test_a_count_may_have_a_colon_behind_it() -> None:
    """The figures are read, whatever their sign."""
    rows = [f"{step}: {-5.25 + step}" for step in range(7)]
    table = build_headless_grid(rows)
    assert table is not None
    record = table.record(rows[3], NOWHERE)
    assert record is not None
    assert (record.step, dict(record.values)) == (3.0, {"loss": -2.25})
    assert [row[0] for row in table.row.finditer("\n".join(rows).encode())] == [
        row.encode() for row in rows
    ]


@settings(max_examples=60, deadline=500)
@given(st.text("0123456789., |\t-enaif:/[]", max_size=400), st.sampled_from(["  ", "\t"]))
def test_any_line_is_searched_fast(text: str, between: str) -> None:
    """No line takes long, and what is found has the width of the table."""
    table = made("step  loss  acc  lr  time".replace("  ", between), f"10{between}" * 4 + "3")
    for row in table.row.finditer(text.encode()):
        table.record(row[0].decode(), NOWHERE)
