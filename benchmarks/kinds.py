"""What `analyze` costs on each kind of text, as a ratio to finding its numbers.

    python benchmarks/kinds.py [--megabytes 1 5] [--kind NAME ...] [--keep FOLDER] [--most RATIO]

Makes a file of each kind (`text_kinds.py`, `log_kinds.py`), analyses it in a process of its own
and divides its CPU time, less that of a file of one line, by that of one `re.finditer` of all
numbers in the same text, both the least of the rounds in one run. Exit status 1 if an analysis ends
with an error, or a ratio at the last size is above `--most`. Not here: memory (`memory.py`), what a
start costs (`start.py`).
"""

import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import log_kinds
import text_kinds

ROOT: Final = Path(__file__).resolve().parents[1]
NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
FOUND_OUT: Final = frozenset({0, 1, 2})
"""Exit statuses of `analyze` that are answers: a run that went well, one that did not, no log."""
KINDS: Final[Mapping[str, Callable[[random.Random], Iterator[str]]]] = {
    **text_kinds.RECORDS,
    **text_kinds.OTHERS,
    **log_kinds.KINDS,
}


def write(path: Path, lines: Iterator[str], megabytes: float) -> None:
    """Write about so many megabytes of lines."""
    size, limit = 0, int(megabytes * 1e6)
    with path.open("w", encoding="utf-8", newline="") as stream:
        while size < limit:
            size += stream.write(next(lines) + "\n")


def measure_analysis(path: Path) -> float:
    """Give the CPU seconds of an analysis in a process of its own.

    Raises:
        RuntimeError: it ended otherwise than with an answer.
    """
    command = [sys.executable, "-m", "postmortem", "analyze", str(path), "--format", "json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    before = os.times()
    done = subprocess.run(command, check=False, capture_output=True, env=environment, cwd=ROOT)
    after = os.times()
    if done.returncode not in FOUND_OUT or not done.stdout.startswith(b"{"):
        raise RuntimeError(f"{path}: exit status {done.returncode}: {done.stderr.decode()[-500:]}")
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def measure_search(path: Path) -> float:
    """Give the CPU seconds in which all numbers of a text are found."""
    text = path.read_text(encoding="utf-8")
    start = time.process_time()
    collections.deque(NUMBER.finditer(text), maxlen=0)
    return time.process_time() - start


def compare(path: Path, start: float, rounds: int) -> tuple[float, float]:
    """Give the ratio of an analysis without its start to the search, and megabytes a second."""
    ours = min(measure_analysis(path) for _ in range(rounds)) - start
    theirs = min(measure_search(path) for _ in range(max(3, rounds)))
    return ours / theirs, path.stat().st_size / 1e6 / max(ours, 1e-3)


def main() -> int:
    """Measure and print a row a kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, nargs="+", default=[1, 5])
    parser.add_argument("--kind", action="append", choices=[*KINDS])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--keep", default="")
    parser.add_argument("--most", type=float, default=float("inf"))
    args = parser.parse_args()
    folder = Path(args.keep or tempfile.mkdtemp(prefix="postmortem-kinds-"))
    folder.mkdir(exist_ok=True)
    least = folder / "start.log"
    least.write_text("epoch 1 loss 2.5\n")
    start = min(measure_analysis(least) for _ in range(3))
    print(f"A start takes {start:.2f} s, which each figure is without.\n")
    sizes = [f"{size:g} MB: ratio | MB/s" for size in args.megabytes]
    print(f"| kind | {' | '.join(sizes)} |\n|---|{'---|---|' * len(sizes)}", flush=True)
    is_slow = False
    for name in args.kind or KINDS:
        cells = []
        for size in args.megabytes:
            path = folder / f"{name.replace(' ', '-')}-{size:g}.log"
            if not path.exists():
                write(path, KINDS[name](random.Random(7)), size)
            ratio, speed = compare(path, start, args.rounds)
            cells += [f"{ratio:.1f}", f"{speed:.2f}"]
            if size == args.megabytes[-1]:
                is_slow |= ratio > args.most
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return int(is_slow)


if __name__ == "__main__":
    sys.exit(main())
