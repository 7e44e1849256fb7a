"""Whose exception it is that another process prints."""

import json
from pathlib import Path
from typing import Any

import postmortem


def first_of(tmp_path: Path, **files: str) -> Any:
    """Analyse files and give the first failure, with the name of its file and the first cause."""
    for name, text in files.items():
        (tmp_path / f"{name}.log").write_text(text + "\n", encoding="utf-8")
    report = json.loads(postmortem.analyze(str(tmp_path)).render("json", redact=False))
    first = report["first_failure"]
    file = Path(report["sources"][first["source"]]["path"]).stem
    return {**first, "file": file, "cause": report["causes"][0]["id"]}


def gathered(rank: int) -> str:
    """Give what a rank prints of a save that failed on rank 5."""
    lines = [
        "Traceback (most recent call last):",
        '  File "/job/train.py", line 31, in main',
        "    save(model)",
        "torch.distributed.checkpoint.api.CheckpointException: CheckpointException"
        " ranks:dict_keys([5])",
        "Traceback (most recent call last): (RANK 5)",
        '  File "/v/site-packages/torch/serialization.py", line 850, in save',
        "    _save(obj, file)",
        "OSError: [Errno 28] No space left on device: '/scratch/__5_0.distcp'",
    ]
    return "\n".join(f"[rank{rank}]: {line}" for line in lines)


def test_an_exception_that_all_gather_is_that_of_the_rank_it_names(tmp_path: Path) -> None:
    """The first in the order of files is only one of those who print it."""
    first = first_of(tmp_path, alpha=gathered(0), beta=gathered(5), gamma=gathered(8))
    assert (first["file"], first["where"]["rank"]) == ("beta", 5)
    assert first["cause"] == "io.disk-full"


def test_the_rank_is_known_where_its_own_log_is_not_there(tmp_path: Path) -> None:
    """Whoever gathered its exception tells of it."""
    first = first_of(tmp_path, alpha=gathered(0), gamma=gathered(8))
    assert first["where"]["rank"] == 5
    assert "No space left" in first["why"]


def test_what_a_task_of_ray_raised_is_its_workers(tmp_path: Path) -> None:
    """Not the driver's, to which it was handed on twice; its peers die of it."""
    lines = [
        "(TrainWorker pid=501, ip=10.0.3.4) step 100 loss 0.42",
        "Traceback (most recent call last):",
        '  File "/v/site-packages/ray/_private/worker.py", line 919, in get_objects',
        "    raise value.as_instanceof_cause()",
        "ray.exceptions.RayTaskError(KeyError): ray::Inner.train() (pid=501, ip=10.0.3.4)",
        '  File "/v/site-packages/ray/train/utils.py", line 57, in check_for_failure',
        "    ray.get(object_ref)",
        "ray.exceptions.RayTaskError(KeyError): ray::Worker.get_next() (pid=318, ip=10.0.3.9,"
        " actor_id=e6c4, repr=<Worker object at 0x7f3c>)",
        '  File "/home/ray/train.py", line 88, in loop',
        '    table.column("user_id")',
        "KeyError: 'Field \"user_id\" does not exist in schema'",
        "(raylet, ip=10.0.3.4) A worker died or was killed while executing a task by an"
        " unexpected system error. There are some potential root causes. (1) The process is"
        " killed by SIGKILL by OOM killer due to high memory usage.",
    ]
    first = first_of(tmp_path, driver="\n".join(lines))
    assert (first["where"]["node"], first["where"]["pid"]) == ("10.0.3.9", 318)
    assert first["cause"] == "data.schema"


def test_who_cannot_reach_the_store_is_the_client_that_is_missing(tmp_path: Path) -> None:
    """The others, and the store, wait for it; no clock tells them apart."""
    head = 'Traceback (most recent call last):\n  File "/v/torchrun", line 8, in <module>\n'
    ends = {
        "alpha": "Timed out after 901 seconds waiting for clients. 2/3 clients joined.",
        "beta": "Socket Timeout",
    }
    files = {name: f"{head}torch.distributed.DistStoreError: {text}" for name, text in ends.items()}
    lost = (
        "torch.distributed.DistNetworkError: The client socket has timed out after 900s while"
        " trying to connect to (127.0.0.1, 29500)."
    )
    first = first_of(tmp_path, **files, gamma=f"{head}{lost}")
    assert first["file"] == "gamma"


def test_who_finds_a_peer_gone_is_not_first(tmp_path: Path) -> None:
    """A refused connection of NCCL is what is left of the peer that failed."""
    head = 'Traceback (most recent call last):\n  File "/job/train.py", line 60, in <module>\n'
    left = (
        f"{head}torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:77, remote process"
        " exited or there was a network error, NCCL version 2.26.2\nLast error:\n"
        "socketPollConnect: connect to 10.30.0.4<51332> returned Connection refused, exceeded"
        " error retry count after 35 attempts"
    )
    own = f"{head}RuntimeError: CUDA error: invalid device ordinal"
    first = first_of(tmp_path, alpha=left, beta=own)
    assert (first["file"], first["cause"]) == ("beta", "distributed.device-count")


def test_who_fails_without_a_label_is_the_rank_whose_watchdog_is_silent(tmp_path: Path) -> None:
    """A thread of it died; the watchdogs of all others report in the same log."""
    steps = "\n".join(f"step {step} loss 1.{step}" for step in range(30))
    died = (
        "Exception in thread Thread-4 (_prefetch):\nTraceback (most recent call last):\n"
        '  File "/job/shards.py", line 77, in _prefetch\n    tar = open(path)\n'
        "FileNotFoundError: [Errno 2] No such file or directory: '/data/train-00413.tar'"
    )
    reports = "\n".join(
        f"[rank{rank}]:[E828 19:30:23.020509742 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog"
        " caught collective operation timeout: WorkNCCL(SeqNum=52, OpType=ALLREDUCE, NumelIn=6,"
        " NumelOut=6, Timeout(ms)=600000) ran for 600034 milliseconds before timing out."
        for rank in (0, 1, 3)
    )
    first = first_of(tmp_path, run=f"{steps}\n{died}\n{reports}")
    assert first["where"]["rank"] == 2
    assert "train-00413" in first["why"]


def test_what_peers_tell_of_a_failure_that_nobody_shows_is_not_theirs(tmp_path: Path) -> None:
    """The log of the one that failed is not there."""
    steps = "\n".join(f"step {step} loss 1.{step}" for step in range(30))
    told = (
        "[rank{0}]:[E605 00:32:01.705 ProcessGroupNCCL.cpp:1895] [PG ID 0 PG GUID 0 Rank {0}]"
        " Process group watchdog thread terminated with exception: NCCL error: remote process"
        " exited or there was a network error, NCCL version 2.21.5"
    )
    first = first_of(tmp_path, alpha=f"{steps}\n{told.format(1)}", beta=told.format(5))
    assert (first["line"], first["where"]["rank"]) == (31, None)


def test_a_cluster_tells_what_a_run_waits_for(tmp_path: Path) -> None:
    """Before any step, the first such line is where it stands."""
    waits = (
        "(autoscaler +{0}s) Error: No available node types can fulfill resource request {{'GPU':"
        " 8.0, 'CPU': 8.0}}. Add suitable node types to this cluster to resolve this issue."
    )
    text = "\n".join(["creating placement groups", *(waits.format(30 * n) for n in range(1, 9))])
    files = {"driver": text, "question": "It is stuck, nothing is printed for an hour"}
    first = first_of(tmp_path, **files)
    assert (first["file"], first["line"]) == ("driver", 2)
