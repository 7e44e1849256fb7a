"""Whether a verdict moves when every line of a log is wrapped.

A time stamp, a rank, a task number, colours, a logger's prefix, carriage returns, one around the
other.

    python benchmarks/wrapping.py [FOLDER ...] [--every N] [--jobs N]

FOLDER (default `sample_logs`) holds cases as the lab writes them: a label beside a log or a folder
of logs. Each case is analysed bare and in every wrapping that says nothing new of it; printed are
the cases whose cause moves, and the count. A line that prints a time is stamped with it, those
between two of them evenly, so that pauses stay what they were; files of a job that print none get
no stamp, since their order would be invented; a rank is put only before lines that name none.
"""

import argparse
import datetime as dt
import gzip
import itertools
import math
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

import samples

import postmortem
from postmortem.reading.file_names import parse_processes
from postmortem.reading.prefixes import clean, convert_to_seconds, get_time_basis, has_srun_labels

START: Final = 1_714_564_800.0
A_DAY: Final = 86_400.0
MOMENT: Final = 1e-3
TEXT: Final = frozenset({".log", ".txt", ".out", ".err"})


class Wrapping:
    """A way to wrap the lines of one file."""

    def __init__(self, prefix: str, suffix: str = "") -> None:
        """Take what stands before and behind each line.

        `{stamp}`, `{comma}` and `{rank}` are put in.
        """
        self.prefix, self.suffix = prefix, suffix

    @property
    def has_time(self) -> bool:
        """True if it puts a time before each line."""
        return "{stamp}" in self.prefix or "{comma}" in self.prefix

    @property
    def is_inner(self) -> bool:
        """True if it cannot stand around the label of a process.

        It says itself which one a line is from, or a program prints it.
        """
        return "{rank}" in self.prefix or " - INFO - " in self.prefix

    def text(self, text: str, rank: int) -> str:
        """Wrap every line."""
        body, end = (text[:-1], "\n") if text.endswith("\n") else (text, "")
        lines = body.split("\n")
        return (
            "\n".join(
                self._line(line, time, rank) for line, time in zip(lines, times(lines), strict=True)
            )
            + end
        )

    def _line(self, line: str, time: float, rank: int) -> str:
        when = dt.datetime.fromtimestamp(time, dt.timezone.utc)
        stamp, comma = (
            f"{when:%Y-%m-%dT%H:%M:%S.%f}",
            f"{when:%Y-%m-%d %H:%M:%S},{when.microsecond // 1000:03d}",
        )
        return self.prefix.format(stamp=stamp, comma=comma, rank=rank) + line + self.suffix


def times(lines: Sequence[str]) -> list[float]:
    """Give each line a time: its own where it prints one.

    Those between two of them are spread over the time between, so that no pause is invented.
    """
    known = printed(lines)
    first, last = known[0] if known else (0, START), known[-1] if known else (0, START)
    places = [
        (-1, first[1] - MOMENT * (first[0] + 1)),
        *known,
        (len(lines), last[1] + MOMENT * (len(lines) - last[0])),
    ]
    found = []
    for (begin, start), (end, stop) in itertools.pairwise(places):
        found += [
            start + (stop - start) * (number - begin) / max(end - begin, 1)
            for number in range(max(begin, 0), end)
        ]
    return found


def printed(lines: Sequence[str]) -> list[tuple[int, float]]:
    """Give the times that lines print, as (number, seconds), as far as they do not go back."""
    known: list[tuple[int, float]] = []
    for number, line in enumerate(lines):
        time = clean(line, srun=True).time
        if (
            time is None
            or get_time_basis(time) == "uptime"
            or math.isnan(own := convert_to_seconds(time))
        ):
            continue
        if get_time_basis(time) != "full":
            own = (known[-1][1] if known else START) // A_DAY * A_DAY + own % A_DAY
        if not known or own >= known[-1][1]:
            known.append((number, own))
    return known


