"""Reading speed, as a ratio to the least that any reader must do, in one run.

    python benchmarks/reading.py [--megabytes 8] [--rounds 5] [--kind NAME ...] [--keep FOLDER]

Makes a log of each kind (`log_kinds.py`) and reads it in turn with the reference: whole blocks,
all literals, line breaks counted, and the figures of the Trainer and of DeepSpeed. Both run in this
process, and what counts is their CPU time: the median of the ratios of each round. What a start
costs: `start.py`.
"""

import argparse
import gc
import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from log_kinds import KINDS

from postmortem.extraction.job import read
from postmortem.extraction.literals import Matcher
from postmortem.pipeline import get_matcher

RECORD = re.compile(
    rb"\{'loss': ([^,]+), 'grad_norm': ([^,]+), 'learning_rate': ([^,]+), 'epoch': ([^}]+)\}"
)
STEP = re.compile(rb"\[Rank (\d+)\] step=(\d+), skipped=(\d+), lr=\[([^\],]*)")


def write(path: Path, lines: Iterator[str], megabytes: float) -> None:
    """Write about so many megabytes."""
    size, limit, chunk = 0, int(megabytes * 1e6), []
    with path.open("w", encoding="utf-8", newline="") as stream:
        while size < limit:
            chunk = [next(lines) + "\n" for _ in range(50)]
            size += sum(map(len, chunk))
            stream.writelines(chunk)


def cpu(work: Callable[[], object]) -> float:
    """Give the CPU seconds of a piece of work."""
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def compare_speed(log: Path, machine: Matcher, rounds: int) -> tuple[float, float]:
    """Read a log in turn with the reference; gives the ratio and megabytes a second."""
    pairs = [
        (cpu(lambda: read([str(log)], machine)), cpu(lambda: least(log, machine)))
        for _ in range(rounds)
    ]
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    return ratio, log.stat().st_size / 1e6 / statistics.median(ours for ours, _ in pairs)


def least(log: Path, machine: Matcher) -> int:
    """Read a log as little as can be."""
    figures, rest = 0, b""
    with log.open("rb", buffering=0) as stream:
        while chunk := stream.read(8 << 20):
            block = rest + chunk
            end = block.rfind(b"\n") + 1
            block, rest = block[:end], block[end:]
            block.count(b"\n")
            machine.filter.hits(block, 0, len(block))
            for pattern in (RECORD, STEP):
                if found := pattern.findall(block):
                    values = np.array([value for row in found for value in row], dtype="S24")
                    figures += values.astype(float).size
    return figures


def main() -> None:
    """Measure and print a row a log."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--keep", default="")
    args = parser.parse_args()
    folder = Path(args.keep or tempfile.mkdtemp(prefix="postmortem-bench-"))
    folder.mkdir(exist_ok=True)
    machine = get_matcher(())
    print("| kind of log | times the reference | MB/s |\n|---|---|---|")
    for name in args.kind or KINDS:
        log = folder / f"{name.replace(' ', '-')}.log"
        if not log.exists():
            write(log, KINDS[name](random.Random(7)), args.megabytes)
        ratio, speed = compare_speed(log, machine, args.rounds)
        print(f"| {name} | {ratio:.1f} | {speed:.0f} |", flush=True)


if __name__ == "__main__":
    main()
