"""What many names of metrics cost: a log with 10,000 of them in times of one with ten.

    python benchmarks/metric_names.py [--names 10000] [--lines 10000] [--rounds 5]

Both logs have the same number of lines and bytes, ten figures on each line. Both are analysed in
one process and in turn, with rules and model loaded before, and written as JSON. Printed are the
CPU milliseconds of reading, judging and writing, and the ratio of the wholes: medians of all
rounds.
"""

import argparse
import itertools
import statistics
import time
from collections.abc import Iterator
from typing import Final

import postmortem
from postmortem import pipeline
from postmortem.core.names import SHIPPED
from postmortem.extraction.job import read

ON_A_LINE: Final = 10
FEW: Final = 10
PARTS: Final = ("read", "judge", "write")


def log(names: int, lines: int) -> bytes:
    """Give a log of so many names, each line with the next ten of them."""
    return "".join(itertools.islice(_lines(names), lines)).encode()


def _lines(names: int) -> Iterator[str]:
    turn = itertools.cycle(range(names))
    for number in itertools.count():
        figures = (f"'part_{next(turn):05d}': {number % 97 / 100:.4f}" for _ in range(ON_A_LINE))
        yield f"{{'loss': {3 - number / 1e5:.4f}, {', '.join(figures)}, 'epoch': {number:06d}.5}}\n"


def cost(data: bytes) -> tuple[float, float, float]:
    """Give the CPU milliseconds of reading, judging and writing a log."""
    machine, model = pipeline.get_matcher(()), pipeline.open_model(SHIPPED)
    times = [time.process_time()]
    gathered = read(data, machine)
    times.append(time.process_time())
    analysis = pipeline.judge(gathered, machine.knowledge, model)
    times.append(time.process_time())
    postmortem.Report(analysis).render("json")
    times.append(time.process_time())
    first, second, third = (
        (later - earlier) * 1000 for earlier, later in itertools.pairwise(times)
    )
    return first, second, third


def main() -> None:
    """Measure and print a row for each log, and the ratio."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--names", type=int, default=10_000)
    options.add_argument("--lines", type=int, default=10_000)
    options.add_argument("--rounds", type=int, default=5)
    args = options.parse_args()
    pipeline.prepare((), SHIPPED)
    logs = {names: log(names, args.lines) for names in (FEW, args.names)}
    for data in logs.values():
        cost(data)
    found = {names: list[tuple[float, float, float]]() for names in logs}
    for _, (names, data) in itertools.product(range(args.rounds), logs.items()):
        found[names].append(cost(data))
    print("| names | bytes | " + " | ".join(f"{part} ms" for part in PARTS) + " | whole ms |")
    print("|---|---|" + "---|" * (len(PARTS) + 1))
    wholes = []
    for names, rows in found.items():
        wholes.append(statistics.median(map(sum, rows)))
        parts = " | ".join(f"{statistics.median(row):.0f}" for row in zip(*rows, strict=True))
        print(f"| {names} | {len(logs[names])} | {parts} | {wholes[-1]:.0f} |")
    print(f"ratio {wholes[1] / wholes[0]:.2f}")


if __name__ == "__main__":
    main()
