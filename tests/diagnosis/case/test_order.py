"""The order of events: the first failure over files and attempts.

What was survived, what is only an echo.
"""

from pathlib import Path

import pytest

import postmortem

RECORDS = "".join(
    f"{{'loss': {2.5 - i / 20:.4f}, 'grad_norm': 1.2345678, 'learning_rate': {5e-5 - i * 1.1e-6:.8g}, 'epoch': 0.0{i}}}\n"
    for i in range(1, 10)
)
MISSING = "Traceback (most recent call last):\n  File \"/home/me/train.py\", line 3, in <module>\n    import flash_attn\nModuleNotFoundError: No module named 'flash_attn'\n"
OOM = (
    'Traceback (most recent call last):\n  File "/home/me/train.py", line 90, in <module>\n    loss.backward()\n'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.20 GiB is free. Including non-PyTorch memory, this process has 22.40 GiB memory in use."
    " Of the allocated memory 21.90 GiB is allocated by PyTorch, and 290.00 MiB is reserved by PyTorch but unallocated.\n"
)
TIMEOUT = (
    "[rank1]:[E1111 17:01:37.061727749 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000)"
    " ran for 600021 milliseconds before timing out.\n"
)
CHILD = (
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    + "=" * 60
    + "\ntrain.py FAILED\n"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            RECORDS + OOM + CHILD, "memory.cuda-oom", id="the launcher's summary is an echo"
        ),
        pytest.param(
            RECORDS + OOM + TIMEOUT,
            "memory.cuda-oom",
            id="the time-out of the other ranks is an echo",
        ),
        pytest.param(
            RECORDS + TIMEOUT, "distributed.nccl-timeout", id="a time-out with nothing before it"
        ),
        pytest.param(
            "***** Running training *****\n"
            + MISSING
            + "***** Running training *****\n"
            + RECORDS
            + OOM,
            "memory.cuda-oom",
            id="of two attempts the last counts",
        ),
        pytest.param(
            "+ python train.py\n"
            + MISSING
            + "+ pip install flash_attn\n+ python train.py\n"
            + RECORDS
            + OOM,
            "memory.cuda-oom",
            id="the same command again is another attempt",
        ),
        pytest.param(
            "+ python setup.py\n" + MISSING + "+ python train.py\n" + OOM,
            "environment.missing-package",
            id="another command is none",
        ),
        pytest.param(
            MISSING.replace(
                "Traceback", "[2024-05-01 12:00:00,123] [WARNING] [x.py:1:f] Traceback", 1
            )
            + RECORDS
            + OOM,
            "memory.cuda-oom",
            id="what the run survived is no cause",
        ),
        pytest.param(
            OOM
            + "2024-05-01 12:00:01,000 - train - ERROR - ModuleNotFoundError: No module named 'flash_attn'\n",
            "memory.cuda-oom",
            id="a clock on one line alone orders nothing",
        ),
    ],
)
def test_the_first_failure_of_the_last_attempt_counts(
    tmp_path: Path, text: str, expected: str
) -> None:
    """Echoes, earlier attempts and survived errors do not carry the verdict."""
    log = tmp_path / "run.log"
    log.write_text(text)
    assert postmortem.analyze(log).causes[0].id == expected


def test_over_files_the_clock_decides(tmp_path: Path) -> None:
    """The rank that failed first by the clock is the failure, whatever the files are called."""
    (tmp_path / "rank0.log").write_text(
        "2024-05-01 12:00:09,000 - train - ERROR - RuntimeError: CUDA error: an illegal memory access was encountered\n"
    )
    (tmp_path / "rank1.log").write_text(
        "2024-05-01 12:00:01,000 - train - ERROR - OSError: [Errno 28] No space left on device\n"
    )
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


