"""The one process that is not where the others are."""

from pathlib import Path

import pytest

from postmortem import api

WATCHDOG = (
    "[rank{0}]:[E309 10:41:00.118372645 ProcessGroupNCCL.cpp:616] [Rank {0}] Watchdog caught"
    " collective operation timeout: WorkNCCL(SeqNum={1}, OpType={2}, NumelIn=100, NumelOut=100,"
    " Timeout(ms)=600000) ran for 600041 milliseconds before timing out."
)


def where(tmp_path: Path, files: dict[str, str]) -> object:
    """Name the process of the first failure of a job."""
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    first = api.analyze(str(tmp_path)).diagnosis.first_failure
    assert first is not None
    return first.where.rank if first.where.rank is not None else first.where.node


TIMED_OUT = WATCHDOG.format(0, 7, "ALLREDUCE")
HCCL = "".join(
    f"\n[rank{rank}]: EI0002: [PID: 3{rank}] 2026-03-09-10:41:11.120.301 The wait execution of the"
    " Notify register times out. Reason: The Notify register has not received the Notify record"
    " from remote rank [3]. base information: [streamID:[2], taskID[77], tag[AllReduce_1]]."
    for rank in range(3)
)
DESYNC = f"""
{TIMED_OUT}
\t - To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:
\t     [2] finished collective #6, but didn't join collective #7 (count from 1)
\t - Snapshot of ranks' latest states:
\t   #7 started ranks:
\t     [0-1, 3] started ALLREDUCE"""
SINFO = """NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY REASON
c1             1       gpu   allocated 96     2:48:1 103100 none
c2             1       gpu       down* 96     2:48:1 103100 Not responding"""
SCONTROL = """NodeName=c1 Arch=x86_64 CoresPerSocket=48
   CPUAlloc=96 CPUTot=96 CPULoad=95.11
   State=ALLOCATED ThreadsPerCore=1

NodeName=c2 Arch=x86_64 CoresPerSocket=48
   CPUAlloc=96 CPUTot=96 CPULoad=0.00
   State=DOWN*+NOT_RESPONDING ThreadsPerCore=1"""
STEPS = "\n".join(f"step {step} loss 1.{step}" for step in range(30))


@pytest.mark.parametrize(
    ("files", "who"),
    [
        pytest.param(
            {
                f"rank{rank}.log": STEPS
                + ("" if rank == 2 else "\n" + WATCHDOG.format(rank, 77, "ALLREDUCE"))
                for rank in range(4)
            },
            2,
            id="no watchdog of one",
        ),
        pytest.param(
            {
                "train.log": "\n".join(
                    WATCHDOG.format(rank, 77, "BROADCAST" if rank == 0 else "ALLREDUCE")
                    for rank in range(4)
                )
            },
            0,
            id="the odd operation, though it stands first",
        ),
        pytest.param(
            {
                "train.log": STEPS
                + "\nRuntimeError: [Rank 0]: Ranks 5 failed to pass monitoredBarrier in 1800000 ms"
            },
            5,
            id="a barrier names it",
        ),
        pytest.param(
            {
                "train.log": STEPS + "\n" + WATCHDOG.format(0, 7, "ALLREDUCE"),
                "slurmctld.log": "[2026-03-09T10:31:36.440] error: Nodes gpu07 not responding,"
                " setting DOWN",
            },
            "gpu07",
            id="a machine that the controller lost",
        ),
        pytest.param(
            {
                "dmesg.txt": "[Mon Mar  9 10:30:11 2026] Out of memory: Killed process 7712"
                " (python) total-vm:91203412kB, anon-rss:81122004kB",
                "rank0.log": f"pid 7710\n{STEPS}\n" + WATCHDOG.format(0, 7, "ALLREDUCE"),
                "rank1.log": f"pid 7712\n{STEPS}",
            },
            1,
            id="the kernel names a number",
        ),
        pytest.param(
            {
                "train.log": STEPS
                + "".join(
                    f"\n[coordinator] still waiting for ranks [5] at barrier ({60 * k} s)"
                    for k in range(20)
                )
            },
            5,
            id="the one that is waited for",
        ),
        pytest.param({"train.log": STEPS + HCCL}, 3, id="HCCL waits for a record of it"),
        pytest.param({"train.log": STEPS + DESYNC}, 2, id="torch's report of a desync"),
        pytest.param(
            {"train.log": f"on c1,c2\n{STEPS}\n{TIMED_OUT}", "sinfo.txt": SINFO},
            "c2",
            id="Slurm's list of nodes",
        ),
        pytest.param(
            {"train.log": f"on c1,c2\n{STEPS}\n{TIMED_OUT}", "nodes.txt": SCONTROL},
            "c2",
            id="Slurm's record of a node",
        ),
        pytest.param(
            {"train.log": f"{STEPS}\n{TIMED_OUT}", "sinfo.txt": SINFO},
            0,
            id="a node of another job",
        ),
        pytest.param(
            {
                "train.log": f"rank 1 has pid 7712\n{STEPS}\n{TIMED_OUT}",
                "dmesg.txt": "[Mon Mar  9 10:31:02 2026] NVRM: Xid (PCI:0000:4e:00): 94, pid=7712,"
                " name=python, Contained: SM (0x1). RST: No, D-RST: No",
            },
            1,
            id="the driver names the number of a process",
        ),
    ],
)
def test_the_odd_one_is_named(tmp_path: Path, files: dict[str, str], who: object) -> None:
    """Whoever tells of it."""
    assert where(tmp_path, files) == who


def test_a_line_that_no_other_process_prints(tmp_path: Path) -> None:
    """Just before the first bad value, it is the first failure."""
    files = {
        f"rank{rank}.log": "\n".join(f"step {step} loss 1.{step}" for step in range(20))
        + ("\nsample 7.npz holds 2 non-finite values\nstep 20 loss nan" if rank == 1 else "")
        + ("\nstep 20 loss 1.20" if rank != 1 else "")
        + "\nstep 21 loss nan"
        for rank in range(3)
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    told = api.analyze(str(tmp_path)).diagnosis
    assert told.causes[0].id == "numerics.bad-batch"
    assert told.first_failure is not None
    assert (told.first_failure.where.rank, told.first_failure.line) == (1, 21)
