"""Compare the reports of two versions of the program over many labelled cases.

    python tools/compare_reports.py write before.jsonl sample_logs FOLDER...
    python tools/compare_reports.py diff before.jsonl after.jsonl [--tolerance 0.001]

`write` analyses every case below the folders (a label NAME.yaml beside NAME.log, or a folder NAME)
and writes one line of JSON for each: verdict, causes with evidence and fixes, findings, first
failure, series, progress, attempts. `diff` lists the cases whose reports differ and in which
fields; exit status 1 if any does. Run `write` in the checkout of each version.
"""

import argparse
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import postmortem

SUFFIXES: Final = (".log", ".log.gz", ".jsonl", ".json", ".csv", ".txt", ".out", ".ipynb", "")
LEFT_OUT: Final = ("schema", "tool", "redactions")
"""Top fields that name the version or the display, not the answer."""
SHOWN: Final = 40


def find_cases(folders: list[Path]) -> Iterator[Path]:
    """Yield the log, or the folder of logs, of each label below the folders."""
    for folder in folders:
        for label in sorted(folder.rglob("*.yaml")):
            stem = str(label.with_suffix(""))
            log = next((path for end in SUFFIXES if (path := Path(stem + end)).exists()), None)
            if log is not None:
                yield log


def analyze_case(log: Path) -> tuple[str, Any]:
    """Analyse one case with the dump beside it; an error is an answer too."""
    dump = log.parent / (log.name.split(".")[0] + ".env")
    try:
        report = postmortem.analyze(log, env=[dump] if dump.exists() else [])
    except postmortem.PostmortemError as error:
        return str(log), {"error": str(error)}
    answer = json.loads(report.render("json", redact=False))
    return str(log), {name: value for name, value in answer.items() if name not in LEFT_OUT}


def write_reports(target: Path, folders: list[Path], workers: int) -> None:
    """Write one line for each case, in the order of the cases."""
    with multiprocessing.Pool(workers) as pool, target.open("w", encoding="utf-8") as out:
        for name, answer in pool.imap(analyze_case, find_cases(folders), chunksize=4):
            print(json.dumps([name, answer], ensure_ascii=False), file=out)


def read_reports(path: Path) -> dict[str, Any]:
    """Read what `write` has written, by case."""
    with path.open(encoding="utf-8") as lines:
        return dict(json.loads(line) for line in lines)


def diff_values(before: Any, after: Any, tolerance: float, place: str = "") -> Iterator[str]:
    """Yield the fields that differ, with both values; numbers may differ by the tolerance."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            inner = f"{place}.{key}" if place else key
            yield from diff_values(before.get(key), after.get(key), tolerance, inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from diff_values(old, new, tolerance, f"{place}[{number}]")
    elif isinstance(before, float | int) and isinstance(after, float | int):
        if abs(before - after) > tolerance:
            yield f"{place}: {before} -> {after}"
    elif before != after:
        yield f"{place}: {_shorten(before)} -> {_shorten(after)}"


def _shorten(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."


def diff_reports(before: dict[str, Any], after: dict[str, Any], tolerance: float) -> int:
    """Print the cases that differ and a count of the differing fields; return how many differ."""
    fields: Counter[str] = Counter()
    differing = 0
    for name in sorted({*before, *after}):
        found = list(diff_values(before.get(name), after.get(name), tolerance))
        differing += bool(found)
        fields.update(
            {line.partition(":")[0].partition("[")[0].partition(".")[0] for line in found}
        )
        if found:
            print(name, *found[:SHOWN], sep="\n    ")
    print(f"{differing} of {len({*before, *after})} cases differ", dict(fields) if fields else "")
    return differing


def main() -> int:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write")
    write.add_argument("target", type=Path)
    write.add_argument("folders", type=Path, nargs="+")
    write.add_argument("--workers", type=int, default=multiprocessing.cpu_count())
    diff = commands.add_parser("diff")
    diff.add_argument("before", type=Path)
    diff.add_argument("after", type=Path)
    diff.add_argument("--tolerance", type=float, default=0.0)
    args = parser.parse_args()
    if args.command == "write":
        write_reports(args.target, args.folders, args.workers)
        return 0
    before, after = read_reports(args.before), read_reports(args.after)
    return 1 if diff_reports(before, after, args.tolerance) else 0


if __name__ == "__main__":
    sys.exit(main())
