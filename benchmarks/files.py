"""One job of many large files: the memory of all processes, and what a second core is good for.

    python benchmarks/files.py [--files 64] [--megabytes 20] [--rounds 3] [--keep FOLDER]

Makes a log a rank (`long_logs.py`) and analyses the folder in turn with one core and with two.
Printed: the peak memory of all processes together, each page counted once (PSS, sampled), wall and
CPU seconds, and the median of the ratios of each round. On a machine that does other work too, wall
time tells of that work as well: the CPU time of the busiest process does not. Exit status 1 if the
reports are not the same, byte for byte. Linux only.
"""

import argparse
import random
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Final

import long_logs
from process_tree import Usage, measured

COMMAND: Final = (sys.executable, "-m", "postmortem", "analyze", "--format", "json")
CORES: Final = ("0", "0,1")
EVERY: Final = 0.5
"""Seconds from a look at the memory to the next: each takes time of one of the two cores."""


def make(folder: Path, files: int, megabytes: float) -> None:
    """Write the logs; the rank of the first third runs out of memory, the others wait for it."""
    for rank in range(files):
        path = folder / f"rank{rank}.log"
        if not path.exists():
            end = long_logs.END if rank == files // 3 else long_logs.PEER
            part = long_logs.stretch(random.Random(rank), rank, megabytes)
            path.write_bytes(part.at(1) + end.format(rank=rank).encode())


def analysis(folder: Path, cores: str, report: Path) -> Usage:
    """Analyse the folder on these cores."""
    command = ["taskset", "-c", cores, *COMMAND, str(folder), "-o", str(report)]
    usage = measured(command, report.with_suffix(".txt"), every=EVERY)
    if usage.status:
        sys.exit(usage.output.decode("utf-8", "replace"))
    return usage


def main() -> None:
    """Measure and print a row a run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch, "logs")
        folder.mkdir(parents=True, exist_ok=True)
        make(folder, args.files, args.megabytes)
        compare(folder, Path(scratch), args.rounds)


def compare(folder: Path, scratch: Path, rounds: int) -> None:
    """Analyse with one core and with two, in turn."""
    print("| cores | peak memory | processes | wall | CPU | busiest |\n|---|---|---|---|---|---|")
    walls, shares, reports = list[float](), list[float](), set[bytes]()
    for _ in range(rounds):
        usages = []
        for cores in CORES:
            report = scratch / f"report-{cores}.json"
            usages.append(usage := analysis(folder, cores, report))
            reports.add(report.read_bytes())
            print(
                f"| {len(cores.split(','))} | {usage.peak_pss / 1e6:.0f} MB | {usage.processes}"
                f" | {usage.seconds:.1f} s | {usage.cpu_seconds:.1f} s | {usage.busiest:.1f} s |",
                flush=True,
            )
        one, two = usages
        walls.append(one.seconds / two.seconds)
        shares.append(one.busiest / two.busiest)
    print(f"\none core / two cores: {statistics.median(walls):.2f} x the wall time,", end=" ")
    print(f"{statistics.median(shares):.2f} x the busiest process's CPU time")
    if len(reports) > 1:
        sys.exit("the reports differ")


if __name__ == "__main__":
    main()
