"""Metric formats read what programs print.

Their learnt templates give exactly what the slow path gives.
"""

import math
import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.extraction.formats.records import EPOCHS, FormatReader, Record
from postmortem.extraction.formats.templates import PLACES, Template
from postmortem.pipeline import get_matcher
from postmortem.reading.windows import View
from postmortem.rules import attack

NAN, INF = math.nan, math.inf


@cache
def readers() -> dict[str, FormatReader]:
    """All metric formats of the knowledge base."""
    return {reader.format.id: reader for reader in get_matcher(()).metrics}


def view(line: str) -> View:
    """A line as the gathering sees it."""
    return View(line.encode(), len(line.encode()) // 2 if "\n" not in line else 0, 1, srun=False)


def taken(line: str) -> tuple[str, Record] | None:
    """The first format that takes a line, in the order in which they are asked."""
    for name, reader in readers().items():
        if (
            any(anchor in line.encode() for anchor in reader.format.anchors)
            and (record := reader.read(view(line))) is not None
        ):
            return name, record
    return None


@pytest.mark.parametrize(
    ("line", "name", "step", "values"),
    [
        pytest.param(
            "{'loss': 2.3026, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            "trainer.record",
            NAN,
            {"loss": 2.3026, "learning_rate": 4.5e-05, "epoch": 0.1},
            id="Trainer <= 4.37",
        ),
        pytest.param(
            "{'loss': 2.3026, 'grad_norm': 1.2345678806304932, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            "trainer.record",
            NAN,
            {"loss": 2.3026, "grad_norm": 1.2345678806304932},
            id="Trainer 4.38",
        ),
        pytest.param(
            "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 0.0, 'epoch': 0.0}",
            "trainer.record",
            NAN,
            {"loss": 0.0, "grad_norm": NAN, "learning_rate": 0.0},
            id="Trainer, hidden NaN",
        ),
        pytest.param(
            "{'loss': 4.1, 'grad_norm': inf, 'learning_rate': 1e-05, 'epoch': 0.02}",
            "trainer.record",
            NAN,
            {"grad_norm": INF},
            id="Trainer, infinite norm",
        ),
        pytest.param(
            "{'loss': '2.303', 'grad_norm': 'nan', 'learning_rate': '4.5e-05', 'epoch': '0.1'}",
            "trainer.record",
            NAN,
            {"loss": 2.303, "grad_norm": NAN, "learning_rate": 4.5e-05},
            id="Trainer 5.x quotes",
        ),
        pytest.param(
            "{'eval_loss': nan, 'eval_runtime': 3.3, 'eval_samples_per_second': 30.1, 'eval_steps_per_second': 3.8, 'epoch': 1.0}",
            "trainer.record",
            NAN,
            {"eval_loss": NAN, "epoch": 1.0},
            id="Trainer, evaluation",
        ),
        pytest.param(
            "  1%|          | 5/500 [00:09<15:12,  1.84s/it]{'loss': 1.5, 'grad_norm': 2.0, 'learning_rate': 1e-05, 'epoch': 0.02}",
            "trainer.record",
            NAN,
            {"loss": 1.5},
            id="Trainer, glued to its bar",
        ),
        pytest.param(
            "{'loss': tensor(0.69), 'learning_rate': 1e-05, 'epoch': 0.02}",
            "trainer.record",
            NAN,
            {"loss": 0.69},
            id="Trainer, tensor",
        ),
        pytest.param(
            "{'loss': 0.0012, 'grad_norm': 0.5, 'learning_rate': 1e-06, 'num_tokens': 1234.0, 'completions/mean_length': 200.5, 'reward': 0.5, 'reward_std': 0.0, 'kl': 0.01, 'epoch': 0.01}",
            "trainer.record",
            NAN,
            {"loss": 0.0012, "reward_std": 0.0, "kl": 0.01, "completions/mean_length": 200.5},
            id="GRPO",
        ),
        pytest.param(
            "{'loss': 0.6931, 'grad_norm': 3.5, 'learning_rate': 5e-07, 'rewards/chosen': 0.0, 'rewards/margins': -0.1, 'logps/chosen': -200.5, 'logits/chosen': -inf, 'epoch': 0.01}",
            "trainer.record",
            NAN,
            {"loss": 0.6931, "rewards/margins": -0.1, "logits/chosen": -INF},
            id="DPO",
        ),
        pytest.param(
            "[2024-05-01 12:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=3, lr=[5e-05], mom=[(0.9, 0.999)]",
            "deepspeed.step",
            10,
            {"skipped_steps": 3, "learning_rate": 5e-05},
            id="DeepSpeed step",
        ),
        pytest.param(
            "[2024-05-01 12:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[5e-05, 1e-4], mom=[(0.9, 0.999), (0.9, 0.999)]",
            "deepspeed.step",
            10,
            {"learning_rate": 5e-05},
            id="DeepSpeed, two rates",
        ),
        pytest.param(
            "epoch=0/micro_step=80/global_step=10, RunningAvgSamplesPerSec=12.3, CurrSamplesPerSec=12.5, MemAllocated=12.34GB, MaxMemAllocated=30.1GB",
            "deepspeed.rate",
            10,
            {"throughput": 12.3},
            id="DeepSpeed timer",
        ),
        pytest.param(
            "steps: 10 loss: 2.3456 iter time (s): 0.512 samples/sec: 62.5",
            "deepspeed.pipeline",
            10,
            {"loss": 2.3456},
            id="DeepSpeed pipeline",
        ),
        pytest.param(
            "[deepscale] OVERFLOW! Rank 3 Skipping step. Attempted loss scale: 4294967296, reducing to 2147483648.0",
            "deepspeed.scale-reduced",
            NAN,
            {"loss_scale": 2147483648.0},
            id="DeepSpeed 0.3",
        ),
        pytest.param(
            "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
            "deepspeed.scale-reduced",
            NAN,
            {"loss_scale": 32768},
            id="DeepSpeed >= 0.8.3",
        ),
        pytest.param(
            "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, but hysteresis is 2. Reducing hysteresis to 1",
            "deepspeed.scale-hysteresis",
            NAN,
            {"loss_scale": 65536},
            id="DeepSpeed hysteresis",
        ),
        pytest.param(
            "08/02 10:00:00 - mmengine - INFO - Iter(train) [   10/12000]  lr: 1.0002e-05  eta: 5:01:02  time: 1.5060  data_time: 0.0085  memory: 15423  loss: 1.4302  grad_norm: 0.8",
            "mmengine.iter",
            10,
            {"loss": 1.4302, "learning_rate": 1.0002e-05, "memory": 15423, "grad_norm": 0.8},
            id="mmengine by iteration",
        ),
        pytest.param(
            "2024/08/02 10:00:00 - mmengine - INFO - Epoch(train)  [3][ 50/270]  lr: 2.0000e-05  eta: 1:02:03  time: 0.5123  data_time: 0.0101  memory: 12345  grad_norm: nan  loss: 0.6931",
            "mmengine.epoch",
            590,
            {"loss": 0.6931, "grad_norm": NAN},
            id="mmengine by epoch",
        ),
        pytest.param(
            "08/02 10:00:00 - mmengine - INFO - Epoch(train)  [1][ 50/270]  base_lr: 1.0000e-03 lr: 1.0000e-04  eta: 1 day, 1:02:03  time: 0.5123  data_time: 0.0101  memory: 12345  loss: nan  loss_cls: nan",
            "mmengine.epoch",
            50,
            {"loss": NAN, "loss_cls": NAN, "learning_rate": 1e-4},
            id="mmengine, two rates",
        ),
        pytest.param(
            '{"lr": 2e-05, "data_time": 0.008, "loss": NaN, "iter": 10, "memory": 15423, "step": 10}',
            "mmengine.json",
            10,
            {"loss": NAN, "learning_rate": 2e-05},
            id="mmengine scalars.json",
        ),
        pytest.param(
            "2021-05-01 12:00:00,123 - mmdet - INFO - Epoch [2][50/7330]\tlr: 1.978e-03, eta: 1 day, 2:03:04, time: 0.512, data_time: 0.052, memory: 4321, loss_cls: 0.5123, loss: 1.2345, grad_norm: 12.3456",
            "mmcv.text",
            7380,
            {"loss": 1.2345, "loss_cls": 0.5123, "learning_rate": 1.978e-03, "grad_norm": 12.3456},
            id="mmcv by epoch",
        ),
        pytest.param(
            "2021-05-01 12:00:00,123 - mmseg - INFO - Iter [50/80000]\tlr: 1.000e-02, eta: 1:02:03, time: 0.512, data_time: 0.052, memory: 4321, loss: 1.2345",
            "mmcv.text",
            50,
            {"loss": 1.2345},
            id="mmcv by iteration",
        ),
        pytest.param(
            " iteration      100/  500000 | consumed samples:        25600 | elapsed time per iteration (ms): 512.3 | learning rate: 1.500E-04 | global batch size:   256 | lm loss: 6.123456E+00 | loss scale: 65536.0"
            " | grad norm: 1.234 | num zeros: 0.0 | params norm: 123.4 | number of skipped iterations:   0 | number of nan iterations:   0 |",
            "megatron.iteration",
            100,
            {
                "loss": 6.123456,
                "learning_rate": 1.5e-4,
                "loss_scale": 65536,
                "grad_norm": 1.234,
                "skipped_iterations": 0,
            },
            id="Megatron",
        ),
        pytest.param(
            " [2024-09-01 12:00:00] iteration      100/  500000 | consumed samples:        25600 | elapsed time per iteration (ms): 512.3 | throughput per GPU (TFLOP/s/GPU): 412.3 | learning rate: 1.500000E-04 |"
            " global batch size:   256 | lm loss: NAN | loss scale: 1.0 | grad norm: nan | number of skipped iterations:   0 | number of nan iterations:   0 |",
            "megatron.iteration",
            100,
            {"loss": NAN, "grad_norm": NAN, "loss_scale": 1},
            id="Megatron core",
        ),
        pytest.param(
            " iteration      100/  500000 | consumed samples:        25600 | elapsed time per iteration (ms): 512.3 | learning rate: 0.000E+00 | global batch size:   256 | loss scale: 4294967296.0 |"
            " number of skipped iterations:   1 | number of nan iterations:   0 |",
            "megatron.iteration",
            100,
            {"loss_scale": 2**32, "skipped_iterations": 1, "learning_rate": 0},
            id="Megatron drops the loss of a skipped iteration",
        ),
        pytest.param(
            "[XTuner][RANK 3][2025-08-01 12:00:00][INFO] Epoch 1 Step 10/1000 data_time: 0.0123 lr: 1.000000e-05 time: 1.2345 text_tokens: 32768 reduced_llm_loss: 1.23456789, local_loss: 1.23456789 grad_norm: 0.81234567"
            " max_memory: 45.67 GB reserved_memory: 60.12 GB tgs: 2654.1 eta: 0:12:34",
            "xtuner.loguru",
            10,
            {"loss": 1.23456789, "memory": 45.67, "throughput": 2654.1},
            id="XTuner 1.x",
        ),
        pytest.param(
            '{"current_steps": 10, "total_steps": 375, "loss": 1.2345, "lr": 4.5e-05, "epoch": 0.08, "percentage": 2.67, "elapsed_time": "0:00:12", "remaining_time": "0:07:18"}',
            "trainer.llamafactory-jsonl",
            10,
            {"loss": 1.2345, "learning_rate": 4.5e-05},
            id="LLaMA-Factory",
        ),
        pytest.param(
            '{"current_steps": 10, "total_steps": 375, "loss": 1.2345, "eval_loss": null, "predict_loss": null, "reward": null, "learning_rate": 4.5e-05, "epoch": 0.08, "percentage": 2.67, "elapsed_time": "0:00:12",'
            ' "remaining_time": "0:07:18"}',
            "trainer.llamafactory-jsonl",
            10,
            {"loss": 1.2345, "learning_rate": 4.5e-05},
            id="LLaMA-Factory <= 0.7",
        ),
        pytest.param(
            "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0",
            "apex.scale",
            NAN,
            {"loss_scale": 32768},
            id="apex",
        ),
    ],
)
def test_a_metric_line_is_read(line: str, name: str, step: float, values: dict[str, float]) -> None:
    """Step and values under canonical names, as every version prints them."""
    found = taken(line)
    assert found is not None
    assert found[0] == name
    assert repr(float(found[1].step)) == repr(float(step))
    got = dict(found[1].values)
    assert {key: repr(got.get(key)) for key in values} == {
        key: repr(float(value)) for key, value in values.items()
    }


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(
            "{'train_runtime': 812.4, 'train_samples_per_second': 3.7, 'train_steps_per_second': 0.46, 'train_loss': 1.234, 'epoch': 3.0}",
            id="the Trainer's closing summary",
        ),
        pytest.param("inputs = {'input_ids': ids, 'labels': labels}", id="code"),
        pytest.param("{'loss': loss, 'grad_norm': grad_norm}", id="names for numbers"),
        pytest.param("Epoch [1][50/7330] lr stays", id="no figure"),
        pytest.param('{"lr": ', id="cut off"),
        pytest.param("Attempted loss scale: unknown", id="no scale"),
    ],
)
def test_what_is_no_record_is_left(line: str) -> None:
    """Summaries, code and cut lines give no point."""
    found = taken(line)
    assert found is None or not any(name == "loss" for name, _ in found[1].values)


