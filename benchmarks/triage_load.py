"""What `postmortem triage` takes for a tree of many jobs, and whether it survives being killed.

    python benchmarks/triage_load.py TREE [--workers 2] [--engine local] [--store URL] [--keep DIR]
        [--compare [--rounds 1]] [--kill K] [--again M] [--seed 0] [-- OPTION...]

TREE is one that `triage_jobs.py` generated. Printed is one line of JSON. Always: `whole`, a triage
from nothing: jobs and MB a second, CPU seconds, peak memory of the whole process tree, seconds to
the first judged job (SQLite only), and how many verdicts are the truths'. With

    --compare   one and two workers from nothing, in turn: the ratio of their times in this run
    --kill K    a triage that is killed (SIGKILL, the whole group) at K random moments and begun
                again each time; the last kill comes as soon as a file of results is written. Its
                results.jsonl and results.csv must be those of `whole`, byte for byte
    --again M   `unchanged`, a second triage of the same tree into the same store, and `again`, one
                after M more jobs were generated into TREE

OPTION... goes to triage as it stands (`-- --timeout 20`). `{run}` in the store's URL is replaced by
the name of the run; without it, only `whole` and `--again` are possible with a store of one's own.
Exit status 1 if a triage fails, or if killed results differ.
"""

import argparse
import itertools
import json
import operator
import os
import random
import re
import shlex
import shutil
import sqlite3
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import process_tree
import triage_jobs
from process_tree import Usage

COMMAND: Final = f"{shlex.quote(sys.executable)} -m postmortem triage"
RESULTS: Final = ("results.jsonl", "results.csv")
LEAST_GAP: Final = 0.3
"""Seconds from a start to its kill, at least."""
NUMBER: Final = re.compile(r"(?<![0-9a-f])([489]\d{6})(?![0-9a-f])")
"""The scheduler's ids of generated jobs; a run of digits within a pod's uid is none."""


@dataclass(frozen=True)
class Load:
    """How triage is called."""

    tree: Path
    scratch: Path
    command: tuple[str, ...]
    workers: int
    engine: str
    store: str
    options: tuple[str, ...]
    scheduler: Path | None

    def out(self, run: str) -> Path:
        """The folder of a run's results."""
        return self.scratch / run

    def store_of(self, run: str) -> str:
        """The store of a run."""
        return (self.store or str(self.scratch / "{run}.sqlite")).replace("{run}", run)

    def argv(self, run: str, workers: int | None = None) -> list[str]:
        """The command of a run."""
        scheduler = ["--jobs", str(self.scheduler)] if self.scheduler else []
        return [
            *self.command,
            str(self.tree),
            *("--out", str(self.out(run))),
            *("--store", self.store_of(run)),
            *("--engine", self.engine),
            *("--workers", str(workers or self.workers)),
            *scheduler,
            *self.options,
        ]


@dataclass
class FirstRow:
    """When the first job was judged, as the store shows it."""

    store: str
    seconds: float | None = None

    def __call__(self, seconds: float) -> None:
        """Look, unless it was seen."""
        if self.seconds is None and rows_in(self.store):
            self.seconds = seconds


def rows_in(store: str) -> int:
    """Count the analyses that a store in SQLite holds; 0 if it cannot be asked now."""
    path = Path(store.removeprefix("sqlite:///"))
    if "://" in str(path) or not path.is_file():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0.05)) as opened:
            query = "SELECT count(*) FROM postmortem_analyses WHERE state <> 'waiting'"
            return int(opened.execute(query).fetchone()[0])
    except sqlite3.Error:
        return 0


def bytes_in(tree: Path) -> int:
    """Count the stored bytes of a tree, holes in files not counted."""
    return sum(
        min(status.st_size, status.st_blocks * 512)
        for path in tree.rglob("*")
        if not path.is_dir() and (status := path.lstat())
    )


def run(
    load: Load,
    name: str,
    *,
    workers: int | None = None,
    is_time: Callable[[float], bool] = lambda _seconds: False,
    every: float = process_tree.EVERY,
) -> tuple[Usage, float | None]:
    """Triage once; a failure ends the measuring."""
    first, log = FirstRow(load.store_of(name)), load.scratch / f"{name}.log"
    first.seconds = 0.0 if rows_in(first.store) else None
    usage = process_tree.measured(
        load.argv(name, workers), log, is_time=is_time, look=first, every=every
    )
    if usage.status and not usage.is_killed:
        sys.exit(f"failed with {usage.status}: {usage.output[-2000:].decode(errors='replace')}")
    return usage, first.seconds


