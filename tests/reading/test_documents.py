"""What no run has printed is refused; what one has printed is judged, however little it is."""

import json
from pathlib import Path

import pytest

from postmortem.interfaces.cli import main
from postmortem.pipeline import run_pipeline
from postmortem.reading.non_logs import is_document
from postmortem.reading.sources import Stream

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted((ROOT / "tests" / "data" / "no_logs").iterdir())
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
FRAMES = """  File "/home/user/train.py", line 12, in <module>
    main()
  File "/home/user/train.py", line 8, in main
    loss = model(x.cuda())
"""
FRAGMENTS = {
    "one line": OOM,
    "a traceback": f"Traceback (most recent call last):\n{FRAMES}{OOM}\n",
    "frames without their head": f"{FRAMES}{OOM}\n",
    "code above the exception": f"    out = self.layer(x)\n    return out\n    y = f(\n        x,\n    )\n{OOM}\n",
    "an issue with a fence": f"### Describe the bug\n\nIt stops.\n\n```\n{OOM}\n```\n\n### Environment\n\n- torch 2.3\n",
    "an issue with its script": f"# Out of memory\n\n## Requirements\n\n```python\nimport torch\nmodel = f()\n```\n\n```\nTraceback (most recent call last):\n{FRAMES}{OOM}\n```\n",
    "a cell of a notebook": f"OutOfMemoryError                          Traceback (most recent call last)\nCell In[3], line 2\n      1 model = build()\n----> 2 model(x)\n\n{OOM}\n",
    "a rank's line": f"[rank3]: {OOM}",
    "a logger's line": f"2024-05-02 10:11:12,123 ERROR {OOM}",
    "a script that traces itself": f"+ export CUDA_VISIBLE_DEVICES=0\n+ python train.py \\\n    --lr 1e-4\n{OOM}\n",
    "a command above its output": "    --learning_rate 1e-4 \\\n    --batch_size 4 \\\n    --epochs 3 \\\n    --fp16 \\\nUnable to determine the device handle for GPU0000:05:00.0: Unknown Error\n",
    "a batch script above its output": f"#!/bin/bash\n#SBATCH --gres=gpu:1\n#SBATCH --time=1:00:00\nmodule load cuda\nsrun python train.py\n{OOM}\n",
    "words of a person": "My training stops with CUDA out of memory after the first step, what can I do?",
    "Chinese words": "训练的时候显存不足，怎么办？",
    "an exception without frames": "ModuleNotFoundError: No module named 'flash_attn'",
    "a message of the kernel": "[12345.678901] Out of memory: Killed process 4242 (python) total-vm:81236kB",
    "Slurm's last word": "slurmstepd: error: *** JOB 4242 ON n1 CANCELLED AT 2024-05-02T10:11:12 DUE TO TIME LIMIT ***",
    "a shell's last word": "train.sh: line 3: torchrun: command not found",
    "NCCL's warning": "n1:4242:4300 [0] NCCL WARN NET/IB : Got completion from peer with error 12",
    "a compiler's line": 'ops/kernel.cu(12): error: identifier "foo" is undefined\nRuntimeError: Error compiling objects for extension\n',
    "output kept in comments": f"import torch\n\nmodel = build(\n    1,\n)\nmodel(x)\n# Traceback (most recent call last):\n# {OOM}\n",
    "a loss that is NaN": "".join(
        f"step {one} loss: {'nan' if one > 3 else 2.0}\n" for one in range(8)
    ),
    "records of a trainer": "{'loss': 2.1, 'learning_rate': 1e-05, 'epoch': 0.1}\n{'loss': nan, 'learning_rate': 1e-05, 'epoch': 0.2}\n"
    * 3,
    "a disk that is full": "OSError: [Errno 28] No space left on device: '/out/checkpoint-500/optimizer.pt'",
    "a size mismatch": "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x512 and 768x10)",
}


