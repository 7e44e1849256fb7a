"""Files that are read in several processes give what they give in one."""

import gzip
import json
import mmap
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import long_logs
import process_tree
import pytest

from postmortem import pipeline
from postmortem.core.host.helper_process import HelperProcess
from postmortem.core.host.streams import count_cores
from postmortem.extraction import parallel_files
from postmortem.extraction.parallel_files import FileResult, FileTask, ParallelReading
from postmortem.report import render

ENOUGH = 60
"""Seconds in which processes start or end, on however busy a machine."""
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A folder of logs, some of which mean something only beside others, or cannot be read."""
    for rank in range(4):
        end = long_logs.END if rank == 2 else long_logs.PEER
        log = long_logs.stretch(random.Random(rank), rank, 0.2).at(1)
        (tmp_path / f"rank{rank}.log").write_bytes(log + end.format(rank=rank).encode())
    whole = gzip.compress(b"".join(b"step %d loss 2.5 lr 1e-4\n" % step for step in range(9999)))
    (tmp_path / "rank4.log.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "rank5.log.gz").write_bytes(whole[:20])
    (tmp_path / "job.json").write_text(json.dumps({"lr": 3e-4, "batch_size": 8, "epochs": 2}))
    (tmp_path / "other.json").write_text(json.dumps({"lr": 1e-4, "batch_size": 8, "seed": 1}))
    (tmp_path / "metrics.csv").write_text(
        "step,loss,lr\n" + "".join(f"{step},{9 / (step + 1)},1e-4\n" for step in range(99))
    )
    return tmp_path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the files that another process was asked to read; here it always pays."""
    monkeypatch.setattr(parallel_files, "_LARGE", 1)
    monkeypatch.setattr(parallel_files, "_PAYS", 1)
    numbers, done = list[int](), HelperProcess.run

    def noted(helper: HelperProcess, piece: tuple[int, ...]) -> mmap.mmap | None:
        numbers.append(piece[0])
        return done(helper, piece)

    monkeypatch.setattr(HelperProcess, "run", noted)
    return numbers


def report(job: Path, workers: int) -> str:
    """The report of a job that so many processes have read."""
    return render(pipeline.run_pipeline([str(job)], workers=workers), "json", redact=False)


@pytest.mark.parametrize("workers", [2, 3])
def test_the_report_is_the_same(job: Path, asked: list[int], workers: int) -> None:
    """Byte for byte: faults, settings that hang on other files, metrics, and all."""
    alone = report(job, 1)
    assert asked == []
    assert report(job, workers) == alone
    assert asked


@pytest.mark.usefixtures("asked")
def test_a_file_that_the_others_would_wait_for_is_begun_first(
    job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands last, and holds as much as each of two processes is to read."""
    (job / "rank9.log").write_bytes(long_logs.stretch(random.Random(9), 0, 2).at(1))
    begun, task = list[str](), ParallelReading._task

    def noted(reading: ParallelReading, place: int) -> FileTask:
        begun.append(Path(reading._files[place].path).name)
        return task(reading, place)

    alone = report(job, 1)
    monkeypatch.setattr(ParallelReading, "_task", noted)
    assert report(job, 2) == alone
    assert begun.index("rank9.log") < 3
    assert len(begun) == len(set(begun)) == len([*job.iterdir()])


@pytest.mark.usefixtures("asked")
def test_no_more_is_read_ahead_than_there_is_room_for(
    job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any, no more waits than what two processes were at when it was used up."""
    waiting, put = list[int](), ParallelReading._put

    def noted(reading: ParallelReading, place: int, found: FileResult | mmap.mmap | None) -> None:
        put(reading, place, found)
        waiting.append(len(reading._done))

    alone = report(job, 1)
    monkeypatch.setattr(parallel_files, "_MAX_WAITING_BYTES", 1)
    monkeypatch.setattr(ParallelReading, "_put", noted)
    assert report(job, 2) == alone
    assert max(waiting) <= 2


def test_a_process_that_is_lost_costs_nothing(
    job: Path, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it was reading, and the rest, is read here."""
    alone, noted = report(job, 1), HelperProcess.run

    def killed(helper: HelperProcess, piece: tuple[int, ...]) -> mmap.mmap | None:
        helper.end()
        return noted(helper, piece)

    monkeypatch.setattr(HelperProcess, "run", killed)
    assert report(job, 3) == alone
    assert 1 <= len(asked) <= 2, "each of the two was asked once"


@pytest.mark.usefixtures("asked")
def test_no_process_can_be_started(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is read here."""
    alone = report(job, 1)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert report(job, 2) == alone


def test_a_small_job_stays_in_one_process(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading the rules once more would take longer than reading it."""

    def refused(_reading: ParallelReading, count: int, _begin: object) -> None:
        raise AssertionError(count)

    monkeypatch.setattr(ParallelReading, "start", refused)
    assert json.loads(report(job, 8))["verdict"]["cause"]


@linux
@pytest.mark.skipif(count_cores() < 2, reason="with one core there is one process")
def test_an_interrupt_ends_all_processes(tmp_path: Path, usual_signals: Callable[[], None]) -> None:
    """Ctrl-C, which a terminal sends to each of them: one line, exit status 2, nobody is left."""
    part = long_logs.stretch(random.Random(7), 0, 1).at(1)
    for rank in range(2):
        (tmp_path / f"rank{rank}.log").write_bytes(part * 30)
    with subprocess.Popen(
        [sys.executable, "-m", "postmortem", "analyze", str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=usual_signals,  # noqa: PLW1509 -- no thread has been started
    ) as process:
        until = time.monotonic() + ENOUGH
        while len(process_tree.tree_of(process.pid)) < 2 and time.monotonic() < until:
            time.sleep(0.02)
        assert len(process_tree.tree_of(process.pid)) == 2
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=ENOUGH)
    assert (process.returncode, out) == (2, b"")
    assert b"Traceback" not in err
    assert b"interrupted" in err
    assert process_tree.tree_of(process.pid) == []
