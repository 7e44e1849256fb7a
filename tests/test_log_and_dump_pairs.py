"""Pairs of a log and a dump: what the dump says decides the cause, or the process.

Each log stands with several dumps. Dumps of the machine are given as environment, reports of the
scheduler, the kernel and the ranks as files beside the log.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

import postmortem
from postmortem import Report
from tests.diagnosis.detectors.test_ras_reports import DEAD, MISSING, report

LIB = "/v/lib/python3.11/site-packages/"


def raised(place: str, code: str, error: str) -> str:
    """A traceback of a script that fails in a package."""
    path, _, function = place.rpartition(":")
    return (
        'Traceback (most recent call last):\n  File "/u/train.py", line 40, in <module>\n'
        f'    main()\n  File "{LIB}{path}", line 41, in {function}\n    {code}\n{error}\n'
    )


STEPS = "".join(
    f"2026-03-09 10:0{s // 60}:{s % 60:02d} step {s} loss {2 - s / 100:.3f}\n"
    for s in range(0, 180, 5)
)
WATCHDOG = STEPS + "".join(
    f"2026-03-09 10:15:00 [rank{rank}]:[E309 10:15:00.118372645 ProcessGroupNCCL.cpp:616] [Rank"
    f" {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE,"
    " NumelIn=100, NumelOut=100, Timeout(ms)=600000) ran for 600041 milliseconds before timing"
    " out.\n"
    for rank in range(4)
)


def ended(code: int, name: str) -> str:
    """What torchrun prints of a process that a signal has ended."""
    return STEPS + (
        "E0309 10:03:12.000000 7000 torch/distributed/elastic/multiprocessing/api.py:874] failed"
        f" (exitcode: {code}) local_rank: 1 (pid: 7012) of binary: /v/bin/python\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
        f"{'=' * 60}\ntrain.py FAILED\n{'-' * 60}\nRoot Cause (first observed failure):\n[0]:\n"
        "  time      : 2026-03-09_10:03:12\n  host      : c1\n  rank      : 1 (local_rank: 1)\n"
        f"  exitcode  : {code} (pid: 7012)\n  error_file: <N/A>\n"
        f"  traceback : Signal {-code} ({name}) received by PID 7012\n{'=' * 60}\n"
    )


LOGS = {
    "not compiled": raised("torch/cuda/__init__.py:_lazy_init", "raise AssertionError(",
        "AssertionError: Torch not compiled with CUDA enabled"),
    "no GPU": raised("torch/cuda/__init__.py:_lazy_init", "torch._C._cuda_init()",
        "RuntimeError: No CUDA GPUs are available"),
    "fp16": raised("transformers/training_args.py:__post_init__", "raise ValueError(",
        "ValueError: FP16 Mixed precision training with AMP or APEX (`--fp16`) and FP16 half"
        " precision evaluation (`--fp16_full_eval`) can only be used on CUDA devices."),
    "deserialize": raised("torch/serialization.py:_validate_device", "raise RuntimeError(",
        "RuntimeError: Attempting to deserialize object on a CUDA device but"
        " torch.cuda.is_available() is False. If you are running on a CPU-only machine, please use"
        " torch.load with map_location=torch.device('cpu') to map your storages to the CPU."),
    "no NCCL": raised("torch/distributed/distributed_c10d.py:_new_process_group_helper",
        "raise RuntimeError(", "RuntimeError: Distributed package doesn't have NCCL built in"),
    "fused": raised("torch/optim/adamw.py:__init__", "raise RuntimeError(",
        "RuntimeError: `fused=True` requires all the params to be floating point Tensors of"
        " supported devices: ['mps', 'cuda', 'xpu', 'hpu', 'cpu']."),
    "bnb": "The installed version of bitsandbytes was compiled without GPU support. 8-bit"
        " optimizers, 8-bit multiplication, and GPU quantization are unavailable.\n"
        + raised("bitsandbytes/functional.py:quantize_4bit", "lib.cquantize_blockwise_fp16_nf4(",
        "AttributeError: 'NoneType' object has no attribute 'cquantize_blockwise_fp16_nf4'"),
    "bnb set-up": raised("bitsandbytes/cextension.py:throw_on_call", "raise RuntimeError(",
        "RuntimeError: \n        CUDA Setup failed despite GPU being available. Please run the"
        " following command to get more information:\n\n        python -m bitsandbytes"),
    "symbol": raised("flash_attn/flash_attn_interface.py:<module>", "import flash_attn_2_cuda",
        f"ImportError: {LIB}flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol:"
        " _ZN3c104cuda9SetDeviceEi"),
    "oom": raised("torch/nn/modules/linear.py:forward", "return F.linear(input, self.weight)",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 0 has a total"
        " capacity of 44.52 GiB of which 41.00 MiB is free."),
    "reserved": raised("torch/nn/modules/linear.py:forward", "return F.linear(input, self.weight)",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
        " capacity of 44.52 GiB of which 1.00 GiB is free. Of the allocated memory 20.10 GiB is"
        " allocated by PyTorch, and 22.80 GiB is reserved by PyTorch but unallocated. If reserved"
        " but unallocated memory is large try setting"
        " PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."),
    "little reserved": raised("torch/nn/modules/linear.py:forward", "return F.linear(input)",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
        " capacity of 44.52 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this"
        " process has 3.41 GiB memory in use. Of the allocated memory 1.10 GiB is allocated by"
        " PyTorch, and 1.80 GiB is reserved by PyTorch but unallocated. If reserved but unallocated"
        " memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid"
        " fragmentation."),
    "cublas": raised("torch/nn/modules/linear.py:forward", "return F.linear(input, self.weight)",
        "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling"
        " `cublasCreate(handle)`"),
    "bus": "step 100 | loss 2.2\nERROR: Unexpected bus error encountered in worker. This might be"
        " caused by insufficient shared memory (shm).\n"
        + raised("torch/utils/data/dataloader.py:_try_get_data", "raise RuntimeError(",
        "RuntimeError: DataLoader worker (pid 61) is killed by signal: Bus error. It is possible"
        " that dataloader's workers are out of shared memory. Please try to raise your shared"
        " memory limit."),
    "workers": "step 1300 | loss 2.2984\n"
        + raised("torch/utils/data/dataloader.py:_try_get_data", "raise RuntimeError(",
        "RuntimeError: DataLoader worker (pid(s) 61, 62) exited unexpectedly"),
    "files": raised("torch/multiprocessing/reductions.py:reduce_storage",
        "fd, size = storage._share_fd_cpu_()", "RuntimeError: unable to open shared memory object"
        " </torch_61_12> in read-write mode: Too many open files (24)"),
    "writer": "saving epoch 7\n" + raised("torch/serialization.py:save", "self._save(obj)",
        "RuntimeError: [enforce fail at inline_container.cc:595] . unexpected pos 128 vs 22"),
    "killed": STEPS + "run.sh: line 7:  7012 Killed                  python train.py\n",
    "exit -9": ended(-9, "SIGKILL"),
    "exit -15": ended(-15, "SIGTERM"),
    "just ends": STEPS,
    "watchdog": WATCHDOG,
}  # fmt: skip


CARD = """|   0  NVIDIA L40S          Off | 00000000:00:00.0 Off |                    0 |
| N/A   40C    P0    60W / 300W |  {used}MiB / 46068MiB |      0%      Default |
{holder}"""
MACHINE = {
    "+cpu": "PyTorch version: 2.4.1+cpu\nCUDA used to build PyTorch: None\n"
    "Is CUDA available: False\n",
    "+cu121": "PyTorch version: 2.4.1+cu121\nCUDA used to build PyTorch: 12.1\n"
    "Is CUDA available: True\nGPU 0: NVIDIA L40S\n",
    "old driver": "PyTorch version: 2.4.0+cu121\nIs CUDA available: False\n"
    "Nvidia driver version: 470.199\n",
    "held": CARD.format(
        used=40110,
        holder="|    0   N/A  N/A      4821      C   ./serve                          40100MiB |\n",
    ),
    "empty": CARD.format(used="    3", holder=""),
    "shm small": "shm   64M   64M     0 100% /dev/shm\n",
    "oom_kill": "oom 3\noom_kill 2\n",
    "few files": "open files                          (-n) 1024\nmax user processes (-u) 4096\n",
    "disk full": "/dev/sdb1  200G  200G  1M 100% /p\n",
    "disk with room": "/dev/sdb1  200G   90G  110G  45% /p\n",
}


def sacct(state: str, end: str = "10:03:20", code: str = "0:0") -> dict[str, str]:
    """The scheduler's record of a job."""
    rest = f"{code}|2026-03-09T09:58:00|2026-03-09T{end}|c1"
    rows = f"711|{state}|{rest}\n711.0|{state.split(maxsplit=1)[0]}|{rest}\n"
    return {"sacct.txt": f"JobID|State|ExitCode|Start|End|NodeList\n{rows}"}


