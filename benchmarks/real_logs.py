"""Reading speed of real logs, each made longer by its own lines, beside that of another checkout.

    python benchmarks/real_logs.py FOLDER [--beside CHECKOUT] [--megabytes 8] [--least 1]
                                   [--rounds 3] [--names] [--keep FOLDER]

Takes the logs of a folder that hold at least so many megabytes, unpacked, and lets each go on as it
began (`repeating.py`). They are read in turn by this checkout and by the other, each in a process
of its own that has loaded its rules; what counts is CPU time, the median of the rounds. Printed: a
row a log, by whose records it holds, which bars, and how long its lines are; with `--names` by its
name. Exit status 1 if a log is read with less than 6 MB/s, or less than four times as fast as by
the other checkout.
"""

import argparse
import gzip
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from repeating import repeated

from postmortem.extraction.job import read
from postmortem.pipeline import get_matcher

ROOT: Final = Path(__file__).resolve().parents[1]
SLOWEST: Final = 6.0
"""Megabytes a second."""
FASTER: Final = 4.0
"""Times as fast as the other checkout."""
PROGRAM: Final = """
import gc, json, sys, time
from postmortem.extraction.job import read
from postmortem.pipeline import machine_for
machine, found = machine_for(()), []
read([sys.argv[1]], machine)
for log in sys.argv[1:]:
    gc.collect()
    start = time.process_time()
    read([log], machine)
    found.append(time.process_time() - start)
print(json.dumps(found))
"""
"""Reads each log; the first once more before, so that whatever is loaded late is there."""


def text_of(path: Path) -> str:
    """Give the text of a log, which may be packed."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return raw.decode("utf-8", "replace")


def longer(folder: Path, into: Path, least: float, megabytes: float) -> list[Path]:
    """Write the large logs of a folder, made longer; gives where they are."""
    made = []
    for path in sorted([*folder.glob("*.log"), *folder.glob("*.log.gz")]):
        text = text_of(path)
        if len(text.encode()) >= least * 1e6:
            made.append(into / path.name.removesuffix(".gz"))
            goes_on = repeated(text, int(megabytes * 1e6), random.Random(7))
            made[-1].write_text(goes_on, encoding="utf-8", newline="")
    return made


def seconds(logs: Sequence[Path], checkout: Path) -> list[float]:
    """Read the logs with a checkout; gives the CPU seconds of each."""
    env = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", PROGRAM, *map(str, logs)]
    output = subprocess.run(command, env=env, cwd=checkout, check=True, capture_output=True).stdout
    return [float(load) for load in json.loads(output)]


def kind(log: Path) -> str:
    """Say of what kind a log is: whose records it holds, which bars, how long its lines are."""
    found, data = read([str(log)], get_matcher(())), log.read_bytes()
    lines = found.facts.framework_lines
    whose = max(lines, key=lambda name: lines[name]) if lines else "no framework"
    frames = data.count(b"\r") - data.count(b"\r\n")
    bars = f", {frames * 100 // max(1, len(data.splitlines()))} % draws of bars" if frames else ""
    return f"{whose}{bars}, {len(data) // max(1, len(data.splitlines()))} bytes a line"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--least", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        into = args.keep or Path(scratch)
        into.mkdir(parents=True, exist_ok=True)
        logs = longer(args.folder, into, args.least, args.megabytes)
        checkouts = [ROOT, args.beside.resolve()] if args.beside else [ROOT]
        rounds = [[seconds(logs, checkout) for checkout in checkouts] for _ in range(args.rounds)]
        sys.exit(table(logs, rounds, names=args.names))


def table(logs: Sequence[Path], rounds: Sequence[Sequence[Sequence[float]]], *, names: bool) -> int:
    """Print a row a log; gives how many are read too slowly.

    `rounds` holds, for each round and checkout, the seconds of each log.
    """
    print("| log | MB | MB/s | of the other | times as fast |\n|---|---|---|---|---|")
    missed = 0
    for number, log in enumerate(logs):
        size = log.stat().st_size / 1e6
        speed = size / statistics.median(row[0][number] for row in rounds)
        ratios = [row[1][number] / row[0][number] for row in rounds if len(row) > 1]
        ratio = statistics.median(ratios) if ratios else None
        theirs = "–" if ratio is None else f"{speed / ratio:.1f}"
        is_slow = speed < SLOWEST or (ratio is not None and ratio < FASTER)
        missed += is_slow
        what = log.name if names else kind(log)
        faster = "–" if ratio is None else f"{ratio:.1f}"
        remark = " missed" * is_slow
        print(f"| {what} | {size:.1f} | {speed:.1f} | {theirs} | {faster} |{remark}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    main()
