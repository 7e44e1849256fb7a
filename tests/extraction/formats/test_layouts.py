"""Learnt layouts of lines of any script.

What they leave open, and that they give exactly what reading each line gives.
"""

import io
import math
import random
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from postmortem.extraction import template_reader
from postmortem.extraction.extract import Extract
from postmortem.extraction.formats import layouts
from postmortem.extraction.formats.layouts import Layout
from postmortem.extraction.source_extractor import SourceExtractor
from postmortem.pipeline import get_matcher
from postmortem.reading.sources import iter_blocks
from postmortem.reading.windows import View


def learnt(line: str) -> Layout | None:
    """The layout of a line."""
    return layouts.infer_layout(View(line.encode(), 0, 1, srun=False))


@pytest.mark.parametrize(
    ("first", "then", "step", "values"),
    [
        pytest.param(
            "step 10 loss: 0.5 lr 1e-4",
            "step 2000 loss: 12.25 lr 0.0003",
            2000,
            {"loss": 12.25, "learning_rate": 0.0003},
            id="a step",
        ),
        pytest.param(
            "2024-05-01 10:00:00,123 - train - INFO - Epoch 3 step 120 loss: 0.123 lr 1.5e-4",
            "2024-06-11 11:21:30,001 - train - INFO - Epoch 4 step 7 loss: -1.5 lr 1e-05",
            7,
            {"loss": -1.5, "learning_rate": 1e-5, "epoch": 4},
            id="a logger's prefix",
        ),
        pytest.param(
            "epoch [4][100/2500] Loss: 0.2702",
            "epoch [12][2400/2500] Loss: 0.1",
            2400,
            {"loss": 0.1, "epoch": 12},
            id="a length",
        ),
        pytest.param(
            "step     860 | loss 14.4925 | lr 1.70e-04 | grad 0.748 | 37.2k tok/s | mfu 37.44%",
            "step   49850 | loss 3.5000 | lr 1.20e-05 | grad 1.25 | 9.1k tok/s | mfu 3.01%",
            49850,
            {"loss": 3.5, "learning_rate": 1.2e-5, "grad_norm": 1.25},
            id="padding",
        ),
        pytest.param(
            "step 10 loss: nan", "step 11 loss: nan", 11, {"loss": math.nan}, id="no number"
        ),
        pytest.param(
            "[rank3]: step 10 loss: 0.5",
            "[rank1023]: step 11 loss: 0.25",
            11,
            {"loss": 0.25},
            id="a rank",
        ),
        pytest.param(
            "Epoch 1:  12%|█▎        | 120/1000 [00:10<01:10, 12.50it/s, loss=0.5000]",
            "Epoch 2:  25%|██▌       | 250/1000 [00:21<01:02, 11.05it/s, loss=0.2500]",
            math.nan,
            {"loss": 0.25},
            id="a bar",
        ),
        pytest.param(
            "[\x1b[37m09:53:54\x1b[0m] \x1b[34mINFO\x1b[0m Step 10: loss \x1b[1m0.5\x1b[0m kl 3.1e-01",
            "[\x1b[37m10:00:01\x1b[0m] \x1b[34mINFO\x1b[0m Step 12: loss \x1b[1m0.25\x1b[0m kl 2.9e-01",
            12,
            {"loss": 0.25},
            id="colours",
        ),
        pytest.param(
            "Epoch 0  10%|#         | 5/50 [00:05<01:02, 2.91it/s] ce 0.151",
            "Epoch 1  40%|####      | 20/50 [00:20<00:31, 3.05it/s] ce 0.062",
            math.nan,
            {"loss": 0.062},
            id="an objective behind a bar",
        ),
        pytest.param(
            "step 10 | loss: 0.5 | perplexity: 1,822",
            "step 2000 | loss: 12.25 | perplexity: 144,822",
            2000,
            {"loss": 12.25, "perplexity": 144822},
            id="thousands",
        ),
        pytest.param(
            "step 10 loss: 0.5\x1b[0m\x1b[A",
            "step 2000 loss: 12.25\x1b[0m\x1b[A",
            2000,
            {"loss": 12.25},
            id="a colour's end",
        ),
    ],
)
def test_a_line_gives_its_figures(
    first: str, then: str, step: float, values: dict[str, float]
) -> None:
    """The layout of one line reads another: its step and its values."""
    layout = learnt(first)
    assert layout is not None
    match = layout.template.pattern.match(then.encode())
    assert match is not None
    names = (name for name, _ in layout.columns)
    got = dict(zip(names, layout.read_values(match.groups()), strict=True))
    assert {name: repr(got[name]) for name in values} == {
        name: repr(float(value)) for name, value in values.items()
    }
    assert repr(math.nan if layout.step is None else float(match.groups()[layout.step])) == repr(
        float(step)
    )


