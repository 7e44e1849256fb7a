"""The first failure stands in the file of the process at fault, wherever that is told."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

import postmortem

_STEPS = [f"step {number} loss {2.5 - number / 100:.4f}" for number in range(40)]


def _stamped(count: int) -> list[str]:
    return [f"2026-02-03 10:00:{number:02d} {line}" for number, line in enumerate(_STEPS[:count])]


def _watchdog(rank: int) -> str:
    return (
        f"[rank{rank}]:[E203 10:20:10.210000000 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog "
        "caught collective operation timeout: WorkNCCL(SeqNum=44, OpType=ALLREDUCE, NumelIn=1, "
        "NumelOut=1, Timeout(ms)=600000) ran for 600044 milliseconds before timing out."
    )


_AGENT = [
    "E0203 10:01:51.500000 900 torch/distributed/elastic/multiprocessing/api.py:869] failed "
    "(exitcode: -9) local_rank: 2 (pid: 913) of binary: /opt/conda/bin/python",
]
_DESCRIBED = [
    "Name:         tts-job-1",
    "Status:       Failed",
    "Containers:",
    "  pytorch:",
    "    Last State:     Terminated",
    "      Reason:       OOMKilled",
]
_KERNEL = [
    "[Tue Feb  3 10:01:42 2026] python[5502]: segfault at 7f2c00000010 ip 00007f2d1c2a1b30 sp "
    "00007ffd0a2e8a10 error 4 in libtorch_cpu.so[7f2d18000000+9800000]"
]
_EVICTED = [
    "slurmstepd: error: *** JOB 77 ON n4 CANCELLED AT 2026-02-03T10:00:41 DUE TO PREEMPTION ***"
]
_SIGNALLED = [
    "W0203 10:00:41.700000 701 torch/distributed/elastic/agent/server/api.py:719] Received "
    "Signals.SIGTERM death signal, shutting down workers"
]
_CHILDREN = {f"rank_{number}/stdout.log": _stamped(40) for number in range(4)}


@pytest.mark.parametrize(
    ("files", "name", "line", "told"),
    [
        pytest.param(
            {
                **{f"rank{number}.log": [*_stamped(40), _watchdog(number)] for number in range(3)},
                "rank3.log": _stamped(38),
            },
            "rank3.log",
            38,
            "told by rank0.log, line 41",
            id="one keeps silent, the others waited: its last line",
        ),
        pytest.param(
            {
                **_CHILDREN,
                "agent.log": _AGENT,
                "rank_2/stderr.log": ["MemoryError: cannot grow the index"],
            },
            "rank_2/stderr.log",
            1,
            "cannot grow the index",
            id="an agent names the child that was killed, and the child says why",
        ),
        pytest.param(
            {**_CHILDREN, "agent.log": _AGENT},
            "agent.log",
            1,
            "SIGKILL",
            id="an agent names the child that was killed, and the child says nothing",
        ),
        pytest.param(
            {**{f"tts-job-{number}.log": _stamped(40) for number in range(3)}, "d.txt": _DESCRIBED},
            "tts-job-1.log",
            40,
            "told by d.txt, line 6",
            id="a cluster names the pod, whose log is called so",
        ),
        pytest.param(
            {
                **{f"rank{n}.log": [f"start pid {5500 + n}", *_stamped(40)] for n in range(4)},
                "dmesg.txt": _KERNEL,
            },
            "rank2.log",
            41,
            "told by dmesg.txt, line 1",
            id="the kernel names a process number",
        ),
        pytest.param(
            {
                "a_0.out": [*_stamped(40), *_SIGNALLED],
                "a_1.out": _SIGNALLED,
                "slurm-77.err": _EVICTED,
            },
            "slurm-77.err",
            1,
            "pre-empted",
            id="who says why stands before who only got the signal",
        ),
    ],
)
def test_it_stands_where_the_guilty_process_shows_it(
    tmp_path: Path, files: Mapping[str, list[str]], name: str, line: int, told: str
) -> None:
    """The source and line are its own, and the reason says who told of it."""
    for path, lines in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = json.loads(postmortem.analyze(str(tmp_path)).render("json", redact=False))
    first = report["first_failure"]
    assert report["sources"][first["source"]]["path"].endswith(name)
    assert first["line"] == line
    assert told in first["why"]


def test_the_witness_stays_in_the_timeline(tmp_path: Path) -> None:
    """Who told of it is an event of its own."""
    pods = {f"tts-job-{number}.log": _stamped(40) for number in range(3)}
    for path, lines in {**pods, "d.txt": _DESCRIBED}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = json.loads(postmortem.analyze(str(tmp_path)).render("json", redact=False))
    told = {(report["sources"][one["source"]]["path"], one["line"]) for one in report["timeline"]}
    assert any(path.endswith("d.txt") and line == 6 for path, line in told)
