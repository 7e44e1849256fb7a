"""A dump as witness: one log with two dumps is judged twice, and an idle dump changes nothing."""

from pathlib import Path

import pytest
import yaml

import postmortem

SAMPLES = Path(__file__).resolve().parents[1] / "sample_logs"
LOGS = sorted(SAMPLES.glob("*/*-0.log"))[::9]
IDLE = """OS: Ubuntu 22.04.4 LTS (x86_64)
GCC version: (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0
Libc version: glibc-2.35
CPU count: 64
open files                          (-n) 1048576
max user processes                  (-u) 2061203
"""
HEALTHY = (
    IDLE
    + """Filesystem      Size  Used Avail Use% Mounted on
tmpfs           252G   12M  252G   1% /dev/shm
/dev/sda2       1.8T  402G  1.3T  24% /home
"OOMKilled": false,
oom_kill 0
"""
)
OF_THE_MACHINE = ("memory.", "io.", "data.worker", "code.native", "checkpoint.", "distributed.")
HELD = """|   0  NVIDIA L40S          Off | 00000000:00:00.0 Off |                    0 |
| N/A   40C    P0    60W / 300W |  40110MiB / 46068MiB |      0%      Default |
|    0   N/A  N/A      4821      C   ./serve                          40100MiB |
"""
EMPTY = """|   0  NVIDIA L40S          Off | 00000000:00:00.0 Off |                    0 |
| N/A   40C    P0    60W / 300W |      3MiB / 46068MiB |      0%      Default |
"""
CPU_BUILD = "pytorch                   2.3.0              py3.10_cpu_0    pytorch\n"
BACKWARD = """step 10 loss 2.1
Traceback (most recent call last):
  File "/u/train.py", line 120, in <module>
    loss.backward()
  File "/u/v/lib/python3.11/site-packages/torch/_tensor.py", line 581, in backward
    torch.autograd.backward(
RuntimeError: CUDA out of memory. Tried to allocate 96.00 MiB
"""
WORKERS = """step 1300 | loss 2.2984
Traceback (most recent call last):
  File "/app/train.py", line 77, in <module>
    for x, y in loader:
  File "/v/lib/python3.11/site-packages/torch/utils/data/dataloader.py", line 1264, in _get
    raise RuntimeError(f"DataLoader worker (pid(s) {pids_str}) exited unexpectedly") from e
RuntimeError: DataLoader worker (pid(s) 61, 62) exited unexpectedly
"""
BF16 = """Traceback (most recent call last):
  File "/v/lib/python3.10/site-packages/transformers/training_args.py", line 1776, in __post_init__
    raise ValueError(
ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, using Ampere GPU with cuda>=11.0
"""
NEEDS_GPU = """Traceback (most recent call last):
  File "/home/kim/vit/main.py", line 33, in <module>
    assert torch.cuda.is_available(), "this script needs a GPU"
AssertionError: this script needs a GPU
"""
OLD_DRIVER = (
    "PyTorch version: 2.4.0+cu121\nIs CUDA available: False\nNvidia driver version: 470.199\n"
)
WRITER = """saving epoch 7
Traceback (most recent call last):
  File "/p/train.py", line 90, in save
    torch.save(state, path)
RuntimeError: [enforce fail at inline_container.cc:595] . unexpected pos 128 vs 22
"""


def verdict(log: bytes | Path, *dumps: str) -> str | None:
    """The cause that is named."""
    source = log if isinstance(log, bytes) else str(log)
    return postmortem.analyze(source, env=[one.encode() for one in dumps]).verdict.cause


@pytest.mark.parametrize(
    ("log", "dump", "cause"),
    [
        (BACKWARD, HELD, "memory.gpu-shared"),
        (BACKWARD, EMPTY, "memory.cuda-oom"),
        (WORKERS, "oom 3\noom_kill 2\n", "memory.host-oom"),
        (WORKERS, "shm   64M   64M     0 100% /dev/shm\n", "memory.shm-exhausted"),
        (BF16, CPU_BUILD, "cuda.not-available"),
        (BF16, "PyTorch version: 1.9.1+cu111\n", "environment.version-incompatible"),
        (BF16, "GPU 0: Tesla T4\n", "cuda.insufficient-precision-support"),
        (NEEDS_GPU, CPU_BUILD, "cuda.not-available"),
        (NEEDS_GPU, OLD_DRIVER, "cuda.driver-too-old"),
        (WRITER, "/dev/sdb1  200G  200G  1M 100% /p\n", "io.disk-full"),
        (WRITER, "/dev/sdb1  200G   90G  110G  45% /p\n", "io.storage"),
    ],
)
def test_the_dump_decides(log: str, dump: str, cause: str) -> None:
    """One log, another dump, another cause."""
    assert verdict(log.encode(), dump) == cause


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.stem)
def test_an_idle_dump_changes_no_cause(log: Path) -> None:
    """What says nothing of the failure decides nothing."""
    alone = verdict(log)
    assert verdict(log, IDLE) == alone
    if not str(alone).startswith(OF_THE_MACHINE):
        assert verdict(log, HEALTHY) == alone


@pytest.mark.parametrize("dump", sorted(SAMPLES.glob("*/*.env")), ids=lambda path: path.stem)
def test_the_right_dump_never_makes_it_worse(dump: Path) -> None:
    """A sample that is judged rightly without its dump is judged rightly with it."""
    log = next(path for path in dump.parent.glob(f"{dump.stem}*.log"))
    label = yaml.safe_load(log.with_suffix(".yaml").read_text(encoding="utf-8"))
    wanted = {label["cause"], *label.get("also", ())}
    if verdict(log) in wanted:
        assert verdict(log, dump.read_text(encoding="utf-8")) in wanted
