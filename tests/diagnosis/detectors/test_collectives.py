"""Ranks that disagree on a collective, that are behind, or that did not come to join."""

import pytest

from postmortem.core.findings import Finding, ProcessId
from postmortem.diagnosis.detectors import collectives
from postmortem.diagnosis.detectors.observed import Observed


def _count(rank: int, enqueued: int, group: str = "PG ID 0 PG GUID 0(default_pg) ") -> Finding:
    """What a watchdog says of its counts."""
    text = f"[{group}Rank {rank}] Timeout at NCCL work: 12, last enqueued NCCL work: {enqueued}, last completed NCCL work: 11."
    return Finding(
        "distributed.nccl-timeout.work-status",
        "consequence",
        0,
        ProcessId(rank=rank),
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
    found = collectives.detect_lagging_ranks(
        Observed(findings=[(finding, 0) for finding in findings])
    )
    assert [(shape.id, shape.message.text("en")) for shape in found] == (
        [("rank-behind", expected)] if expected else []
    )


def _init(rank: int, state: str, nranks: int = 3) -> Finding:
    """What NCCL_DEBUG=INFO says when a rank joins."""
    text = f"NCCL INFO ncclCommInitRank comm 0x55 rank {rank} nranks {nranks} cudaDev {rank} nvmlDev {rank} busId 7000 commId 0xab - Init {state.upper()}"
    return Finding(
        f"context.nccl-init.{state}",
        "context",
        0,
        ProcessId(pid=4000 + rank),
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
    found = collectives.detect_absent_ranks(
        Observed(findings=[(finding, 0) for finding in findings])
    )
    assert [(shape.id, shape.message.text("en")) for shape in found] == (
        [("nccl-rank-absent", expected)] if expected else []
    )


def _timeout(rank: int, operation: str, size: int, group: str = "0") -> Finding:
    """What a watchdog says of the work that timed out."""
    text = (
        f"[PG ID {group} PG GUID 0(default_pg) Rank {rank}] Watchdog caught collective operation"
        f" timeout: WorkNCCL(SeqNum=7, OpType={operation}, NumelIn={size}, Timeout(ms)=600000)"
    )
    captures = (("seq", "7"), ("op", operation))
    place = (rank + 1, rank + 1, rank * 100)
    return Finding(
        collectives.WATCHDOG, "consequence", 0, ProcessId(rank=rank), *place, text, captures
    )


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        pytest.param(
            [_timeout(0, "ALLREDUCE", 4), _timeout(1, "ALLGATHER", 4)],
            "SeqNum 7: rank 0 in ALLREDUCE(4), rank 1 in ALLGATHER(4)",
            id="different operations",
        ),
        pytest.param(
            [_timeout(0, "ALLREDUCE", 4), _timeout(1, "ALLREDUCE", 8)],
            "SeqNum 7: rank 0 in ALLREDUCE(4), rank 1 in ALLREDUCE(8)",
            id="different sizes",
        ),
        pytest.param(
            [_timeout(0, "ALLREDUCE", 4), _timeout(1, "ALLREDUCE", 4)], None, id="the same"
        ),
        pytest.param(
            [_timeout(0, "ALLREDUCE", 4), _timeout(0, "ALLGATHER", 4)], None, id="one rank alone"
        ),
        pytest.param(
            [_timeout(0, "ALLREDUCE", 4), _timeout(1, "ALLGATHER", 4, "1")],
            None,
            id="of two groups",
        ),
    ],
)
def test_ranks_in_different_operations(findings: list[Finding], expected: str | None) -> None:
    """Under one sequence number all ranks of a group are in the same operation."""
    found = collectives.detect_mismatched_collectives(
        Observed(findings=[(finding, 0) for finding in findings])
    )
    assert [(shape.id, shape.message.text("en")) for shape in found] == (
        [("ranks-differ", expected)] if expected else []
    )
