"""Train many small models, most with a silent fault, and write their logs and labels.

    python sample_logs/lab/curves list
        tasks, faults, sound variants, styles
    python sample_logs/lab/curves run --out FOLDER --runs 2400 [--jobs 1] [--only TASK/FAULT]
        run what is not there yet; may be stopped at any time and started again
    python sample_logs/lab/curves print --out FOLDER
        print and judge all kept curves again whose logs are of an older version

Needs torch and PyYAML. `--only` takes shell patterns, e.g. `shapes-cnn/*` or `*/nan-batch`; `sound`
and the names of variants count as faults there.
"""

import argparse
import concurrent.futures
import fnmatch
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from curves.recording import groups, listing, members, members_in, record_group


def prepare() -> None:
    """One thread for each process, and no warnings of torch in between."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")


def parser() -> argparse.ArgumentParser:
    """The options."""
    top = argparse.ArgumentParser(
        prog="python sample_logs/lab/curves",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("list")
    for name in ("run", "print"):
        command = commands.add_parser(name)
        command.add_argument("--out", type=Path, required=True, help="folder of logs and labels")
        command.add_argument("--jobs", type=int, default=1, help="processes")
        command.add_argument("--only", default="*/*", help="TASK/FAULT, shell patterns allowed")
        if name == "run":
            command.add_argument("--runs", type=int, default=2400, help="length of the list")
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run a command."""
    options = parser().parse_args(arguments)
    if options.command == "list":
        print(listing())
        return 0
    every = members(options.runs) if options.command == "run" else members_in(options.out)
    wanted = [one for one in every if fnmatch.fnmatch(f"{one.task}/{one.name}", options.only)]
    started, count, failed = time.monotonic(), 0, 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs, initializer=prepare) as pool:
        jobs = {
            pool.submit(record_group, task, seed, part, options.out): f"{task} {seed}"
            for task, seed, part in groups(wanted)
        }
        for job in concurrent.futures.as_completed(jobs):
            if error := job.exception():
                failed += 1
                print(f"group {jobs[job]} failed: {error!r}", file=sys.stderr, flush=True)
            elif done := job.result():
                count += len(done)
                pace = (time.monotonic() - started) / count
                print(f"{count:5d} {pace:6.2f} s/run  {' '.join(done)}", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
