"""A cluster's logs: as many jobs as wanted, each with its truth, for `postmortem triage`.

    python benchmarks/triage_jobs.py FOLDER [--jobs 10000] [--small | --middle | --bytes-median N]
        [--seed 0] [--start N] [--poison 12] [--huge GIB] [--budget GIB] [--processes 2]

Every job is a recorded log of `sample_logs`, varied by the lab's own machinery and lengthened with
lines of the same shape; sizes are log-uniform. Layouts are mixed as on a cluster:

    FOLDER/logs/slurm-<id>.out, .err, some .gz        half of the jobs that have one log
    FOLDER/runs/<user>/<name>-<id>/…                  jobs of many files, as they were recorded
    FOLDER/pods/<space>_<name>-<id>-worker-0_<uid>/trainer/0.log   with the container's stamps
    FOLDER/experiments/<user>/<name>_<id>.log, .log.gz, .log.zst

Beside FOLDER, so that no triage takes them for logs: FOLDER.truths.jsonl (a line a job: `job`,
`scheduler_id`, `files`, `cause`, `also`, `not`, `fault`, `layout`, `nodes`, `user`, `retry_of`,
`poison`, `states`), FOLDER.scheduler/sacct.json and sacct.txt. The same seed gives the same bytes.

Sizes of 10,000 jobs: 20 KB to 5 MB each, about 9 GB in all (median 316 KB), by default; `--middle`
2.6 GB (median 130 KB); `--small` 5 to 60 KB, 0.25 GB. Fifty jobs have the same bytes; every 25th
failed job is started again and ends well. `--huge` adds one job of so many GiB, `--poison` so many
jobs that no analysis gets through unhurt (`poisoned_jobs.py`). Nothing is written where it would
pass `--budget` or the disk's room. `--start` goes on behind the jobs that are there.
"""

import argparse
import json
import random
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import cluster_records
import poisoned_jobs
from cluster_records import Allotted
from generated_job import Sizes, Wanted, cases, label_of, made

POISON_ID: Final = 9_000_000
HUGE_ID: Final = 8_000_000
LEAST: Final = 20_000
MEDIAN: Final = 316_000
MIDDLE: Final = 130_000
SMALL: Final = (5_000, 60_000)
BUDGET_GIB: Final = 12.0
SPARE: Final = 1 << 30
"""Bytes of the disk that are left alone."""


def _written_down(wanted: Wanted, indices: Sequence[int]) -> list[tuple[dict[str, Any], Allotted]]:
    """Make these jobs and write their files."""
    found = []
    for index in indices:
        job = made(wanted, index)
        for name, data in job.files.items():
            path = wanted.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        found.append((job.truth, job.allotted))
    return found


def _poisoned(wanted: Wanted) -> Iterator[tuple[dict[str, Any], Allotted]]:
    """Write the poisoned jobs."""
    folder = wanted.folder / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    for number, kind in enumerate(poisoned_jobs.kinds(wanted.poison)):
        poison, name = poisoned_jobs.KINDS[kind], f"slurm-{POISON_ID + number}"
        draw = random.Random(f"poison/{wanted.seed}/{number}")
        poison.write(folder / f"{name}{poison.ending}", draw)
        job = cluster_records.allotted(draw, POISON_ID + number, {"cause": "unknown.poisoned"})
        place = f"logs/{name}{poison.ending}"
        yield _plain_truth(job, place, None, poison=kind, states=poison.states), job


def _huge(wanted: Wanted) -> tuple[dict[str, Any], Allotted]:
    """Write the huge job: a sound training without end, and then a recorded failure."""
    label_path = next(
        path
        for path in cases()
        if label_of(path)["cause"] == "code.shape-mismatch" and path.with_suffix(".log").is_file()
    )
    draw = random.Random(f"huge/{wanted.seed}")
    job = cluster_records.allotted(draw, HUGE_ID, label_of(label_path))
    path = wanted.folder / "logs" / f"slurm-{HUGE_ID}.out"
    path.parent.mkdir(parents=True, exist_ok=True)
    size, written, step = int(wanted.huge_gib * (1 << 30)), 0, 0
    with path.open("wb") as stream:
        while written < size:
            written += stream.write(_trained(step, 50_000))
            step += 50_000
        stream.write(label_path.with_suffix(".log").read_bytes())
    fault = f"{label_path.parent.name}/{label_path.stem}"
    truth = _plain_truth(job, f"logs/{path.name}", label_of(label_path)["cause"], fault=fault)
    return truth | {"huge": True}, job


def _trained(first: int, count: int) -> bytes:
    """Records of a sound training from a step on."""
    return "".join(
        f"step {step} | loss {1.2 + 2 / (1 + step / 1e5) + step * 7919 % 97 / 1000:.4f} |"
        f" grad_norm {0.5 + step * 104729 % 89 / 100:.3f} | lr 3.00e-04 | {0.31:.2f} s/step\n"
        for step in range(first, first + count)
    ).encode()


