"""In which phase GPU memory ran out: innermost frame first, then the last line or bar."""

import pytest

from postmortem.core.findings import Frame
from postmortem.diagnosis.case.build import build_case
from postmortem.diagnosis.detectors.out_of_memory import infer_phase_from_function
from postmortem.extraction import job
from postmortem.pipeline import get_matcher
from postmortem.rules.base import load

OOM = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
RECORDS = "".join(f"step {step} loss {3 - step / 100:.3f}\n" for step in range(1, 9))


def traceback(*functions: str) -> str:
    """A traceback through functions of the user's."""
    frames = "".join(
        f'  File "/src/t.py", line {line}, in {name}\n    y = f(x)\n'
        for line, name in enumerate(functions, 1)
    )
    return f"Traceback (most recent call last):\n{frames}{OOM}"


@pytest.mark.parametrize(
    ("function", "phase"),
    [
        ("evaluate", "evaluation"),
        ("run_dev", "evaluation"),
        ("validation_step", "evaluation"),
        ("ValidateModel", "evaluation"),
        ("generate", "evaluation"),
        ("load_weights", "loading"),
        ("from_pretrained", "loading"),
        ("load_batch", ""),
        ("resume", "loading"),
        ("save_model", "saving"),
        ("_full_post_state_dict_hook", "saving"),
        ("load_state_dict", "loading"),
        ("train_one_epoch", "training"),
        ("backward", "training"),
        ("save_for_backward", "training"),
        ("forward", ""),
        ("main", ""),
    ],
)
def test_functions_tell_of_phases(function: str, phase: str) -> None:
    """By the words of a name."""
    assert infer_phase_from_function(Frame("/src/t.py", 1, function, "", False)) == phase


LIBRARY = "/env/lib/python3.10/site-packages/"
STEP = (
    f'Traceback (most recent call last):\n  File "/src/t.py", line 9, in main\n    optim.step()\n'
    f'  File "{LIBRARY}torch/optim/adamw.py", line 114, in _init_group\n    state = zeros(p)\n{OOM}'
)
FORWARD = (
    f'Traceback (most recent call last):\n  File "/src/t.py", line 9, in main\n    y = net(x)\n'
    f'  File "{LIBRARY}torch/nn/modules/module.py", line 1501, in _call_impl\n    return f(*a)\n'
    f'  File "{LIBRARY}torch/nn/modules/conv.py", line 463, in forward\n    return conv(x)\n{OOM}'
)
FIT = (
    f'Traceback (most recent call last):\n  File "/src/t.py", line 9, in <module>\n'
    f"    model.fit(x, y)\n{OOM}"
)
SHARDS = "Loading checkpoint shards: 100%|##########| 8/8 [00:07<00:00]\n"


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (RECORDS + traceback("main", "train", "evaluate", "forward"), "oom-in-evaluation"),
        (RECORDS + traceback("main", "evaluate", "load_best"), "oom-in-loading"),
        (RECORDS + traceback("main", "evaluate", "train_step"), ""),
        (RECORDS + "Running validation on 50 samples ...\n" + OOM, "oom-in-evaluation"),
        (RECORDS + "Validating:  12%|█   | 14/120 [00:03<00:25]\n" + OOM, "oom-in-evaluation"),
        (RECORDS + "Saving model checkpoint to out/8\n" + traceback("main"), "oom-in-saving"),
        ("loading weights from /m/ckpt.pt\n" + traceback("main", "put"), "oom-in-loading"),
        ("Running validation ...\n" + RECORDS + OOM, ""),
        (RECORDS + "Running validation ...\n" + traceback("main", "backward"), ""),
        (RECORDS + "Validation loss: 1.2031\n" + OOM, ""),
        (SHARDS + STEP, ""),
        (SHARDS + FORWARD, ""),
        (SHARDS + FIT, ""),
        ("Running validation ...\n" + FORWARD, "oom-in-evaluation"),
    ],
)
def test_the_phase_of_a_failure(log: str, expected: str) -> None:
    """Frames before lines, inner before outer; a training record ends what was announced."""
    case = build_case(job.read([log.encode()], get_matcher(())), load())
    phases = {"oom-in-evaluation", "oom-in-loading", "oom-in-saving"}
    assert phases & set(case.anomalies) == ({expected} if expected else set())
