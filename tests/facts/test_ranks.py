"""The rank whose curve goes bad first, and the rank that has not come to a collective."""

import math

import pytest

from postmortem.facts import collectives, ranks
from postmortem.facts.series import Series
from postmortem.model.findings import Finding
from postmortem.model.lines import Where


def _series(rank: int, bad_from: int | None, *, name: str = "loss", length: int = 10) -> Series:
    """A loss that is finite up to a step."""
    one = Series(name, "pytorch", rank, Where(rank=rank))
    for step in range(length):
        one.append(step, math.nan if bad_from is not None and step >= bad_from else 1.0, step + 1)
    one.settle()
    return one


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        pytest.param(
            [_series(0, 6), _series(1, 5), _series(2, 6)],
            "rank 1: loss nan at step 5; rank 0, rank 2: from step 6 on",
            id="a step before the others",
        ),
        pytest.param(
            [_series(0, None), _series(1, 5)],
            "rank 1: loss nan at step 5; rank 0: finite throughout",
            id="the others stay finite",
        ),
        pytest.param([_series(0, 5), _series(1, 5)], None, id="all in one step"),
        pytest.param([_series(0, 5)], None, id="one rank alone"),
        pytest.param(
            [_series(0, 6, name="eval_loss"), _series(1, 5, name="eval_loss")],
            None,
            id="evaluation",
        ),
        pytest.param(
            [_series(0, None, length=4), _series(1, 5)], None, id="the others did not come so far"
        ),
    ],
)
def test_the_rank_that_goes_bad_first(series: list[Series], expected: str | None) -> None:
    """Only a rank that is alone at the earliest bad step counts."""
    found = ranks.shapes(series)
    assert [shape.said.text("en") for shape in found] == ([expected] if expected else [])


def _count(rank: int, enqueued: int, group: str = "PG ID 0 PG GUID 0(default_pg) ") -> Finding:
    """What a watchdog says of its counts."""
    text = f"[{group}Rank {rank}] Timeout at NCCL work: 12, last enqueued NCCL work: {enqueued}, last completed NCCL work: 11."
    return Finding(
        "distributed.nccl-timeout.work-status",
        "consequence",
        0,
        Where(rank=rank),
        rank + 1,
        rank + 1,
        rank * 100,
        text,
        (("enqueued", str(enqueued)), ("completed", "11")),
    )


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        pytest.param(
            [_count(0, 15), _count(1, 12), _count(2, 15)],
            "last enqueued work: 12 on rank 1, up to 15 on the others",
            id="one has enqueued less",
        ),
        pytest.param([_count(0, 15), _count(1, 15)], None, id="all the same"),
        pytest.param(
            [_count(0, 15), _count(1, 12, "PG ID 1 PG GUID 1(tp) ")], None, id="of two groups"
        ),
        pytest.param([_count(0, 3452013982), _count(1, 12)], None, id="a number that means none"),
    ],
)
def test_the_rank_that_is_behind(findings: list[Finding], expected: str | None) -> None:
    """Counts are compared within a process group."""
    assert [
        shape.said.text("en") for shape in collectives.shapes(findings) if shape.id == "rank-behind"
    ] == ([expected] if expected else [])


def _init(rank: int, state: str, nranks: int = 3) -> Finding:
    """What NCCL_DEBUG=INFO says when a rank joins."""
    text = f"NCCL INFO ncclCommInitRank comm 0x55 rank {rank} nranks {nranks} cudaDev {rank} nvmlDev {rank} busId 7000 commId 0xab - Init {state.upper()}"
    return Finding(
        f"context.nccl-init.{state}",
        "context",
        0,
        Where(pid=4000 + rank),
        rank + 1,
        rank + 1,
        rank,
        text,
        (("rank", str(rank)), ("nranks", str(nranks)), ("comm", "0xab")),
    )


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        pytest.param(
            [_init(0, "start"), _init(2, "start")],
            "2 of 3 ranks began to join the communicator and none has joined; not seen: rank 1",
            id="one did not come",
        ),
        pytest.param(
            [_init(0, "start"), _init(2, "start"), _init(0, "complete")],
            None,
            id="they have joined: the other's lines are elsewhere",
        ),
        pytest.param(
            [_init(0, "start"), _init(1, "start"), _init(2, "start")], None, id="all have begun"
        ),
        pytest.param([_init(0, "start")], None, id="a log of one rank"),
    ],
)
def test_the_rank_that_did_not_join(findings: list[Finding], expected: str | None) -> None:
    """A communicator that nobody has joined names who is missing."""
    assert [
        shape.said.text("en")
        for shape in collectives.shapes(findings)
        if shape.id == "nccl-rank-absent"
    ] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        pytest.param(
            [
                (0, Where(rank=0), 10, "step 11/12 loss 1\nstep 12/12 loss 1\ndone"),
                (1, Where(rank=1), 10, "step 12/13 loss 1"),
            ],
            ("step counts to 12 on rank 0, 13 on rank 1", 1, 10),
            id="by file",
        ),
        pytest.param(
            [(0, Where(), 1, "[rank0]: batch 4/20 x\n[rank1]: batch 4/13 x")],
            ("batch counts to 13 on rank 1, 20 on rank 0", 0, 1),
            id="by label",
        ),
        pytest.param(
            [(0, Where(rank=0), 1, "step 3/12"), (1, Where(rank=1), 1, "step 3/12")],
            None,
            id="the same",
        ),
        pytest.param(
            [(0, Where(rank=0), 1, "step 3/12"), (1, Where(rank=1), 1, "batch 3/13")],
            None,
            id="of different things",
        ),
        pytest.param([(0, Where(), 1, "step 3/12\nstep 3/13")], None, id="of nobody in particular"),
    ],
)
def test_ranks_with_different_numbers_of_steps(
    ends: list[tuple[int, Where, int, str]], expected: tuple[str, int, int] | None
) -> None:
    """The rank with most to do is named: it is the one that waits."""
    assert [(shape.said.text("en"), shape.source, shape.line) for shape in ranks.uneven(ends)] == (
        [expected] if expected else []
    )
