"""A job that stands still, seen by another clock of it, by a watcher, by stacks, by its last words."""

from pathlib import Path
from typing import Any

import pytest

from postmortem import api
from postmortem.diagnosis.detectors.signs_of_life import find_heartbeats

STEPS = "\n".join(
    f"2026-03-09 10:00:{second:02d} step {second} loss 1.{second}" for second in range(30)
)
LIMIT = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-03-09T{} DUE TO TIME LIMIT ***"


def of(tmp_path: Path, files: dict[str, str]) -> Any:
    """Analyse a job of these files."""
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    return api.analyze(str(tmp_path)).diagnosis


def lines(*texts: str) -> list[tuple[int, str]]:
    """Number them from 1."""
    return list(enumerate(texts, 1))


@pytest.mark.parametrize(
    ("texts", "times", "span"),
    [
        pytest.param(
            [f"[watch] no output for {minutes} min, pid 7 alive" for minutes in (30, 60, 90)],
            3,
            3600.0,
            id="an age that rises",
        ),
        pytest.param(
            [f"10:0{minute}:00 [monitor] load {minute}.1 {minute}.2 cpu 0%" for minute in range(4)],
            4,
            180.0,
            id="a load that wavers",
        ),
        pytest.param(
            [
                text
                for minute in range(3)
                for text in (
                    "== Status ==",
                    f"Current time: 2026-03-09 10:0{minute}:00",
                    "1 RUNNING",
                )
            ],
            3,
            120.0,
            id="blocks of lines",
        ),
        pytest.param(
            ["step 3 loss 1.0", *["still waiting for rank 1"] * 4], 4, 0.0, id="the same again"
        ),
        pytest.param(
            [f"10:0{minute}:00 cpu 3% step {minute}" for minute in range(5)],
            None,
            None,
            id="a step that goes forward",
        ),
        pytest.param(
            [f"read {count} files, gpu 80%" for count in (10, 20, 30)],
            None,
            None,
            id="a count of files that goes forward",
        ),
        pytest.param(
            [f"value 0.{number}17" for number in range(6)], None, None, id="figures of no watcher"
        ),
        pytest.param(["alive", "alive"], None, None, id="twice is not again and again"),
    ],
)
def test_a_watcher_is_known_by_its_lines(
    texts: list[str], times: int | None, span: float | None
) -> None:
    """Nothing in them goes forward but the time."""
    found = find_heartbeats(lines(*texts))
    assert (found and found.times, found and found.span) == (times, span)


@pytest.mark.parametrize(
    ("files", "cause"),
    [
        pytest.param(
            {"train.log": STEPS, "slurm.err": LIMIT.format("19:07:14")},
            "hang.stalled",
            id="a limit that another file tells of, hours later",
        ),
        pytest.param(
            {"train.log": STEPS, "slurm.err": LIMIT.format("10:00:31")},
            "scheduler.time-limit",
            id="the limit came while it was running",
        ),
        pytest.param(
            {
                "train.log": "\n".join(
                    f"2026-03-0{1 + hour // 24} {hour % 24:02d}:03:00 EPOCH {number} COMPLETED"
                    for number, hour in enumerate(range(0, 48, 6), 1)
                ),
                "slurm.err": LIMIT.replace("03-09", "03-02").format("23:10:14"),
            },
            "scheduler.time-limit",
            id="a line every six hours, and the limit five hours behind the last",
        ),
        pytest.param(
            {
                "train.log": STEPS,
                "watch.log": "\n".join(
                    f"2026-03-09 1{hour}:30:00 watch: 8 of 8 processes alive" for hour in range(5)
                ),
            },
            "hang.stalled",
            id="a watcher in a file of its own",
        ),
        pytest.param(
            {
                "train.log": STEPS,
                "agent.log": "2026-03-09 18:00:00 agent started\n2026-03-09 18:00:30 agent: ok",
            },
            "healthy.running",
            id="eight whole hours are two time zones",
        ),
        pytest.param(
            {
                "train.log": "building the model\ninit_process_group(backend=nccl)\n"
                + "\n".join(f"[alive] container up {5 * k} minutes" for k in range(8))
            },
            "hang.startup",
            id="nothing but a watcher before the first step",
        ),
        pytest.param(
            {"train.log": "loading the data\nrank 1: waiting for the vocabulary"},
            "hang.startup",
            id="the last line waits",
        ),
        pytest.param(
            {
                "train.log": STEPS
                + "\n"
                + "".join(
                    f"Process {rank}: python t.py --rank {rank}\nThread {rank} (active): "
                    f'"MainThread"\n    {place} (x.py:3)\n'
                    for rank, place in ((11, "all_reduce"), (12, "read"), (13, "all_reduce"))
                )
            },
            "hang.stalled",
            id="stacks",
        ),
    ],
)
def test_who_stands_still(tmp_path: Path, files: dict[str, str], cause: str) -> None:
    """And who does not."""
    assert of(tmp_path, files).causes[0].id == cause


def test_the_process_elsewhere_is_named(tmp_path: Path) -> None:
    """By the stacks."""
    dumps = {
        f"stack_rank{rank}.txt": f"Process {rank + 10}: python t.py\n"
        f'Thread {rank + 10} (active): "MainThread"\n    {place} (x.py:3)\n    train (t.py:9)'
        for rank, place in enumerate(("barrier", "barrier", "_write"))
    }
    first = of(tmp_path, {"train.log": STEPS, **dumps}).first_failure
    assert first is not None
    assert first.where.rank == 2


def test_a_watcher_alone_tells_of_no_run(tmp_path: Path) -> None:
    """What it watches is not in the log."""
    rows = [
        f"| N/A   4{n}C    P0    72W / 300W |   5484MiB / 16130MiB |      {n}% |" for n in range(9)
    ]
    alone = of(tmp_path, {"run.log": "\n".join(["nvidia-smi -l 1 | grep MiB", *rows])})
    assert alone.outcome != "stalled"


ASKED = "It has been stuck for an hour, is it a deadlock?\n$ date\nMon Mar  9 12:{}:00 UTC 2026\n"
CHANGED = "$ stat -c %y train.log\n2026-03-09 12:10:36.118234901 +0000"
LOSSES = "\n".join(f"{{'loss': {3 - step / 20:.3f}, 'epoch': 0.{step:02d}}}" for step in range(40))


@pytest.mark.parametrize(
    ("minute", "cause"),
    [
        pytest.param(12, "healthy.running", id="written to a minute before"),
        pytest.param(55, "hang.stalled", id="not written to since"),
    ],
)
def test_a_pause_that_ended_is_no_hang(tmp_path: Path, minute: int, cause: str) -> None:
    """Whatever is said of it, the log is still written to."""
    files = {"train.log": LOSSES, "question.txt": ASKED.format(minute) + CHANGED}
    assert of(tmp_path, files).causes[0].id == cause
