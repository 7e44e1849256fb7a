"""Where the files of a generated job lie, and in which bytes: as a cluster keeps its logs.

In: a job's texts, its label, what its scheduler says. Out: names below the tree and their bytes.
"""

import datetime as dt
import gzip
import random
import re
import uuid
from collections.abc import Iterable
from typing import Any, Final

import zstandard
from cluster_records import Allotted

PACED: Final = ("performance", "hang", "scheduler")
"""Areas of causes whose truth hangs on when lines came."""
TIME: Final = re.compile(r"\d\d:\d\d:\d\d")
CLUSTERED: Final = re.compile(r"slurm-\d+")


def coded(name: str, text: str, end: str) -> bytes:
    """A file's bytes: its line ends, its encoding, its packing."""
    if end:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    if end == "utf-16":
        data = text.encode("utf-16", errors="replace")
    else:
        data = text.encode("utf-8", errors="surrogateescape")
    if name.endswith(".gz"):
        return gzip.compress(data, 6, mtime=0)
    return zstandard.ZstdCompressor().compress(data) if name.endswith(".zst") else data


def laid_out(
    texts: dict[str, str], label: dict[str, Any], job: Allotted, draw: random.Random
) -> tuple[str, dict[str, str]]:
    """Where a job's files lie."""
    number, chance = job.scheduler_id, draw.random()
    folder = f"runs/{job.user}/{job.name}-{number}"
    if "" not in texts:
        return "folder", {
            f"{folder}/{CLUSTERED.sub(f'slurm-{number}', name)}": text
            for name, text in texts.items()
        }
    text = texts[""]
    is_unpaced = label["cause"].partition(".")[0] not in PACED
    if chance < 0.15 and is_unpaced and not TIME.search(text):
        uid = str(uuid.UUID(int=draw.getrandbits(128), version=4))
        pod = f"pods/train_{job.name}-{number}-worker-0_{uid}"
        return "pod", {f"{pod}/trainer/0.log": _stamped(text, job)}
    if chance < 0.25:
        return "folder", {f"{folder}/train.log": text}
    if chance < 0.5:
        packing = draw.choice(("", "", "", ".gz", ".zst"))
        return "plain", {f"experiments/{job.user}/{job.name}_{number}.log{packing}": text}
    out, err = _split(text) if draw.random() < 0.5 else (text, "")
    packing = ".gz" if draw.random() < 0.05 else ""
    files = {f"logs/slurm-{number}.out{packing}": out}
    return "flat", files | ({f"logs/slurm-{number}.err": err} if err else {})


def _split(text: str) -> tuple[str, str]:
    """Standard output, and what an unbuffered error stream has of it: from the traceback on."""
    at = text.find("Traceback (most recent call last)")
    at = text.rfind("\n", 0, at) + 1
    return (text[:at], text[at:]) if at > 0 else (text, "")


def _stamped(text: str, job: Allotted) -> str:
    """Each line as a container's runtime writes it, the times evenly over the job's."""
    lines = text.removesuffix("\n").split("\n")
    step = ((job.end or job.begin + 3600) - job.begin) / len(lines)
    return "".join(
        f"{_instant(job.begin + step * number)} stdout F {line}\n"
        for number, line in enumerate(lines)
    )


def _instant(at: float) -> str:
    moment = dt.datetime.fromtimestamp(at, dt.timezone.utc)
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}000Z"


def place_of(files: Iterable[str]) -> str:
    """What stands for the job: its one file, or the folder of its own."""
    names = sorted(files)
    if names[0].startswith("runs/"):
        return "/".join(names[0].split("/")[:3])
    return names[-1] if names[0].startswith("logs/") else names[0]