def test_a_step_in_thousands_is_learnt() -> None:
    """The layout knows the unit of its step; `3M` is of another."""
    layout = learnt("->> step:3K ->>lr:0.00032 ->>ce:1.953")
    assert layout is not None
    assert layout.scale == 1000
    match = layout.template.pattern.match(b"->> step:120K ->>lr:0.00012 ->>ce:0.953")
    assert match is not None
    assert layout.step is not None
    assert match.groups()[layout.step] == b"120"
    assert layout.template.pattern.match(b"->> step:3M ->>lr:0.00032 ->>ce:1.953") is None


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(
            "step 10/200 loss: 0.5", "step 10/300 loss: 0.5", id="another length of the run"
        ),
        pytest.param("step 10 loss: 0.5", "step 10 loss: nan", id="a word for a number"),
        pytest.param("step 10 loss: 0.5", "step 1.5 loss: 0.5", id="a fraction for a whole step"),
        pytest.param("step 10 loss: 0.5", "step 10 loss: 0.5 (best 0.4)", id="more behind it"),
        pytest.param(
            "Epoch 1:  12%|█▎        | 120/1000 [00:10<01:10, 12.50it/s, loss=0.5000]",
            "Epoch 1:  12%|█▎        | 120/2000 [00:10<01:10, 12.50it/s, loss=0.5000]",
            id="another length of a bar",
        ),
        pytest.param(
            "step 10 loss: 0.5", "step 123456789012 loss: 0.5", id="more digits than a step has"
        ),
        pytest.param(
            "step 10 loss: \x1b[32m0.5\x1b[0m",
            "step 10 loss: \x1b[31m0.5\x1b[0m",
            id="another colour",
        ),
    ],
)
def test_what_a_layout_leaves_to_the_slow_path(first: str, then: str) -> None:
    """A line that may mean something else is not matched."""
    layout = learnt(first)
    assert layout is not None
    assert layout.template.pattern.match(then.encode()) is None


@pytest.mark.parametrize(
    "line",
    [
        "loading the loss function",
        "step 10 loss: 1,234.5",
        "x" * 990 + " step 10 loss: 0.5",
        "step 10 loss: 0.\x1b[32m5\x1b[0m",
    ],
)
def test_what_is_not_learnt(line: str) -> None:
    """Without figures, with figures that a group cannot give, too long, or of two colours."""
    assert learnt(line) is None


def figure(choice: random.Random, step: int) -> str:
    """A loss in one of many spellings."""
    return choice.choice(
        [f"{choice.random():.4f}"] * 9
        + [
            f"{choice.random() * 1e3:.2f}",
            f"{-choice.random():.3f}",
            f"{choice.random():.2e}",
            "nan",
            "inf",
            "0",
            str(step),
        ]
    )


LINES: list[Callable[[random.Random, int], str]] = [
    lambda choice, step: (
        f"Epoch {step // 50} step {step} loss: {figure(choice, step)} lr {choice.random() * 1e-4:.3e}"
    ),
    lambda choice, step: (
        f"[epoch {step // 50}/20][{step % 50}/50] train_loss={figure(choice, step)} acc={choice.random():.2f}"
    ),
    lambda choice, step: (
        f"2024-05-01 10:{step // 60 % 60:02d}:{step % 60:02d},123 - train - INFO - iter {step}/5000, avg. loss: {figure(choice, step)}, mem {choice.randint(1, 80)}GB"
    ),
    lambda choice, step: (
        f"[rank{choice.randrange(6)}]: step {step} | loss {figure(choice, step)} | grad_norm {figure(choice, step)} | {choice.randint(100, 4000)} tok/s"
    ),
    lambda choice, step: f"[default{choice.randrange(3)}]:[{step}] loss: {figure(choice, step)}",
    lambda choice, step: (
        f"Epoch: {step // 50} | Batch: {step % 50} | time 0.{choice.randint(100, 999)} s | data 0.01 | mse: {figure(choice, step)}"
    ),
    lambda choice, step: (
        f"val_loss: {figure(choice, step)} at epoch {step // 50}, best loss: {figure(choice, step)}"
    ),
    lambda choice, step: (
        f"step {step}: {choice.choice(['warm', 'cold', 'hot'])} loss = {figure(choice, step)}"
    ),
    lambda choice, step: (
        f"\rEpoch {step // 50}: {step % 50 * 2:3d}%|{'█' * (step % 50 // 5):10}| {step % 50}/50 [00:{step % 50:02d}<01:{choice.randint(10, 59)}, {choice.random() * 9:.2f}it/s, loss={figure(choice, step)}]"
    ),
    lambda choice, step: (
        f"\r{step % 50 * 2:3d}%|{'#' * (step % 50 // 5):10}| {step % 50}/50 [00:{step % 50:02d}<01:02, {choice.random() * 9:.2f}s/it, loss={figure(choice, step)}, v_num=0]\r"
    ),
    lambda choice, step: (
        f"\r{step}it [00:{step % 60:02d}, {choice.random() * 9:.2f}it/s, loss={figure(choice, step)}]"
    ),
    lambda choice, step: (
        f"{{'loss': {figure(choice, step)}, 'learning_rate': {choice.random() * 1e-5!r}, 'epoch': {step / 50:.2f}}}"
    ),
    lambda choice, step: (
        f"\r   \r{{'loss': {figure(choice, step)}, 'learning_rate': {choice.random() * 1e-5!r}, 'epoch': {step / 50:.2f}}}\n\r 10%|█         | {step}/5000 [00:10<01:10,  2.50it/s]"
    ),
    lambda choice, step: (
        f"Epoch: {step // 50}, Step: {step}, Rank: {choice.randrange(6)}, loss = {figure(choice, step)}"
    ),
    lambda choice, step: (
        f"->> step:{step}K ->>lr:{choice.random() * 1e-4:.5f} ->>ce:{choice.random():.3f} t=9ms"
    ),
    lambda choice, step: (
        f"Epoch {step // 50}  {step % 50 * 2:3d}%|{'#' * (step % 50 // 5):10}| {step % 50}/50 [00:{step % 50:02d}<01:02, {choice.random() * 9:.2f}it/s] ce {choice.random():.3f}"
    ),
    lambda choice, step: (
        f"[rank{choice.randrange(6)}]: RuntimeError: CUDA error: device-side assert triggered in step {step}"
    ),
    lambda choice, step: (
        f"epoch=0/micro_step={step * 4}/global_step={step}, RunningAvgSamplesPerSec={choice.random()!r}, CurrSamplesPerSec={choice.random() * 90!r}, MemAllocated=12.34GB, MaxMemAllocated=30.{step}GB"
    ),
]