@pytest.mark.parametrize(
    ("line", "where"),
    [
        pytest.param(
            "[2024-05-01 12:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 3] step=10, skipped=3, lr=[5e-05], mom=[(0.9, 0.999)]",
            ProcessId(rank=3),
            id="in the line",
        ),
        pytest.param(
            "[rank5]: {'loss': 2.3026, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            ProcessId(rank=5),
            id="label",
        ),
        pytest.param(
            "{'loss': 2.3026, 'learning_rate': 4.5e-05, 'epoch': 0.1}", NOWHERE, id="none"
        ),
    ],
)
def test_the_process_is_kept(line: str, where: ProcessId) -> None:
    """The rank that a line or its label names belongs to the record."""
    found = taken(line)
    assert found is not None
    assert found[1].where == where


# -- templates
# ------------------------------------------------------------------------------------------------


def learnt() -> list[tuple[str, str]]:
    """Every format with a line of its own from which it learns a template."""
    return [
        (name, example["text"])
        for name, reader in readers().items()
        for example in reader.format.raw["examples"]["fires"]
        if "\n" not in example["text"]
        and reader.read(view(example["text"])) is not None
        and reader.learn(view(example["text"])) is not None
    ]


def test_the_usual_formats_learn() -> None:
    """Logs that are made of little else than metric lines take the fast path."""
    usual = {
        "trainer.record",
        "deepspeed.step",
        "mmengine.iter",
        "mmengine.epoch",
        "mmengine.json",
        "mmcv.text",
        "megatron.iteration",
        "deepspeed.scale-reduced",
        "keras.epoch",
    }
    assert usual <= {name for name, _ in learnt()}