WRAPPINGS: Final = {
    "kubectl": Wrapping("{stamp}789Z "),
    "container file": Wrapping("{stamp}789+00:00 stdout F "),
    "stamp in brackets": Wrapping("[{comma}] "),
    "logger": Wrapping("{comma} - train - INFO - "),
    "rank": Wrapping("[rank{rank}]: "),
    "srun": Wrapping("{rank}: "),
    "mpirun": Wrapping("[1,{rank}]<stdout>:"),
    "colour": Wrapping("\x1b[36m", "\x1b[0m"),
    "crlf": Wrapping("", "\r"),
    "srun behind a stamp": Wrapping("{stamp}Z {rank}: "),
    "stamp behind srun": Wrapping("{rank}: {stamp}Z "),
    "srun behind a stamp in brackets": Wrapping("[{comma}] {rank}: "),
    "rank behind a stamp": Wrapping("{stamp}Z [rank{rank}]: "),
    "rank behind srun": Wrapping("{rank}: [rank{rank}]: "),
    "srun in colour": Wrapping("\x1b[36m{rank}: \x1b[0m"),
    "colour behind srun": Wrapping("{rank}: \x1b[31m", "\x1b[0m"),
    "srun and carriage return": Wrapping("{rank}: ", "\r"),
}


def texts(path: Path) -> dict[str, str]:
    """The text logs of a case by their names; nothing where one of its files is of another kind."""
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    found = {}
    for file in files:
        data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        name = str(file.relative_to(path) if path.is_dir() else file.name).removesuffix(".gz")
        if (
            Path(name).suffix not in TEXT
            or data.startswith((b"{", b"\xff\xfe", b"\xfe\xff"))
            or b"\x00" in data
        ):
            return {}
        found[name] = data.decode("utf-8", "surrogateescape")
    return found


def ranks(files: dict[str, str]) -> dict[str, int]:
    """The rank of each file.

    Nothing where a line names its process, or several files do not name theirs.
    """
    if any(names_processes(text) for text in files.values()):
        return {}
    named = parse_processes(list(files)) if len(files) > 1 else {}
    if len(files) > 1 and any(name not in named or named[name].rank is None for name in files):
        return {}
    return {name: (named[name].rank or 0) if name in named else 0 for name in files}


def names_processes(text: str) -> bool:
    """Whether a line of a text names its process."""
    wheres = (clean(line).where for line in text.split("\n"))
    return has_srun_labels(text) or any(
        where.rank is not None or where.local_rank is not None for where in wheres
    )


def cause(files: dict[str, str], dump: Path) -> str | None:
    """The verdict on these files as one job."""
    with tempfile.TemporaryDirectory(prefix="wrapping-") as folder:
        for name, text in files.items():
            path = Path(folder) / "job" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        where = Path(folder) / "job" if len(files) > 1 else Path(folder) / "job" / next(iter(files))
        return postmortem.analyze(where, env=[dump] if dump.is_file() else []).verdict.cause


def moved(
    path: Path, names: Sequence[str] = tuple(WRAPPINGS)
) -> tuple[int, list[tuple[str, str | None, str | None]]]:
    """How many wrappings of a case were looked at, and those in which the cause moves."""
    files = texts(path)
    if not files:
        return 0, []
    is_timed = len(files) == 1 or all(
        any(clean(line).time for line in text.split("\n")) for text in files.values()
    )
    processes, dump = (
        ranks(files),
        path.with_name(path.name.removesuffix(path.suffix if path.is_file() else "") + ".env"),
    )
    bare, count, found = cause(files, dump), 0, []
    for name in names:
        wrapping = WRAPPINGS[name]
        if (wrapping.is_inner and not processes) or (wrapping.has_time and not is_timed):
            continue
        count += 1
        now = cause(
            {file: wrapping.text(text, processes.get(file, 0)) for file, text in files.items()},
            dump,
        )
        if now != bare:
            found.append((name, bare, now))
    return count, found


def main() -> None:
    """Print what moves."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("folders", nargs="*", type=Path, default=[samples.ROOT / "sample_logs"])
    options.add_argument("--every", type=int, default=1, help="every Nth case")
    options.add_argument("--jobs", type=int, default=2)
    args = options.parse_args()
    cases = [
        samples.input_of(label) for folder in args.folders for label in samples.labels_in(folder)
    ][:: args.every]
    total = moves = 0
    with ProcessPoolExecutor(args.jobs) as pool:
        for path, (count, found) in zip(
            cases, pool.map(partial(moved), cases, chunksize=4), strict=True
        ):
            total += count
            moves += len(found)
            for name, before, now in found:
                print(f"{path.parent.name}/{path.name}  {name}: {before} → {now}", flush=True)
    print(f"{moves} of {total} moved, {len(cases)} cases")


if __name__ == "__main__":
    main()
