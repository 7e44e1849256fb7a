"""How well the program does on the recorded samples.

Verdicts, first failures of jobs, and the pairs whose answer flips.

    python benchmarks/samples.py [FOLDER] [--misses] [--jobs N]

FOLDER (default `sample_logs`) holds labels as the lab writes them. Figures, a line each: top1 (the
verdict is the label's cause or one of `also`; a null verdict is right for unknown.*), forbidden (it
is one of `not`), first_failure (source and line of the first failure agree; asked of every label
that has one), the same over jobs of many files (first_process: the source alone), and pairs (all
cases of a pair are right: same last line with another curve, same log with another dump). Nothing
is trained or tuned here.
"""

import argparse
import collections
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import yaml

import postmortem

ROOT = Path(__file__).resolve().parents[1]


def input_of(label: Path) -> Path:
    """The log or the folder of a case."""
    return label.with_suffix("") if label.with_suffix("").is_dir() else label.with_suffix(".log")


def labels_in(folder: Path) -> list[Path]:
    """The labels that have a log."""
    return [
        path
        for path in sorted(folder.rglob("*.yaml"))
        if input_of(path).exists() and "lab" not in path.relative_to(folder).parts
    ]


def judged(path: Path) -> dict[str, Any]:
    """One case, as a user would ask."""
    label = yaml.safe_load(path.read_text(encoding="utf-8"))
    dump = path.with_suffix(".env")
    report = postmortem.analyze(input_of(path), env=[dump] if dump.exists() else [])
    right = {label["cause"], *label.get("also", [])}
    verdict, wanted = report.verdict.cause, label.get("first_failure")
    is_unknown = any(cause.startswith("unknown.") for cause in right)
    process, first = located(report, wanted) if wanted else (None, None)
    found = report.diagnosis.first_failure
    return {
        "name": str(path.relative_to(path.parents[1]).with_suffix("")),
        "cause": label["cause"],
        "verdict": verdict,
        "probability": report.causes[0].probability if report.causes else 0.0,
        "right": is_unknown if verdict is None else verdict in right,
        "forbidden": verdict in set(label.get("not", [])),
        "first": first,
        "process": process,
        "job": input_of(path).is_dir(),
        "pair": pair_of(path, label),
        "wanted": wanted,
        "found": (
            (Path(report.diagnosis.sources[found.source].path).name, found.line, found.why)
            if found
            else None
        ),
        "curve_pair": bool(label.get("pair")),
    }


def located(report: postmortem.Report, wanted: dict[str, Any]) -> tuple[bool, bool]:
    """Whether the first failure is of the file that the label names, and of its line too."""
    found, source = report.diagnosis.first_failure, wanted.get("source", "")
    if found is None:
        return False, False
    is_of_file = not source or report.diagnosis.sources[found.source].path.endswith(source)
    return is_of_file, is_of_file and found.line == wanted["line"]


def pair_of(path: Path, label: dict[str, Any]) -> str:
    """The pair of a case, all of which have to be right; nothing if it is of none."""
    group = label.get("pair")
    is_flip = "composed" in str(label.get("dump", "")) and "/flip" in str(path).replace("\\", "/")
    if not group and is_flip:
        group = path.stem.rsplit("-", 2)[0] + "/dump"
    return f"{group}-{path.stem.rsplit('-', 1)[1]}" if group else ""


def share(flags: list[bool]) -> str:
    """A share with its count."""
    return f"{sum(flags) / len(flags):.3f} ({sum(flags)}/{len(flags)})" if flags else "none"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "sample_logs")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    with ProcessPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(judged, labels_in(args.folder), chunksize=4))
    if args.misses:
        print_misses(rows)
    for name, figure in figures(rows):
        print(f"{name:<17}", figure)


def print_misses(rows: list[dict[str, Any]]) -> None:
    """Print a line for each wrong verdict and for each wrong first failure."""
    for row in rows:
        if not row["right"]:
            print(
                f"verdict   {row['name']}: {row['cause']}, got {row['verdict']}"
                f" ({row['probability']:.2f}){' FORBIDDEN' if row['forbidden'] else ''}"
            )
        if row["first"] is False:
            print(f"first     {row['name']}: {row['wanted']}, got {row['found']}")


def figures(rows: list[dict[str, Any]]) -> Iterator[tuple[str, object]]:
    """Yield each figure with its name."""
    jobs = [row for row in rows if row["job"]]
    yield "cases", len(rows)
    yield "top1", share(flags(rows, "right"))
    yield "forbidden", share(flags(rows, "forbidden"))
    yield "first_failure", share(flags(rows, "first"))
    yield "jobs top1", share(flags(jobs, "right"))
    yield "jobs process", share(flags(jobs, "process"))
    yield "jobs process+line", share(flags(jobs, "first"))
    pairs = grouped(row for row in rows if row["pair"])
    for name, is_dump in (("pairs by curve", False), ("pairs by dump", True)):
        yield name, share([all(p) for group, p in pairs.items() if ("/dump" in group) is is_dump])
    areas = grouped({**row, "pair": row["cause"].split(".")[0]} for row in rows)
    yield "by area", ", ".join(f"{n} {sum(a)}/{len(a)}" for n, a in sorted(areas.items()))


def flags(rows: list[dict[str, Any]], name: str) -> list[bool]:
    """A flag of all cases that have it."""
    return [row[name] for row in rows if row[name] is not None]


def grouped(rows: Iterable[dict[str, Any]]) -> dict[str, list[bool]]:
    """Whether the cases of each group are right."""
    groups: dict[str, list[bool]] = collections.defaultdict(list)
    for row in rows:
        groups[row["pair"]].append(row["right"])
    return groups


if __name__ == "__main__":
    main()
