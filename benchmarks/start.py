"""What a start costs: a log of 100 lines, in times of the CPU time of `python -c 'import numpy'`.

    python benchmarks/start.py [--rounds 21] [--log FILE] [--python PROGRAM]

The log is analysed to JSON, to a terminal's text in a pipe, and to a page, each in a process of its
own and in turn with a Python that imports NumPy. What counts is the CPU time of the whole process,
by user and system; printed are the median of the ratios and the medians themselves. PROGRAM
(default: this Python) is one in which `postmortem` is installed: a wheel starts faster than a
checkout, which looks at the dates of all rules first.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FORMS: Final = ("json", "terminal", "html")
LINES: Final = 100


def records() -> Iterator[str]:
    """What the Trainer prints of a run that goes well."""
    for number in range(LINES):
        loss, epoch = 3 - number / 50, number / LINES
        yield f"{{'loss': {loss:.4f}, 'learning_rate': 2e-05, 'epoch': {epoch:.2f}}}\n"


def cpu(command: list[str]) -> float:
    """Run a command; gives the CPU seconds of its process, by user and system."""
    with Path(os.devnull).open("w") as sink:
        child = subprocess.Popen(command, stdout=sink, stderr=sink)
        _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Measure, and print a row a form."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=21)
    options.add_argument("--log", type=Path, help="another log")
    options.add_argument("--python", default=sys.executable)
    args = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="postmortem-start-") as folder:
        log = args.log or Path(folder) / "run.log"
        if args.log is None:
            log.write_text("".join(records()), encoding="utf-8")
        numpy = [args.python, "-c", "import numpy"]
        ours = [args.python, "-m", "postmortem", "analyze", str(log), "--format"]
        for form in FORMS:
            cpu([*ours, form])  # what is kept between starts is there from now on
        print("| form | times `import numpy` | CPU ms | of NumPy |\n|---|---|---|---|")
        for form in FORMS:
            pairs = [(cpu([*ours, form]), cpu(numpy)) for _ in range(args.rounds)]
            ratio = statistics.median(one / theirs for one, theirs in pairs)
            own, theirs = (statistics.median(times) * 1000 for times in zip(*pairs, strict=True))
            print(f"| {form} | {ratio:.2f} | {own:.0f} | {theirs:.0f} |", flush=True)


if __name__ == "__main__":
    main()
