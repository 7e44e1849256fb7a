"""The order of events: the first failure over files and attempts, what was survived, what is only an echo."""

from pathlib import Path

import pytest

import postmortem

RECORDS = "".join(f"{{'loss': {2.5 - i / 20:.4f}, 'grad_norm': 1.2345678, 'learning_rate': {5e-5 - i * 1.1e-6:.8g}, 'epoch': 0.0{i}}}\n" for i in range(1, 10))
MISSING = "Traceback (most recent call last):\n  File \"/home/me/train.py\", line 3, in <module>\n    import flash_attn\nModuleNotFoundError: No module named 'flash_attn'\n"
OOM = ('Traceback (most recent call last):\n  File "/home/me/train.py", line 90, in <module>\n    loss.backward()\n'
       "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.20 GiB is free. Including non-PyTorch memory, this process has 22.40 GiB memory in use."
       " Of the allocated memory 21.90 GiB is allocated by PyTorch, and 290.00 MiB is reserved by PyTorch but unallocated.\n")
TIMEOUT = ("[rank1]:[E1111 17:01:37.061727749 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000)"
           " ran for 600021 milliseconds before timing out.\n")
CHILD = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 + "\ntrain.py FAILED\n"


@pytest.mark.parametrize(("text", "expected"), [
    pytest.param(RECORDS + OOM + CHILD, "memory.cuda-oom", id="the launcher's summary is an echo"),
    pytest.param(RECORDS + OOM + TIMEOUT, "memory.cuda-oom", id="the time-out of the other ranks is an echo"),
    pytest.param(RECORDS + TIMEOUT, "distributed.nccl-timeout", id="a time-out with nothing before it"),
    pytest.param("***** Running training *****\n" + MISSING + "***** Running training *****\n" + RECORDS + OOM, "memory.cuda-oom", id="of two attempts the last counts"),
    pytest.param(MISSING.replace("Traceback", "[2024-05-01 12:00:00,123] [WARNING] [x.py:1:f] Traceback", 1) + RECORDS + OOM, "memory.cuda-oom", id="what the run survived is no cause"),
    pytest.param(OOM + "2024-05-01 12:00:01,000 - train - ERROR - ModuleNotFoundError: No module named 'flash_attn'\n", "memory.cuda-oom", id="a clock on one line alone orders nothing"),
])
def test_the_first_failure_of_the_last_attempt_counts(tmp_path: Path, text: str, expected: str) -> None:
    """Echoes, earlier attempts and survived errors do not carry the verdict."""
    log = tmp_path / "run.log"
    log.write_text(text)
    assert postmortem.analyze(log).causes[0].id == expected


def test_over_files_the_clock_decides(tmp_path: Path) -> None:
    """The rank that failed first by the clock is the failure, whatever the files are called."""
    (tmp_path / "rank0.log").write_text("2024-05-01 12:00:09,000 - train - ERROR - RuntimeError: CUDA error: an illegal memory access was encountered\n")
    (tmp_path / "rank1.log").write_text("2024-05-01 12:00:01,000 - train - ERROR - OSError: [Errno 28] No space left on device\n")
    failure = postmortem.analyze(tmp_path).diagnosis.first_failure
    assert failure is not None
    assert (failure.where.rank, failure.line) == (1, 1)


def test_a_log_of_consequences_only_is_an_abstention(tmp_path: Path) -> None:
    """It says so, and what to send."""
    log = tmp_path / "run.log"
    log.write_text(CHILD)
    verdict = postmortem.analyze(log).verdict
    assert verdict.cause is None
    assert verdict.need
