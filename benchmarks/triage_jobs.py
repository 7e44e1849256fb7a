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
2.7 GB (median 150 KB); `--small` 5 to 60 KB, 0.25 GB. Fifty jobs have the same bytes; every 25th
failed job is started again and ends well. `--huge` adds one job of so many GiB, `--poison` so many
jobs that no analysis gets through unhurt (`poisoned_jobs.py`). Nothing is written where it would
pass `--budget` or the disk's room. `--start` goes on behind the jobs that are there.
"""

import argparse
import gzip
import itertools
import json
import math
import random
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "sample_logs" / "lab"), str(Path(__file__).parent)]

import cluster_layouts  # noqa: E402 -- the lab's machinery is found by the line above
import cluster_records  # noqa: E402
import poisoned_jobs  # noqa: E402
import yaml  # noqa: E402
from cluster_records import Allotted  # noqa: E402
from harness.variation import KINDS, chosen, earlier_attempt, read_case, varied  # noqa: E402
from lengthening import lengthened  # noqa: E402

FIRST_ID: Final = 4_100_000
POISON_ID: Final = 9_000_000
HUGE_ID: Final = 8_000_000
LEAST: Final = 20_000
MEDIAN: Final = 316_000
MIDDLE: Final = 130_000
SMALL: Final = (5_000, 60_000)
HEALTHY_SHARE: Final = 0.4
VARIED_SHARE: Final = 0.6
SAME: Final = 50
SAME_FROM: Final = 10
RETRIED_EVERY: Final = 25
REQUEUED_EVERY: Final = 60
BUDGET_GIB: Final = 12.0
SPARE: Final = 1 << 30
"""Bytes of the disk that are left alone."""
AT_THE_END: Final = {"windows", "utf-16"}
NOT_FOR_LONG: Final = {"windows", "utf-16", "wrapped", "interleaved", "second-attempt"}


@dataclass(frozen=True)
class Sizes:
    """Between which sizes, in bytes before packing, jobs lie."""

    least: int
    most: int

    @property
    def mean(self) -> float:
        """Of a log-uniform size."""
        return (self.most - self.least) / math.log(self.most / self.least)

    def drawn(self, draw: random.Random) -> int:
        """Draw a size."""
        return int(math.exp(draw.uniform(math.log(self.least), math.log(self.most))))


@dataclass(frozen=True)
class Wanted:
    """What is to be generated."""

    folder: Path
    jobs: int
    sizes: Sizes
    seed: int = 0
    start: int = 0
    poison: int = 0
    huge_gib: float = 0.0

    @property
    def bytes(self) -> int:
        """About so many on the disk, at most."""
        poison = poisoned_jobs.LARGEST * math.ceil(self.poison / len(poisoned_jobs.KINDS))
        return int(self.jobs * self.sizes.mean * 1.1 + poison + self.huge_gib * (1 << 30))

    @property
    def same(self) -> range:
        """The jobs that have the same bytes."""
        count = min(SAME, self.jobs // 4) if self.start == 0 else 0
        return range(SAME_FROM, SAME_FROM + count)


@dataclass(frozen=True)
class Made:
    """A generated job: its files below the folder, and its truth."""

    files: dict[str, bytes]
    truth: dict[str, Any]
    allotted: Allotted = field(repr=False)


@cache
def cases() -> tuple[Path, ...]:
    """The recorded cases whose truth lies in the log alone."""
    return tuple(
        label
        for label in sorted((ROOT / "sample_logs").glob("*/*.yaml"))
        if (label.with_suffix(".log").is_file() or label.with_suffix("").is_dir())
        and not label.with_suffix(".env").exists()
    )


@cache
def _label(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


@cache
def _pools(seed: int) -> tuple[tuple[Path, ...], tuple[Path, ...], tuple[float, ...]]:
    """Healthy cases, failing cases, and how often each of these comes: a few come often."""
    healthy = [path for path in cases() if _label(path)["cause"].startswith("healthy.")]
    failing = [path for path in cases() if path not in set(healthy)]
    random.Random(seed).shuffle(failing)
    return (
        tuple(healthy),
        tuple(failing),
        tuple(itertools.accumulate(1 / (rank + 5) for rank in range(len(failing)))),
    )


def _case(wanted: Wanted, index: int) -> Path:
    """Which recorded case a job is made of."""
    draw = random.Random(f"case/{wanted.seed}/{SAME_FROM if index in wanted.same else index}")
    healthy, failing, weights = _pools(wanted.seed)
    if index in wanted.same:
        return draw.choice([path for path in failing if path.with_suffix(".log").is_file()])
    if _retry_of(wanted, index) is not None:
        return draw.choice([path for path in healthy if _label(path)["outcome"] == "completed"])
    if draw.random() < HEALTHY_SHARE:
        return draw.choice(healthy)
    return draw.choices(failing, cum_weights=weights)[0]


def _retry_of(wanted: Wanted, index: int) -> int | None:
    """The failed job that this one starts again."""
    is_place = index % RETRIED_EVERY == RETRIED_EVERY - 1 and index not in wanted.same
    if not is_place or index - 1 < wanted.start or index - 1 in wanted.same:
        return None
    return None if _allotted(wanted, index - 1).state in {"COMPLETED", "RUNNING"} else index - 1


def _allotted(wanted: Wanted, index: int) -> Allotted:
    draw = random.Random(f"scheduler/{wanted.seed}/{index}")
    earlier = _retry_of(wanted, index)
    if earlier is not None:
        return cluster_records.retried(_allotted(wanted, earlier), FIRST_ID + index, draw)
    after = cluster_records.BEGIN + (cluster_records.WEEKS if wanted.start else 0.0)
    job = cluster_records.allotted(
        draw, FIRST_ID + index, _label(_case(wanted, index)), after=after
    )
    if index % REQUEUED_EVERY == REQUEUED_EVERY - 1 and job.end is not None:
        return replace(job, attempt=2)
    return job


def made(wanted: Wanted, index: int) -> Made:
    """Make one job; the same seed and number give the same bytes."""
    case, allotted = _case(wanted, index), _allotted(wanted, index)
    is_same = index in wanted.same
    draw = random.Random(f"job/{wanted.seed}/{SAME_FROM if is_same else index}")
    texts, label, encoding = _written(case, draw, wanted.sizes.drawn(draw), is_plain=is_same)
    if is_same:
        layout, files = "flat", {f"logs/slurm-{allotted.scheduler_id}.out": texts[""]}
    else:
        layout, files = cluster_layouts.laid_out(texts, label, allotted, draw)
    coded = {name: cluster_layouts.coded(name, text, encoding) for name, text in files.items()}
    truth = {
        "job": cluster_layouts.place_of(files),
        "scheduler_id": allotted.scheduler_id,
        "files": sorted(files),
        "cause": label["cause"],
        "also": label.get("also", []),
        "not": label.get("not", []),
        "fault": f"{case.parent.name}/{case.stem}",
        "layout": layout,
        "nodes": list(allotted.nodes),
        "user": allotted.user,
        "retry_of": allotted.retry_of,
        "same": is_same,
        "poison": None,
        "states": ["judged"],
        "bytes": sum(map(len, coded.values())),
    }
    log = "" if layout == "pod" else max(coded)
    return Made(coded, truth, replace(allotted, log=log))


def _written(
    case: Path, draw: random.Random, size: int, *, is_plain: bool
) -> tuple[dict[str, str], dict[str, Any], str]:
    """The texts of a case, varied and lengthened, and how they are to be encoded."""
    files, label = read_case(case)
    files = {name.removesuffix(".gz"): _unpacked(data) for name, data in files.items()}
    is_job = "" not in files
    end = ""
    if not is_plain and draw.random() < VARIED_SHARE and not _is_marked(files):
        drawn = chosen(draw, job=is_job)
        end = next((kind for kind in drawn if kind in AT_THE_END), "")
        kinds = [kind for kind in KINDS if kind in drawn and kind not in NOT_FOR_LONG]
        other = earlier_attempt(case, draw)
        files, label = varied(files, label, draw.randrange(2**32), kinds, other)
    texts = {name: _decoded(data) for name, data in files.items()}
    is_paced = label["cause"].partition(".")[0] in cluster_layouts.PACED
    return lengthened(texts, size, draw, is_pace_kept=is_paced), label, end


def _unpacked(data: bytes) -> bytes:
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def _is_marked(files: dict[str, bytes]) -> bool:
    """True if a file was recorded in UTF-16."""
    return any(data.startswith((b"\xff\xfe", b"\xfe\xff")) for data in files.values())


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    return data.decode("utf-8", errors="surrogateescape")


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
        if _label(path)["cause"] == "code.shape-mismatch" and path.with_suffix(".log").is_file()
    )
    draw = random.Random(f"huge/{wanted.seed}")
    job = cluster_records.allotted(draw, HUGE_ID, _label(label_path))
    path = wanted.folder / "logs" / f"slurm-{HUGE_ID}.out"
    path.parent.mkdir(parents=True, exist_ok=True)
    size, written, step = int(wanted.huge_gib * (1 << 30)), 0, 0
    with path.open("wb") as stream:
        while written < size:
            written += stream.write(_trained(step, 50_000))
            step += 50_000
        stream.write(label_path.with_suffix(".log").read_bytes())
    fault = f"{label_path.parent.name}/{label_path.stem}"
    truth = _plain_truth(job, f"logs/{path.name}", _label(label_path)["cause"], fault=fault)
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


def beside(folder: Path, ending: str) -> Path:
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
    truths, known = beside(wanted.folder, ".truths.jsonl"), beside(wanted.folder, ".allotted.jsonl")
    with truths.open("a" if wanted.start else "w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(truth) + "\n" for truth, _ in rows)
    with known.open("a" if wanted.start else "w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(vars(job)) + "\n" for _, job in rows)
    told = {
        "jobs": wanted.start + wanted.jobs,
        "seed": wanted.seed,
        "sizes": [wanted.sizes.least, wanted.sizes.most],
    }
    beside(wanted.folder, ".generated.json").write_text(json.dumps(told), encoding="utf-8")
    folder = beside(wanted.folder, ".scheduler")
    folder.mkdir(exist_ok=True)
    cluster_records.write(folder, [Allotted(**row) for row in rows_of(known)], wanted.folder)
    return rows_of(truths)


def following(folder: Path, count: int) -> Wanted:
    """Give what continues a tree by so many jobs, of the same sizes and seed."""
    told = json.loads(beside(folder, ".generated.json").read_text(encoding="utf-8"))
    return Wanted(folder, count, Sizes(*told["sizes"]), told["seed"], start=told["jobs"])


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
        f" ordinary ones; truths in {beside(args.folder, '.truths.jsonl')}"
    )


if __name__ == "__main__":
    main()
