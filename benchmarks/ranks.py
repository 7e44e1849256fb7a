"""A job of many ranks: a log and a dump of the flight recorder of each, one rank not coming.

    python benchmarks/ranks.py [--ranks 1024] [--log-megabytes 100] [--entries 150] [--keep FOLDER]

In: how many ranks, the size of all logs together, the collectives that each dump keeps. Out: a row
with the size of the input, seconds, CPU seconds, the peak memory of `postmortem analyze` (each page
counted once, sampled), the cause and the rank that are named. The ranks form tensor groups of
eight and data groups of the rest; rank 517 (or half the ranks, if fewer) never comes to its data
group, and its watchdog is silent. Linux only.
"""

import argparse
import json
import pickle
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import process_tree

EVERY: Final = 0.5
"""Seconds from a look at the memory to the next."""
TENSOR: Final = 8
FRAMES: Final = [
    {"name": name, "filename": f"/opt/venv/lib/python3.11/site-packages/{file}", "line": line}
    for name, file, line in (
        ("all_reduce", "torch/distributed/distributed_c10d.py", 2806),
        ("wrapper", "torch/distributed/c10d_logger.py", 81),
        ("start_grad_sync", "megatron/core/distributed/param_and_grad_buffer.py", 318),
        ("train_step", "megatron/training/training.py", 1187),
        ("<module>", "pretrain_gpt.py", 271),
    )
]
WATCHDOG: Final = (
    "[rank{rank}]:[E309 11:41:00.118372645 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught"
    " collective operation timeout: WorkNCCL(SeqNum={number}, OpType=ALLREDUCE, NumelIn=7351296,"
    " NumelOut=7351296, Timeout(ms)=600000) ran for 600041 milliseconds before timing out.\n"
)


def iter_log(rank: int, ranks: int, size: int, number: int) -> Iterator[str]:
    """Yield the lines of a rank's log, up to a size in bytes; the late one ends without a word."""
    yield f"[rank{rank}] using world size: {ranks}, tensor-model-parallel size: {TENSOR}\n"
    written, step = 0, 0
    while written < size:
        step += 1
        line = (
            f"[2026-03-09 {8 + step // 3600 % 16:02d}:{step // 60 % 60:02d}:{step % 60:02d}]"
            f" iteration {step:8d}/  500000 | consumed samples: {step * 512:12d} | elapsed time"
            f" per iteration (ms): {1000 + step % 7}.{rank % 10} | learning rate: 1.000000E-04 |"
            f" lm loss: {2 + 8 / (1 + step / 50):.6E} | grad norm: 1.{step % 97:02d} |\n"
        )
        written += len(line)
        yield line
    if rank != get_late(ranks):
        yield WATCHDOG.format(rank=rank, number=number)


def get_late(ranks: int) -> int:
    """Give the rank that does not come."""
    return 517 if ranks > 517 else ranks // 2


def build_dump(rank: int, ranks: int, entries: int) -> dict[str, Any]:
    """Give the dump of a rank, as torch writes it."""
    first = rank // TENSOR * TENSOR
    data = str(1 + ranks // TENSOR + rank % TENSOR)
    members = {
        "0": ("default_pg", [*range(ranks)], 1),
        str(1 + rank // TENSOR): (
            "TENSOR_MODEL_PARALLEL_GROUP",
            [*range(first, first + TENSOR)],
            entries * 4,
        ),
        data: ("DATA_PARALLEL_GROUP", [*range(rank % TENSOR, ranks, TENSOR)], entries),
    }
    late = rank == get_late(ranks)
    is_of_late = rank % TENSOR == get_late(ranks) % TENSOR
    rows, config, status = [], {}, {}
    for name, (description, group, number) in members.items():
        pending = name == data and is_of_late and not late
        config[name] = {"name": name, "desc": description, "ranks": str(group)}
        status[name] = {
            "last_enqueued_collective": number + pending,
            "last_started_collective": number + pending,
            "last_completed_collective": number,
        }
        rows += (
            build_entry(name, description, place, done=place <= number, late=rank % 97)
            for place in range(max(number - entries // 2, 1), number + pending + 1)
        )
    return {
        "version": "2.10", "nccl_version": "2.27.5", "entries": rows, "pg_config": config,
        "pg_status": status,
    }  # fmt: skip


def build_entry(
    group: str, description: str, number: int, *, done: bool, late: int
) -> dict[str, Any]:
    """Give a collective of a dump."""
    begun = 1_772_000_000_000_000_000 + number * 1_000_003 + late
    return {
        "frames": FRAMES, "record_id": number, "pg_id": int(group),
        "process_group": (group, description), "collective_seq_id": number, "p2p_seq_id": 0,
        "op_id": number, "profiling_name": "nccl:all_reduce", "time_created_ns": begun,
        "duration_ms": 1.75 if done else None, "input_sizes": [[7351296]],
        "input_dtypes": ["BFloat16"], "output_sizes": [[7351296]], "output_dtypes": ["BFloat16"],
        "state": "completed" if done else "started", "time_discovered_started_ns": begun + 9,
        "time_discovered_completed_ns": begun + 99 if done else None, "retired": done,
        "timeout_ms": 600000, "is_p2p": False,
    }  # fmt: skip


def write_job(folder: Path, ranks: int, size: int, entries: int) -> int:
    """Write the files of all ranks; gives their size in bytes."""
    for rank in range(ranks):
        text = "".join(iter_log(rank, ranks, size // ranks, entries + 1))
        (folder / f"rank{rank}.log").write_text(text, encoding="utf-8")
        dump = pickle.dumps(build_dump(rank, ranks, entries), protocol=2)
        (folder / f"nccl_trace_rank_{rank}").write_bytes(dump)
    return sum(path.stat().st_size for path in folder.iterdir())


def measure(folder: Path, size: int) -> str:
    """Analyse a folder; gives a row."""
    command = (sys.executable, "-m", "postmortem", "analyze", str(folder), "--format", "json")
    with tempfile.TemporaryDirectory() as place:
        usage = process_tree.measured(command, Path(place, "report.json"), every=EVERY)
    text = usage.output.decode("utf-8", "replace")
    if usage.status:
        sys.exit(text)
    report, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    rank = (report["first_failure"] or {"where": {"rank": None}})["where"]["rank"]
    return (
        f"| {size / 1e6:,.0f} MB | {usage.seconds:.1f} s | {usage.cpu_seconds:.1f} s"
        f" | {usage.peak_pss / 1e6:.0f} MB | {report['verdict']['cause']} | {rank} |"
    )


def main() -> None:
    """Write a job, analyse it, print a row."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--log-megabytes", type=float, default=100)
    parser.add_argument("--entries", type=int, default=150)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    print("| files | time | CPU | peak memory | cause | rank |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        folder = args.keep or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        size = write_job(folder, args.ranks, int(args.log_megabytes * 1e6), args.entries)
        print(measure(folder, size), flush=True)


if __name__ == "__main__":
    main()