def figures(load: Load, usage: Usage, first: float | None, jobs: int) -> dict[str, Any]:
    """What a run took."""
    megabytes = bytes_in(load.tree) / 1e6
    return {
        "jobs": jobs,
        "seconds": round(usage.seconds, 2),
        "jobs_per_s": round(jobs / usage.seconds, 2),
        "mb": round(megabytes, 1),
        "mb_per_s": round(megabytes / usage.seconds, 2),
        "cpu_s": round(usage.cpu_seconds, 1),
        "peak_rss_mb": usage.peak_rss // 10**6,
        "peak_pss_mb": usage.peak_pss // 10**6,
        "largest_process_mb": usage.largest // 10**6,
        "processes": usage.processes,
        "first_row_s": None if first is None else round(first, 2),
    }


def results(load: Load, name: str) -> list[dict[str, Any]]:
    """A run's results."""
    return triage_jobs.rows_of(load.out(name) / RESULTS[0])


def judged(rows: list[dict[str, Any]], truths: list[dict[str, Any]]) -> dict[str, Any]:
    """How the results fare against the truths; jobs are told apart by their scheduler's ids."""
    by_id = {truth["scheduler_id"]: truth for truth in truths}
    seen: Counter[int] = Counter()
    verdicts: Counter[str] = Counter()
    poison: dict[str, str] = {}
    for row in rows:
        found = NUMBER.search(" ".join([row["job"], row["title"], *row["locations"]]))
        truth = by_id.get(int(found[1])) if found else None
        if truth is None:
            verdicts["of no known job"] += 1
            continue
        seen[truth["scheduler_id"]] += 1
        if truth["poison"]:
            poison[truth["poison"]] = _of_poison(row, truth)
        else:
            verdicts[_verdict(row, truth)] += 1
    return {
        **verdicts,
        "twice": sum(count > 1 for count in seen.values()),
        "absent": sum(
            not truth["poison"] and number not in seen for number, truth in by_id.items()
        ),
        "poison": poison,
    }


def _verdict(row: dict[str, Any], truth: dict[str, Any]) -> str:
    if row.get("state") != "judged":
        return str(row.get("state"))
    right, cause = {truth["cause"], *truth["also"]}, row.get("cause")
    if cause is None:
        is_right = any(answer.startswith("unknown.") for answer in right)
        return "right" if is_right else "abstained"
    return "right" if cause in right else "wrong"


def _of_poison(row: dict[str, Any], truth: dict[str, Any]) -> str:
    state = str(row.get("state"))
    return state if state in truth["states"] else f"{state} (unexpected)"


def compared(load: Load, rounds: int) -> dict[str, Any]:
    """One and two workers, in turn; the order changes from round to round."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for number in range(rounds):
        for workers in (1, 2) if number % 2 == 0 else (2, 1):
            name = f"workers-{workers}-{number}"
            seconds[workers].append(run(load, name, workers=workers)[0].seconds)
            _clear(load, name)
    medians = {workers: statistics.median(found) for workers, found in seconds.items()}
    return {
        "seconds_1": round(medians[1], 2),
        "seconds_2": round(medians[2], 2),
        "ratio": round(medians[1] / medians[2], 3),
        "load_average": os.getloadavg()[0],
    }


def _clear(load: Load, name: str) -> None:
    """Make room: a run's results and its store in a file."""
    shutil.rmtree(load.out(name), ignore_errors=True)
    for ending in ("", "-wal", "-shm"):
        Path(load.store_of(name) + ending).unlink(missing_ok=True)


