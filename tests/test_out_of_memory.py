"""What an out-of-memory run is told, from the line's figures and the frames of its traceback."""

from pathlib import Path

import pytest

import postmortem
from postmortem.core.diagnosis import Diagnosis

SITE = "/opt/venv/lib/python3.10/site-packages/"
USER = ("/home/me/train.py", 40, "main", "train()")
STEP = (SITE + "torch/optim/adamw.py", 171, "_init_group", 'state["exp_avg"] = torch.zeros_like(')
BACKWARD = (
    SITE + "torch/autograd/graph.py",
    823,
    "_engine_run_backward",
    "return Variable._execution_engine.run_backward(",
)
FORWARD = (
    SITE + "torch/nn/modules/linear.py",
    116,
    "forward",
    "return F.linear(input, self.weight, self.bias)",
)
EVALUATE = (
    SITE + "transformers/trainer.py",
    4200,
    "evaluation_loop",
    "losses, logits, labels = self.prediction_step(",
)
LOAD = (SITE + "transformers/modeling_utils.py", 3900, "from_pretrained", "model = cls(config)")
GATHER = (
    SITE + "deepspeed/runtime/zero/partition_parameters.py",
    1200,
    "_all_gather",
    "self._allgather_params(",
)
PLAIN = (
    "2.00 GiB",
    "23.69 GiB",
    "1.20 GiB",
    "Including non-PyTorch memory, this process has 22.40 GiB memory in use. ",
    "21.50 GiB",
    "300.00 MiB",
)
SHARED = (
    "2.00 GiB",
    "23.69 GiB",
    "1.20 GiB",
    "Process 4242 has 12.00 GiB memory in use. Including non-PyTorch memory, this process has 10.40 GiB memory in use. ",
    "9.80 GiB",
    "100.00 MiB",
)
BROKEN = (
    "1.00 GiB",
    "23.69 GiB",
    "600.00 MiB",
    "Including non-PyTorch memory, this process has 23.00 GiB memory in use. ",
    "15.00 GiB",
    "7.50 GiB",
)
ABSURD = (
    "512.00 GiB",
    "23.69 GiB",
    "18.00 GiB",
    "Including non-PyTorch memory, this process has 5.60 GiB memory in use. ",
    "5.00 GiB",
    "100.00 MiB",
)


def diagnosed(
    folder: Path, figures: tuple[str, ...], *frames: tuple[str, int, str, str], records: int = 0
) -> Diagnosis:
    """Diagnose a run that ended so."""
    asked, total, free, uses, allocated, spare = figures
    lines = [
        f"{{'loss': {2 - step / 100:.4f}, 'grad_norm': 1.5, 'learning_rate': 5e-05, 'epoch': {step / 100:.2f}}}"
        for step in range(records)
    ]
    lines.append("Traceback (most recent call last):")
    lines += [
        f'  File "{file}", line {line}, in {name}\n    {code}'
        for file, line, name, code in (USER, *frames)
    ]
    lines.append(
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {asked}. GPU 0 has a total capacity of {total} of which {free} is free. {uses}Of the allocated memory {allocated} is allocated by PyTorch,"
        f" and {spare} is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
    )
    (folder / "train.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return postmortem.analyze(folder / "train.log").diagnosis


@pytest.mark.parametrize(
    ("figures", "frames", "records", "cause"),
    [
        pytest.param(PLAIN, (FORWARD,), 20, "memory.cuda-oom", id="a step"),
        pytest.param(PLAIN, (STEP,), 0, "memory.cuda-oom", id="the first optimiser step"),
        pytest.param(PLAIN, (GATHER,), 5, "memory.cuda-oom", id="gathering a sharded layer"),
        pytest.param(PLAIN, (EVALUATE, FORWARD), 20, "memory.oom-at-eval", id="evaluation"),
        pytest.param(PLAIN, (LOAD,), 0, "memory.oom-at-load-or-save", id="loading"),
        pytest.param(SHARED, (FORWARD,), 0, "memory.gpu-shared", id="another process"),
        pytest.param(BROKEN, (BACKWARD,), 20, "memory.cuda-fragmentation", id="fragments"),
        pytest.param(ABSURD, (FORWARD,), 0, "memory.cuda-oom", id="more than the card"),
    ],
)
def test_figures_and_frames_decide(
    tmp_path: Path,
    figures: tuple[str, ...],
    frames: tuple[tuple[str, int, str, str], ...],
    records: int,
    cause: str,
) -> None:
    """One line, seven readings."""
    assert diagnosed(tmp_path, figures, *frames, records=records).verdict.cause == cause


@pytest.mark.parametrize(
    ("figures", "frame", "phase"),
    [
        pytest.param(PLAIN, STEP, "the first optimiser step failed", id="optimiser"),
        pytest.param(PLAIN, BACKWARD, "in the backward pass", id="backward"),
        pytest.param(PLAIN, GATHER, "while a sharded layer was gathered", id="gather"),
    ],
)
def test_the_phase_is_told(
    tmp_path: Path, figures: tuple[str, ...], frame: tuple[str, int, str, str], phase: str
) -> None:
    """By the frames of the failing call."""
    texts = [item.text for item in diagnosed(tmp_path, figures, frame).causes[0].evidence]
    assert any(phase in text for text in texts)


def test_the_account_is_shown(tmp_path: Path) -> None:
    """The evidence can be checked with a pencil."""
    texts = [item.text for item in diagnosed(tmp_path, SHARED, FORWARD).causes[0].evidence]
    assert any(
        "23.69 total - 1.20 free - 10.40 of this process = 12.09 GiB held elsewhere (process 4242: 12.00)"
        in text
        for text in texts
    )


def test_the_fix_fits_the_phase(tmp_path: Path) -> None:
    """A smaller batch does not shrink Adam's state, nor a tensor that no card could hold."""
    optimiser, absurd = (
        next(
            fix.id
            for fix in diagnosed(tmp_path, figures, frame).causes[0].fixes
            if fix.kind == "change"
        )
        for figures, frame in ((PLAIN, STEP), (ABSURD, FORWARD))
    )
    assert (optimiser, absurd) == ("memory.smaller-optimizer-state", "memory.one-large-tensor")
