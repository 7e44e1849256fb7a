"""Who stands elsewhere than the others, by the stacks of a job's processes."""

import json
from pathlib import Path
from typing import Any

import postmortem

STEPS = "\n".join(
    f"2026-03-09 10:00:{second:02d} step {second} loss 1.{second}" for second in range(30)
)
BACKWARD = (
    '  File "/v/lib/python3.11/site-packages/torch/autograd/graph.py", line 7 in'
    ' _engine_run_backward\n  File "/job/train.py", line 9 in main\n'
    '  File "/job/train.py", line 20 in <module>'
)
READING = (
    '  File "/v/lib/python3.11/threading.py", line 3 in wait\n'
    '  File "/job/reader.py", line 8 in read_record\n  File "/job/train.py", line 5 in main\n'
    '  File "/job/train.py", line 20 in <module>'
)
HELPER = (
    '  File "/v/lib/python3.11/threading.py", line 324 in wait\n'
    '  File "/v/lib/python3.11/site-packages/tqdm/_monitor.py", line 60 in run'
)


def first_of(tmp_path: Path, **files: str) -> Any:
    """Analyse files and give the first failure, with the name of its file."""
    for name, text in files.items():
        (tmp_path / name.replace("__", ".")).write_text(text + "\n", encoding="utf-8")
    report = json.loads(postmortem.analyze(str(tmp_path)).render("json", redact=False))
    first = report["first_failure"]
    return first and {**first, "file": Path(report["sources"][first["source"]]["path"]).name}


def threads(main: str, label: str = "") -> str:
    """Give what faulthandler prints of a process with one thread beside the main one."""
    text = (
        f"Timeout (0:10:00)!\nThread 0x00007f01 (most recent call first):\n{HELPER}\n\n"
        f"Thread 0x00007f00 (most recent call first):\n{main}"
    )
    return "\n".join(label + line for line in text.split("\n"))


def test_dumps_of_labelled_processes_in_one_log_are_told_apart(tmp_path: Path) -> None:
    """However long they are together, and twice: the one that reads is waited for."""
    dumps = [threads(READING if rank == 3 else BACKWARD, f"[rank{rank}]:") for rank in range(8)]
    first = first_of(tmp_path, run__log="\n".join([STEPS, *dumps, *dumps]))
    assert first["where"]["rank"] == 3
    assert "read_record" in first["why"]


def spied(pid: int, frames: str, command: str = "python train.py") -> str:
    """Give what py-spy prints of a process."""
    return (
        f"Process {pid}: {command}\nPython v3.11.7 (/usr/bin/python3)\n\nThread {pid} (idle):"
        f' "MainThread"\n{frames}\n'
    )


WAITS = "    all_reduce (torch/distributed/distributed_c10d.py:9)\n    main (train.py:3)"


def test_a_process_is_known_by_its_number(tmp_path: Path) -> None:
    """The command of py-spy may name no rank; the log does."""
    log = "\n".join(f"rank {rank} has pid {4100 + rank}" for rank in range(3)) + "\n" + STEPS
    stacks = "".join(
        spied(4100 + rank, "    read (reader.py:4)\n    main (train.py:2)" if rank == 1 else WAITS)
        for rank in range(3)
    )
    first = first_of(tmp_path, run__log=log, stacks__txt=stacks)
    assert (first["where"]["rank"], first["file"]) == (1, "stacks.txt")


def test_workers_that_load_data_are_none_of_the_ranks(tmp_path: Path) -> None:
    """Who waits for them is the one that the others wait for."""
    loader = "    wait (threading.py:3)\n    _try_get_data (torch/utils/data/dataloader.py:9)"
    worker = "    imread (cv.py:3)\n    _worker_loop (torch/utils/data/_utils/worker.py:8)"
    stacks = spied(1, loader, "python t.py --rank 0") + spied(2, WAITS, "python t.py --rank 1")
    first = first_of(tmp_path, run__log=STEPS, stacks__txt=stacks + spied(3, worker))
    assert first["where"]["rank"] == 0
    assert "_try_get_data" in first["why"]


def test_where_all_wait_the_one_that_came_another_way_is_named(tmp_path: Path) -> None:
    """A save that one rank enters alone gathers, as the step of the others does."""
    gather = "    all_gather (torch/distributed/distributed_c10d.py:9)\n"
    saving, forward = "    save (train.py:30)\n", "    forward (model.py:8)\n"
    stacks = "".join(
        spied(
            rank,
            f"{gather}{saving if rank == 0 else forward}    main (train.py:2)",
            f"python train.py --rank {rank}",
        )
        for rank in range(4)
    )
    first = first_of(tmp_path, run__log=STEPS, stacks__txt=stacks)
    assert first["where"]["rank"] == 0
    assert "save (train.py)" in first["why"]