def kernel(text: str) -> dict[str, str]:
    """A line of the kernel's log, just before the end of the run."""
    return {"dmesg.txt": f"[Mon Mar  9 10:03:01 2026] {text}\n"}


def rank_dump(completed: int, enqueued: int, operation: str = "nccl:all_reduce") -> str:
    """What the flight recorder of a rank writes of a group of four."""
    counts = {"last_enqueued_collective": enqueued, "last_completed_collective": completed}
    entries = [
        {
            "process_group": ["0", "default_pg"], "pg_id": 0, "collective_seq_id": number,
            "record_id": number, "profiling_name": operation, "input_sizes": [[4]],
            "state": "completed" if number <= completed else "started", "is_p2p": False,
        }
        for number in range(enqueued - 2, enqueued + 1)
    ]  # fmt: skip
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}}
    return json.dumps({"pg_config": config, "pg_status": {"0": counts}, "entries": entries})


def rank_dumps(**others: str | None) -> dict[str, str]:
    """Dumps of four ranks that wait in one collective, but for the ranks that are given."""
    dumps = {f"r{rank}": rank_dump(76, 77) for rank in range(4)} | others
    return {f"nccl_trace_rank_{name[1:]}": text for name, text in dumps.items() if text}


FILES = {
    "OUT_OF_MEMORY": sacct("OUT_OF_MEMORY", code="0:125"),
    "TIMEOUT": sacct("TIMEOUT"),
    "CANCELLED": sacct("CANCELLED by 1001", code="0:15"),
    "PREEMPTED": sacct("PREEMPTED"),
    "NODE_FAIL": sacct("NODE_FAIL", code="1:0"),
    "TIMEOUT much later": sacct("TIMEOUT", "11:58:00"),
    "CANCELLED much later": sacct("CANCELLED by 1001", "11:58:00", "0:15"),
    "oom-kill": kernel("Out of memory: Killed process 7012 (python) total-vm:91203412kB,"
                       " anon-rss:81122004kB, file-rss:0kB"),
    "Xid 79": kernel("NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has"
                     " fallen off the bus."),
    "never came": rank_dumps(r2=rank_dump(76, 76)),
    "stuck": rank_dumps(r1=rank_dump(75, 76)),
    "alike": rank_dumps(),
    "no dump": rank_dumps(r3=None),
    "other call": rank_dumps(r2=rank_dump(76, 77, "nccl:broadcast")),
    "RAS": {"ras.txt": report(DEAD, MISSING, job="INCOMPLETE")},
}  # fmt: skip
ENDS = {
    "OUT_OF_MEMORY": "memory.host-oom",
    "TIMEOUT": "scheduler.time-limit",
    "CANCELLED": "scheduler.cancelled",
    "PREEMPTED": "scheduler.preempted",
    "NODE_FAIL": "scheduler.node-failure",
}
"""How a job ended, as the scheduler's record has it: it outranks what signals and silence say."""
CAUSES = [
    *((log, "+cpu", "cuda.not-available") for log in
      ("not compiled", "no GPU", "fp16", "deserialize", "no NCCL", "fused", "bnb", "symbol")),
    ("no GPU", "old driver", "cuda.driver-too-old"),
    ("fp16", "old driver", "cuda.driver-too-old"),
    ("symbol", "+cu121", "environment.abi-mismatch"),
    ("bnb", "+cu121", "environment.bitsandbytes"),
    ("bnb set-up", "+cu121", "environment.bitsandbytes"),
    ("oom", "held", "memory.gpu-shared"),
    ("oom", "empty", "memory.cuda-oom"),
    ("little reserved", "held", "memory.gpu-shared"),
    ("reserved", "empty", "memory.cuda-fragmentation"),
    ("cublas", "held", "memory.gpu-shared"),
    ("bus", "shm small", "memory.shm-exhausted"),
    ("workers", "shm small", "memory.shm-exhausted"),
    ("workers", "oom_kill", "memory.host-oom"),
    ("files", "few files", "io.file-limit"),
    ("writer", "disk full", "io.disk-full"),
    ("writer", "disk with room", "io.storage"),
    *((log, *end) for log in ("killed", "exit -9", "exit -15", "just ends") for end in ENDS.items()),
    ("killed", "oom-kill", "memory.host-oom"),
    ("exit -9", "oom-kill", "memory.host-oom"),
    ("just ends", "oom-kill", "memory.host-oom"),
    ("just ends", "TIMEOUT much later", "hang.stalled"),
    ("just ends", "CANCELLED much later", "hang.stalled"),
    ("watchdog", "Xid 79", "cuda.hardware-xid"),
    ("watchdog", "oom-kill", "memory.host-oom"),
    ("watchdog", "NODE_FAIL", "scheduler.node-failure"),
    ("watchdog", "stuck", "distributed.nccl-timeout"),
    ("watchdog", "other call", "distributed.rank-desync"),
]  # fmt: skip
RANKS: Mapping[str, int | None] = {
    "never came": 2, "stuck": 1, "alike": None, "no dump": 3, "other call": 2, "RAS": 11,
}  # fmt: skip


def judge(folder: Path, log: str, dump: str) -> Report:
    """Analyse a log with a dump."""
    (folder / "train.log").write_text(LOGS[log], encoding="utf-8")
    for name, text in FILES.get(dump, {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    env = [MACHINE[dump].encode()] if dump in MACHINE else []
    return postmortem.analyze(folder, env=env)


@pytest.mark.parametrize(("log", "dump", "cause"), CAUSES)
def test_the_dump_decides_the_cause(tmp_path: Path, log: str, dump: str, cause: str) -> None:
    """One log, another dump, another cause."""
    assert judge(tmp_path, log, dump).verdict.cause == cause


@pytest.mark.parametrize("log", ["just ends", "watchdog"])
@pytest.mark.parametrize("dump", RANKS)
def test_the_dump_decides_the_rank(tmp_path: Path, log: str, dump: str) -> None:
    """Whether the watchdog had time to report or not; where nobody is late, nobody is named."""
    told = judge(tmp_path, log, dump).to_dict()
    where = told["first_failure"]["where"] if told["first_failure"] else {"rank": None}
    assert where["rank"] == RANKS[dump]
    assert told["outcome"] in {"stalled", "failed"}