def log(choice: random.Random) -> bytes:
    """A log of some of these lines, in turn and at random."""
    kinds, parts, step = choice.sample(LINES, 4), [], 0
    for _ in range(400):
        step += choice.choice([1, 1, 1, 1, 0, 7])
        parts.append(
            (kinds[step % 2] if choice.random() < 0.8 else choice.choice(kinds))(choice, step)
            + choice.choice(["\n"] * 8 + ["\r\n", ""])
        )
    return "".join(parts).encode()


def gathered(raw: bytes, size: int) -> Extract:
    """What one pass finds."""
    gathering = SourceExtractor(get_matcher(()), 0)
    for block in iter_blocks(io.BytesIO(raw), size):
        gathering.feed(block)
    return gathering.snapshot()


def shown(result: Extract) -> dict[str, str]:
    """All that metrics leave behind."""
    series = {
        key: (list(one.steps), list(one.values), list(one.lines), one.unit, one.first, one.last)
        for key, one in result.series.items()
    }
    return {
        "series": repr(sorted(series.items(), key=repr)),
        "records": repr(sorted(result.records_of.items(), key=repr)),
        "ends": repr((result.first_record, result.last_record, result.total_steps)),
        "frameworks": repr(sorted(result.facts.framework_lines.items())),
        "findings": repr([(seen.finding.line, seen.finding.where) for seen in result.seen()]),
    }


@settings(max_examples=60, deadline=None)
@example(seed=3035105, size=1 << 23)
@example(seed=3035105, size=3000)
@given(seed=st.integers(0, 1 << 30), size=st.sampled_from([1 << 23, 3000]))
def test_learnt_layouts_change_nothing(seed: int, size: int) -> None:
    """Whatever lines follow each other.

    With templates and without, every series, count and place is the same.
    """
    raw = log(random.Random(seed))
    learnt_ones = shown(gathered(raw, size))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(template_reader, "CREDIT", 0.0)
        plain = shown(gathered(raw, size))
    for name, text in plain.items():
        assert learnt_ones[name] == text, name


def test_failures_know_how_many_records_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The records before a failure are counted with templates as without."""
    raw = "".join(
        f"[rank{step % 7}]: step {step} loss: {step / 7:.4f}\n[rank{step % 7}]: RuntimeError: CUDA error: device-side assert triggered\n"
        for step in range(300)
    ).encode()
    before = [seen.records_before for seen in gathered(raw, 1 << 23).seen()]
    monkeypatch.setattr(template_reader, "CREDIT", 0.0)
    assert before == [seen.records_before for seen in gathered(raw, 1 << 23).seen()]
    assert max(before) > 40


def test_lines_of_few_kinds_are_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long log of four kinds of lines, a few are read slowly.

    The others are read by their templates.
    """
    slow: list[int] = []
    clean = View.cleaned.fget
    assert clean is not None
    monkeypatch.setattr(
        View, "cleaned", property(lambda view: slow.append(view.number) or clean(view))
    )
    raw = "".join(
        f"step {step} loss: {step / 7:.4f}\n[rank{step % 500}]: epoch {step // 300} iter {step} train_loss={step / 3:.3f}\n\r 10%|█   | {step}/5000 [00:10<01:10, 2.50it/s, loss={step / 9:.3f}]"
        f"\r     \r{{'loss': {step / 11:.4f}, 'learning_rate': 1e-05, 'epoch': {step / 500:.2f}}}\n"
        for step in range(1, 2000)
    )
    result = gathered(raw.encode(), 1 << 23)
    assert sum(result.records.values()) > 7900
    assert len(set(slow)) < 700
