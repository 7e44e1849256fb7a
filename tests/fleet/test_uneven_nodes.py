"""Nodes that stand out, and those that must not."""

import random
from dataclasses import replace

import pytest

from postmortem.fleet.scheduler.allocations import JudgedJob
from postmortem.fleet.scheduler.uneven_nodes import LEVEL, compare_nodes
from tests.fleet.clusters import allocation, cluster, failed, sound


def named(jobs: list[JudgedJob]) -> list[str]:
    """The nodes that are named, the oddest first."""
    return [one.node for one in compare_nodes(jobs) if one.is_outlier]


@pytest.mark.parametrize("sizes", [(1,), (1, 1, 1, 2, 4, 8), (8, 16)], ids=str)
def test_without_a_bad_node_few_clusters_raise_an_alarm(sizes: tuple[int, ...]) -> None:
    """Of 100 sound clusters no more than the level allows."""
    found = (named(cluster(seed, jobs=200, nodes=24, sizes=sizes)) for seed in range(100))
    assert sum(map(bool, found)) <= 100 * LEVEL


@pytest.mark.parametrize("sizes", [(1, 1, 2), (1, 2, 4, 8), (8, 16)], ids=str)
def test_a_bad_node_is_found_and_its_neighbours_are_not(sizes: tuple[int, ...]) -> None:
    """Whether jobs have one node or many."""
    found = [named(cluster(seed, jobs=900, sizes=sizes, bad="n07")) for seed in range(12)]
    assert sum("n07" in nodes for nodes in found) >= 11
    assert sum(nodes not in (["n07"], []) for nodes in found) <= 1


def test_nodes_that_always_run_together_are_named_together() -> None:
    """Which of them it is cannot be told."""
    pair = ("n07", "n08")
    for seed in range(5):
        figures = {one.node: one for one in compare_nodes(cluster(seed, bad="n07", always=pair))}
        assert [figures[node].alike for node in pair] == [("n08",), ("n07",)]


def on(node: str, jobs: list[JudgedJob], **changed: object) -> list[JudgedJob]:
    """Jobs put onto a node."""
    return [
        replace(job, allocation=replace(job.allocation, nodes=(node,), **changed))
        for job in jobs
        if job.allocation
    ]


def run(count: int, make: object, begin: int = 0) -> list[JudgedJob]:
    """Jobs with numbers from one on."""
    return [make(f"{begin + number}") for number in range(count)]  # type: ignore[operator]


def test_a_script_that_fails_everywhere_speaks_against_no_node() -> None:
    """Though all of it ran on one node, and all else goes well there and elsewhere."""
    broken = on("n1", run(30, failed), user="bob", name="broken")
    others = on("n1", run(30, sound, 100)) + on("n2", run(300, sound, 200))
    assert named(broken + others) == []


def test_requeues_on_the_same_node_count_once() -> None:
    """A scheduler that tries one broken job twenty times there makes no bad node."""
    again = [
        replace(failed(f"7.{attempt}"), scheduler_id="7", attempt=attempt, allocation=allocation("7", attempt=attempt))
        for attempt in range(1, 21)
    ]  # fmt: skip
    others = on("n1", run(5, sound, 100)) + on("n2", run(50, sound, 200))
    [first] = [one for one in compare_nodes(again + others) if one.node == "n1"]
    assert (first.jobs, first.failed, first.is_outlier) == (6, 1, False)


def test_what_somebody_stopped_counts_for_no_node() -> None:
    """Cancelled jobs and jobs without a known end are left out."""
    stopped = on("n1", run(20, failed), state="CANCELLED")
    stopped = [replace(job, cause="scheduler.cancelled") for job in stopped]
    unknown = [
        JudgedJob(f"x{number}", allocation=allocation(f"x{number}", state="RUNNING"))
        for number in range(9)
    ]
    jobs = stopped + unknown + on("n1", run(2, sound, 100)) + on("n2", run(60, sound, 200))
    assert {one.node: one.jobs for one in compare_nodes(jobs)} == {"n1": 2, "n2": 60}


def black_hole() -> list[JudgedJob]:
    """A node that swallows ten jobs of a sweep whose others go well."""
    return on("n1", run(10, failed)) + on("n2", run(40, sound, 100)) + on("n3", run(40, sound, 200))


def test_a_node_is_told_as_failing_more_often_and_never_as_broken() -> None:
    """The counts, what would be expected, and that they show no reason."""
    [first, *others] = compare_nodes(black_hole())
    assert (first.node, first.failed, first.jobs) == ("n1", 10, 10)
    assert first.expected == pytest.approx(10 * 10 / 90)
    text = first.text.text("en")
    assert "10 of 10 jobs failed here, 1.1 would be expected" in text
    assert "more often than others" in text
    assert "no log names a fault of its hardware" in text
    assert "broken" not in text
    assert "10 个失败" in first.text.text("zh")
    assert not any(one.text for one in others)


@pytest.mark.parametrize(
    ("job", "is_witness"),
    [
        pytest.param(failed("w", "cuda.hardware-xid", hosts=("N1.cluster.local",)), True, id="names it"),
        pytest.param(failed("w", "cuda.hardware-ecc", hosts=("n9",)), False, id="names another"),
        pytest.param(failed("w", "cuda.hardware-ecc"), True, id="ran there alone"),
        pytest.param(
            failed("w", "cuda.hardware-xid", allocation=allocation("w", "n1 n2")), False, id="ran on two"
        ),
        pytest.param(failed("w", "cuda.launch-failure", hosts=("n1",)), False, id="another cause"),
    ],
)  # fmt: skip
def test_a_second_witness_is_a_log_that_names_a_fault_there(
    job: JudgedJob, *, is_witness: bool
) -> None:
    """Only with it is hardware spoken of."""
    figures = {one.node: one for one in compare_nodes([*black_hole(), job])}
    assert bool(figures["n1"].witness) is is_witness
    assert ("cuda.hardware" in figures["n1"].text.text("en")) is is_witness


def test_a_node_with_nothing_to_compare_has_no_probability() -> None:
    """All jobs of its kind ran on it, or none failed."""
    jobs = on("n1", run(9, failed)) + on("n2", run(9, sound, 100), user="bob")
    jobs += on("n3", run(9, sound, 200), user="bob")
    assert [(one.p, one.q, one.is_outlier) for one in compare_nodes(jobs)] == [
        (None, None, False)
    ] * 3


def test_the_order_of_jobs_does_not_matter() -> None:
    """Not a digit changes."""
    jobs = cluster(3, bad="n07")
    figures = compare_nodes(jobs)
    random.Random(1).shuffle(jobs)
    assert compare_nodes(jobs) == figures


def test_no_jobs_give_no_nodes() -> None:
    """Nor do jobs of which the scheduler says nothing."""
    assert compare_nodes([]) == ()
    assert compare_nodes([replace(failed("1"), allocation=None)]) == ()