def run(*arguments: object) -> int:
    """Run the command line and give its exit status."""
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    return int(done.value.code or 0)


def test_there_are_many_samples() -> None:
    """Sources, documents, configurations and tables of many kinds."""
    assert len(SAMPLES) >= 40
    assert len(FRAGMENTS) >= 20


@pytest.mark.parametrize("name", ["", "pasted.log"], ids=["its name", "any name"])
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name.removesuffix(".sample"))
def test_what_is_no_log_is_not_judged(
    tmp_path: Path, sample: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever it quotes: exit status 2, one line that says what is wrong, and no verdict."""
    path = tmp_path / (name or sample.name.removesuffix(".sample"))
    path.write_bytes(sample.read_bytes())
    assert run("analyze", path, "--format", "json") == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("postmortem: ")
    assert "not a training log" in shown.err
    assert shown.err.count("\n") == 1
    if shown.out:
        report = json.loads(shown.out)
        assert report["verdict"]["cause"] is None
        assert report["outcome"] == "not-a-training-log"


@pytest.mark.parametrize("text", FRAGMENTS.values(), ids=FRAGMENTS)
def test_a_fragment_of_a_log_is_judged(text: str) -> None:
    """With its source, the issue around it, or nothing else at all."""
    found = run_pipeline(Stream("pasted.log", text.encode()))
    assert found.outcome != "not-a-training-log"
    assert found.verdict.cause is not None or found.signatures  # a person's words prove no cause


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Loading data\nEpoch 1/10\nCollecting experience ...\n", id="a bare banner"),
        pytest.param("2000 lines found\n=== Epoch 1/10 ===\nCollecting ...\n", id="with marks"),
        pytest.param("loading\nEPOCH 1 of 40\nwaiting\n", id="in capitals"),
    ],
)
def test_a_banner_of_an_epoch_makes_a_log(text: str) -> None:
    """A run that was cut off before its first figure is judged, whatever else it prints."""
    found = run_pipeline(Stream("run.log", text.encode()))
    assert found.outcome != "not-a-training-log"


def test_no_sample_log_is_a_document() -> None:
    """Whatever labels stand before its lines: the text alone is judged here."""
    logs = sorted((ROOT / "sample_logs").rglob("*.log"))
    assert len(logs) > 500
    found = [log.name for log in logs if is_document(log.read_text("utf-8", "replace"))]
    assert found == []


@pytest.mark.parametrize("form", ["terminal", "json", "markdown", "html", "sarif", "github"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"", "is empty", id="an empty file"),
        pytest.param(b"\n \n", "blank lines", id="blank lines"),
        pytest.param(b"Dear diary,\ntoday it rained.\n", "does not look like", id="prose"),
        pytest.param(b"torch==2.3.1\nnumpy==1.26.4\n", "--env", id="a list of packages"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9, "binary", id="an image"),
        pytest.param(b"import os\n\n\ndef f(x):\n    return x\n\n\nf(1)\n", "source", id="code"),
    ],
)
def test_every_form_ends_with_status_2(
    tmp_path: Path, content: bytes, said: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And one line on standard error says what, where and how to mend it."""
    path = tmp_path / "run.log"
    path.write_bytes(content)
    assert run("analyze", path, "--format", form) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert str(path) in shown.err
    assert shown.err.count("\n") == 1


def test_documents_beside_a_log_tell_nothing(tmp_path: Path) -> None:
    """A page of the project that lies beside the log speaks of failures that did not happen."""
    (tmp_path / "train.log").write_text("".join(f"step {one} loss: 1.0\n" for one in range(9)))
    text = next(path for path in SAMPLES if path.name.startswith("CHANGELOG")).read_text()
    (tmp_path / "notes.md").write_text(text)
    found = run_pipeline(tmp_path)
    assert {source.path.rpartition("/")[2]: source.kind for source in found.sources} == {
        "train.log": "log",
        "notes.md": "ignored",
    }
    assert not found.signatures
