"""Tables, records of several lines and bars on their way, read from a source block by block."""

import io
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.extraction.source_extractor import SourceExtractor
from postmortem.pipeline import get_matcher
from postmortem.reading.sources import SIZE, iter_blocks

Points = dict[str, list[tuple[float, float, int]]]


def read(text: str, size: int = SIZE) -> Points:
    """The points of each name, with their steps and lines."""
    gathering = SourceExtractor(get_matcher(()), 0)
    for block in iter_blocks(io.BytesIO(text.encode()), size):
        gathering.feed(block)
    found: Points = {}
    for series in gathering.snapshot().series.values():
        found.setdefault(series.name, []).extend(
            (point.step, point.value, point.line) for point in series.kept()
        )
    return found


TABLE = "loading\nstep  loss  lr\n10  2.5  0.1\nsaved a checkpoint\n20  2.25  0.1\n"
"""A table with a line between its rows."""
TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/src/train.py", line 3, in <module>\n'
    "    main()\n"
    "ValueError: the mask is empty\n"
)
BOX = "".join(
    f"| time/ | |\n|  total_timesteps | {step} |\n| train/ | |\n|  entropy_loss  | -1.5 |\n"
    f"|  loss  | {loss} |\n-----\n"
    for step, loss in ((2048, 0.5), (4096, math.nan))
)
YOLO = (
    "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n"
    "        1/3      2.61G      1.181      2.767      1.312         22        640: 100%|###| 2/2\n"
    "        2/3      2.61G      1.125        nan      1.250         22        640: 100%|###| 2/2\n"
)
KERAS = (
    "Epoch 1/3\n100/100 [====] - 5s 3ms/step - loss: 1.9375 - accuracy: 0.25\n"
    "Epoch 2/3\n 40/100 [==>..] - ETA: 3s - loss: {loss} - accuracy: 0.5"
)


def values(points: Points, name: str) -> list[str]:
    """The values of a name, NaN included."""
    return [repr(value) for _, value, _ in points.get(name, [])]


def test_rows_are_read_where_they_stand() -> None:
    """Each with its step and its line."""
    found = read(TABLE)
    assert found["loss"] == [(10, 2.5, 3), (20, 2.25, 5)]
    assert found["learning_rate"] == [(10, 0.1, 3), (20, 0.1, 5)]


def test_rows_count_before_what_stands_below_them() -> None:
    """A traceback below a table has all its rows before it, and none behind."""
    text = TABLE + "30  2.0  0.1\n" + TRACEBACK
    gathering = SourceExtractor(get_matcher(()), 0)
    for block in iter_blocks(io.BytesIO(text.encode()), SIZE):
        gathering.feed(block)
    assert [before for _, before in gathering.snapshot().tracebacks] == [3]


def test_a_table_from_the_first_line_on() -> None:
    """Without a heading it is a step and its loss."""
    text = "".join(f"{10 * n}\t{8 / n:.4f}\n" for n in range(1, 20))
    assert read(text)["loss"][-1] == (190, round(8 / 19, 4), 19)


def test_a_box_is_a_record() -> None:
    """Its step stands in it, before or behind the loss."""
    found = read(BOX)
    assert [step for step, _, _ in found["loss"]] == [2048, 4096]
    assert values(found, "loss") == ["0.5", "nan"]


def logged(*texts: str) -> str:
    """Lines with the prefix of a logger."""
    return "".join(f"2024-02-03 10:00:00,100 INFO : {text}\n" for text in texts)


WHOLE = ("Epoch 0", "train_loss   0.5", "valid_loss   0.75", "test_loss   0.625", "saved")


@pytest.mark.parametrize(
    ("behind", "losses"),
    [
        pytest.param(
            ("Epoch 1", "train_loss   2.5", "valid_loss   4.5"), ["0.5", "2.5"], id="two lines"
        ),
        pytest.param(("Epoch 1", "train_loss   2.5"), ["0.5", "2.5"], id="one line"),
        pytest.param(
            ("Epoch 1", "test_loss   2.5", "train_loss   4.5"), ["0.5"], id="no beginning of it"
        ),
    ],
)
def test_a_record_that_the_end_of_the_log_cuts(behind: tuple[str, ...], losses: list[str]) -> None:
    """It is one of those before it, as far as it goes."""
    assert values(read(logged(*WHOLE, *behind)), "loss") == losses


def test_the_heading_names_the_columns_of_a_bar() -> None:
    """YOLO's columns are others from version to version."""
    found = read(YOLO)
    assert values(found, "cls_loss") == ["2.767", "nan"]
    assert values(found, "dfl_loss") == ["1.312", "1.25"]


@pytest.mark.parametrize(("loss", "shown"), [("nan", ["1.9375", "nan"]), ("1.5", ["1.9375"])])
def test_a_bar_that_never_ended(loss: str, shown: list[str]) -> None:
    """The mean of a part of an epoch is no point; that it is no number any more is one."""
    assert values(read(KERAS.format(loss=loss)), "loss") == shown


def test_a_snapshot_gives_an_unfinished_bar_once() -> None:
    """However often it is asked for."""
    gathering = SourceExtractor(get_matcher(()), 0)
    for block in iter_blocks(io.BytesIO(KERAS.format(loss="nan").encode())):
        gathering.feed(block)
    gathering.snapshot()
    found = gathering.snapshot().series.values()
    assert sum(one.points for one in found if one.name == "loss") == 2


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 400))
def test_the_size_of_a_block_changes_nothing(size: int) -> None:
    """Rows and records are read whole, wherever a block ends."""
    text = TABLE + "x" * 100 + "\n" + BOX + YOLO
    assert repr(read(text, size)) == repr(read(text))
