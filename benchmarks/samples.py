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
    verdict = report.verdict.cause
    wanted, found = label.get("first_failure"), report.diagnosis.first_failure
    first = process = None
    if wanted:
        source = wanted.get("source", "")
        process = found is not None and (
            not source or report.diagnosis.sources[found.source].path.endswith(source)
        )
        first = process and found is not None and found.line == wanted["line"]
    group = label.get("pair") or (
        path.stem.rsplit("-", 2)[0] + "/dump"
        if "composed" in str(label.get("dump", "")) and "/flip" in str(path).replace("\\", "/")
        else ""
    )
    return {
        "name": str(path.relative_to(path.parents[1]).with_suffix("")),
        "cause": label["cause"],
        "verdict": verdict,
        "probability": report.causes[0].probability if report.causes else 0.0,
        "right": (
            verdict in right
            or (verdict is None and any(cause.startswith("unknown.") for cause in right))
        ),
        "forbidden": verdict in set(label.get("not", [])),
        "first": first,
        "process": process,
        "job": input_of(path).is_dir(),
        "pair": f"{group}-{path.stem.rsplit('-', 1)[1]}" if group else "",
        "wanted": wanted,
        "found": (
            (Path(report.diagnosis.sources[found.source].path).name, found.line, found.why)
            if found
            else None
        ),
        "curve_pair": bool(label.get("pair")),
    }


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
        for row in rows:
            if not row["right"]:
                print(
                    f"verdict   {row['name']}: {row['cause']}, got {row['verdict']}"
                    f" ({row['probability']:.2f}){' FORBIDDEN' if row['forbidden'] else ''}"
                )
            if row["first"] is False:
                print(f"first     {row['name']}: {row['wanted']}, got {row['found']}")
    groups: dict[str, list[bool]] = collections.defaultdict(list)
    for row in rows:
        if row["pair"]:
            groups[row["pair"]].append(row["right"])
    areas: dict[str, list[bool]] = collections.defaultdict(list)
    for row in rows:
        areas[row["cause"].split(".")[0]].append(row["right"])
    print("cases            ", len(rows))
    print("top1             ", share([row["right"] for row in rows]))
    print("forbidden        ", share([row["forbidden"] for row in rows]))
    print("first_failure    ", share([row["first"] for row in rows if row["first"] is not None]))
    print("jobs top1        ", share([row["right"] for row in rows if row["job"]]))
    print(
        "jobs process     ",
        share([row["process"] for row in rows if row["job"] and row["process"] is not None]),
    )
    print(
        "jobs process+line",
        share([row["first"] for row in rows if row["job"] and row["first"] is not None]),
    )
    print(
        "pairs by curve   ",
        share([all(flags) for name, flags in groups.items() if "/dump" not in name]),
    )
    print(
        "pairs by dump    ",
        share([all(flags) for name, flags in groups.items() if "/dump" in name]),
    )
    print(
        "by area          ",
        ", ".join(f"{name} {sum(flags)}/{len(flags)}" for name, flags in sorted(areas.items())),
    )


if __name__ == "__main__":
    main()
