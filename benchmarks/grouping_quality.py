"""How well jobs that failed the same way are found to be the same: false merges, false splits.

    python benchmarks/grouping_quality.py [FOLDER...] [--vary SEED...] [--jobs N] [--tell]

FOLDERS (default `sample_logs`) hold labels beside logs (`NAME.yaml`, `NAME.log` or a folder of a
job's files). `--vary` adds versions of the recorded samples with what real life adds to a log, by
`python sample_logs/lab vary`; whole ones, or damaged: a head, a tail or lines lost, another run
mixed in. A fault is a name within its folder, and a cause: its seeds and its varied versions should
be in one group. Labels that are marked `part: check` count, and are not told of one by one.

Out: figures, a line each. A false merge is a pair of one group that no answer is right for both of;
a false split is a pair of one fault in two groups. Pairwise precision and recall, and B-cubed: the
mean over jobs of the share of its group that has a cause in common with it, and of its fault that
is in its group. Sound runs are figures of their own, since health is one group by design.
"""

import argparse
import collections
import itertools
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import yaml

from postmortem.fleet.failure_clusters import group_templates, open_template
from postmortem.fleet.fingerprints import Fingerprint, compute_fingerprint, summarize_failure
from postmortem.learn.labelled_logs import LabelledLog, list_labelled_cases
from postmortem.pipeline import run_pipeline
from postmortem.rules.vocabulary import Trait, has_trait

ROOT = Path(__file__).resolve().parents[1]
DAMAGING = {"cut-head", "cut-tail", "wrapped", "second-attempt", "interleaved"}
SEED = re.compile(r"(?:-\d+)?(?:-v\d+)?$")


class Grouped(NamedTuple):
    """A labelled job and the group that it fell into."""

    label: LabelledLog
    fault: str
    is_damaged: bool
    fingerprint: Fingerprint
    group: str = ""


class Figures(NamedTuple):
    """What is counted over pairs, and over jobs."""

    merged: int
    """Pairs of one group."""
    falsely_merged: int
    same: int
    """Pairs of one fault."""
    falsely_split: int
    precision: float
    """B-cubed."""
    recall: float
    """B-cubed."""


def judged(label: LabelledLog) -> Grouped:
    """Analyse a job and give what its group goes by."""
    env = [str(label.environment)] if label.environment is not None else []
    summary = summarize_failure(run_pipeline([str(label.log)], env_files=env))
    label_values = yaml.safe_load(_label_of(label.log).read_text(encoding="utf-8"))
    name = SEED.sub("", label.log.name.split(".")[0])
    fault = f"{label.log.parent.name}/{name}/{label.cause}"
    is_damaged = bool(DAMAGING & set(label_values.get("varied") or ()))
    return Grouped(label, fault, is_damaged, compute_fingerprint(summary))


def _label_of(log: Path) -> Path:
    return log.parent / f"{log.name if log.is_dir() else log.name.split('.')[0]}.yaml"


def grouped(jobs: Sequence[Grouped]) -> list[Grouped]:
    """Put every job into its group, as a triage does."""
    opened = {
        number: open_template(job.fingerprint.id, job.fingerprint.template)
        for number, job in enumerate(jobs)
        if job.fingerprint.is_open
    }
    found = group_templates(opened).of_key
    return [
        job._replace(group=found.get(number, job.fingerprint.id)) for number, job in enumerate(jobs)
    ]


def varied(seeds: Iterable[int], folder: Path) -> list[LabelledLog]:
    """Write varied versions of the recorded samples, and give them."""
    samples = ROOT / "sample_logs"
    labels = sorted(samples.glob("*/*.yaml"))
    cases = [str(path) for path in labels if path.parent.name != "lab"]
    for seed in seeds:
        arguments = ["vary", *cases, "--seed", str(seed), "--out", str(folder)]
        subprocess.run(
            [sys.executable, str(samples / "lab"), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return list_labelled_cases([folder])


def figures(jobs: Sequence[Grouped]) -> Figures:
    """Count merges and splits."""
    groups, faults = gathered(jobs, by="group"), gathered(jobs, by="fault")
    precision = [
        sum(is_right(job, second) for second in groups[job.group]) / len(groups[job.group])
        for job in jobs
    ]
    recall = [
        sum(job.group == second.group for second in faults[job.fault]) / len(faults[job.fault])
        for job in jobs
    ]
    merged, same = list(_pairs(groups.values())), list(_pairs(faults.values()))
    return Figures(
        len(merged),
        sum(not is_right(*pair) for pair in merged),
        len(same),
        sum(first.group != second.group for first, second in same),
        sum(precision) / max(1, len(precision)),
        sum(recall) / max(1, len(recall)),
    )


def gathered(jobs: Iterable[Grouped], by: str) -> dict[str, list[Grouped]]:
    """Put jobs together by their group or their fault."""
    found: dict[str, list[Grouped]] = collections.defaultdict(list)
    for job in jobs:
        found[getattr(job, by)].append(job)
    return found


def is_right(first: Grouped, second: Grouped) -> bool:
    """Whether some answer is right for both jobs."""
    return bool(first.label.right & second.label.right)


def _pairs(groups: Iterable[list[Grouped]]) -> Iterator[tuple[Grouped, Grouped]]:
    for group in groups:
        yield from itertools.combinations(group, 2)


def print_result(name: str, jobs: Sequence[Grouped]) -> None:
    """Print the figures of some jobs."""
    found = figures(jobs)
    print(f"{name}: {len(jobs)} jobs, {len({job.group for job in jobs})} groups")
    print(f"  false merges  {found.falsely_merged:6} of {found.merged} pairs of one group")
    print(f"  false splits  {found.falsely_split:6} of {found.same} pairs of one fault")
    pairs = (found.falsely_merged, found.merged), (found.falsely_split, found.same)
    precision, recall = (1 - wrong / count if count else 1.0 for wrong, count in pairs)
    print(f"  pairwise      precision {precision:.4f}, recall {recall:.4f}")
    print(f"  B-cubed       precision {found.precision:.4f}, recall {found.recall:.4f}")


def print_each_job(jobs: Sequence[Grouped]) -> None:
    """Print each group of several causes, and each fault in several groups."""
    shown = [job for job in jobs if not job.label.is_held_out]
    for group in gathered(shown, by="group").values():
        if not all(itertools.starmap(is_right, itertools.combinations(group, 2))):
            print("merged ", group[0].group, group[0].fingerprint.cause)
            print(*(f"    {job.label.cause}  {job.label.log.name}" for job in group), sep="\n")
    for fault, members in gathered(shown, by="fault").items():
        if len({job.group for job in members}) > 1:
            print("split  ", fault)
            print(*(f"    {job.group}  {job.label.log.name}" for job in members), sep="\n")


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--vary", nargs="*", type=int, default=[], metavar="SEED")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tell", action="store_true", help="each false merge and split")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(args.jobs) as pool:
        labels = list_labelled_cases(args.folders or [ROOT / "sample_logs"])
        if args.vary:
            labels += varied(args.vary, Path(folder))
        jobs = grouped(list(pool.map(judged, labels, chunksize=4)))
    ill = [job for job in jobs if not has_trait(job.label.cause, Trait.SOUND)]
    if args.tell:
        print_each_job(ill)
    print_result("failed, whole logs", [job for job in ill if not job.is_damaged])
    print_result("failed, all", ill)
    print_result("all, with sound runs", jobs)


if __name__ == "__main__":
    main()
