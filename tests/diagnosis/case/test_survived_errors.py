"""What the run has outlived is no first failure: noise behind it, preludes, labels on every line."""

from pathlib import Path

import pytest

import postmortem

PRELUDE = """loading the tokenizer
Traceback (most recent call last):
  File "/env/lib/python3.10/site-packages/layers/norm.py", line 12, in has_fused
    from apex.normalization import FusedLayerNorm
ModuleNotFoundError: No module named 'apex'
dictionary: 32000 types
begin training epoch 1
"""
FAILURE = """Traceback (most recent call last):
  File "/w/train.py", line 99, in <module>
    run()
  File "/w/train.py", line 71, in run
    logits = head(feats)
  File "/env/lib/python3.10/site-packages/torch/nn/modules/linear.py", line 125, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x768 and 1024x10)
"""
SCRIPT = """#!/bin/bash
#SBATCH --requeue   # DUE TO PREEMPTION we start again
trap 'echo "Received SIGTERM, requeueing"' SIGTERM
+ grep -q 'No space left on device' last.log
"""
WARNING = "/env/lib/python3.10/site-packages/io/image.py:13: UserWarning: x.so: undefined symbol: _ZN3c10\n"
IGNORED = """Exception ignored in: <Finalize object, dead>
Traceback (most recent call last):
  File "/usr/lib/python3.10/shutil.py", line 731, in rmtree
    onerror(os.rmdir, path, sys.exc_info())
OSError: [Errno 16] Device or resource busy: '.nfs000000000a4d30'
"""
THREAD = """Exception in thread NetStatThr:
Traceback (most recent call last):
  File "/env/lib/python3.10/site-packages/wandb/sdk/lib/sock_client.py", line 152, in send
    sent = self._sock.send(data)
BrokenPipeError: [Errno 32] Broken pipe
"""
SHAPES = "code.shape-mismatch"


def verdict(folder: Path, text: str) -> str | None:
    """The cause that a log of this text gets."""
    log = folder / "run.log"
    log.write_text(text, encoding="utf-8", newline="")
    return postmortem.analyze(str(log)).verdict.cause


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", ""),
        (PRELUDE, ""),
        (SCRIPT, ""),
        (WARNING, ""),
        (SCRIPT + WARNING + PRELUDE, ""),
        ("", IGNORED),
        ("", THREAD),
        (PRELUDE, THREAD + IGNORED),
    ],
)
def test_preludes_and_noise_change_nothing(tmp_path: Path, before: str, behind: str) -> None:
    """Neither what comes before nor what follows from the end is the cause."""
    assert verdict(tmp_path, before + FAILURE + behind) == SHAPES


@pytest.mark.parametrize(
    "label",
    [
        "2026-05-03T10:00:00.123456789Z ",
        "[rank0]: ",
        "0: ",
        "(TrainWorker pid=4242, ip=10.0.0.5) ",
        "trainer-1  | ",
        "May  3 10:11:12 ",
        "> ",
        "\x1b[32m",
    ],
)
def test_a_label_on_every_line_changes_nothing(tmp_path: Path, label: str) -> None:
    """Whoever carries the lines changes no verdict."""
    text = "".join(f"{label}{line}\n" for line in (PRELUDE + FAILURE + IGNORED).splitlines())
    assert verdict(tmp_path, text) == SHAPES


def test_an_error_alone_stays_the_failure(tmp_path: Path) -> None:
    """Standard output may arrive behind standard error."""
    assert verdict(tmp_path, FAILURE + "dictionary: 32000 types\n") == SHAPES


def test_the_first_of_two_ranks_stays_the_failure(tmp_path: Path) -> None:
    """A line without a label behind it may be another process's."""
    later = "".join(f"[rank1]: {line}\n" for line in PRELUDE.splitlines()[1:5])
    assert verdict(tmp_path, FAILURE + "dictionary: 32000 types\n" + later) == SHAPES


def test_what_a_thread_of_the_loader_says_stays_the_failure(tmp_path: Path) -> None:
    """A thread that the training needs may be the origin."""
    thread = THREAD.replace("wandb/sdk/lib/sock_client.py", "torch/utils/data/pin_memory.py")
    thread = thread.replace(
        "BrokenPipeError: [Errno 32] Broken pipe", "OSError: [Errno 24] Too many open files"
    )
    behind = FAILURE.splitlines()[0] + (
        '\n  File "/w/train.py", line 9, in <module>\n    for batch in loader:\n'
        "RuntimeError: Pin memory thread exited unexpectedly\n"
    )
    assert verdict(tmp_path, thread + behind) == "io.file-limit"


def test_a_traceback_behind_the_first_tells_of_what_followed(tmp_path: Path) -> None:
    """Its frames tell nothing of the first."""
    first = """step 100 loss 2.2
step 200 loss 2.0
step 300 loss 1.9
Traceback (most recent call last):
  File "train.py", line 101, in fit
    loss.backward()
  File "/env/lib/python3.10/site-packages/torch/_tensor.py", line 581, in backward
    torch.autograd.backward(
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.20 GiB. GPU 0 has a total capacity of 23.69 GiB of which 500.00 MiB is free.
writing an emergency checkpoint
Traceback (most recent call last):
  File "train.py", line 130, in <module>
    fit()
  File "/env/lib/python3.10/site-packages/torch/serialization.py", line 440, in save
    with _open_zipfile_writer(f) as opened_zipfile:
RuntimeError: Parent directory out does not exist.
"""
    assert verdict(tmp_path, first) == "memory.cuda-oom"
