"""What a log says in words of its own beside values that are not finite."""

import pytest

from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors import nonfinite_hints
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Series

NAN = float("nan")


def observed(*lines: str, losses: tuple[float, ...] = (NAN, NAN)) -> Observed:
    """A log of these lines, with losses that stand on the lines behind them."""
    text = "\n".join(lines) + "\n"
    series = Series("loss", "test", 0, NOWHERE)
    for number, value in enumerate(losses):
        series.append(float(number), value, len(lines) + number + 1)
    series.settle()
    return Observed(series=[series], heads={0: text}, tails={0: (1, text)}, processes={0: NOWHERE})


def reasons(job: Observed) -> list[str]:
    """What is told, but where it stood first."""
    return [
        shape.id
        for shape in nonfinite_hints.detect_nonfinite_hints(job)
        if shape.id != nonfinite_hints.BEFORE
    ]


def told(line: str, *, losses: tuple[float, ...] = (NAN, NAN)) -> list[str]:
    """What a line tells of."""
    return reasons(observed(line, losses=losses))


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("13 tensors contain NaN: blocks.2.mlp.fc1.weight, ...", "told-weights"),
        ("optimizer exp_avg_sq: 40 of 40 entries non-finite", "told-weights"),
        ("7 parameters never filled, still on the meta device", "told-weights"),
        ("supervised tokens: 0 / 8192", "told-labels"),
        ("warning: every target of the batch is masked (ignore_index)", "told-labels"),
        ("标签全部为 -100", "told-labels"),
        ("rows 3 and 9 have an attention mask of zeros only", "told-mask"),
        ("rows 50257..50260 of the embedding: norm 0.000", "told-embeddings"),
        ("the added tokens have untrained rows", "told-embeddings"),
        ("denominator is 0 in 4 crops", "told-operation"),
        ("arcface: acos outside its domain, x = 1.0000002", "told-operation"),
        ("parameter checksum differs on rank 6", "told-device"),
        ("replayed the batch on GPU 2: nan, on GPU 0 and 1 finite", "told-device"),
        ("scan_17.npz holds 512 non-finite voxels", "told-inputs"),
        ("image stats: min nan max nan", "told-inputs"),
        ("loss is inf for 2 of 32 utterances", "told-inputs"),
    ],
)
def test_a_subject_in_a_bad_state_is_told(line: str, shape: str) -> None:
    """In whatever words, where a loss is not finite."""
    assert told(line) == [shape]


@pytest.mark.parametrize(
    "line",
    [
        "step 12 loss nan grad_norm nan",
        "batch 12: loss is nan",
        "no NaN found in the inputs",
        "weights ok, 0 nan",
        "the inputs may contain NaN, please check your data",
        "if torch.isnan(batch).any():",
        "val_loss improved from inf to 2.31, saving the checkpoint",
        "non-finite gradients in layer 3, update skipped",
        "StandardScaler fitted on 41 columns",
    ],
)
def test_figures_doubts_and_code_tell_nothing(line: str) -> None:
    """A figure of the training is no reason, nor is what is denied, supposed or asked."""
    assert told(line) == []


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (("layer 3 absmax 812.0", "layer 4 absmax inf", "stopping"), 2),
        (("32 of 32 rows: supervised tokens: 0 / 512", "stopping"), None),
        (("step 12 loss nan grad_norm nan",), None),
        (("no NaN found in the inputs", "stopping"), None),
        (("supervised tokens: 0 / 512", *["talk"] * 20), None),
    ],
)
def test_what_is_told_before_the_first_bad_value_is_placed(
    lines: tuple[str, ...], place: int | None
) -> None:
    """A value that is not finite, or right before the loss what spoils it."""
    shapes = nonfinite_hints.detect_nonfinite_hints(observed(*lines))
    found = [shape.line for shape in shapes if shape.id == nonfinite_hints.BEFORE]
    assert found == ([] if place is None else [place])


def test_a_line_is_read_under_its_heading() -> None:
    """What stands indented below a colon is said of what stands before it."""
    assert reasons(observed("statistics of the input batch:", "   mean   nan")) == ["told-inputs"]
    assert not reasons(observed("the input batch", "   mean   nan"))


def test_nothing_is_told_beside_a_sound_loss() -> None:
    """A line about weights means nothing where all values are finite."""
    assert told("13 tensors contain NaN: a.weight", losses=(2.0, 1.0)) == []


def test_weights_that_training_spoilt_are_no_reason() -> None:
    """Behind finite records weights that are not finite are what came of it."""
    lines = ("step 0 loss 2.1", "13 tensors contain NaN: blocks.2.weight")
    watched = observed(*lines)
    series = Series("loss", "test", 0, NOWHERE)
    for number, value in enumerate((2.1, NAN), 1):
        series.append(float(number), value, number)
    series.settle()
    found = nonfinite_hints.detect_nonfinite_hints(
        Observed(series=[series], heads=watched.heads, processes=watched.processes)
    )
    assert list(found) == []


@pytest.mark.parametrize(
    ("answer", "shapes"),
    [
        ("['head.weight']", ["told-weights"]),
        ("[]", []),
        ("False", []),
    ],
)
def test_a_question_counts_with_its_answer(answer: str, shapes: list[str]) -> None:
    """As in a session of an interpreter."""
    asked = ">>> [n for n, p in model.named_parameters() if torch.isnan(p).any()]"
    assert reasons(observed(asked, answer)) == shapes


@pytest.mark.parametrize(
    ("lines", "shape"),
    [
        (("torch 2.1.2 -> loss 2.31", "torch 2.2.0 -> loss nan"), "told-version"),
        (("bs=1: loss 2.31", "bs=8: loss nan"), "told-batch-size"),
        (("with bf16 it works", "with fp16 it is nan"), "told-precision"),
        (("bs=4: loss 2.31", "bs=8: loss nan"), None),
        (("with fp16 it works", "with bf16 it is nan"), None),
        (("torch 2.1.2 -> loss 2.31", "torch 2.1.2 -> loss nan"), None),
        (
            ("torch 2.2.0, cuda 12.1", "loss nan", "torch 2.1.2, cuda 12.1", "loss 2.1"),
            "told-version",
        ),
        (("torch 2.2.0", "loss 2.3", "loss nan", "torch 2.1.2", "loss 2.1"), "told-version"),
        (("torch 2.2.0", "loss nan", "torch 2.2.0", "loss 2.1"), None),
        (("torch 2.2.0", "torch 2.1.2", "loss 2.1", "loss nan"), None),
    ],
)
def test_of_two_settings_one_decides(lines: tuple[str, ...], shape: str | None) -> None:
    """One version, one sample, or a wider precision is finite and the other is not."""
    found = [one.id for one in nonfinite_hints.detect_deciding_settings(observed(*lines))]
    assert found == ([shape] if shape else [])
