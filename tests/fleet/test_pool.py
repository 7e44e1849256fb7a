"""Workers: a task that goes wrong goes wrong alone."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from postmortem.fleet.store.stored_rows import CRASHED, JUDGED, OUT_OF_MEMORY, TIMED_OUT
from postmortem.fleet.worker_pool import ProcessEngine
from postmortem.fleet.worker_tasks import Engine, JobSettings, Task
from tests.triage_work import behave, die_once

ROOT = Path(__file__).resolve().parents[2]


def tasks(*how: str, seconds: float = 60.0) -> Iterator[Task]:
    """Tasks that behave as told."""
    return (Task(f"{place}:{one}", (one,), seconds) for place, one in enumerate(how))


def states(engine: Engine, found: Iterator[Task]) -> dict[str, str]:
    """What became of each."""
    return {task.name: outcome.state for task, outcome in engine.run(behave, found)}


def test_who_crashes_harms_no_other() -> None:
    """Of two that end their process all others are done, and the workers go on."""
    with closing(ProcessEngine(2, JobSettings())) as engine:
        found = states(engine, tasks("a", "exit", "b", "killed", *"cdef"))
        assert found.pop("1:exit") == found.pop("3:killed") == CRASHED
        assert set(found.values()) == {JUDGED}
        assert len(found) == 6
        assert states(engine, tasks("again")) == {"0:again": JUDGED}


def test_who_takes_too_long_is_ended() -> None:
    """The task behind it is done by the next process."""
    with closing(ProcessEngine(1, JobSettings())) as engine:
        slow = Task("slow", ("for ever",), 1.0)
        found = states(engine, iter([slow, *tasks("a")]))
    assert found == {"slow": TIMED_OUT, "0:a": JUDGED}


def test_tasks_are_taken_as_there_is_room() -> None:
    """Of many tasks a few are in flight: claimed work is done soon, memory stays flat."""
    taken = 0

    def counted() -> Iterator[Task]:
        nonlocal taken
        for task in tasks(*("x" for _ in range(40))):
            taken += 1
            yield task

    with closing(ProcessEngine(1, JobSettings())) as engine:
        for done, _ in enumerate(engine.run(behave, counted()), 1):
            assert taken <= done + 2
    assert taken == 40


def test_a_reason_is_told_in_both_languages() -> None:
    """Each outcome without a value says why."""
    with closing(ProcessEngine(1, JobSettings())) as engine:
        ((_, outcome),) = engine.run(behave, tasks("exit"))
    assert "exit status 3" in outcome.why[0]
    assert "3" in outcome.why[1]
    assert outcome.why[0] != outcome.why[1]


def test_a_job_that_wants_too_much_memory(tmp_path: Path) -> None:
    """It is a row with its reason; the worker stays."""
    from postmortem.fleet.search.finding import find_jobs
    from postmortem.fleet.worker_tasks import run_analysis

    (tmp_path / "run.log").write_text("step 1 loss 2.0\n" * 400_000, encoding="utf-8")
    (job,) = find_jobs([str(tmp_path / "run.log")]).jobs
    with closing(ProcessEngine(1, JobSettings(model=None, memory=1))) as engine:
        ((_, outcome),) = engine.run(run_analysis, iter([Task("k", (job, "k"), 120.0)]))
    assert outcome.state == OUT_OF_MEMORY, outcome
    assert "--memory" in outcome.why[0]


def test_no_worker_outlives_a_killed_triage(tmp_path: Path) -> None:
    """However the process that started them ends, the task under way ends with it."""
    begun = tmp_path / "begun"
    code = (
        "from tests.triage_work import run_for_ever; import sys;"
        " run_for_ever(sys.argv[1]) if __name__ == '__main__' else None"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(begun)], cwd=ROOT) as process:
        until = time.monotonic() + 60
        while not begun.exists() and time.monotonic() < until:
            os.sched_yield()
        worker = int(begun.read_text(encoding="ascii"))
        process.kill()
    until = time.monotonic() + 60
    while Path(f"/proc/{worker}").exists() and time.monotonic() < until:
        os.sched_yield()
    assert not Path(f"/proc/{worker}").exists()


@pytest.mark.cluster
def test_ray_does_the_same(tmp_path: Path) -> None:
    """A task that loses its worker once is done again; one that always does is the one at fault."""
    from postmortem.fleet.ray_cluster import RayEngine

    with closing(RayEngine(2, JobSettings())) as engine:
        found = states(engine, tasks("a", "exit", *"bcd"))
        assert found.pop("1:exit") == CRASHED
        assert set(found.values()) == {JUDGED}
        late = Task("slow", ("for ever",), 2.0)
        assert states(engine, iter([late])) == {"slow": TIMED_OUT}
        lost = Task("lost", (str(tmp_path / "mark"),), 60.0)
        ((_, outcome),) = engine.run(die_once, iter([lost]))
        assert outcome.value == "second time"