def _plain_truth(job: Allotted, place: str, cause: str | None, **more: object) -> dict[str, Any]:
    return {
        "job": place,
        "scheduler_id": job.scheduler_id,
        "files": [place],
        "cause": cause,
        "also": [],
        "not": [],
        "fault": None,
        "layout": "flat",
        "nodes": list(job.nodes),
        "user": job.user,
        "retry_of": None,
        "same": False,
        "poison": None,
        "states": ["judged"],
        **more,
    }


def refused(wanted: Wanted, budget_gib: float) -> str | None:
    """Say why this is not generated; None if it fits."""
    gib = wanted.bytes / (1 << 30)
    if gib > budget_gib:
        return f"about {gib:.1f} GiB are needed, and --budget is {budget_gib:g}"
    there = next(
        path for path in (wanted.folder, *wanted.folder.absolute().parents) if path.exists()
    )
    free = shutil.disk_usage(there).free
    if wanted.bytes + SPARE > free:
        return f"about {gib:.1f} GiB are needed, and the disk has {free / (1 << 30):.1f} left"
    return None


def build_sibling_path(folder: Path, ending: str) -> Path:
    """Where what is known of a tree lies."""
    return folder.with_name(folder.name + ending)


def generate(wanted: Wanted, processes: int = 1) -> list[dict[str, Any]]:
    """Write the tree, its truths and its scheduler's files; gives the truths of all its jobs.

    With `start` the jobs that are there stay, and are named in the files again.
    """
    wanted.folder.mkdir(parents=True, exist_ok=True)
    indices = range(wanted.start, wanted.start + wanted.jobs)
    chunks = [indices[at : at + 50] for at in range(0, len(indices), 50)]
    work = partial(_written_down, wanted)
    if processes > 1:
        with ProcessPoolExecutor(processes) as pool:
            rows = [row for part in pool.map(work, chunks) for row in part]
    else:
        rows = [row for chunk in chunks for row in work(chunk)]
    rows += _poisoned(wanted)
    if wanted.huge_gib:
        rows.append(_huge(wanted))
    return _noted(wanted, rows)


def _noted(wanted: Wanted, rows: list[tuple[dict[str, Any], Allotted]]) -> list[dict[str, Any]]:
    """Write truths and the scheduler's files, behind those that are there."""
    truths, known = (
        build_sibling_path(wanted.folder, ".truths.jsonl"),
        build_sibling_path(wanted.folder, ".allotted.jsonl"),
    )
    with truths.open("a" if wanted.start else "w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(truth) + "\n" for truth, _ in rows)
    with known.open("a" if wanted.start else "w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(vars(job)) + "\n" for _, job in rows)
    values = {
        "jobs": wanted.start + wanted.jobs,
        "seed": wanted.seed,
        "sizes": [wanted.sizes.least, wanted.sizes.most],
    }
    build_sibling_path(wanted.folder, ".generated.json").write_text(
        json.dumps(values), encoding="utf-8"
    )
    folder = build_sibling_path(wanted.folder, ".scheduler")
    folder.mkdir(exist_ok=True)
    cluster_records.write(folder, [Allotted(**row) for row in rows_of(known)], wanted.folder)
    return rows_of(truths)


def following(folder: Path, count: int) -> Wanted:
    """Give what continues a tree by so many jobs, of the same sizes and seed."""
    values = json.loads(build_sibling_path(folder, ".generated.json").read_text(encoding="utf-8"))
    return Wanted(folder, count, Sizes(*values["sizes"]), values["seed"], start=values["jobs"])


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Read a file with a JSON value a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _sizes(args: argparse.Namespace) -> Sizes:
    if args.small:
        return Sizes(*SMALL)
    median = args.bytes_median or (MIDDLE if args.middle else MEDIAN)
    # Of a log-uniform size the median is the geometric mean of both ends.
    return Sizes(min(LEAST, median // 2), max(median**2 // LEAST, median * 2))


def main() -> None:
    """Generate, and say what lies there."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--middle", action="store_true")
    parser.add_argument("--bytes-median", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--poison", type=int, default=0)
    parser.add_argument("--huge", type=float, default=0.0)
    parser.add_argument("--budget", type=float, default=BUDGET_GIB)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    wanted = Wanted(
        args.folder, args.jobs, _sizes(args), args.seed, args.start, args.poison, args.huge
    )
    why = refused(wanted, args.budget)
    if why:
        sys.exit(why)
    print(f"about {wanted.bytes / 1e9:.2f} GB to write", flush=True)
    truths = generate(wanted, args.processes)
    print(
        f"{len(truths)} jobs, {sum(truth.get('bytes', 0) for truth in truths) / 1e9:.2f} GB of"
        f" ordinary ones; truths in {build_sibling_path(args.folder, '.truths.jsonl')}"
    )


if __name__ == "__main__":
    main()
