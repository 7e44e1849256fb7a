"""Which process a report of NCCL's RAS names; the reports are made here, in NCCL's wording."""

from pathlib import Path

import pytest

import postmortem
from postmortem import Report

HEAD = """NCCL version 2.28.9+cuda12.9 compiled with CUDA 12.9
CUDA runtime version 12090, driver version 12090

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      2          8            1         16       16

Communicators... (0.01s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         2         8        16        16   RUNNING  {0}
    1         8         2         1         2        16   RUNNING  {1}

Errors
======
"""
MANAGED = " -- GPU 3 managed by process 5170 on node 10.0.0.{node}"
WATCHDOG = (
    "[rank0]:[E603 17:48:01.005271823 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective"
    " operation timeout: WorkNCCL(SeqNum=640, OpType=ALLREDUCE, NumelIn=8, NumelOut=8,"
    " Timeout(ms)=600000) ran for 600068 milliseconds before timing out.\n"
)


def report(*parts: str, job: str = "OK", pairs: str = "OK") -> str:
    """A report of a job on two machines, with parts of its errors and warnings."""
    return HEAD.format(job, pairs) + "".join(f"\n{part}\n" for part in parts)


def part(group: int, kind: str, *rows: str) -> str:
    """The part on a communicator."""
    return "\n".join([f"#{group}-0 (b3398875b8b2a063) {kind}", *(f"  {row}" for row in rows)])


def counts(operation: str, most: str, *rows: str, group: int = 0) -> str:
    """The part on differing counts of an operation."""
    topic = f"Communicator ranks have different {operation} operation counts"
    return part(group, "MISMATCH", topic, most, *rows)


def process(rank: int, said: str = "", node: int = 2) -> str:
    """A row that names a process."""
    return f"Rank {rank}{said}{MANAGED.format(node=node)}"


MISSING = part(0, "INCOMPLETE", "Missing communicator data from 1 rank", process(11))
DEAD = "DEAD\n  1 job process is considered dead (unreachable via the RAS network)\n  Process 5170 on node 10.0.0.2 managing GPU 3"  # fmt: skip
BEHIND = counts(
    "AllReduce", "15 ranks have launched up to operation 641",
    process(11, " has launched up to operation 640"),
)  # fmt: skip


def analyze(text: str, folder: Path) -> Report:
    """What is said of a text."""
    path = folder / "ras.txt"
    path.write_text(text)
    return postmortem.analyze(path)


@pytest.mark.parametrize(
    ("parts", "where"),
    [
        ([MISSING], (11, "10.0.0.2", 5170)),
        ([DEAD], (None, "10.0.0.2", 5170)),
        ([DEAD, MISSING], (11, "10.0.0.2", 5170)),
        ([BEHIND], (11, "10.0.0.2", 5170)),
        ([MISSING, counts("AllReduce", "14 ranks have launched up to operation 9",
          process(4, " has launched up to operation 8"))], (11, "10.0.0.2", 5170)),
        ([counts("Broadcast", "14 ranks have launched up to operation 641",
          "2 ranks have not launched any operations", process(5), process(6))],
         (5, "10.0.0.2", 5170)),
        ([part(0, "MISMATCH", "Communicator ranks have different status",
          "15 ranks have status RUNNING", process(2, " has status ABORT", node=1))],
         (2, "10.0.0.1", 5170)),
        ([part(0, "ERROR", "Asynchronous errors on 3 ranks", "2 ranks reported Remote process error",
          process(7), process(8), process(9, " reported Unhandled CUDA error"))],
         (9, "10.0.0.2", 5170)),
        ([part(1, "INCOMPLETE", "Missing communicator data from 1 rank", process(1))],
         (None, "10.0.0.2", 5170)),
    ],
    ids=["missing", "dead", "dead-with-rank", "behind", "missing-first", "never-launched",
         "aborted", "own-error", "rank-of-a-pair"],
)  # fmt: skip
def test_the_odd_process_is_named(
    tmp_path: Path, parts: list[str], where: tuple[int | None, str, int]
) -> None:
    """By its rank where the communicator spans the job, else by machine and process."""
    told = analyze(report(*parts, job="INCOMPLETE"), tmp_path).to_dict(redact=False)
    first = told["first_failure"]["where"]
    assert (first["rank"], first["node"], first["pid"]) == where
    assert told["outcome"] == "stalled"
    assert told["verdict"]["probability"] < 0.8
    assert not any(cause["id"] == "hang.startup" for cause in told["causes"])


@pytest.mark.parametrize(
    "parts",
    [
        [counts("AllGather", "14 ranks have launched up to operation 640",
                "2 ranks have launched up to operation 641", process(12), process(13))],
        [BEHIND, counts("AllGather", "15 ranks have launched up to operation 9",
                        process(3, " has launched up to operation 8"))],
    ],
    ids=["most-behind", "two-operations"],
)  # fmt: skip
def test_no_process_is_named_where_the_counts_accuse_several(
    tmp_path: Path, parts: list[str]
) -> None:
    """Those that have gone on are listed, those behind are not; or each operation has its own."""
    told = analyze(report(*parts, job="MISMATCH"), tmp_path).to_dict()
    assert (told["outcome"], told["verdict"]["status"]) == ("stalled", "unknown")
    assert told["first_failure"] is None


def test_a_sound_report_proves_nothing(tmp_path: Path) -> None:
    """It is no log, and no process is named."""
    told = analyze(report(), tmp_path).to_dict()
    assert told["outcome"] == "not-a-training-log"
    assert told["first_failure"] is None


def test_a_run_that_goes_on_behind_a_report_is_sound(tmp_path: Path) -> None:
    """Some monitors ask again and again, and counts differ at any moment."""
    steps = [f"step {step} loss {2 - step / 40:.3f}\n" for step in range(43)]
    told = analyze("".join([*steps[:20], report(BEHIND), *steps[20:]]), tmp_path).to_dict()
    assert (told["outcome"], told["first_failure"]) == ("running", None)


def test_a_report_decides_the_rank_of_a_time_out(tmp_path: Path) -> None:
    """Beside a log, and within it."""
    (tmp_path / "train.log").write_text(WATCHDOG)
    (tmp_path / "ras.txt").write_text(report(BEHIND))
    assert postmortem.analyze(tmp_path).to_dict()["first_failure"]["where"]["rank"] == 11
    told = analyze(WATCHDOG + report(MISSING), tmp_path).to_dict()
    assert told["first_failure"]["where"]["rank"] == 11
