"""Lists of figures printed within a log, whatever the size of the blocks it is read in."""

import io
import json

import pytest

import postmortem
from postmortem.extraction.extract import Extract
from postmortem.extraction.source_extractor import SourceExtractor
from postmortem.pipeline import get_matcher
from postmortem.reading.sources import SIZE, Block, iter_blocks

LOSS = [2.0, 1.5, 1.25, 1.0, 0.875, 0.75]
EVAL = [2.25, 1.75, 1.5, 1.25, 1.0, 0.9375]
Points = dict[str, list[tuple[float, float, int]]]


def extract(text: str, size: int = SIZE) -> Extract:
    """What is read of a log."""
    extractor = SourceExtractor(get_matcher(()), 0)
    for block in iter_blocks(io.BytesIO(text.encode()), size):
        extractor.feed(block)
    return extractor.finished()


def read(text: str, size: int = SIZE) -> Points:
    """The points of each name, with their steps and lines."""
    return {
        series.name: [(point.step, point.value, point.line) for point in series.kept()]
        for series in extract(text, size).series.values()
    }


def on(line: int, values: list[float]) -> list[tuple[float, float, int]]:
    """Figures of one line."""
    return [(step, value, line) for step, value in enumerate(values, 1)]


FORMS = {
    "a mapping": f"{{'loss': {LOSS}, 'val_loss': {EVAL}}}",
    "a mapping behind a name": f"History: {{'loss': {LOSS}, 'val_loss': {EVAL}}}",
    "a mapping behind a prefix": f"2024-05-01 10:00:00,123 - INFO - {{'loss': {LOSS}, 'val_loss': {EVAL}}}",
    "arrays": f"{{'loss': array({LOSS}), 'val_loss': array({EVAL})}}",
}


@pytest.mark.parametrize("printed", FORMS.values(), ids=FORMS)
def test_a_printed_mapping_of_lists_is_a_history(printed: str) -> None:
    """Each list is a curve."""
    text = f"building the model\n{printed}\nsaved\n"
    assert read(text) == {"loss": on(2, LOSS), "eval_loss": on(2, EVAL)}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("train losses: ", "val losses: "),
        ("train_loss = ", "val_loss = "),
        ("loss: ", "val_loss: "),
    ],
)
def test_lists_on_lines_of_their_own_are_a_history(first: str, second: str) -> None:
    """Behind a colon or a sign of equality."""
    text = f"done\n{first}{LOSS}\n{second}{EVAL}\n"
    assert read(text) == {"loss": on(2, LOSS), "eval_loss": on(3, EVAL)}


def test_a_list_of_several_lines_is_read_to_its_end() -> None:
    """Each figure has its line; what stands behind is a log again."""
    text = (
        "loss: array([2.0, 1.5, 1.25,\n       1.0, 0.875, 0.75])\n"
        "val_loss = [\n  2.25,\n  1.75,\n  1.5\n]\nstep 7 loss 0.5\n"
    )
    found = read(text)
    assert [line for _, _, line in found["loss"][:6]] == [1, 1, 1, 2, 2, 2]
    assert [line for _, _, line in found["eval_loss"]] == [4, 5, 6]


@pytest.mark.parametrize("size", [64, 1000, 70_000, SIZE])
def test_borders_of_blocks_change_nothing(size: int) -> None:
    """Though a list is longer than several of them."""
    values = [round(2 / (1 + step / 1000), 6) for step in range(20_000)]
    text = f"start\n{{'loss': {values}, 'val_loss': {values}}}\nend\n"
    assert read(text, size) == {"loss": on(2, values), "eval_loss": on(2, values)}


def test_a_list_that_grows_is_told_once() -> None:
    """Each print holds the one before."""
    text = "".join(f"losses: {LOSS[:count]}\n" for count in range(4, 7))
    assert read(text) == {"loss": on(3, LOSS)}


def test_a_snapshot_changes_nothing_of_what_follows() -> None:
    """Neither within a list nor between two prints of one that grows."""
    text = "".join(f"losses: {LOSS[:count]}\n" for count in range(4, 7))
    extractor, counts = SourceExtractor(get_matcher(()), 0), []
    for block in iter_blocks(io.BytesIO(text.encode())):
        for start in range(0, len(text), 30):
            low, high = block.lo + start, min(start + 30, len(text))
            extractor.feed(Block(block.data[:high], low, high, 0))
            series = extractor.snapshot().series.values()
            counts.append(max((one.points for one in series), default=0))
    found = next(iter(extractor.finished().series.values()))
    assert list(found.values) == LOSS
    assert counts == sorted(counts)


def test_what_was_printed_line_by_line_leads() -> None:
    """A list at the end says it again."""
    records = "".join(f"epoch {step} loss {value}\n" for step, value in enumerate(LOSS, 1))
    found = read(f"{records}{{'loss': {LOSS}}}\n")
    assert [value for _, value, _ in found["loss"]] == LOSS
    assert [line for _, _, line in found["loss"]] == [1, 2, 3, 4, 5, 6]


def test_a_list_of_each_step_is_no_curve() -> None:
    """One figure for each rank or layer, which differs from step to step."""
    lists = ([value + step / 8 for value in LOSS] for step in range(6))
    assert read("".join(f"rank losses: {values}\n" for values in lists)) == {}


def test_a_record_with_a_list_stays_a_record() -> None:
    """The list is a detail of it."""
    text = "".join(
        f"{{'loss': {value}, 'grad_norms': {LOSS}, 'step': {step}}}\n"
        for step, value in enumerate(LOSS, 1)
    )
    assert [value for _, value, _ in read(text).get("loss", [])] in (LOSS, [])


SILENT = {
    "predictions": f"predictions: {[0, 1, 1, 0] * 20}\n",
    "a matrix": "confusion matrix: [[5, 1], [2, 6]]\n",
    "weights": f"loss weights: {LOSS}\n",
    "cut": "loss: [2.0, 1.5, 1.25, 1.0, 0.875, ...\nnothing\n",
    "two figures": "loss: [0.5, 0.25]\n",
    "texts": "losses: ['mse', 'mae', 'bce', 'nll', 'kl']\n",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_other_lists_are_no_curves(text: str) -> None:
    """Nor is one that breaks off within a log."""
    assert read(f"start\n{text}end\n") == {}


def test_a_list_that_breaks_off_hides_nothing() -> None:
    """The lines behind it are read as ever."""
    records = "".join(f"epoch {step} loss {value}\n" for step, value in enumerate(LOSS, 1))
    found = read(f"loss: [2.0, 1.5, 1.25, 1.0, 0.875,\n{records}")
    assert [value for _, value, _ in found["loss"]] == LOSS


def test_an_error_behind_a_history_ends_the_run() -> None:
    """What a list tells stands before it, though it is told at the end."""
    text = (
        f"INFO start\nINFO {{'loss': {LOSS}, 'val_loss': {EVAL}}}\n"
        'Traceback (most recent call last):\n  File "/src/train.py", line 3, in <module>\n'
        "    main()\nValueError: the mask is empty\n"
    )
    assert [before for _, before in extract(text).tracebacks] == [len(LOSS)]
    told = json.loads(postmortem.analyze(text.encode()).render("json", redact=False))
    assert told["outcome"] == "failed"


def test_a_history_behind_the_end_leaves_it_the_end() -> None:
    """It goes on with nothing."""
    text = f"start\nTraining finished.\ntrain_loss = {LOSS}\nval_loss = {EVAL}\n"
    told = json.loads(postmortem.analyze(text.encode()).render("json", redact=False))
    assert told["outcome"] == "completed"
