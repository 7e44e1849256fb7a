"""How early `postmortem watch` warns.

Every recorded run is written again line by line under a simulated clock while it is watched.

    python benchmarks/watching.py [FOLDER]... [--lines] [--jobs N]

FOLDER (default `sample_logs`) holds labels as the lab writes them. Of each run: the line of the
first warning, against the line at which the program stops (its exception, or the line of the
launcher behind the last metric record; where it runs on to the end in spite of the failure, the
end). The clock follows the printed times where there are any. Counted: collapsing runs (numerics.*)
that are warned of before that line, those with nothing to warn of (no figure is wrong before it),
healthy runs with a warning, and the others.
"""

import argparse
import collections
import contextlib
import itertools
import math
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from postmortem.core.diagnosis import Warned
from postmortem.extraction.facts.clock import parse_time
from postmortem.interfaces.watch.watched_file import GrowingFile
from postmortem.interfaces.watch.watcher import Settings, Watcher
from postmortem.pipeline import get_matcher
from postmortem.reading.opener import open_log
from postmortem.reading.prefixes import convert_to_seconds, get_time_basis

ROOT = Path(__file__).resolve().parents[1]
_DRAW = re.compile(rb"(?<=\n)|(?<=[^\n])(?=\r[^\n])")


class Over(Exception):  # noqa: N818 -- the log is written to its end
    """Nothing is left to write."""


class Replay:
    """Writes logs again while they are watched; its clock is the printed one."""

    def __init__(self, files: list[tuple[Path, Path]]) -> None:
        """Take (recorded, written) pairs."""
        self.clock = 1e9
        self._pieces = sorted(
            (piece for index, (source, _) in enumerate(files) for piece in _pieces(source, index)),
            key=lambda piece: piece[:2],
        )
        self._outs = [out for _, out in files]
        self._next = self._first = 0
        self._begin = min((piece[0] for piece in self._pieces if piece[0] > -math.inf), default=0.0)
        self._is_due = False

    def now(self) -> float:
        """Give the time."""
        return self.clock

    def sleep(self, _seconds: float) -> None:
        """Let time pass up to the next line; then write it."""
        if self._next >= len(self._pieces):
            raise Over
        at, _, index, data = self._pieces[self._next]
        due = 1e9 + max(0.0, at - self._begin)
        if (
            due > self.clock + 1 and not self._is_due
        ):  # a look just before it, when the silence is longest
            self.clock, self._is_due = due - 0.001, True
            return
        self._is_due = False
        self.clock = max(self.clock, due)
        with self._outs[index].open("ab") as out:
            out.write(data)
        self._next += 1


def _pieces(source: Path, index: int) -> Iterator[tuple[float, float, int, bytes]]:
    """Yield (time, share of the file, file, text) of each line or draw.

    A line without a time has that of the line before.
    """
    opened = open_log(str(source))
    raw = b"".join(iter(lambda: opened.read(1 << 20), b""))
    opened.close()
    parts = [part for part in _DRAW.split(raw) if part]
    times = [parse_time(part[:300].decode("utf-8", "replace")) for part in parts]
    basis = collections.Counter(
        get_time_basis(time) for time in times if time is not None
    ).most_common(1)
    stamps = [
        convert_to_seconds(time)
        if time is not None and get_time_basis(time) == basis[0][0]
        else math.nan
        for time in times
    ]
    for number, (part, at) in enumerate(zip(parts, _spread(stamps), strict=True)):
        yield at, number / len(parts), index, part


def _spread(stamps: list[float]) -> list[float]:
    """Spread lines without a time evenly between those that have one.

    None comes before the one in front of it.
    """
    known = [
        (-1, -math.inf),
        *((number, at) for number, at in enumerate(stamps) if not math.isnan(at)),
    ]
    found: list[float] = []
    for (number, at), (other, its) in itertools.pairwise([*known, (len(stamps), math.nan)]):
        last = max(at, found[-1] if found else at)
        step = (its - last) / (other - number) if its > last > -math.inf else 0.0
        found += [last + step * count for count in range(other - max(number, 0))]
    return found


def stops_at(path: Path) -> int:
    """The line at which the program stops.

    The first failure behind the last metric record, or the end.
    """
    live = GrowingFile(get_matcher(()), 0)
    opened = open_log(str(path))
    while data := opened.read(1 << 20):
        live.feed(data)
    live.feed(b"", is_end=True)
    opened.close()
    result = live.gathering.snapshot()
    rules = get_matcher(()).knowledge.by_id
    fatal = [
        entry.finding.line
        for kept in result.findings.values()
        for entry in kept.all()
        if rules[entry.finding.signature].fatal
    ]
    fatal += [traceback.line for traceback, _ in result.tracebacks]
    lines = sorted({line for series in result.series.values() for line in series.lines})
    before = (
        lines[-2] if len(lines) > 1 else 0
    )  # a bar is drawn once more when its program has failed
    return min((line for line in fatal if line >= before), default=result.lines[0] + 1)