def fast(template: Template, line: str) -> Record | None:
    """What a template gives for a line, as the gathering computes it."""
    match = template.pattern.match(line.encode())
    if match is None:
        return None
    values = dict(zip(template.names, map(float, match.groups()), strict=True))
    where = template.where._replace(
        **{part: int(values.pop(name)) for name, part in PLACES.items() if name in values}
    )
    step = values.pop("step", math.nan)
    length = values.pop("per_epoch", math.nan)
    for name, first in EPOCHS.items():
        epoch = values.pop(name, math.nan)
        if not math.isnan(epoch) and not math.isnan(length):
            step += (epoch - first) * length
    return Record(step, list(values.items()), where)


def assert_same(one: Record, other: Record | None, line: str) -> None:
    """Both ways give the same, NaN included."""
    assert other is not None, line
    assert (repr(float(one.step)), repr(sorted(one.values)), one.where) == (
        repr(float(other.step)),
        repr(sorted((name, value) for name, value in other.values)),
        other.where,
    ), line


NUMBERS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True, width=32).map(
        lambda value: f"{value:.4f}" if abs(value) < 1e12 else f"{value:.4e}"
    ),
    st.floats(min_value=0, max_value=1e6).map(repr),
    st.floats(min_value=1e-12, max_value=1e-3).map(lambda value: f"{value:.3e}"),
    st.integers(0, 10**9).map(str),
    st.sampled_from(["nan", "inf", "-inf", "0.0", "0", "1e-45", "NaN", "Infinity", "1.", "2E+05"]),
)


