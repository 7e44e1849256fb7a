"""Compose logs of several attempts from the recorded samples, and count how many are split right.

`python tools/compose_attempts.py [--out FOLDER]`: each composed log is a series of whole runs, of
one program or of several, with or without what a scheduler prints between them.
"""

import argparse
import random
import re
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from postmortem import analyze  # noqa: E402 -- the checkout's own
from postmortem.reading.sources import Stream  # noqa: E402

_COUNTS: Final = (2, 2, 2, 3, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 50)
_LEAST, _MOST = 12, 400
"""Lines of a sample that is used."""


_DAY: Final = re.compile(
    r"(?<=\d{4}-\d\d-)\d\d|(?<=\b[01]\d/)\d\d(?=/\d{4} )|(?<=[WIE]11)\d\d(?= \d\d:)"
)
_PROCESS: Final = re.compile(
    r"(?<=pid[ =:])\d{3,6}|(?<=pid: )\d{3,6}|(?<=process )\d{3,6}|(?<=\d\.\d{6} )\d{3,6}"
)


def _move(text: str, number: int) -> str:
    """Give the text of a run as a later one would print it: on another day, by other processes."""
    text = _DAY.sub(lambda found: f"{(int(found[0]) + number - 1) % 28 + 1:02}", text)
    return _PROCESS.sub(lambda found: str(int(found[0]) + 211 * number), text)


def compose_logs(seed: int, number: int) -> list[tuple[str, int, str]]:
    """Give composed logs: a name, how many attempts, the text."""
    chosen = random.Random(seed)  # noqa: S311 -- the same logs each time
    samples = [
        path
        for path in sorted((ROOT / "sample_logs").rglob("*.log"))
        if _LEAST <= path.read_bytes().count(b"\n") <= _MOST and b"\x00" not in path.read_bytes()
    ]
    logs = []
    for at in range(number):
        count = _COUNTS[at % len(_COUNTS)]
        first, second = chosen.sample(samples, 2)
        way = at % 4
        runs = (
            [first] * count if way < 2 else [first, *chosen.choices((first, second), k=count - 1)]
        )
        header = "Submitted batch job {}\n" if way in {1, 3} else ""
        texts = [
            header.format(1000 + 7 * n) + _move(run.read_text("utf-8", "replace"), n).rstrip("\n")
            for n, run in enumerate(runs)
        ]
        kinds = "same" if way < 2 else "mixed"
        name = f"{at:02}-{kinds}-{count}-{first.stem}" + (f"-{second.stem}" if way > 1 else "")
        logs.append((name, count, "\n".join(texts) + "\n"))
    return logs


def main() -> int:
    """Compose, split, print the misses and the count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    right = 0
    for name, count, text in compose_logs(args.seed, args.number):
        if args.out is not None:
            args.out.mkdir(parents=True, exist_ok=True)
            (args.out / f"{name}.log").write_text(text, "utf-8")
        report = analyze(Stream(f"{name}.log", text.encode()))
        found = len(report.analysis.attempts)
        right += found == count
        if found != count:
            print(f"{name}: {found}")
    print(f"{right} of {args.number}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
