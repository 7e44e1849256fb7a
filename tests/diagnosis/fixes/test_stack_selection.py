"""Who speaks for a job: the uppermost stack, never one that is not there, never another platform."""

from typing import Any

import pytest

import postmortem
from postmortem.diagnosis.fixes.stack_selection import select_stacks
from postmortem.rules.vocabulary import StackRules, build_stack_rule
from tests.diagnosis.fixes.runs import case

STACKS = StackRules(
    build_stack_rule({"title": entry["id"], **entry})
    for entry in (
        {"id": "pytorch", "loop": True, "packages": ["torch"]},
        {"id": "deepspeed", "over": ["pytorch"], "loop": True, "packages": ["deepspeed"]},
        {
            "id": "trainer",
            "over": ["deepspeed", "pytorch"],
            "model": True,
            "beside": ["deepspeed"],
            "packages": ["transformers"],
            "defaults": {"max_grad_norm": 1.0},
        },
        {"id": "trl", "over": ["trainer"], "takes": ["trainer"], "model": True},
        {"id": "factory", "over": ["trl", "trainer"], "packages": ["factory"]},
        {"id": "keras", "over": [], "packages": ["keras"]},
        {"id": "cuda", "kind": "backend", "words": ["nvidia-smi", "NCCL_DEBUG"]},
        {"id": "rocm", "kind": "backend", "words": ["rocm-smi", "NCCL_DEBUG"]},
        {"id": "linux", "kind": "system", "words": ["dmesg"]},
        {"id": "windows", "kind": "system", "words": ["winget"]},
    )
)


@pytest.mark.parametrize(
    ("frameworks", "packages", "keys"),
    [
        pytest.param((), {}, ("pytorch", "model", "any"), id="nothing known"),
        pytest.param(("pytorch",), {}, ("pytorch", "model", "any"), id="a plain loop"),
        pytest.param(
            ("pytorch", "deepspeed"), {}, ("deepspeed", "pytorch", "model", "any"), id="an engine"
        ),
        pytest.param(("trainer", "pytorch"), {}, ("trainer", "model", "any"), id="a trainer"),
        pytest.param(
            ("deepspeed", "trainer"),
            {},
            ("trainer", "deepspeed", "model", "any"),
            id="an engine under a trainer",
        ),
        pytest.param(
            ("trainer", "trl"), {}, ("trl", "trainer", "model", "any"), id="what it takes"
        ),
        pytest.param(("trainer", "factory", "trl"), {}, ("factory", "any"), id="options only"),
        pytest.param((), {"factory": "1", "torch": "2"}, ("factory", "any"), id="installed alone"),
        pytest.param(
            (),
            {"factory": "1", "keras": "3"},
            ("pytorch", "model", "any"),
            id="two installed: which of them ran is not known",
        ),
        pytest.param(("unheard-of",), {}, ("unheard-of", "pytorch", "model", "any"), id="no file"),
    ],
)
def test_the_uppermost_speaks(
    frameworks: tuple[str, ...], packages: dict[str, str], keys: tuple[str, ...]
) -> None:
    """Its own snippets, those that it takes, those of what it uses; code of PyTorch where it may."""
    run = case(frameworks=frameworks, packages=packages)
    assert select_stacks(run, STACKS).keys == keys


@pytest.mark.parametrize(
    ("known", "text", "expected"),
    [
        pytest.param({}, "nvidia-smi", True, id="backend unknown"),
        pytest.param({"packages": {"torch": "2.5.1+rocm6.2"}}, "run nvidia-smi", False, id="rocm"),
        pytest.param({"packages": {"torch": "2.5.1+rocm6.2"}}, "rocm-smi", True, id="its own"),
        pytest.param({"packages": {"torch": "2.5.1+rocm6.2"}}, "NCCL_DEBUG=1", True, id="shared"),
        pytest.param({"packages": {"torch": "2.5.1+cu124"}}, "rocm-smi", False, id="cuda"),
        pytest.param({"os": "Windows-10-10.0.19045"}, "see dmesg", False, id="windows"),
        pytest.param({"os": "Windows-10-10.0.19045"}, "mydmesg", True, id="within a word"),
        pytest.param({"os": "Ubuntu 22.04 (Linux)"}, "winget install", False, id="linux"),
    ],
)
def test_no_word_of_another_platform(known: dict[str, Any], text: str, *, expected: bool) -> None:
    """Where the platform is known, the words of others of its kind are foreign."""
    assert select_stacks(case(**known), STACKS).may_say(text) == expected


def test_no_torch_where_nothing_stands_on_it() -> None:
    """Code of PyTorch is foreign to a stack that does without."""
    voice = select_stacks(case(frameworks=("keras",)), STACKS)
    assert not voice.may_say("import torch")
    assert not voice.may_say("torchrun train.py")
    assert select_stacks(case(frameworks=("trl",)), STACKS).may_say("import torch")


def test_defaults_come_with_the_stack() -> None:
    """The trainer's own, also where another stack takes its snippets."""
    assert select_stacks(case(frameworks=("trl",)), STACKS).defaults == {"max_grad_norm": "1.0"}
    assert select_stacks(case(frameworks=("deepspeed",)), STACKS).defaults == {}


@pytest.mark.parametrize(
    ("log", "stack"),
    [
        ("$ deepspeed train_mem.py --deepspeed scripts/zero3.json", "deepspeed"),
        ("{'loss': 0.69, 'rewards/chosen': 0.01, 'rewards/rejected': -0.02}", "trl"),
        (
            '  File "D:\\py37\\lib\\site-packages\\keras\\engine\\training.py", line 9, in fit',
            "keras",
        ),
        (
            '  File "/e/site-packages/tensorflow/python/client/session.py", line 9, in run',
            "tensorflow",
        ),
        ('{"sequence_len": 2048, "depth": 20}', ""),
        ("Current learning rate: 1.0000e-02\nval_loss 0.5", ""),
        ("$ python pretrain_gpt.py --config conf/small.json", ""),
        ("train_config: {'model': 'asr', 'use_fp16': True}", ""),
    ],
)
def test_a_stack_is_recognised_by_what_it_alone_prints(log: str, stack: str) -> None:
    """Its loggers, its paths in frames, its commands; not what others print as well."""
    found = postmortem.analyze(postmortem.Stream("run.log", f"step 1 loss 2.0\n{log}\n".encode()))
    names = {one["name"] for one in found.to_dict()["frameworks"]} - {"pytorch"}
    assert names >= {stack} if stack else names == set()
