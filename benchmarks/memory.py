"""The memory that one log takes, however long it is.

    python benchmarks/memory.py [--megabytes 1 64 1024 ...]

Each log is made as it is read (`long_logs.py`, through standard input), so it takes no room on the
disk. Printed is a row a size: the peak memory of `postmortem analyze`, each page counted once (PSS,
sampled), and CPU seconds. Linux only.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import process_tree

COMMAND: Final = (sys.executable, "-m", "postmortem", "analyze", "-", "--format", "json")
EVERY: Final = 0.5
"""Seconds from a look at the memory to the next."""
FEED: Final = (sys.executable, str(Path(__file__).with_name("long_logs.py")))


def measured(megabytes: float, output: Path) -> tuple[process_tree.Usage, str]:
    """Analyse a log of this size; gives what it took, and the cause that was named."""
    with subprocess.Popen([*FEED, str(megabytes)], stdout=subprocess.PIPE) as feed:
        if feed.stdout is None:
            sys.exit("the log cannot be made")
        usage = process_tree.measured(COMMAND, output, every=EVERY, stdin=feed.stdout.fileno())
    text = usage.output.decode("utf-8", "replace")
    if usage.status:
        sys.exit(text)
    report, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    return usage, str(report["verdict"]["cause"])


def main() -> None:
    """Measure and print a row a size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, nargs="+", default=[1, 64, 1024])
    args = parser.parse_args()
    print("| log | peak memory | CPU | cause |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for megabytes in args.megabytes:
            usage, cause = measured(megabytes, Path(folder, "report.json"))
            print(
                f"| {megabytes:,.0f} MB | {usage.peak_pss / 1e6:.0f} MB"
                f" | {usage.cpu_seconds:.1f} s | {cause} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
