"""A job that stands still, seen by another clock of it, by a watcher, by stacks, by its last words."""

from pathlib import Path
from typing import Any

import pytest

from postmortem import api
from postmortem.facts.moments import between, newest, telling_time, told_time
from postmortem.shapes.heartbeats import beats

STEPS = "\n".join(
    f"2026-03-09 10:00:{second:02d} step {second} loss 1.{second}" for second in range(30)
)
LIMIT = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-03-09T{} DUE TO TIME LIMIT ***"


def of(tmp_path: Path, files: dict[str, str]) -> Any:
    """Analyse a job of these files."""
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    return api.analyze(str(tmp_path)).diagnosis


@pytest.mark.parametrize(
    ("line", "time"),
    [
        pytest.param(LIMIT.format("19:00:14"), "2026-03-09T19:00:14", id="a scheduler's line"),
        pytest.param("Mon Mar  9 10:00:00 CET 2026", "2026-03-09T10:00:00", id="date"),
        pytest.param("Mon Mar  9 10:00:00 2026", "2026-03-09T10:00:00", id="nvidia-smi"),
        pytest.param("Mon 9 Mar 2026 10:00:00 AM CET", "2026-03-09T10:00:00", id="date, English"),
        pytest.param("Mar  9 10:00:00 node7 kernel: x", "--03-09T10:00:00", id="syslog"),
        pytest.param("[watch] 2026-03-09 10:00 quiet", "2026-03-09T10:00:00", id="no seconds"),
        pytest.param("10:00:00 step 3", "T10:00:00", id="a time of day"),
        pytest.param("loss 1.25 at step 10", None, id="no time"),
    ],
)
def test_a_line_tells_a_time_anywhere(line: str, time: str | None) -> None:
    """At its head or within it."""
    assert told_time(line) == time


@pytest.mark.parametrize(
    ("one", "other", "span"),
    [
        ("2026-03-09T10:00:00", "2026-03-09T12:00:00", 7200.0),
        ("2026-03-09T10:00:00", "--03-09T10:01:00", 60.0),
        ("--12-31T23:59:00", "--01-01T00:01:00", 120.0),
        ("T23:59:00", "2026-03-09T00:01:00", 120.0),
        ("T10:00:00", "T09:00:00", None),
        ("2026-03-09T10:00:00", "2026-03-09T09:00:00", None),
        ("+5.0s", "2026-03-09T09:00:00", None),
    ],
)
def test_times_are_compared_by_what_both_tell(one: str, other: str, span: float | None) -> None:
    """A year, a day, or the time of day alone."""
    assert between(one, other) == span


def test_the_newest_time_is_the_farthest_behind() -> None:
    """What lies before is left out."""
    times = ["2026-03-09T09:00:00", "2026-03-09T10:05:00", "2026-03-09T10:03:00"]
    assert newest(times, "2026-03-09T10:00:00") == (300.0, "2026-03-09T10:05:00")
    assert newest(times[:1], "2026-03-09T10:00:00") is None


def test_a_time_of_day_gets_the_day_of_the_dated_one_before() -> None:
    """Over midnight the next one."""
    found = [moment.time for moment, _ in telling_time((1, "2026-03-09 23:59:00 a\n00:01:00 b"))]
    assert found == ["2026-03-09T23:59:00", "2026-03-10T00:01:00"]


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
    found = beats(lines(*texts))
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
