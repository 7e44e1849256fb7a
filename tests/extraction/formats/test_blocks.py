"""Records that are printed over several lines, a name and a value on each."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.extraction.formats.blocks import parse_entry, read_block
from postmortem.extraction.formats.metric_line_parser import parse_metric_line
from postmortem.reading.windows import View


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        pytest.param("loss             1.386393", "loss", "1.386393", id="a printed Series"),
        pytest.param("|    value_loss   | 250.5   |", "value_loss", "250.5", id="a box"),
        pytest.param(
            "     | > loss_gen: 2.44  (2.17)", "loss_gen", "2.44", id="with its mean behind it"
        ),
        pytest.param('  "grad_norm": NaN,', "grad_norm", "NaN", id="indented JSON"),
        pytest.param("Value function loss: 0.5", "Value_function_loss", "0.5", id="words"),
        pytest.param("train_loss -0.0521 ", "train_loss", "-0.0521", id="a blank between"),
        pytest.param(
            "| mean 50 episode return | -7.5   |",
            "mean_50_episode_return",
            "-7.5",
            id="a number in it",
        ),
        pytest.param("| % time spent exploring | 2 |", "%_time_spent_exploring", "2", id="a share"),
        pytest.param("Iteration time: 1.58s", "Iteration_time", "1.58", id="with a unit"),
    ],
)
def test_a_line_of_a_record(line: str, name: str, value: str) -> None:
    """One name and one figure, however they are set."""
    assert parse_entry(line) == (name, value)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("Epoch 3 loss: 0.5", id="a place before it"),
        pytest.param("loss: 0.5, acc: 0.3", id="two figures"),
        pytest.param("loss went down to 0.5 at last", id="prose"),
        pytest.param("", id="nothing"),
        pytest.param("loss: cross_entropy", id="no figure"),
    ],
)
def test_a_line_of_its_own(line: str) -> None:
    """Whatever holds more than a name and a figure is no part of a longer record."""
    assert parse_entry(line) is None


def read(text: str, word: str, back_to: int = 0) -> dict[str, float]:
    """The figures of the record around the first line with a word; the step under `@step`."""
    data = text.encode()
    view = View(data, data.index(word.encode()), 1, srun=False)
    own = parse_entry(view.cleaned.text)
    found = read_block(view, own, back_to) if own else None
    looked = parse_metric_line(found.text) if found else None
    if looked is None:
        return {}
    return {"@step": looked.found.record.step, **dict(looked.found.record.values)}


BOX = """\
---------------------------------
| time/              |          |
|    total_timesteps | {step}   |
| train/             |          |
|    entropy_loss    | -1.5     |
|    loss            | {loss}   |
---------------------------------
"""


def test_a_box_is_one_record() -> None:
    """Its own step is found, whatever stands between."""
    found = read(BOX.format(step=4096, loss=0.5), "entropy_loss")
    assert (found["@step"], found["loss"], found["entropy_loss"]) == (4096, 0.5, -1.5)


EDGE = "-----------------------------\n"
ROWS = "| % time exploring   | 5    |\n| mean 50 episode return | {value} |\n| steps | {step} |\n"


@pytest.mark.parametrize("edges", [EDGE, 2 * EDGE])
def test_boxes_that_follow_one_another_are_not_mixed(edges: str) -> None:
    """What stands beyond an edge is of another record, though a log that is cut begins within one."""
    text = f"| steps | 900 |\n{edges}{ROWS.format(value=-7.5, step=1000)}{edges}| loss | 0.5 |\n"
    assert read(text, "return") == {"@step": 1000, "mean_50_episode_return": -7.5}


def test_the_steps_of_an_episode_are_not_those_of_the_run() -> None:
    """Where a record names its episode, `steps` is how long that was."""
    assert read("episode: 3\nsteps: 200\nreward: -7.5\n", "reward")["@step"] == 3


def test_a_name_that_comes_again_begins_the_next() -> None:
    """Neighbouring records are not mixed."""
    text = "step: 1\nloss: 0.5\nacc: 0.25\nstep: 2\nloss: 0.125\nacc: 0.75\n"
    assert read(text, "loss") == {"@step": 1, "loss": 0.5, "acc": 0.25}


def test_the_heading_tells_the_epoch_and_the_split() -> None:
    """A line above that names an epoch, and one that names the split, belong to the record."""
    text = "Epoch 3:\n  Val:\n    loss: 0.5\n    acc: 0.25\n"
    found = read(text, "loss")
    assert (found["eval_loss"], found["epoch"], found["acc of val"]) == (0.5, 3, 0.25)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Run summary at step 10:\nloss: 0.5\nacc: 0.25\n", id="a summary"),
        pytest.param(
            "epoch = 3.0\ntrain_loss = 0.5\ntrain_runtime = 0:01:00\n", id="the Trainer's"
        ),
        pytest.param("Config:\nloss_weight: 1.0\nlr: 0.001\n", id="settings"),
        pytest.param("loss: 0.5\n", id="alone"),
    ],
)
def test_what_is_no_record(text: str) -> None:
    """Summaries, settings and a single line are none."""
    assert read(text, "loss") == {}


FIGURES = st.sampled_from(["0.5", "1.25e-03", "nan", "inf", "-2.5"])


@settings(max_examples=40, deadline=None)
@given(loss=FIGURES, other=FIGURES, step=st.integers(0, 99_999), gap=st.integers(1, 12))
def test_how_it_is_set_says_nothing(loss: str, other: str, step: int, gap: int) -> None:
    """Blanks, colons and bars between name and value give the same record."""
    forms = (f"{{}}:{' ' * gap}{{}}", f"| {{}}{' ' * gap}| {{}} |", f"{{}}{' ' * (gap + 1)}{{}}")
    expected = {"@step": step, "loss": float(loss), "acc": float(other)}
    for form in forms:
        lines = [form.format(*pair) for pair in (("step", step), ("loss", loss), ("acc", other))]
        found = read("\n".join([*lines, ""]), "loss")
        assert {name: repr(float(value)) for name, value in found.items()} == {
            name: repr(float(value)) for name, value in expected.items()
        }
    assert not math.isnan(expected["@step"])
