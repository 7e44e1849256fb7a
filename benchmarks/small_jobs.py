"""Many small jobs in one process: CPU time of each, its JSON report included.

    python benchmarks/small_jobs.py [--jobs 600]

The jobs are the recorded logs of `sample_logs` below 60 KB, again and again. Rules and model are
loaded before. Printed: milliseconds a job, and the part of them that writing the report took.
"""

import argparse
import time
from pathlib import Path
from typing import Final

import postmortem
from postmortem.core.names import SHIPPED
from postmortem.pipeline import prepare

LOGS: Final = Path(__file__).resolve().parents[1] / "sample_logs"
LARGEST: Final = 60_000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=600)
    args = parser.parse_args()
    logs = [path for path in sorted(LOGS.glob("*/*.log")) if path.stat().st_size < LARGEST]
    prepare((), SHIPPED)
    postmortem.analyze(logs[0]).render("json")
    read = written = 0.0
    for number in range(args.jobs):
        began = time.process_time()
        report = postmortem.analyze(logs[number % len(logs)])
        judged = time.process_time()
        report.render("json")
        read, written = read + judged - began, written + time.process_time() - judged
    each = (read + written) / args.jobs * 1000
    print(f"{args.jobs} jobs: {each:.1f} ms each, {written / args.jobs * 1000:.1f} ms for the JSON")


if __name__ == "__main__":
    main()
