"""Record dumps of the flight recorder of small gloo jobs in which some ranks do not come.

    TORCH_FR_BUFFER_SIZE=200 python sample_logs/lab/collectives/record.py FOLDER [FAULT...]

In: a folder. Out: for each fault FOLDER/FAULT/nccl_trace_rank_N, a pickle as torch writes it, and
the ranks at fault as the last column of FOLDER/faults.tsv. Each job is a process per rank on this
machine's CPU: the tensor-parallel group of a rank is its row, the data-parallel group its column.
"""

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import torch
import torch.distributed as dist

WAIT: Final = 6.0
"""Seconds after which each rank writes its dump, come what may."""
FOREVER: Final = 60.0


class Job(NamedTuple):
    """The process groups of a rank."""

    rank: int
    world: int
    rows: dist.ProcessGroup
    columns: dist.ProcessGroup


def step(job: Job, size: int = 8) -> None:
    """Do what each step of a training does: reduce in the row, then in the column."""
    dist.all_reduce(torch.ones(size), group=job.rows)
    dist.all_reduce(torch.ones(2 * size), group=job.columns)


def stand(_: Job) -> None:
    """Stand in something that is no collective."""
    time.sleep(FOREVER)


def at(
    ranks: Sequence[int], does: Callable[[Job], None], then: Callable[[Job], None] = step
) -> Callable[[Job], None]:
    """Make a step in which some ranks do something of their own before, or instead of, the step."""

    def run(job: Job) -> None:
        if job.rank in ranks:
            does(job)
        then(job)

    return run


def instead(
    ranks: Sequence[int], does: Callable[[Job], None], others: Callable[[Job], None]
) -> Callable[[Job], None]:
    """Make a step that some ranks do otherwise."""
    return lambda job: (does if job.rank in ranks else others)(job)


def crash(_: Job) -> None:
    """End the process as a signal does."""
    os._exit(9)


def reduce_all(job: Job) -> None:
    """Reduce over all ranks."""
    dist.all_reduce(torch.ones(4))
    step(job)


def broadcast_all(job: Job) -> None:
    """Broadcast from the first rank."""
    dist.broadcast(torch.ones(4), 0)
    step(job)


def barrier(job: Job) -> None:
    """Wait for all."""
    dist.barrier()
    step(job)


def gather(job: Job) -> None:
    """Gather from all."""
    dist.all_gather([torch.ones(4) for _ in range(job.world)], torch.ones(4))
    step(job)


def columns_first(job: Job) -> None:
    """Reduce in the other order."""
    dist.all_reduce(torch.ones(16), group=job.columns)
    dist.all_reduce(torch.ones(8), group=job.rows)


def large(job: Job) -> None:
    """Reduce a tensor of another size."""
    dist.all_reduce(torch.ones(9))
    step(job)


def nothing(_: Job) -> None:
    """Leave the loop."""


class Fault(NamedTuple):
    """A job with ranks at fault."""

    shape: tuple[int, int]
    """Rows and columns of ranks."""
    step: Callable[[Job], None]
    ranks: tuple[int, ...]
    steps: int = 3
    """Sound steps before."""


FAULTS: Final = {
    "stuck-in-io": Fault((2, 2), at([2], stand), (2,)),
    "stuck-first-rank": Fault((2, 2), at([0], stand, barrier), (0,)),
    "evaluates-alone": Fault((2, 2), at([0], stand, reduce_all), (0,), 5),
    "two-stuck": Fault((2, 3), at([1, 5], stand), (1, 5)),
    "stuck-of-six": Fault((3, 2), at([4], stand), (4,)),
    "late-joiner": Fault((2, 2), at([3], stand), (3,), 0),
    "late-joiner-of-all": Fault((1, 3), at([1], stand, reduce_all), (1,), 0),
    "leaves-early": Fault((2, 2), instead([3], nothing, step), (3,)),
    "leaves-early-of-all": Fault((2, 2), instead([1], nothing, reduce_all), (1,), 4),
    "crash-before-barrier": Fault((2, 2), instead([1], crash, barrier), (1,)),
    "crash-of-last": Fault((2, 2), instead([3], crash, step), (3,)),
    "other-operation": Fault((2, 2), instead([2], broadcast_all, reduce_all), (2,)),
    "gather-instead": Fault((2, 2), instead([1], gather, reduce_all), (1,)),
    "barrier-instead": Fault((2, 3), instead([4], barrier, reduce_all), (4,)),
    "other-size": Fault((2, 2), instead([3], large, reduce_all), (3,)),
    "skips-one": Fault((2, 2), instead([2], step, reduce_all), (2,)),
    "stuck-row": Fault((2, 2), at([0, 1], stand), (0, 1)),
    "stuck-before-gather": Fault((2, 3), at([3], stand, gather), (3,), 7),
    "gathers-without-one": Fault((2, 2), at([2], stand, gather), (2,)),
    "three-stuck": Fault((3, 3), at([0, 4, 8], stand), (0, 4, 8)),
    "other-order": Fault((2, 2), instead([0, 3], columns_first, step), (0, 1, 2, 3)),
    "stuck-deep-in": Fault((2, 4), at([6], stand), (6,), 12),
}


def run_rank(name: str, rank: int, folder: Path, port: int) -> None:
    """Run one rank of a job until it has written its dump."""
    fault = FAULTS[name]
    rows, columns = fault.shape
    world = rows * columns
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    dist.init_process_group("gloo", rank=rank, world_size=world)
    groups = [
        dist.new_group([row * columns + column for column in range(columns)]) for row in range(rows)
    ]
    across = [
        dist.new_group([row * columns + column for row in range(rows)]) for column in range(columns)
    ]
    job = Job(rank, world, groups[rank // columns], across[rank % columns])
    threading.Thread(target=dump, args=(folder / f"nccl_trace_rank_{rank}",), daemon=True).start()
    try:
        for _ in range(fault.steps):
            step(job)
        fault.step(job)
    except RuntimeError as error:
        print(f"rank {rank}: {error}"[:200], file=sys.stderr)
    time.sleep(FOREVER)


def dump(path: Path) -> None:
    """Write the dump after a while, and end the process."""
    time.sleep(WAIT)
    path.write_bytes(torch._C._distributed_c10d._dump_fr_trace(True, False, False))  # noqa: SLF001
    os._exit(0)


def main(folder: Path, names: Sequence[str]) -> None:
    """Record the dumps of some faults, or of all."""
    torch.set_num_threads(1)
    context = multiprocessing.get_context("fork")
    for number, name in enumerate(names or FAULTS):
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        rows, columns = FAULTS[name].shape
        ranks = [
            context.Process(target=run_rank, args=(name, rank, place, 29600 + number))
            for rank in range(rows * columns)
        ]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join(FOREVER)
    lines = (f"{name}\t{' '.join(map(str, fault.ranks))}\n" for name, fault in FAULTS.items())
    (folder / "faults.tsv").write_text("".join(lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
