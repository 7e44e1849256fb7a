"""Jobs made up for the figures: single ones, and whole clusters by a seed."""

import random
from collections.abc import Sequence
from dataclasses import replace

from postmortem.fleet.scheduler.allocations import Allocation, JudgedJob

BEGIN = 1_767_225_600.0
"""2026-01-01, a Thursday."""
HOUR = 3600.0


def allocation(identity: str, nodes: str = "n1", **changed: object) -> Allocation:
    """One hour on 8 GPUs of nodes parted by blanks, by ann."""
    base = Allocation(
        identity,
        user="ann",
        nodes=tuple(nodes.split()),
        gpus=8,
        start=BEGIN,
        end=BEGIN + HOUR,
        state="FAILED",
        name="sft",
    )
    return replace(base, **changed)  # type: ignore[arg-type]


def failed(
    identity: str, cause: str | None = "cuda.launch-failure", **changed: object
) -> JudgedJob:
    """A failed job with its allocation."""
    job = JudgedJob(identity, scheduler_id=identity, cause=cause, outcome="failed")
    return replace(job, **({"allocation": allocation(identity)} | changed))  # type: ignore[arg-type]


def sound(identity: str, **changed: object) -> JudgedJob:
    """A job that went well, with its allocation."""
    one = allocation(identity, state="COMPLETED")
    job = JudgedJob(identity, cause="healthy.completed", outcome="completed", scheduler_id=identity)
    return replace(job, **({"allocation": one} | changed))  # type: ignore[arg-type]


def cluster(
    seed: int,
    *,
    jobs: int = 300,
    nodes: int = 30,
    sizes: Sequence[int] = (1, 1, 1, 2, 4, 8),
    bad: str = "",
    always: Sequence[str] = (),
) -> list[JudgedJob]:
    """Jobs of users of whom some fail often; on a bad node most fail.

    Args:
        seed: of all that is by chance.
        jobs: how many.
        nodes: n00, n01, …
        sizes: numbers of nodes that a job may have.
        bad: the node on which seven of ten fail, whatever they are.
        always: nodes that a job gets together or not at all.
    """
    chance = random.Random(seed)
    names = [f"n{number:02d}" for number in range(nodes)]
    made = []
    for number in range(jobs):
        on = {*chance.sample(names, chance.choice(list(sizes)))}
        on |= {*always} if on & {*always} else set()
        user = chance.randrange(5)
        is_hit = bad in on and chance.random() < 0.7
        make = failed if is_hit or chance.random() < 0.1 + 0.1 * user else sound
        job = make(f"{number:05d}")
        where = {"nodes": tuple(sorted(on)), "user": f"u{user}", "name": f"w{chance.randrange(3)}"}
        when = BEGIN + number * 60
        assert job.allocation
        one = replace(job.allocation, **where, start=when, end=when + HOUR)  # type: ignore[arg-type]
        made.append(replace(job, allocation=one))
    return made
