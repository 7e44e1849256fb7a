"""Columns of figures whose name stands once above them, in the name of the file, or nowhere."""

import io
import json
import math
from pathlib import Path
from typing import Any

import pytest

import postmortem
from postmortem.extraction.formats.arrays import name_column
from postmortem.extraction.source_extractor import SourceExtractor
from postmortem.pipeline import get_matcher
from postmortem.reading.sources import SIZE, iter_blocks

VALUES = [2.0, 1.5, 1.25, 1.0, 0.875, 0.75, 0.625, 0.5]
Points = dict[str, list[tuple[float, float, int]]]


def read(text: str, title: str = "", size: int = SIZE) -> Points:
    """The points of each name, with their steps (-1: none) and lines."""
    extractor = SourceExtractor(get_matcher(()), 0, title=title)
    for block in iter_blocks(io.BytesIO(text.encode()), size):
        extractor.feed(block)
    return {
        series.name: [
            (-1 if math.isnan(point.step) else point.step, point.value, point.line)
            for point in series.kept()
        ]
        for series in extractor.finished().series.values()
    }


def report(path: Path, text: str) -> dict[str, Any]:
    """The report of a file."""
    path.write_text(text, encoding="utf-8")
    return dict(json.loads(postmortem.analyze(path).render("json", redact=False)))


def plain(first: int = 1) -> list[tuple[float, float, int]]:
    """The figures without steps, one a line."""
    return [(-1, value, line) for line, value in enumerate(VALUES, first)]


def rows(form: str) -> str:
    """The figures in rows of a form."""
    return "".join(form.format(value) + "\n" for value in VALUES)


@pytest.mark.parametrize("form", ["{}", "{:.18e}", "[{}]", "  {}", "{},", "({})", "[ {} ]"])
def test_one_column_is_read(form: str) -> None:
    """As numpy.savetxt, print and json.dump write it."""
    assert read(rows(form)) == {"column 1": plain()}
    assert read(rows(form), "loss") == {"loss": plain()}


@pytest.mark.parametrize("between", [" ", ",", ", ", "\t", ";"])
def test_two_columns_are_read(between: str) -> None:
    """A first one that rises is the step; two that do not are two curves."""
    steps = "".join(f"{7 * n * n + 10}.0{between}{value}\n" for n, value in enumerate(VALUES, 1))
    placed = [(7 * n * n + 10, value, n) for n, value in enumerate(VALUES, 1)]
    assert read(steps) == {"column 2": placed}
    assert read(steps, "reward") == {"reward": placed}
    both = "".join(f"{value}{between}{value + 1}\n" for value in VALUES)
    assert set(read(both)) == {"column 1", "column 2"}
    assert set(read(both, "eval_loss")) == {"eval_loss_1", "eval_loss_2"}


def test_a_rule_between_rows_ends_nothing() -> None:
    """Any other line does."""
    ruled = rows("{}") + "-------\n0.25\n"
    assert read(ruled)["column 1"] == [*plain(), (-1, 0.25, 10)]
    head = "".join(f"{value}\n" for value in VALUES * 2000)
    assert len(read(head + "Traceback follows\n0.25\n")["column 1"]) == 16_000


def test_figures_that_are_not_finite_are_rows() -> None:
    """They are all that a column without a name can be judged by."""
    found = read(rows("{}") + "nan\ninf\n")["column 1"]
    assert [math.isfinite(value) for _, value, _ in found[-3:]] == [True, False, False]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("out/loss.txt", "loss"),
        ("train_loss.csv", "loss"),
        ("losses.txt", "loss"),
        ("val-loss-history.txt", "eval_loss"),
        ("rewards4.csv", "reward"),
        ("episode_rewards.txt", "episode_reward"),
        ("dev_acc.txt", "dev_acc"),
        ("output.log", ""),
        ("data.csv", ""),
        ("my_loss_study.txt", ""),
        ("glossary.txt", ""),
    ],
)
def test_the_name_of_a_file_may_say_what_it_holds(path: str, name: str) -> None:
    """Only one that is the name of a metric."""
    assert name_column(path) == name


def test_a_heading_names_the_column_below_it() -> None:
    """From the first line on, or anywhere in a log."""
    assert read("Total Reward\n" + rows("{}")) == {"Total Reward": plain(2)}
    assert read("start\nval_loss\n" + rows("{}") + "done\n0.25\n") == {"eval_loss": plain(3)}


def test_rows_have_the_prefix_of_their_heading() -> None:
    """Other lines of the logger end them."""
    logged = "".join(f"10:00:{n:02} - INFO  \t|  {value}\n" for n, value in enumerate(VALUES))
    text = f"09:59:00 - INFO  \t|  reward\n{logged}10:01:00 - INFO  \t|  Saved\n10:01:01 - INFO  \t|  3.5\n"
    assert read(text) == {"reward": plain(2)}


SILENT = {
    "labels": "".join(f"{n % 2}\n" for n in range(50)),
    "an index": "".join(f"{n}\n" for n in range(50)),
    "wide": "".join("0.5 " * 20 + "\n" for _ in range(50)),
    "few": "0.5\n0.25\n",
    "lines of words": rows("{}") + "then the program said something else\n",
    "a heading of another thing": "elapsed seconds\n" + rows("{}"),
    "no rows": "Total Reward\n0.5\nnothing more\n",
    "words and figures": "loss\nis what is minimised\n" + rows("{}"),
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_other_figures_are_no_column(text: str) -> None:
    """Whole numbers without a name, tables, a few figures among words."""
    assert read(text) == {}


def test_whole_numbers_count_where_a_name_says_what_they_are() -> None:
    """Scores of a game, say."""
    text = "".join(f"{-n % 5}\n" for n in range(20))
    assert len(read(text, "reward")["reward"]) == 20


@pytest.mark.parametrize("size", [100, 5000, SIZE])
def test_borders_of_blocks_change_nothing(size: int) -> None:
    """Of many rows, most of which are read at once."""
    text = "".join(f"{1 / (1 + n):.18e}\n" for n in range(5000))
    found = read(text, "loss", size)["loss"]
    assert [line for _, _, line in found] == list(range(1, 5001))


def test_a_column_without_a_name_supports_no_verdict(tmp_path: Path) -> None:
    """The report says what is missing; with a name it is judged."""
    told = report(tmp_path / "figures.txt", rows("{}"))
    assert told["verdict"]["cause"] is None
    assert "names of the columns" in told["verdict"]["need"][0]["what"]
    assert "no names" in told["verdict"]["not_checked"][0]
    assert report(tmp_path / "loss.txt", rows("{}"))["verdict"]["cause"] is not None


def test_a_figure_that_is_not_finite_is_found_without_a_name(tmp_path: Path) -> None:
    """It is wrong in any column."""
    told = report(tmp_path / "figures.txt", rows("{}") + "nan\n" * 6)
    assert str(told["verdict"]["cause"]).startswith("numerics.")
