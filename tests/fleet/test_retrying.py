"""Runs again: which are, what changed, what they advise."""

from dataclasses import replace

import pytest

from postmortem.fleet.scheduler.allocations import JudgedJob
from postmortem.fleet.scheduler.retrying import compute_retry_advice, find_retries
from tests.fleet.clusters import BEGIN, HOUR, failed, sound


def at(job: JudgedJob, hour: float, nodes: str = "n1", **changed: object) -> JudgedJob:
    """A job that began at an hour and ran one."""
    start = BEGIN + hour * HOUR
    assert job.allocation
    times = {"start": start, "end": start + HOUR, "nodes": tuple(nodes.split())}
    return replace(job, allocation=replace(job.allocation, **(times | changed)))  # type: ignore[arg-type]


def pairs(*jobs: JudgedJob) -> list[tuple[str, str]]:
    """Who was run again by whom."""
    return [(pair.failed.identity, pair.again.identity) for pair in find_retries(jobs[::-1])]


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        pytest.param([at(failed("a"), 0), at(sound("b"), 1)], [("a", "b")], id="the next"),
        pytest.param([at(failed("a"), 0), at(sound("b"), 0.5)], [], id="it ran beside"),
        pytest.param([at(sound("a"), 0), at(sound("b"), 2)], [], id="nothing to run again"),
        pytest.param([at(failed("a"), 0), at(failed("b"), 2), at(sound("c"), 4)], [("a", "b"), ("b", "c")], id="a chain"),
        pytest.param([at(failed("a"), 0), at(failed("b"), 0.1), at(sound("c"), 4)], [("b", "c")], id="one for two failures"),
        pytest.param([at(failed("a"), 0), at(sound("b"), 2, user="bob")], [], id="another user"),
        pytest.param([at(failed("a"), 0), at(sound("b"), 2, name="eval")], [], id="another work"),
        pytest.param([at(failed("a"), 0, name=""), at(sound("b"), 2, name="")], [], id="work that is not known"),
        pytest.param([at(failed("a"), 0, end=None), at(sound("b"), 2)], [], id="an end that is not known"),
        pytest.param([at(failed("a"), 0), at(sound("b"), 2, start=None)], [], id="a start that is not known"),
        pytest.param([at(failed("9_1"), 0), at(sound("9_2"), 2), at(sound("12_1"), 4)], [("9_1", "12_1")], id="tasks by number"),
    ],
)  # fmt: skip
def test_a_run_again(jobs: list[JudgedJob], expected: list[tuple[str, str]]) -> None:
    """The next of the same work and user, after the failure."""
    assert pairs(*jobs) == expected


def test_attempts_of_one_id_need_no_times() -> None:
    """The scheduler itself says that they are the same job."""
    first = replace(failed("7.1"), scheduler_id="7", allocation=None)
    second = replace(sound("7.2"), scheduler_id="7", attempt=2, allocation=None)
    assert pairs(first, second) == [("7.1", "7.2")]
    assert find_retries([first, second])[0].changed == {"nodes": None, "gpus": None, "image": None}


@pytest.mark.parametrize(
    ("again", "nodes", "is_hint"),
    [
        pytest.param(at(sound("b"), 2, "n2"), True, True, id="other nodes"),
        pytest.param(at(sound("b"), 2, "n1"), False, False, id="the same"),
        pytest.param(at(sound("b"), 2, "n1 n2"), True, False, id="one more, none less"),
        pytest.param(at(sound("b"), 2, "n2", image="new"), True, False, id="another image too"),
        pytest.param(at(sound("b"), 2, "n2", gpus=4), True, False, id="fewer GPUs too"),
        pytest.param(at(sound("b"), 2, "n2", gpus=None), True, False, id="GPUs not known"),
        pytest.param(at(failed("b"), 2, "n2"), True, False, id="failed again"),
        pytest.param(at(sound("b"), 2, ""), None, False, id="nodes not known"),
    ],
)  # fmt: skip
def test_a_change_of_nodes_alone_is_a_hint(
    again: JudgedJob, *, nodes: bool | None, is_hint: bool
) -> None:
    """Success elsewhere, and nothing else that the scheduler knows of."""
    [pair] = find_retries([at(failed("a"), 0), again])
    assert (pair.changed["nodes"], bool(pair.hint)) == (nodes, is_hint)
    assert is_hint == ("without n1" in pair.hint.text("en"))


def history(cause: str, rule: str, ends: str) -> list[JudgedJob]:
    """Failures of a cause, and how each ended when it was run again: + or -."""
    jobs = []
    for number, end in enumerate(ends):
        name = f"{cause}-{rule}-{number}"
        jobs.append(at(failed(f"{name}.a", cause, retry=rule), 0, name=name))
        make = sound if end == "+" else failed
        jobs.append(at(replace(make(f"{name}.b"), cause="" or ("healthy.completed" if end == "+" else "io.other")), 2, name=name))  # fmt: skip
    return jobs


@pytest.mark.parametrize(
    ("rule", "ends", "retry", "english"),
    [
        pytest.param("as-is", "+++-", "yes", "a retry as it is may succeed; of 4 that were run again here, 3 succeeded", id="as the rule says"),
        pytest.param("as-is", "------", "after-change", "mostly failed again: of 6 that were run again here, 0 succeeded", id="against the rule"),
        pytest.param("as-is", "---", "yes", "of 3 that were run again here, 0 succeeded", id="too few to speak against it"),
        pytest.param("after-fix", "++++++", "after-change", "6 succeeded; what was changed before is not known", id="a fix may lie between"),
        pytest.param("no", "--", "no", "a retry will not help; of 2", id="no"),
        pytest.param("unknown", "++++++", "yes", "retries mostly succeed here", id="found out here"),
        pytest.param("unknown", "+-", "unknown", "whether a retry helps is not known", id="not found out"),
    ],
)  # fmt: skip
def test_advice(rule: str, ends: str, retry: str, english: str) -> None:
    """The rule's word, checked against what happened, with the numbers."""
    jobs = history("io.race", rule, ends)
    told = compute_retry_advice(jobs, find_retries(jobs))["io.race"]
    assert (told.retry, told.retried, told.succeeded) == (retry, len(ends), ends.count("+"))
    assert english in told.text.text("en")
    assert str(len(ends)) in told.text.text("zh")


def test_a_cause_that_nobody_ran_again_says_so() -> None:
    """And health gets no advice."""
    told = compute_retry_advice([failed("1", "io.race", retry="as-is"), sound("2")], [])
    assert [*told] == ["io.race"]
    assert "no failed job was run again here" in told["io.race"].text.text("en")


def test_attempts_are_told_of_the_same_allocation_once() -> None:
    """A pair found by id is not counted again by name."""
    first = at(replace(failed("7.1"), scheduler_id="7"), 0)
    second = at(replace(sound("7.2"), scheduler_id="7", attempt=2), 2)
    assert pairs(first, second) == [("7.1", "7.2")]
