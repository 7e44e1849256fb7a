"""The user's own figures: what messages tell, which line is quoted, what the run shows."""

import json
from dataclasses import replace

import pytest

from postmortem.core.answer import Excerpt, FirstFailure, OwnFrame
from postmortem.core.findings import NOWHERE
from postmortem.report.curves import is_constant
from postmortem.report.key_figures import extract_message_values, find_failing_line, list_key_values
from postmortem.report.page.article_parts import draw_sketch
from postmortem.report.page.html import render_html
from postmortem.report.terminal.screen import render_screen
from postmortem.report.wire import to_wire
from postmortem.report.words import WORDS, Words
from tests.report.samples import a_series, rich

MESSAGES = {
    "mat1 and mat2 shapes cannot be multiplied (32x512 and 768x10)": {
        "shapes": "32x512 · 768x10: 512 ≠ 768"
    },
    "The size of tensor a (5) must match the size of tensor b (7) at non-singleton dimension 1": {
        "shapes": "5 ≠ 7 (dim 1)"
    },
    "Sizes of tensors must match except in dimension 1. Expected size 4 but got size 3 for tensor number 1 in the list.": {
        "shapes": "4 ≠ 3 (dim ≠ 1)"
    },
    "Expected input batch_size (32) to match target batch_size (16).": {"batch-sizes": "32 ≠ 16"},
    "shape '[32, 256]' is invalid for input of size 16384": {
        "elements": "[32, 256] = 8192 ≠ 16384"
    },
    "shape '[-1, 300]' is invalid for input of size 1000": {"elements": "[-1, 300] = 300… ≠ 1000"},
    "stack expects each tensor to be equal size, but got [3, 8] at entry 0 and [3, 9] at entry 1": {
        "shapes": "[3, 8] ≠ [3, 9]"
    },
    "size mismatch for head.weight: copying a param with shape torch.Size([10, 512]) from checkpoint, the shape in current model is torch.Size([5, 512]).": {
        "shapes": "[10, 512] ≠ [5, 512]"
    },
    "expected input[8, 1, 28, 28] to have 3 channels, but got 1 channels instead": {
        "channels": "3 ≠ 1"
    },
    "IndexError: index 7 is out of bounds for dimension 0 with size 5": {"index": "7 ≥ 5"},
    "expected scalar type Half but found Float": {"types": "Half ≠ Float"},
    "mat1 and mat2 must have the same dtype, but got Float and Half": {"types": "Float ≠ Half"},
    "found at least two devices, cuda:0 and cpu!": {"devices": "cuda:0 ≠ cpu"},
    "KeyError: 'label'": {"key": "'label'"},
    "KeyError: 'mse', available: ['mae', 'rmse']": {"key": "'mse'", "there": "['mae', 'rmse']"},
    "AttributeError: 'Net' object has no attribute 'fc'": {"attribute": "Net.fc"},
    "TypeError: step() got an unexpected keyword argument 'epochs'": {"argument": "epochs"},
    "ModuleNotFoundError: No module named 'apex'": {"module": "apex"},
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.70 GiB of which 1.50 GiB is free. Of the allocated memory 20.11 GiB is allocated by PyTorch": {
        "asked": "2.00 GiB",
        "free": "1.50 GiB",
        "total": "23.70 GiB",
        "allocated": "20.11 GiB",
    },
    "ValueError: nothing that is known": {},
}


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_tells_its_figures(message: str) -> None:
    """Each kind once; every kind has a label in both languages."""
    assert dict(extract_message_values(message)) == MESSAGES[message]
    for language in ("en", "zh"):
        assert all(f"figure.{key}" in WORDS[language] for key in MESSAGES[message])


def test_the_failing_line_is_quoted_raw() -> None:
    """From the excerpt, with its place; a line that ends in a colon takes the next with it."""
    first = FirstFailure(0, NOWHERE, 11, None, "RuntimeError: errors")
    shown = replace(
        rich(),
        first_failure=first,
        quotes=(),
        excerpt=Excerpt(0, 10, ("before", "RuntimeError: errors:", "\tmissing keys")),
    )
    quoted = find_failing_line(shown)
    assert quoted is not None
    assert (quoted.line, quoted.text) == (11, "RuntimeError: errors:\n\tmissing keys")


def test_the_own_frame_stands_in_every_form() -> None:
    """On the page, on the screen, in the JSON report."""
    assert rich().first_failure is not None
    first = FirstFailure(
        0, NOWHERE, 1832, None, "KeyError: 'x'", OwnFrame("run/train.py", 7, "main", "y = a['x']")
    )
    shown = replace(rich(), first_failure=first)
    assert "run/train.py:7 in main" in render_html(shown)
    assert "run/train.py:7 in main" in render_screen(shown, width=80, color=False)
    assert json.dumps(to_wire(shown)["first_failure"]["frame"]).startswith(
        '{"file": "run/train.py"'
    )


def test_the_run_tells_its_figures() -> None:
    """The loss before and behind its fault, the last good step, the process."""
    figures = dict(list_key_values(rich(), Words("en")))
    assert figures["Last good step"] == "411"
    assert "NaN" in figures["loss"] or "inf" in figures["loss"] or "→" in figures["loss"]


@pytest.mark.parametrize(
    ("values", "is_drawn"),
    [([3.0, 2.0, 2.5, 1.0], True), ([1.0] * 9, False), ([2.0, 1.0], False)],
    ids=["a curve", "never changes", "too short"],
)
def test_the_small_curve_needs_a_curve(values: list[float], *, is_drawn: bool) -> None:
    """Drawn with a title where there is something to see."""
    series = a_series("loss", [float(step) for step in range(len(values))], values)
    drawn = draw_sketch(replace(rich(), series=(series,), first_failure=None), Words("en"))
    assert (drawn is not None) == is_drawn
    assert drawn is None or ("<title" in drawn.drawing and "polyline" in drawn.drawing)


def test_what_never_changes_is_told_in_a_line() -> None:
    """It has no chart of its own."""
    steps = [float(step) for step in range(8)]
    rate = a_series("learning_rate", steps, [0.5] * 8)
    loss = a_series("loss", steps, [9.0 - step for step in steps])
    assert is_constant(rate)
    page = render_html(replace(rich(), series=(loss, rate)))
    assert "Never changes: learning_rate 0.5 (8 points)" in page
    assert page.count('class="panel"') == 1