def watched(label: Path) -> dict[str, Any]:
    """Watch one run being written."""
    about = yaml.safe_load(label.read_text(encoding="utf-8"))
    source = next(path for path in _inputs(label) if path.exists())
    with tempfile.TemporaryDirectory() as folder:
        files = _copies(source, Path(folder))
        warnings = _collect_warnings(folder if source.is_dir() else str(files[0][1]), files)
        stops = {str(out): stops_at(path) for path, out in files}
    first, last = warnings[0] if warnings else None, max(stops.values(), default=0)
    return {
        "name": str(label.relative_to(label.parents[1]).with_suffix("")),
        "cause": about["cause"],
        "outcome": about.get("outcome"),
        "kinds": [warning.kind for warning in warnings],
        "line": first.line if first else None,
        "step": first.step if first else None,
        "text": first.message.text("en") if first else "",
        "stop": stops[first.path] if first else last,
        "before": bool(first and first.line < stops[first.path]),
        "has_sign": _has_sign(about, last),
    }


def _copies(source: Path, folder: Path) -> list[tuple[Path, Path]]:
    """Name the file as which each file of a run is written again."""
    if not source.is_dir():
        return [(source, folder / "run.log")]
    return [
        (path, folder / path.relative_to(source).as_posix().replace("/", "+"))
        for path in sorted(source.rglob("*"))
        if path.is_file()
    ]


def _collect_warnings(path: str, files: list[tuple[Path, Path]]) -> list[Warned]:
    """Watch a path while its files are written, and give the warnings."""
    replay = Replay(files)
    watcher = Watcher([path], Settings(), replay.now, replay.sleep)
    warnings: list[Warned] = []
    with contextlib.suppress(Over):
        for event in watcher.iter_events():
            warnings += [event] if isinstance(event, Warned) else []
    return warnings


def _has_sign(about: dict[str, Any], stop: int) -> bool:
    """Whether the label's first failure stands before the line at which the program stops.

    A spike from which the run recovers is none.
    """
    line = (about.get("first_failure") or {}).get("line")
    return line < stop if line else about["cause"] != "numerics.loss-spike"


def _inputs(label: Path) -> tuple[Path, ...]:
    return label.with_suffix(""), label.with_suffix(".log"), label.with_suffix(".log.gz")


def labels_in(folder: Path) -> list[Path]:
    """The labels that have a log; those of a part that is set aside are left alone."""
    found = [
        path
        for path in sorted(folder.rglob("*.yaml"))
        if "lab" not in path.relative_to(folder).parts
        and any(file.exists() for file in _inputs(path))
    ]
    return [
        path
        for path in found
        if not re.search(r"^part: check", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path, default=[ROOT / "sample_logs"])
    parser.add_argument(
        "--lines",
        action="store_true",
        help="a line for each run that is collapsing, or is warned of",
    )
    parser.add_argument("--only", default="", help="causes that begin so")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    labels = [
        label
        for folder in args.folders
        for label in labels_in(folder)
        if args.only in label.read_text(encoding="utf-8")
    ]
    with ProcessPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(watched, labels, chunksize=4))
    groups: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for row in rows:
        groups[group_of(row)].append(row)
    for name, members in groups.items():
        for line in lines_of(name, members) if args.lines else ():
            print(line)
        print(f"{name:<10} {summary(name, members)}")


def group_of(row: dict[str, Any]) -> str:
    """What a run is for these figures."""
    areas = {"numerics": "collapsing", "healthy": "healthy"}
    return areas.get(row["cause"].partition(".")[0], "other")


def lines_of(name: str, members: list[dict[str, Any]]) -> Iterator[str]:
    """A line for each run that is collapsing, or is warned of."""
    for row in members:
        if row["kinds"] or (name == "collapsing" and row["has_sign"]):
            late = "LATE " if row["kinds"] and not row["before"] else ""
            yield (
                f"{name:<10} {row['name']:<55} {row['cause']:<36} warned {row['line']}"
                f" stops {row['stop']} {late}{','.join(row['kinds'])} {row['text'][:90]}"
            )


def summary(name: str, members: list[dict[str, Any]]) -> str:
    """How many of a group are warned of, of what first, and how many in time."""
    warned = [row for row in members if row["kinds"]]
    signs = [row for row in members if row["has_sign"]]
    counts = collections.Counter(row["kinds"][0] for row in warned)
    kinds = ", ".join(f"{kind} {count}" for kind, count in counts.items())
    in_time = (
        f", {sum(row['before'] for row in signs)} of {len(signs)} that show a sign before the"
        " program stops are warned of before it"
        if name == "collapsing"
        else ""
    )
    return f"{len(members)} runs, {len(warned)} warned of ({kinds}){in_time}"


if __name__ == "__main__":
    main()
