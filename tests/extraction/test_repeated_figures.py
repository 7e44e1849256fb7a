"""Figures of any wording: names that a source teaches, positions on the line above, evaluations."""

import math

import pytest

from postmortem import analyze
from postmortem.reading.sources import Stream
from tests.extraction.read_points import read

N = 8


def repeat(form: str, count: int = N) -> str:
    """The same lines with other figures."""
    return "".join(
        form.format(i=i, step=100 * i, low=2 / (i + 1), high=0.1 * i + 0.05)
        for i in range(1, count + 1)
    )


BOX = "-------\n| epoch     | {i}     |\n| test/hits | {high:.3f} |\n| test/q    | -{low:.4f} |\n-------\n"
HYDRA = (
    "agent_timesteps_total: {step}\nepisode_len_mean: {i}.5\nepisode_reward_mean: {high:.2f}\n"
    "info:\n  learner:\n    cur_lr: 5.0e-05\n    total_loss: {low:.4f}\ntraining_iteration: {i}\n\n"
)


@pytest.mark.parametrize(
    ("form", "name", "first", "last"),
    [
        pytest.param("forward: -{low:.4f}, file: a.csv\n", "forward", -1.0, -0.2222, id="unknown"),
        pytest.param("Validation perplexity: {low:.3f}\n", "validation_perplexity", 1, 0.222, id="two"),
        pytest.param(BOX, "test/hits", 0.15, 0.85, id="a box without any loss"),
        pytest.param(HYDRA, "episode_len_mean", 1.5, 8.5, id="a nested block"),
        pytest.param("lr = {low:.5f}\n", "learning_rate", 1.0, 0.22222, id="a rate alone"),
        pytest.param("Epoch {i} train {low:.4f} val {high:.3f}\n", "eval_loss", 0.15, 0.85, id="splits"),
        pytest.param("epoch:{i}, trainLoss:{low:.4f}, testLoss:{high:.3f}\n", "eval_loss", 0.15, 0.85, id="camel"),
        pytest.param("Epoch {i}: Test set loss: {high:.3f}\n", "eval_loss", 0.15, 0.85, id="set"),
        pytest.param("Epoch {i}: train loss {low:.4f}, train acc {high:.3f}\n", "train_acc", 0.15, 0.85, id="acc"),
    ],
)  # fmt: skip
def test_figures_of_any_name(form: str, name: str, first: float, last: float) -> None:
    """What repeats with other figures is a series, whatever it is called."""
    points = read(repeat(form))[name]
    assert [len(points), points[0][1], points[-1][1]] == [N, first, last]


def test_settings_and_prose_teach_nothing() -> None:
    """A figure that never changes is a setting; a message says again what was printed."""
    text = repeat("dropout: 0.1\nmodel saved (Val Loss: {low:.4f})\n")
    assert not read(text)


@pytest.mark.parametrize(
    ("step", "expected"),
    [("step:{i}K", [1000.0 * i for i in range(1, N + 1)]), ("step:{step}", [100.0 * i for i in range(1, N + 1)])],
)  # fmt: skip
def test_steps_may_be_thousands(step: str, expected: list[float]) -> None:
    """As LeRobot rounds them; `grdn` is its gradient norm."""
    points = read(repeat(step + " smpl:{i}K loss:{low:.4f} grdn:{high:.3f} lr:1.0e-05\n"))
    assert [at for at, _ in points["loss"]] == expected
    assert "grad_norm" in points


def test_a_position_on_the_line_above() -> None:
    """It is the step of what follows, unless two records follow the same one."""
    points = read(repeat("Iteration {step}, Testing\n  fit: {high:.3f}, drift: {low:.4f}\n"))
    assert [step for step, _ in points["fit"]] == [100.0 * i for i in range(1, N + 1)]
    text = repeat("Iteration {step}, Testing\n" + "  fit: {high:.3f}, drift: {low:.4f}\n" * 2)
    assert all(math.isnan(step) for step, _ in read(text)["fit"])


BATCHES = "epoch {i} val step:0 loss: {high:.3f}\nepoch {i} val step:9 loss: {low:.4f}\n"


def test_batches_of_an_evaluation() -> None:
    """They are its result only where no other is printed."""
    train = "epoch {i} train step:0 loss: {low:.4f} top1: {high:.3f}\n"
    assert len(read(repeat(train + BATCHES))["eval_loss"]) == 2 * N
    points = read(
        repeat(train + BATCHES + "END epoch:{i} val loss_avg: {high:.3f} top1: {low:.4f}\n")
    )
    assert len(points["eval_loss"]) == len(points["top1"]) == len(points["val_top1"]) == N


def test_the_end_of_an_evaluations_bar() -> None:
    """One point for each time that it comes to its end, however often it is drawn."""
    form = "".join(
        f"\rValidation: {done * 50}%|##| {done}/2 [00:01<00:01, 2it/s, val_loss={{high:.3f}}]"
        for done in (0, 1, 2, 2)
    )
    assert [value for _, value in read(repeat(form + "\n"))["eval_loss"]] == [
        pytest.approx(0.1 * i + 0.05) for i in range(1, N + 1)
    ]


def test_a_table_of_any_columns() -> None:
    """Whatever its columns are called, if one of them says where its rows stand."""
    text = "reward,novelty,total/steps\n" + repeat("{high:.3f},{low:.4f},{step}\n")
    report = analyze(Stream("progress.csv", text.encode())).to_dict()
    curve = next(series for series in report["series"] if series["name"] == "reward")
    assert [curve["points"], curve["first"], curve["last"]] == [N, [100.0, 0.15], [800.0, 0.85]]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        pytest.param("import jax.numpy as jnp", set(), id="nothing of PyTorch"),
        pytest.param(
            "UserWarning: /site-packages/torch/nn/modules/loss.py:1", {"pytorch"}, id="it"
        ),
        pytest.param("[torch.DoubleTensor of size 3]", set(), id="Torch of Lua"),
    ],
)
def test_a_framework_is_named_where_a_line_shows_it(line: str, named: set[str]) -> None:
    """A loop of unknown layout is none of PyTorch's."""
    text = repeat("step {step} loss {low:.4f}\n") + line + "\n"
    report = analyze(Stream("run.log", text.encode())).to_dict()
    assert {one["name"] for one in report["frameworks"]} & {"pytorch"} == named