GONE = (
    'Traceback (most recent call last):\n  File "/home/me/train.py", line 58, in <module>\n    loss.backward()\n'
    "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.7]:41212\n"
)
KEYERROR = "Traceback (most recent call last):\n  File \"/home/me/data.py\", line 12, in __getitem__\n    return self.rows[index]['label']\nKeyError: 'label'\n"
ROOT = (
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n{line}\ntrain.py FAILED\n{line}\nRoot Cause (first observed failure):\n[0]:\n  time      : 2024-05-01_12:00:01\n"
    "  host      : node1\n  rank      : {rank} (local_rank: {rank})\n  exitcode  : 1 (pid: 4245)\n  error_file: {file}\n  traceback : none\n"
).replace("{line}", "=" * 60)


def _first(folder: Path, files: dict[str, str]) -> tuple[str, int]:
    """Analyse a job of files; gives the file and the line of the first failure."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    report = postmortem.analyze(folder).diagnosis
    failure = report.first_failure
    assert failure is not None
    return str(Path(report.sources[failure.source].path).relative_to(folder)), failure.line


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(
            {"rank0.log": GONE, "rank1.log": KEYERROR},
            ("rank1.log", 4),
            id="who lost a peer comes after who failed",
        ),
        pytest.param(
            {
                "console.log": "[rank1]: " + KEYERROR.replace("\n", "\n[rank1]: "),
                "rank0.log": GONE,
                "rank1.log": KEYERROR,
            },
            ("rank1.log", 4),
            id="the process's own file before the console's copy",
        ),
        pytest.param(
            {"launch.log": KEYERROR, "train.4711.log": RECORDS, "train.4712.log": KEYERROR},
            ("train.4712.log", 4),
            id="files by process id",
        ),
        pytest.param(
            {
                "rank0/error.json": '{"message": {"message": "KeyError: \'label\'", "extraInfo": {"py_callstack": "Traceback (most recent call last):\\n", "timestamp": "1714564801"}}}\n',
                "rank0/stderr.log": KEYERROR,
            },
            ("rank0/stderr.log", 4),
            id="the traceback before its copy in the error file",
        ),
        pytest.param(
            {
                "agent.log": "E0501 12:00:03.407000 12404 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -9) local_rank: 1 (pid: 12524) of binary: /usr/bin/python\n",
                "dmesg.txt": "[19107.281900] Memory cgroup out of memory: Killed process 12524 (python) total-vm:1739528kB, anon-rss:1058336kB, file-rss:101136kB, shmem-rss:0kB, UID:0 oom_score_adj:0\n",
            },
            ("dmesg.txt", 1),
            id="what the kernel did before what the agent saw of it",
        ),
        pytest.param(
            {"attempt_0/0/stderr.log": OOM, "attempt_1/0/stderr.log": KEYERROR, "agent.log": CHILD},
            ("attempt_1/0/stderr.log", 4),
            id="the folder of the last attempt",
        ),
        pytest.param(
            {
                "rank0.log": MISSING,
                "rank1.log": KEYERROR,
                "agent.log": ROOT.format(
                    rank=1, file="/tmp/torchelastic_a/none_b/attempt_0/1/error.json"
                ),
            },
            ("rank1.log", 4),
            id="a root cause with an error file is believed",
        ),
        pytest.param(
            {
                "rank0.log": f"2024-05-01 12:00:00,000 - t - ERROR - begin\n{MISSING}",
                "rank1.log": f"2024-05-01 12:00:05,000 - t - ERROR - begin\n{KEYERROR}",
                "agent.log": ROOT.format(rank=1, file="<N/A>"),
            },
            ("rank0.log", 5),
            id="without an error file it is only the order of looking: the clock decides",
        ),
        pytest.param(
            {
                "rank0.log": f"[10:00:09][I] step=9 x=1\n{MISSING}",
                "rank1.log": f"[10:00:02][I] step=4 x=1\n{KEYERROR}",
            },
            ("rank1.log", 5),
            id="a clock without a day is a clock",
        ),
        pytest.param(
            {
                "rank0.log": f"[23:59:58][I] step=9 x=1\n{MISSING}",
                "rank1.log": f"[00:00:02][I] step=4 x=1\n{KEYERROR}",
            },
            ("rank0.log", 5),
            id="times a day apart order nothing",
        ),
    ],
)
def test_the_first_failure_of_a_job_of_files(
    tmp_path: Path, files: dict[str, str], expected: tuple[str, int]
) -> None:
    """The process to which it happened, at the line at which it says so."""
    assert _first(tmp_path, files) == expected


def test_clocks_that_stand_apart_are_noticed_and_corrected(tmp_path: Path) -> None:
    """Two nodes log the same steps, one's clock is two minutes ahead.

    Its failure is earlier than its stamps say.
    """
    steps = [
        f"2024-05-01 12:00:{step:02d},000 - t - INFO - step {step} loss {2.5 - step / 50:.3f}\n"
        for step in range(10)
    ]
    ahead = [line.replace("12:00:", "12:02:") for line in steps]
    files = {
        "node-a.log": "".join(steps) + "2024-05-01 12:00:20,000 - t - ERROR - stopped\n" + MISSING,
        "node-b.log": "".join(ahead) + "2024-05-01 12:02:10,000 - t - ERROR - stopped\n" + KEYERROR,
    }
    assert _first(tmp_path, files) == ("node-b.log", 15)
    assert any(
        "node-b.log is +120 s off" in warning
        for warning in postmortem.analyze(tmp_path).diagnosis.warnings
    )


def test_a_restart_that_ran_to_its_end_is_no_failure(tmp_path: Path) -> None:
    """The error of the first attempt is followed by records and a closing line."""
    log = tmp_path / "run.log"
    log.write_text(KEYERROR + RECORDS + "Training complete\n")
    assert postmortem.analyze(log).diagnosis.outcome == "completed"


def test_the_rank_that_went_bad_first_is_named(tmp_path: Path) -> None:
    """All ranks end at NaN; one of them a step before the others."""
    for rank in range(3):
        losses = ["0.9", "0.8", "nan" if rank == 1 else "0.7", "nan", "nan"]
        (tmp_path / f"rank{rank}.log").write_text(
            "".join(
                f"rank={rank} step={step} loss={loss} lr=1e-4\n" for step, loss in enumerate(losses)
            )
        )
    report = postmortem.analyze(tmp_path).diagnosis
    assert report.first_failure is not None
    assert (report.first_failure.where.rank, report.first_failure.line) == (1, 3)
    assert not any(cause.id == "numerics.lr-divergence" for cause in report.causes[:2])


def test_an_exception_that_was_survived_says_nothing_about_the_end(tmp_path: Path) -> None:
    """It stands in front of many records.

    It neither is the cause nor speaks against what ended the run.
    """
    log = tmp_path / "run.log"
    log.write_text(
        MISSING
        + 3 * RECORDS
        + "slurmstepd: error: *** JOB 90210 ON dgx1 CANCELLED AT 2025-09-09T09:09:09 ***\n"
    )
    assert postmortem.analyze(log).verdict.cause == "scheduler.terminated"


@pytest.mark.parametrize(("behind", "is_stopped"), [(5, True), (60, False)])
def test_what_a_scheduler_stops_writes_on_for_some_seconds(
    tmp_path: Path, behind: int, *, is_stopped: bool
) -> None:
    """Beyond that it was another step of the job that was stopped."""
    log = tmp_path / "run.log"
    records = [f"step {n} loss {3 - n / 100:.3f}\n" for n in range(1, 121 + behind)]
    records.insert(
        120, "slurmstepd: error: *** JOB 90210 ON dgx1 CANCELLED AT 2025-09-09T09:09:09 ***\n"
    )
    log.write_text("".join(records))
    assert (postmortem.analyze(log).verdict.cause == "scheduler.terminated") is is_stopped


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return total / len(loader)", "data.empty"),
        ("precision = hits / predicted", "code.user-exception"),
    ],
)
def test_what_is_divided_by_tells_an_empty_loader_from_a_mistake(
    tmp_path: Path, line: str, expected: str
) -> None:
    """A count of batches that is 0 is an empty data set, another divisor is the user's."""
    log = tmp_path / "run.log"
    log.write_text(
        f'Traceback (most recent call last):\n  File "/home/me/train.py", line 40, in evaluate\n    {line}\nZeroDivisionError: division by zero\n'
    )
    assert postmortem.analyze(log).causes[0].id == expected