def with_numbers(line: str, template: Template, numbers: list[str]) -> str:
    """The line with other numbers where the template leaves them open.

    A whole number only gives way to another.
    """
    data = line.encode()
    match = template.pattern.match(data)
    assert match is not None, line
    parts, position = list[bytes](), 0
    for group, number in zip(range(1, len(template.names) + 1), numbers, strict=False):
        start, end = match.span(group)
        is_count = data[start:end].isdigit() and not number.isdigit()
        parts += [data[position:start], data[start:end] if is_count else number.encode()]
        position = end
    return b"".join([*parts, data[position:]]).decode()


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBERS, min_size=40, max_size=40))
def test_a_template_gives_what_the_slow_path_gives(numbers: list[str]) -> None:
    """For every format and any numbers.

    Where the template matches, its floats are those of the slow path.
    """
    for name, line in learnt_once():
        reader = readers()[name]
        template = template_of(name, line)
        changed = with_numbers(line, template, numbers)
        got = fast(template, changed)
        if got is not None:
            assert_same(got, reader.read(view(changed)), changed)


learnt_once = cache(learnt)


@cache
def template_of(name: str, line: str) -> Template:
    """The template that a format learns from a line."""
    template = readers()[name].learn(view(line))
    assert template is not None
    return template


def test_a_template_matches_its_own_line_with_other_numbers() -> None:
    """The fast path is taken: other digits in the same places match."""
    for name, line in learnt_once():
        template = template_of(name, line)
        match = template.pattern.match(line.encode())
        assert match is not None, line
        numbers = [
            group.decode().translate(str.maketrans("123456789", "987654321"))
            for group in match.groups()
        ]
        changed = with_numbers(line, template, numbers)
        assert changed != line, line
        assert_same(
            fast(template, changed) or Record(0, [], NOWHERE),
            readers()[name].read(view(changed)),
            changed,
        )


