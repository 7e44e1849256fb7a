"""Which checkpoint to go back to."""

import pytest

from postmortem.extraction.facts.fact_store import (
    Fact,
    Place,
    Saved,
    find_checkpoint_before,
    is_before,
    list_in_save_order,
    parse_step,
)


@pytest.mark.parametrize(
    ("value", "step"),
    [
        pytest.param("out/checkpoint-500", 500.0, id="Trainer"),
        pytest.param(
            "out/checkpoint-500/global_step499",
            499.0,
            id="DeepSpeed within the Trainer: the inner one",
        ),
        pytest.param("500 iterations", 500.0, id="mmengine"),
        pytest.param("500", 500.0, id="Megatron"),
        pytest.param("outputs/checkpoint/step-1200", 1200.0, id="torchtitan"),
        pytest.param("epoch=3-step=4500.ckpt", 4500.0, id="Lightning"),
        pytest.param("checkpoints/checkpoint_3_12000.pt", 12000.0, id="fairseq"),
        pytest.param("output/model_0004999.pth", 4999.0, id="detectron2"),
        pytest.param("3 epochs", None, id="mmengine by epoch"),
        pytest.param("output/train/checkpoint-12.pth.tar", None, id="timm counts epochs"),
        pytest.param("out/checkpoint_0", None, id="accelerate counts savings"),
        pytest.param("out-char", None, id="nanoGPT"),
        pytest.param("runs/2024-05-01/last.pt", None, id="a date is no step"),
    ],
)
def test_the_step_in_a_name(value: str, step: float | None) -> None:
    """Only what says step or iteration, or is known to, is one."""
    assert parse_step(value) == step


def test_a_path_without_a_step_is_written_over() -> None:
    """Of one name the last saving counts.

    A checkpoint of a step that is named again stays where it was.
    """
    facts = [
        Fact(value, 1, 0, line)
        for line, value in enumerate(("out", "out/checkpoint-5", "out", "out/checkpoint-5"), 1)
    ]
    assert [(one.value, one.place.line) for one in list_in_save_order(facts)] == [
        ("out/checkpoint-5", 2),
        ("out", 3),
    ]


HERE = Place(0, 10, "2024-05-01T12:00:00", 500.0)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param(Place(0, 11, None, None), True, id="one file: by line"),
        pytest.param(
            Place(0, 9, "2024-05-01T13:00:00", 900.0),
            False,
            id="one file: by line, whatever else is printed",
        ),
        pytest.param(Place(1, 1, "2024-05-01T13:00:00", 400.0), True, id="two files: by time"),
        pytest.param(
            Place(1, 99, "T13:00:00", 400.0), False, id="two files, a time without a date: by step"
        ),
        pytest.param(Place(1, 99, "T13:00:00", None), None, id="nothing to go by"),
    ],
)
def test_what_comes_first(other: Place, expected: bool | None) -> None:  # noqa: FBT001 -- an expectation
    """Lines, full times, steps, in this order."""
    assert is_before(HERE, other) is expected


def checkpoint(step: float, source: int = 0) -> Saved:
    """A checkpoint at the line of its step."""
    return Saved(f"c{step:g}", Place(source, int(step), None, step))


@pytest.mark.parametrize(
    ("listed", "limit", "expected"),
    [
        pytest.param(
            [100, 200, 300], Place(0, 250, None, None), ("yes", "c200"), id="the last before it"
        ),
        pytest.param([300], Place(0, 250, None, None), ("no", None), id="none before it"),
        pytest.param([], Place(0, 250, None, None), ("unknown", None), id="none at all"),
        pytest.param([100, 200], None, ("unknown", "c200"), id="nothing went wrong"),
        pytest.param(
            [100, 300], Place(1, 4, None, 250.0), ("yes", "c100"), id="the curve is in another file"
        ),
        pytest.param(
            [100, 300],
            Place(1, 4, None, None),
            ("unknown", None),
            id="the curve is in another file, without steps",
        ),
    ],
)
def test_which_checkpoint_is_good(
    listed: list[int], limit: Place | None, expected: tuple[str, str | None]
) -> None:
    """Yes only where one demonstrably stands before the place.

    No only where all demonstrably stand behind it.
    """
    answer, good = find_checkpoint_before(map(checkpoint, listed), limit)
    assert (answer, good.value if good else None) == expected
