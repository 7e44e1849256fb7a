"""Jobs and allocations brought together."""

import random
from dataclasses import replace

import pytest

from postmortem.fleet.scheduler.allocations import Allocation, JudgedJob, join_jobs


def job(identity: str, scheduler_id: str = "", attempt: int = 1, path: str = "") -> JudgedJob:
    """A job, its title the stem of its file."""
    stem = path.rpartition("/")[2].partition(".")[0]
    return JudgedJob(identity, stem, scheduler_id, attempt, locations=(path,) if path else ())


def one(identity: str, attempt: int = 1, **changed: object) -> Allocation:
    """An allocation."""
    return replace(Allocation(identity, attempt), **changed)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("jobs", "allocations", "expected"),
    [
        pytest.param([job("a", "7")], [one("7"), one("8")], {"a": ("7", 1)}, id="by id"),
        pytest.param([job("a", "7", 2), job("b", "7")], [one("7"), one("7", 2)], {"a": ("7", 2), "b": ("7", 1)}, id="by attempt"),
        pytest.param([job("a", "7")], [one("7"), one("7", 2), one("7", 3)], {"a": ("7", 3)}, id="one log is that of the last attempt"),
        pytest.param([job("a", "7", 2)], [one("7"), one("7", 2), one("7", 3)], {"a": ("7", 2)}, id="unless it tells which"),
        pytest.param([job("a", "7", 4)], [one("7"), one("7", 2)], {}, id="an attempt nobody knows"),
        pytest.param([job("a", "7"), job("b", "7")], [one("7"), one("7", 2)], {}, id="two logs of one attempt"),
        pytest.param([job("a", "12")], [one("10_3", aliases=("12",))], {"a": ("10_3", 1)}, id="raw id of a task"),
        pytest.param([job("a", "10_3")], [one("10_3", aliases=("12",)), one("12")], {"a": ("10_3", 1)}, id="own id before another's"),
        pytest.param([job("a", "7")], [one("7", cluster="x"), one("7", cluster="y")], {}, id="an id of two clusters"),
        pytest.param([job("a", path="/x/sft.out")], [one("7", log="/x/sft.out"), one("8", name="sft")], {"a": ("7", 1)}, id="by path before name"),
        pytest.param([job("a", path="/copy/sft.out")], [one("7", log="/x/sft.out")], {"a": ("7", 1)}, id="by file name"),
        pytest.param([job("a", path="/x/sft.log")], [one("7", name="sft")], {"a": ("7", 1)}, id="by name"),
        pytest.param([job("a", path="/x/sft.log")], [one("7", name="sft"), one("8", name="sft")], {}, id="a name of two"),
        pytest.param([job("a", path="/x/sft.log"), job("b", path="/y/sft.log")], [one("7", name="sft")], {}, id="two logs of a name"),
        pytest.param([job("a", path="/x/sft.log"), job("b", "8")], [one("7", name="sft"), one("8", name="sft")], {"b": ("8", 1)}, id="a name is not unique because the other is taken"),
        pytest.param([job("a", path="/x/sft.out")], [one("7", log="/x/sft.out"), one("7", 2, log="/x/sft.out")], {"a": ("7", 2)}, id="by path, the last attempt"),
        pytest.param([job("a", "9", path="/x/sft.log")], [one("7", name="sft")], {}, id="an id that is unknown is not replaced by a name"),
        pytest.param([job("a")], [one("7")], {}, id="nothing in common"),
    ],
)  # fmt: skip
def test_a_join(
    jobs: list[JudgedJob], allocations: list[Allocation], expected: dict[str, tuple[str, int]]
) -> None:
    """What belongs together, in any order; the rest is counted on both sides."""
    for seed in range(3):
        random.Random(seed).shuffle(jobs)
        random.Random(seed).shuffle(allocations)
        found = join_jobs(jobs, allocations)
        assert {
            each.identity: (each.allocation.scheduler_id, each.allocation.attempt)
            for each in found.jobs
            if each.allocation
        } == expected
        assert [each.identity for each in found.jobs] == sorted(each.identity for each in jobs)
        assert {*found.without_allocation} == {each.identity for each in jobs} - {*expected}
        assert len(found.without_job) == len(allocations) - len(expected)