def test_stages_of_a_pipeline_rightly_differ(tmp_path: Path) -> None:
    """None of them is named for where it stands."""
    stacks = "".join(
        spied(
            rank,
            "    recv (torch/distributed/distributed_c10d.py:9)\n    "
            f"{'send_forward' if rank == 0 else 'recv_forward'} (p2p_communication.py:8)\n"
            "    main (train.py:2)",
            f"python train.py --rank {rank}",
        )
        for rank in range(4)
    )
    first = first_of(tmp_path, run__log=STEPS, stacks__txt=stacks)
    assert first is None or first["where"]["rank"] is None


def test_stacks_that_are_all_alike_show_where_the_job_stands(tmp_path: Path) -> None:
    """They name no process."""
    waits = "    wait (torch/utils/file_baton.py:42)\n    main (train.py:2)"
    stacks = "".join(spied(rank, waits, f"python t.py --rank {rank}") for rank in range(3))
    first = first_of(tmp_path, run__log="Using /root/.cache as extensions root", s__txt=stacks)
    assert (first["file"], first["line"], first["where"]["rank"]) == ("s.txt", 5, None)


def test_on_one_machine_a_local_rank_is_the_rank(tmp_path: Path) -> None:
    """Of a job with more processes than that it is not."""
    dumps = "\n".join(
        threads(READING if rank == 2 else BACKWARD, f"[default{rank}]:") for rank in range(4)
    )
    for world, rank in ((4, 2), (8, None)):
        first = first_of(tmp_path, run__log=f"world size {world}\n{STEPS}\n{dumps}")
        assert (first["where"]["local_rank"], first["where"]["rank"]) == (2, rank)


NATIVE = """[New LWP {0}1]
[Thread debugging using libthread_db enabled]

Thread 2 (Thread 0x7f2f0d7fa700 (LWP {0}1)):
#0  0x00007f30aa0bd7dd in pthread_cond_wait@@GLIBC_2.3.2 () from /lib64/libpthread.so.0
#1  0x00007f2fc1e5b3a4 in c10d::ProcessGroupNCCL::heartbeatMonitor() () from /opt/libtorch_cuda.so

Thread 1 (Thread 0x7f30aa7c3740 (LWP {0})):
{1}
#9  0x00000000004fd0a4 in _PyEval_EvalFrameDefault ()"""
ON_DEVICE = """#0  0x00007ffd3a9c6b62 in clock_gettime ()
#1  0x00007f2fa1b0c7a1 in cuEventSynchronize () from /lib64/libcuda.so.1
#2  0x00007f2fc1e5b3a4 in c10d::ProcessGroupNCCL::WorkNCCL::wait() () from /opt/libtorch_cuda.so"""
IN_READ = """#0  0x00007f30a9691a30 in __read_nocancel () from /lib64/libc.so.6
#1  0x0000000000512a35 in _Py_read (fd=7, buf=0x7f, count=4096) at Python/fileutils.c:1680"""


def test_stacks_of_gdb_show_who_waits_for_nobody(tmp_path: Path) -> None:
    """Native calls: the system's own are no place, the device's and c10d's are waits."""
    files = {
        f"gdb_rank{rank}__txt": NATIVE.format(4100 + rank, IN_READ if rank == 3 else ON_DEVICE)
        for rank in range(4)
    }
    first = first_of(tmp_path, run__log=STEPS, **files)
    assert first["where"]["rank"] == 3
    assert "_Py_read" in first["why"]
    assert "cuEventSynchronize" in first["why"]


def test_stacks_alone_do_not_say_that_no_step_was_reached(tmp_path: Path) -> None:
    """There is no log that could have shown one."""
    for rank in range(3):
        text = spied(4100 + rank, "    read (reader.py:4)\n    main (t.py:2)" if rank else WAITS)
        (tmp_path / f"stack_rank{rank}.txt").write_text(text)
    assert postmortem.analyze(tmp_path).verdict.cause == "hang.stalled"


def test_a_rank_that_was_asked_in_two_ways_counts_once(tmp_path: Path) -> None:
    """Its own log has what faulthandler printed, another file what py-spy saw."""
    read = "    read_record (reader.py:8)\n    main (train.py:5)"
    files = {f"rank{rank}__log": f"{STEPS}\n{threads(BACKWARD)}" for rank in range(3)}
    files["rank1__log"] = f"{STEPS}\n{threads(READING)}"
    files |= {f"stack_rank{n}__txt": spied(n, read if n == 1 else WAITS) for n in range(3)}
    first = first_of(tmp_path, **files)
    assert first["where"]["rank"] == 1
    assert "read_record" in first["why"]
