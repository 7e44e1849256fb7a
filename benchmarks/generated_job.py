"""One generated job: a recorded case that is varied, lengthened, and laid out as on a cluster.

In: what is wanted, and the job's number. Out: `Made`: its files, its truth, what its scheduler
says. The same seed and number give the same bytes, however many jobs there are. Not here: writing
the tree (`triage_jobs`).
"""

import gzip
import itertools
import math
import random
import sys
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "sample_logs" / "lab")]

import cluster_layouts  # noqa: E402 -- the lab's machinery is found by the line above
import cluster_records  # noqa: E402
import poisoned_jobs  # noqa: E402
import yaml  # noqa: E402
from cluster_records import Allotted  # noqa: E402
from harness.variation import KINDS, chosen, earlier_attempt, read_case, varied  # noqa: E402
from lengthening import lengthened  # noqa: E402

FIRST_ID: Final = 4_100_000
HEALTHY_SHARE: Final = 0.4
VARIED_SHARE: Final = 0.6
SAME: Final = 50
SAME_FROM: Final = 10
RETRIED_EVERY: Final = 25
REQUEUED_EVERY: Final = 60
AT_THE_END: Final = {"windows", "utf-16"}
NOT_FOR_LONG: Final = {"windows", "utf-16", "wrapped", "interleaved", "second-attempt"}
SHORT: Final = frozenset(
    {
        "lightning/ddp-uneven-steps-0",
        "lightning/store-key-wait-0",
        "mmengine/rank-zero-report-0",
        "mmengine/second-node-absent-0",
        "mmengine/sensor-cell-empty-0",
        "mmengine/unit-mixup-0",
        "pytorch/curve-interrupt-ruined-0",
        "pytorch/hang-peer-0",
        "pytorch/hang-queue-0",
        "pytorch/io-race-half-written-0",
        "pytorch/style-curriculum-0",
        "xtuner/rate-climbs-0",
    }
)
"""Recorded cases that are left out: what they show lies in how short they are, or in how few
records, and a longer log would tell of something else."""


@dataclass(frozen=True)
class Sizes:
    """Between which sizes, in bytes before packing, jobs lie."""

    least: int
    most: int

    @property
    def mean(self) -> float:
        """Of a log-uniform size."""
        return (self.most - self.least) / math.log(self.most / self.least)

    @property
    def median(self) -> int:
        """Of a log-uniform size; identical jobs have it."""
        return int(math.sqrt(self.least * self.most))

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
    """The recorded cases whose truth lies in the log alone, and in a longer one too."""
    return tuple(
        label
        for label in sorted((ROOT / "sample_logs").glob("*/*.yaml"))
        if (label.with_suffix(".log").is_file() or label.with_suffix("").is_dir())
        and not label.with_suffix(".env").exists()
        and f"{label.parent.name}/{label.stem}" not in SHORT
    )


@cache
def label_of(path: Path) -> dict[str, Any]:
    """Read the label of a recorded case."""
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


@cache
def _pools(seed: int) -> tuple[tuple[Path, ...], tuple[Path, ...], tuple[float, ...]]:
    """Healthy cases, failing cases, and how often each of these comes: a few come often."""
    healthy = [path for path in cases() if label_of(path)["cause"].startswith("healthy.")]
    failing = [path for path in cases() if path not in set(healthy)]
    random.Random(seed).shuffle(failing)
    return (
        tuple(healthy),
        tuple(failing),
        tuple(itertools.accumulate(1 / (rank + 5) for rank in range(len(failing)))),
    )


def case_of(wanted: Wanted, index: int) -> Path:
    """Which recorded case a job is made of."""
    draw = random.Random(f"case/{wanted.seed}/{SAME_FROM if index in wanted.same else index}")
    healthy, failing, weights = _pools(wanted.seed)
    if index in wanted.same:
        return draw.choice([path for path in failing if path.with_suffix(".log").is_file()])
    if retry_of(wanted, index) is not None:
        return draw.choice([path for path in healthy if label_of(path)["outcome"] == "completed"])
    if draw.random() < HEALTHY_SHARE:
        return draw.choice(healthy)
    return draw.choices(failing, cum_weights=weights)[0]


def retry_of(wanted: Wanted, index: int) -> int | None:
    """The failed job that this one starts again."""
    is_place = index % RETRIED_EVERY == RETRIED_EVERY - 1 and index not in wanted.same
    if not is_place or index - 1 < wanted.start or index - 1 in wanted.same:
        return None
    return None if allotted_of(wanted, index - 1).state in {"COMPLETED", "RUNNING"} else index - 1


def allotted_of(wanted: Wanted, index: int) -> Allotted:
    """Say what the scheduler knows of a job."""
    draw = random.Random(f"scheduler/{wanted.seed}/{index}")
    earlier = retry_of(wanted, index)
    if earlier is not None:
        return cluster_records.retried(allotted_of(wanted, earlier), FIRST_ID + index, draw)
    after = cluster_records.BEGIN + (cluster_records.WEEKS if wanted.start else 0.0)
    job = cluster_records.allotted(
        draw, FIRST_ID + index, label_of(case_of(wanted, index)), after=after
    )
    if index % REQUEUED_EVERY == REQUEUED_EVERY - 1 and job.end is not None:
        return replace(job, attempt=2)
    return job


def made(wanted: Wanted, index: int) -> Made:
    """Make one job; the same seed and number give the same bytes."""
    case, allotted = case_of(wanted, index), allotted_of(wanted, index)
    is_same = index in wanted.same
    draw = random.Random(f"job/{wanted.seed}/{SAME_FROM if is_same else index}")
    size = wanted.sizes.median if is_same else wanted.sizes.drawn(draw)
    texts, label, encoding = _written(case, draw, size, is_plain=is_same)
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
