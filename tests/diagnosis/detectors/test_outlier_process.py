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
