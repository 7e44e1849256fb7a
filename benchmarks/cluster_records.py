"""What a scheduler says of generated jobs: `sacct --json`, and `sacct -P`.

In: `Allotted` rows. Out: two files with the same jobs. One node fails more than the others; some
jobs were requeued and have a record for each attempt.
"""

import datetime as dt
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

NODES: Final = tuple(
    f"gpu{rack:02d}-{number:02d}" for rack in range(1, 9) for number in range(1, 9)
)
BAD_NODE: Final = "gpu03-05"
BAD_SHARE: Final = 0.12
"""Of the jobs that fail by what a node can do to them."""
OF_A_NODE: Final = ("cuda", "memory", "distributed", "io", "hang", "environment")
"""Areas of causes that a bad node brings."""
USERS: Final = (
    "ada",
    "bo",
    "carla",
    "dmitri",
    "elif",
    "farah",
    "gao",
    "hana",
    "ivan",
    "jun",
    "kim",
)
IMAGES: Final = ("nvcr.io/nvidia/pytorch:24.07-py3", "registry/train:2026.10", "registry/train:dev")
BEGIN: Final = 1_793_577_600.0
"""2026-11-02 00:00 UTC, seconds."""
WEEKS: Final = 14 * 86_400.0
PIPE: Final = (
    "JobIDRaw|JobName|User|Account|Partition|NodeList|NNodes|AllocTRES|State|ExitCode|Submit|Start"
    "|End|ElapsedRaw|Restarts|WorkDir|StdOut"
)


@dataclass(frozen=True)
class Allotted:
    """A job as its scheduler knows it."""

    scheduler_id: int
    name: str
    user: str
    nodes: tuple[str, ...]
    gpus: int
    """On each node."""
    begin: float
    """UTC seconds."""
    end: float | None
    """UTC seconds; None while it runs."""
    state: str
    exit_status: int
    image: str
    folder: str
    attempt: int = 1
    retry_of: int | None = None
    log: str = ""
    """Where standard output went, below the tree; nothing for a pod."""


def allotted(
    draw: random.Random, scheduler_id: int, label: dict[str, Any], *, after: float = BEGIN
) -> Allotted:
    """Draw what the scheduler says of a job with this truth; it begins within two weeks."""
    user = draw.choice(USERS)
    begin = after + draw.uniform(0, WEEKS if after == BEGIN else WEEKS / 14)
    seconds = min(draw.lognormvariate(8, 1.5), 2 * 86_400.0)
    state, status = _state(draw, label)
    count = draw.choice((1, 1, 1, 1, 2, 2, 4, 8))
    name = draw.choice(("sft", "pretrain", "dpo", "eval", "vit", "asr")) + draw.choice(
        ("-7b", "-70b", "-base", "-large", "-debug")
    )
    return Allotted(
        scheduler_id,
        name,
        user,
        _nodes(draw, count, label),
        8 if count > 1 else draw.choice((1, 1, 2, 4, 8)),
        begin,
        None if state == "RUNNING" else begin + seconds,
        state,
        status,
        draw.choice(IMAGES),
        f"/home/{user}/{name}",
    )


def retried(job: Allotted, scheduler_id: int, draw: random.Random) -> Allotted:
    """The same command again, on other nodes or the same ones, and this time it ends well."""
    end = (job.end or job.begin) + 60
    is_moved = draw.random() < 0.6
    others = [node for node in NODES if node not in job.nodes]
    return replace(
        job,
        scheduler_id=scheduler_id,
        nodes=tuple(sorted(draw.sample(others, len(job.nodes)))) if is_moved else job.nodes,
        begin=end,
        end=end + draw.lognormvariate(9, 1),
        state="COMPLETED",
        exit_status=0,
        retry_of=job.scheduler_id,
    )


def _nodes(draw: random.Random, count: int, label: dict[str, Any]) -> tuple[str, ...]:
    nodes = set(draw.sample(NODES, count))
    is_of_a_node = label["cause"].partition(".")[0] in OF_A_NODE
    if is_of_a_node and draw.random() < BAD_SHARE:
        nodes = {BAD_NODE, *sorted(nodes)[1:]}
    return tuple(sorted(nodes))