@dataclass
class WritingStarts:
    """Says when a file of results was written since."""

    folder: Path
    known: dict[Path, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note what is there."""
        self.known = self._now()

    def __call__(self, _seconds: float) -> bool:
        """True as soon as a file is new or changed."""
        return self._now() != self.known

    def _now(self) -> dict[Path, int]:
        found = {}
        for path in self.folder.rglob("*"):
            try:
                if path.is_file():
                    found[path] = path.stat().st_mtime_ns
            except FileNotFoundError:  # it was written under another name first
                continue
        return found


def gaps(count: int, seconds: float, draw: random.Random) -> list[float]:
    """The times to let a triage run before its kills, together at most as long as a whole one."""
    moments = sorted(draw.uniform(0, seconds) for _ in range(count))
    return [max(LEAST_GAP, b - a) for a, b in itertools.pairwise([0.0, *moments])]


def killed(load: Load, count: int, seconds: float, draw: random.Random) -> dict[str, Any]:
    """Kill a triage so many times; give when, what its store held, and whether the end is equal."""
    at: list[float] = []
    held: list[int] = []
    starts: list[Callable[[float], bool]] = [
        partial(operator.le, gap) for gap in gaps(count - 1, seconds, draw)
    ]
    for is_time in [*starts, None]:
        watched = is_time or WritingStarts(load.out("killed"))
        every = process_tree.EVERY if is_time else process_tree.AT_ONCE
        usage, _ = run(load, "killed", is_time=watched, every=every)
        if usage.is_killed:
            at.append(round(usage.seconds, 2))
            held.append(rows_in(load.store_of("killed")))
    usage, _ = run(load, "killed")
    equal = {
        name: (load.out("whole") / name).read_bytes() == (load.out("killed") / name).read_bytes()
        for name in RESULTS
    }
    return {
        "kills": len(at),
        "after_s": at,
        "rows_then": held,
        "last_seconds": round(usage.seconds, 2),
        "equal": equal,
    }


def again(load: Load, count: int) -> dict[str, Any]:
    """What a second triage costs, with nothing new and with so many jobs more."""
    there = len(results(load, "whole"))
    unchanged = figures(load, *run(load, "whole"), there)
    wanted = triage_jobs.following(load.tree, count)
    why = triage_jobs.refused(wanted, triage_jobs.BUDGET_GIB)
    if why:
        sys.exit(why)
    triage_jobs.generate(wanted)
    more = figures(load, *run(load, "whole"), there + count)
    return {"unchanged": unchanged, "again": more, "more_jobs": count}


def build_report(load: Load, args: argparse.Namespace) -> dict[str, Any]:
    """Measure all that was asked for."""
    usage, first = run(load, "whole")
    rows, truths = (
        results(load, "whole"),
        triage_jobs.build_sibling_path(load.tree, ".truths.jsonl"),
    )
    report: dict[str, Any] = {
        "tree": str(load.tree),
        "engine": load.engine,
        "workers": load.workers,
        "cores": os.cpu_count(),
        "whole": figures(load, usage, first, len(rows)),
    }
    if truths.exists():
        report["truths"] = judged(rows, triage_jobs.rows_of(truths))
    if args.compare:
        report["compare"] = compared(load, args.rounds)
    if args.kill:
        report["kill"] = killed(load, args.kill, usage.seconds, random.Random(args.seed))
    if args.again:
        report |= again(load, args.again)
    return report


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tree", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--engine", default="local")
    parser.add_argument("--store", default="")
    parser.add_argument("--command", default=COMMAND)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--kill", type=int, default=0)
    parser.add_argument("--again", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-scheduler", action="store_true")
    arguments = sys.argv[1:]
    end = arguments.index("--") if "--" in arguments else len(arguments)
    args = parser.parse_args(arguments[:end])
    args.options = arguments[end + 1 :]
    if args.store and "{run}" not in args.store and (args.compare or args.kill):
        parser.error("--compare and --kill need {run} in --store: each run has a store of its own")
    return args


def main() -> None:
    """Measure and print one line."""
    args = parse_arguments()
    scheduler = triage_jobs.build_sibling_path(args.tree, ".scheduler") / "sacct.json"
    with tempfile.TemporaryDirectory(prefix="postmortem-load-") as scratch:
        load = Load(
            args.tree.resolve(),
            (args.keep or Path(scratch)).resolve(),
            tuple(shlex.split(args.command)),
            args.workers,
            args.engine,
            args.store,
            tuple(args.options),
            None if args.no_scheduler or not scheduler.exists() else scheduler,
        )
        load.scratch.mkdir(parents=True, exist_ok=True)
        report = build_report(load, args)
    print(json.dumps(report))
    sys.exit(not all(report.get("kill", {}).get("equal", {}).values()))


if __name__ == "__main__":
    main()
