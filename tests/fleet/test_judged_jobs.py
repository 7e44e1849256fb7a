"""What counts as failed, and as the same work."""

from dataclasses import replace

import pytest

from postmortem.fleet.scheduler.allocations import JudgedJob
from tests.fleet.clusters import allocation


@pytest.mark.parametrize(
    ("cause", "outcome", "state", "expected"),
    [
        pytest.param("healthy.completed", "completed", "COMPLETED", False, id="all say well"),
        pytest.param("healthy.completed", "completed", None, False, id="the log says well"),
        pytest.param("healthy.completed", "completed", "FAILED", False, id="trained to the end"),
        pytest.param(None, "unknown", "COMPLETED", False, id="the scheduler says well"),
        pytest.param("cuda.cublas", "failed", "COMPLETED", True, id="a swallowed exit code"),
        pytest.param("learning.plateau", "completed", "COMPLETED", False, id="a remark on a run that ended well"),
        pytest.param("learning.plateau", "completed", None, False, id="the same, without a scheduler"),
        pytest.param("cuda.cublas", "failed", None, True, id="the log says failed"),
        pytest.param(None, "failed", None, True, id="failed, why is not known"),
        pytest.param("healthy.running", "running", "NODE_FAIL", True, id="killed without a word"),
        pytest.param("healthy.running", "running", "RUNNING", None, id="runs"),
        pytest.param("numerics.loss-spike", "running", "RUNNING", None, id="runs, with a remark"),
        pytest.param("hang.stalled", "stalled", "CANCELLED", True, id="hung and cancelled"),
        pytest.param("performance.slow", "incomplete", "CANCELLED", None, id="slow and cancelled"),
        pytest.param(None, "incomplete", "CANCELLED", None, id="cancelled"),
        pytest.param(None, "", "TIMEOUT", True, id="unread, the scheduler says failed"),
        pytest.param(None, "", None, None, id="nobody says anything"),
    ],
)  # fmt: skip
def test_what_has_failed(
    cause: str | None, outcome: str, state: str | None, *, expected: bool | None
) -> None:
    """By the log and the scheduler together; a finding of health blames nothing."""
    one = None if state is None else allocation("1", state=state)
    job = JudgedJob("1", cause=cause, outcome=outcome, allocation=one)
    assert job.has_failed is expected
    assert job.blamed == (None if cause and cause.startswith("healthy.") else cause)


@pytest.mark.parametrize(
    ("title", "name", "work"),
    [
        ("slurm-4711", "sft", "sft"),
        ("slurm-4711", "", ""),
        ("job_12.out", "", ""),
        ("llama-sft-4711", "", "llama-sft-#"),
    ],
)
def test_what_a_job_worked_on(title: str, name: str, work: str) -> None:
    """Its name, else a telling title without numbers; any job's log tells nothing."""
    assert JudgedJob("1", title, allocation=allocation("1", name=name)).work == work


def test_a_task_of_an_array_has_a_number() -> None:
    """By the id of its log, else of its allocation."""
    job = JudgedJob("1", scheduler_id="47_3")
    assert (job.task, replace(job, scheduler_id="47").task) == ("3", "")
    assert JudgedJob("1", allocation=allocation("47_4")).task == "4"


@pytest.mark.parametrize(
    ("named", "told", "expected"),
    [
        pytest.param(1, None, 1, id="nobody says anything"),
        pytest.param(2, None, 2, id="the name of its log says it"),
        pytest.param(1, 3, 3, id="the scheduler started it again, into the same log"),
        pytest.param(2, 0, 2, id="the scheduler does not say"),
    ],
)
def test_how_many_times_it_was_started(named: int, told: int | None, expected: int) -> None:
    """The log that is there is of the last time."""
    one = None if told is None else allocation("1", attempt=told)
    assert JudgedJob("1", attempt=named, allocation=one).attempt_count == expected