def _state(draw: random.Random, label: dict[str, Any]) -> tuple[str, int]:
    cause, outcome = label["cause"], label.get("outcome")
    by_cause = {"scheduler.time-limit": "TIMEOUT", "scheduler.cancelled": "CANCELLED"}
    if cause in by_cause:
        return by_cause[cause], 0
    if cause == "memory.host-oom":
        return draw.choice((("OUT_OF_MEMORY", 137), ("FAILED", 137)))
    by_outcome = {"running": "RUNNING", "stalled": "CANCELLED"}
    if outcome in by_outcome:
        return by_outcome[outcome], 0
    status = label.get("exit_status")
    # A training that collapses is a job that ends well, for a scheduler.
    if cause.startswith("healthy.") or status == 0:
        return "COMPLETED", 0
    return "FAILED", status if isinstance(status, int) and status > 0 else 1


def write(folder: Path, jobs: Sequence[Allotted], tree: Path) -> None:
    """Write `sacct.json` and `sacct.txt` with the same jobs, by id; their logs lie in the tree."""
    attempts = [
        replace(attempt, log=str(tree.absolute() / attempt.log) if attempt.log else "")
        for job in sorted(jobs, key=lambda job: job.scheduler_id)
        for attempt in _attempts(job)
    ]
    with (folder / "sacct.json").open("w", encoding="utf-8") as stream:
        stream.write('{"meta": {"plugin": {"name": "slurmdbd"}}, "errors": [], "jobs": [\n')
        stream.write(",\n".join(json.dumps(_as_json(job)) for job in attempts))
        stream.write("\n]}\n")
    lines = [PIPE, *(line for job in attempts for line in _as_pipe(job))]
    (folder / "sacct.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _attempts(job: Allotted) -> Iterable[Allotted]:
    """Two for a job that was requeued after its node went away."""
    if job.attempt > 1:
        middle = job.begin - 600
        yield replace(
            job, attempt=1, begin=middle - 1800, end=middle, state="NODE_FAIL", exit_status=1
        )
    yield job


def _as_json(job: Allotted) -> dict[str, Any]:
    end, gpus = int(job.end or 0), job.gpus * len(job.nodes)
    signal = max(0, job.exit_status - 128)
    return {
        "job_id": job.scheduler_id,
        "name": job.name,
        "user": job.user,
        "account": "research",
        "partition": "gpu",
        "cluster": "a",
        "nodes": ",".join(job.nodes),
        "allocation_nodes": len(job.nodes),
        "restart_cnt": job.attempt - 1,
        "container": job.image,
        "working_directory": job.folder,
        "standard_output": job.log,
        "state": {"current": [job.state], "reason": "None"},
        "exit_code": {
            "status": ["SUCCESS" if job.state == "COMPLETED" else "ERROR"],
            "return_code": {"set": True, "infinite": False, "number": job.exit_status},
            "signal": {"id": {"set": bool(signal), "infinite": False, "number": signal}},
        },
        "time": {
            "submission": int(job.begin) - 30,
            "eligible": int(job.begin) - 30,
            "start": int(job.begin),
            "end": end,
            "elapsed": max(0, end - int(job.begin)),
        },
        "tres": {
            "allocated": [
                {"type": "cpu", "name": "", "id": 1, "count": gpus * 8},
                {"type": "node", "name": "", "id": 4, "count": len(job.nodes)},
                {"type": "gres", "name": "gpu", "id": 1001, "count": gpus},
            ]
        },
    }


def _as_pipe(job: Allotted) -> Iterable[str]:
    """The job's line, and its batch step's."""
    gpus = job.gpus * len(job.nodes)
    tres = f"billing={gpus * 8},cpu={gpus * 8},gres/gpu={gpus},node={len(job.nodes)}"
    code = f"{job.exit_status % 128}:{max(0, job.exit_status - 128)}"
    state = f"{job.state} by 1000" if job.state == "CANCELLED" else job.state
    elapsed = max(0, int(job.end or 0) - int(job.begin))
    for step, name, user in (("", job.name, job.user), (".batch", "batch", "")):
        yield "|".join(
            (
                f"{job.scheduler_id}{step}",
                name,
                user,
                "research",
                "" if step else "gpu",
                job.nodes[0] if step else ",".join(job.nodes),
                "1" if step else str(len(job.nodes)),
                tres,
                state,
                code,
                _when(job.begin - 30),
                _when(job.begin),
                _when(job.end),
                str(elapsed),
                str(job.attempt - 1),
                "" if step else job.folder,
                "" if step else job.log,
            )
        )


def _when(at: float | None) -> str:
    if at is None:
        return "Unknown"
    return f"{dt.datetime.fromtimestamp(int(at), dt.timezone.utc):%Y-%m-%dT%H:%M:%S}"
