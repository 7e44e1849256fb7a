"""All figures that need a scheduler, as values."""

import json
import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.fleet.scheduler.allocations import Allocation, JudgedJob, join_jobs
from postmortem.fleet.scheduler.scheduler_figures import compute_scheduler_statistics
from tests.fleet.clusters import BEGIN, cluster

SECONDS = st.none() | st.integers(0, 10**7).map(lambda seconds: BEGIN + seconds)
CAUSES = ("io.race", "cuda.hardware-xid", "healthy.completed", None)


@st.composite
def jobs_and_allocations(draw: st.DrawFn) -> tuple[list[JudgedJob], list[Allocation]]:
    """A few jobs and allocations with ids, names and times from a small stock."""
    allocations = draw(
        st.lists(
            st.builds(
                Allocation,
                st.sampled_from(["1", "2", "3_1", "3_2", "4"]),
                attempt=st.integers(1, 3),
                user=st.sampled_from(["", "ann", "bob"]),
                nodes=st.sampled_from([(), ("n1",), ("n2",), ("n1", "n3")]),
                gpus=st.none() | st.integers(0, 16),
                start=SECONDS,
                end=SECONDS,
                state=st.sampled_from(["", "FAILED", "COMPLETED", "CANCELLED"]),
                image=st.sampled_from(["", "a", "b"]),
                name=st.sampled_from(["", "sft", "eval"]),
            ),
            max_size=12,
        )
    )
    jobs = draw(
        st.lists(
            st.builds(
                JudgedJob,
                st.integers(0, 999).map(str),
                title=st.sampled_from(["sft", "eval", "slurm-1"]),
                scheduler_id=st.sampled_from(["", "1", "2", "3_1", "3_2", "4"]),
                attempt=st.integers(1, 3),
                cause=st.sampled_from(CAUSES),
                outcome=st.sampled_from(["", "failed", "completed"]),
                retry=st.sampled_from(["as-is", "no"]),
                hosts=st.sampled_from([(), ("n1",)]),
            ),
            max_size=12,
            unique_by=lambda job: job.identity,
        )
    )
    return jobs, allocations


@settings(deadline=None)
@given(jobs_and_allocations(), st.randoms(use_true_random=False))
def test_no_figure_depends_on_the_order(
    made: tuple[list[JudgedJob], list[Allocation]], chance: random.Random
) -> None:
    """Shuffled, all is the same, and can be written as JSON."""
    jobs, allocations = made
    told = json.dumps(compute_scheduler_statistics(join_jobs(jobs, allocations)))
    chance.shuffle(jobs)
    chance.shuffle(allocations)
    assert json.dumps(compute_scheduler_statistics(join_jobs(jobs, allocations))) == told


def test_the_figures_of_a_cluster() -> None:
    """What stands under each name, once through."""
    made = cluster(2, bad="n07")
    allocations = [job.allocation for job in made if job.allocation]
    figures = compute_scheduler_statistics(
        join_jobs([replace(job, allocation=None) for job in made][:-5], allocations[5:])
    )
    assert figures["joined"] == {"jobs": 290, "without_allocation": 5, "without_job": 5}
    assert (figures["gpu_hours"], figures["gpu_hours_unknown"]) == (290 * 8.0, 5)
    assert figures["nodes"][0]["node"] == "n07"
    assert {*figures["nodes"][0]["text"]} == {"en", "zh"}
    assert sum(bucket["jobs"] for bucket in figures["trend"]) == 290
    assert {user["name"] for user in figures["users"]} == {f"u{number}" for number in range(5)}
    assert figures["images"] == []
    assert [*figures["advice"]] == ["cuda.launch-failure"]
    assert all(pair["cause"] == "cuda.launch-failure" for pair in figures["retried"])
    assert figures["lost_by_cause"][0]["gpu_hours"] == figures["lost_gpu_hours"] > 0


def test_logs_of_failed_jobs_alone_are_compared_with_what_the_scheduler_knows() -> None:
    """Without the others every node would have nothing but failures."""
    made = cluster(2, jobs=600, bad="n07")
    allocations = [job.allocation for job in made if job.allocation]
    alone = [replace(job, allocation=None) for job in made if job.has_failed]
    figures = compute_scheduler_statistics(join_jobs(alone, allocations))
    assert [node["node"] for node in figures["nodes"] if node["is_outlier"]] == ["n07"]
    assert figures["gpu_hours"] == figures["lost_gpu_hours"] == 8.0 * len(alone)
    assert any(pair["succeeded"].startswith("scheduler:") for pair in figures["retried"])


def test_without_a_scheduler_all_is_empty_and_nothing_is_zero() -> None:
    """Jobs alone: no hours, no nodes, no trend."""
    figures = compute_scheduler_statistics(
        join_jobs([replace(job, allocation=None) for job in cluster(1)], [])
    )
    assert (figures["gpu_hours"], figures["lost_gpu_hours"]) == (None, None)
    assert (figures["nodes"], figures["users"], figures["trend"]) == ([], [], [])