def test_a_line_that_deviates_does_not_match() -> None:
    """One character more, less or other outside the numbers.

    Either the template does not match, or the slow path says the same.
    """
    choice = random.Random(3)
    for name, line in learnt_once():
        reader, template = readers()[name], template_of(name, line)
        for _ in range(60):
            position = choice.randrange(len(line))
            changed = (
                line[:position]
                + choice.choice(["", "x", " ", "nan", "-", ",", "}", "'", "9", ": 1"])
                + line[position + choice.randrange(2) :]
            )
            got = fast(template, changed)
            if got is not None:
                assert_same(got, reader.read(view(changed)), changed)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(
            "{'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            "{'loss': 2.3, 'grad_norm': 1.0, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            id="one key more",
        ),
        pytest.param(
            "{'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            "{'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1} and more",
            id="text behind it",
        ),
        pytest.param(
            "{'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            "x {'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            id="text before it",
        ),
        pytest.param(
            "{'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            "{'loss': --Infinity, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            id="two signs",
        ),
        pytest.param(
            "{'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            "{'loss': 1,234, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            id="thousands",
        ),
        pytest.param(
            "[rank1]: {'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            "[rank123456]: {'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            id="no rank",
        ),
        pytest.param(
            "worker-1: {'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            "worker-2: {'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            id="another node",
        ),
        pytest.param(
            "08/02 10:00:00 - mmengine - INFO - Iter(train) [   10/12000]  lr: 1.0002e-05  loss: 1.4302",
            "08/02 10:00:00 - mmengine - INFO - Iter(train) [   10/24000]  lr: 1.0002e-05  loss: 1.4302",
            id="another length of the run",
        ),
        pytest.param(
            '{"current_steps": 10, "total_steps": 375, "loss": 1.2, "eval_loss": null, "lr": 4.5e-05}',
            '{"current_steps": 10, "total_steps": 375, "loss": 1.2, "eval_loss": 1.5, "lr": 4.5e-05}',
            id="a number in place of a word",
        ),
    ],
)
def test_what_a_template_leaves_to_the_slow_path(first: str, then: str) -> None:
    """A line of another shape, node or length is read slowly."""
    found = taken(first)
    assert found is not None
    template = readers()[found[0]].learn(view(first))
    assert template is not None
    assert template.pattern.match(then.encode()) is None


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(
            "[rank1]: {'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            "[rank1023]: {'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            id="label",
        ),
        pytest.param(
            "[default0]:{'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            "[default7]:{'loss': 2.5, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            id="local rank",
        ),
        pytest.param(
            "(Worker pid=4242) {'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            "(Worker pid=131072) {'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            id="process",
        ),
        pytest.param(
            "\x1b[36m(Worker pid=4242)\x1b[0m {'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            "\x1b[32m(Worker pid=7)\x1b[0m {'loss': 2.3, 'learning_rate': 4.5e-05, 'epoch': 0.1}",
            id="colours",
        ),
        pytest.param(
            "[2024-05-01 12:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[5e-05], mom=[(0.9, 0.999)]",
            "[2024-06-11 13:10:50,120] [INFO] [logging.py:96:log_dist] [Rank 17] step=2000, skipped=3, lr=[3e-05], mom=[(0.9, 0.999)]",
            id="in the line",
        ),
        pytest.param(
            "[rank3]: [2024-05-01 12:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[5e-05], mom=[(0.9, 0.999)]",
            "[rank4]: [2024-06-11 13:10:50,120] [INFO] [logging.py:96:log_dist] [Rank 17] step=2000, skipped=3, lr=[3e-05], mom=[(0.9, 0.999)]",
            id="in the label and in the line",
        ),
        pytest.param(
            "Epoch: 0, Step: 12, Rank: 3, loss = 2.34375",
            "Epoch: 1, Step: 120, Rank: 12, loss = 2.0",
            id="behind the step",
        ),
    ],
)
def test_the_process_is_a_field_of_a_template(first: str, then: str) -> None:
    """Lines of all processes have one template, and it tells which one prints."""
    found = taken(first)
    assert found is not None
    reader = readers()[found[0]]
    template = reader.learn(view(first))
    assert template is not None
    slow = reader.read(view(then))
    assert slow is not None
    assert_same(slow, fast(template, then), then)


def test_the_clock_of_a_prefix_may_move() -> None:
    """The time in a logger's prefix is no part of a template."""
    first = "2024/08/02 10:00:00 - mmengine - INFO - Iter(train) [   10/12000]  lr: 1.0002e-05  loss: 1.4302"
    template = readers()["mmengine.iter"].learn(view(first))
    assert template is not None
    assert (
        template.pattern.match(
            b"2024/08/03 11:22:33 - mmengine - INFO - Iter(train) [ 1100/12000]  lr: 1.0002e-05  loss: nan"
        )
        is not None
    )


def test_a_template_is_linear_on_digits() -> None:
    """A number that never ends is read in one way only."""
    reader = readers()["jsonlines.record"]
    line = '{"step": 1, "loss": 0.5, "lr": 0.1}'
    template = reader.learn(view(line))
    assert template is not None
    longest = attack.find_worst_attack(
        lambda text: template.pattern.match(text.encode()),
        [attack.Attack('{"step": 1, "loss": ', "1")],
    )
    assert not longest.is_slow, longest
