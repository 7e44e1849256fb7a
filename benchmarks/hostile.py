"""Logs that are made to be slow.

CPU seconds and peak memory of `postmortem analyze` for each kind, against a bound.

    python benchmarks/hostile.py [KIND]... [--megabytes 100] [--before FOLDER] [--keep FOLDER]

The twelve KINDS are the ones that must stay within SECONDS and MEGABYTES whatever is in them (for
100 MB; of less in proportion, with two seconds for the start); MORE are shapes that were slow once.
`--before` names another checkout, which is measured in turn with this one. Exit status 1 if one of
the twelve is over its bound.
"""

import argparse
import itertools
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
SECONDS: Final = 30.0
"""CPU seconds for 100 MB."""
MEGABYTES: Final = 300
START: Final = 2.0
"""CPU seconds that a run of any size may take besides."""
BEGINNINGS: Final = "{'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 2e-05, 'epoch': 0.01}\n"
"""A line that makes each of the files the log of a training run."""


class Cost(NamedTuple):
    """What a run took."""

    seconds: float
    """CPU time of the process and its children."""
    peak: int
    """Most memory held, in MB."""


def _one_line(unit: str) -> Iterator[str]:
    yield from itertools.repeat(unit * (4096 // len(unit) + 1))


def _lines(line: str) -> Iterator[str]:
    yield from itertools.repeat(line)


def _headers() -> Iterator[str]:
    """Tracebacks without a frame of ever another process: what follows each is of others."""
    for number in itertools.count():
        yield f"[rank{number % 1000}]: Traceback (most recent call last):\n"


def _ranks() -> Iterator[str]:
    """Every line is printed by another of 8,192 processes."""
    for number in itertools.count():
        rank = number % 8192
        yield (
            f"[rank{rank}]: {{'loss': {2 + number % 7 / 10:.4f}, 'learning_rate': 2e-05, 'epoch':"
            f" {number / 1e6:.4f}}}\n"
            if number % 3
            else f"[rank{rank}]: RuntimeError: CUDA error: device-side assert triggered\n"
        )


def _names() -> Iterator[str]:
    """No name of a metric comes twice."""
    for number in itertools.count(step=8):
        yield (
            "{"
            + ", ".join(
                [
                    "'loss': 1.5",
                    *(f"'metric_{index}': 0.{index}" for index in range(number, number + 8)),
                    f"'epoch': {number / 1e6:.4f}",
                ]
            )
            + "}\n"
        )


def _depth() -> Iterator[str]:
    """A state of the Trainer that is nested without end."""
    yield '{"global_step": 5, "log_history": [{"step": 1, "loss": 1.5}, '
    yield from itertools.repeat('{"a": [' * 512)


def _anchors() -> Iterator[str]:
    """Every literal of the knowledge base, in ever another order, in lines of 100 kB."""
    # The other tree's runs need no knowledge of this one's.
    from postmortem.pipeline import get_matcher  # noqa: PLC0415

    literals = [
        literal.decode("utf-8", "replace").replace("\n", " ").replace("\r", " ")
        for literal in get_matcher(()).literals
    ]
    shuffled = random.Random(7)
    while True:
        shuffled.shuffle(literals)
        text = " ".join(literals)
        for start in range(0, len(text), 100_000):
            yield text[start : start + 100_000] + "\n"


def _failing_ranks() -> Iterator[str]:
    """20,000 errors of 1,024 processes, over and over."""
    errors = (
        "RuntimeError: CUDA error: device-side assert triggered",
        (
            "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1333,"
            " unhandled system error"
        ),
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a"
            " total capacity of 79.15 GiB of which 1.20 GiB is free."
        ),
        "ValueError: could not convert string to float: 'abc'",
    )
    for number in itertools.count():
        yield f"[rank{number * 7 % 1024}]: {errors[number // 5 % 4]}\n"


def _adjacent() -> Iterator[str]:
    """Tracebacks of many frames, one behind the other, without a time."""
    for number in itertools.count():
        yield "Traceback (most recent call last):\n"
        for frame in range(30):
            yield (
                f'  File "/home/u/project/train_{number % 50}.py", line {frame + 10}, in'
                f" step_{frame}\n    loss = model(batch_{frame})\n"
            )
        yield f"ValueError: batch {number} is empty\n"


TWELVE: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    "blanks": lambda: _one_line(" "),
    "digits": lambda: _one_line("1234567890"),
    "quotes": lambda: _one_line("\"'"),
    "brackets": lambda: _one_line("[({<"),
    "loss": lambda: _one_line("loss: "),
    "nan": lambda: _one_line("NaN "),
    "bare headers": _headers,
    "carriage returns": lambda: _one_line("\r"),
    "ranks": _ranks,
    "names": _names,
    "json depth": _depth,
    "anchors": _anchors,
}
MORE: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    "failing ranks": _failing_ranks,
    "adjacent tracebacks": _adjacent,
    "stamped blanks": lambda: _lines("2024-05-01 12:00:00" + " " * 7900 + "x loss: 1\n"),
    "stopped blanks": lambda: _lines("StopIteration" + " " * 7900 + "\n"),
    "unlabelled headers": lambda: _lines("Traceback (most recent call last):\n"),
    "headless frames": lambda: _lines('  File "a.py", line 1, in f\n'),
    "one long anchor line": lambda: (text.replace("\n", " ") for text in _anchors()),
    "boxed headers": lambda: _lines("╭─── Traceback (most recent call last) ───╮\n"),
    "bar": lambda: _lines("\r 10%|█         | 10/100 [00:01<00:09,  9.99it/s]"),
}


def write(path: Path, kind: str, size: int) -> None:
    """Write a log of a kind, of about so many bytes."""
    with path.open("wb") as stream:
        written = 0 if kind == "json depth" else stream.write(BEGINNINGS.encode())
        pieces = (TWELVE | MORE)[kind]()
        while written < size:
            written += stream.write(
                "".join(itertools.islice(pieces, 64)).encode()[: size - written + 256]
            )


def cost(path: Path, tree: Path = ROOT) -> Cost:
    """Analyse a log in a process of its own."""
    with Path(os.devnull).open("w") as sink:
        child = subprocess.Popen(
            [sys.executable, "-m", "postmortem", "analyze", str(path), "--format", "json"],
            stdout=sink,
            stderr=subprocess.STDOUT,
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree)},
        )
        _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) not in {0, 2}:
        sys.exit(f"failed on {path}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024)


def main() -> None:
    """Measure and print one line a kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join([*TWELVE, *MORE]))
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    limit = START + SECONDS * args.megabytes / 100
    is_over = False
    with tempfile.TemporaryDirectory(prefix="postmortem-hostile-") as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(exist_ok=True)
        for kind in args.kinds or TWELVE:
            log = folder / f"{kind.replace(' ', '-')}-{args.megabytes:g}.log"
            if not log.exists():
                write(log, kind, int(args.megabytes * 1e6))
            before = f"before {_format_cost(cost(log, args.before))}, " if args.before else ""
            now = cost(log)
            over = kind in TWELVE and (now.seconds > limit or now.peak > MEGABYTES)
            is_over |= over
            print(f"{kind}: {before}{_format_cost(now)}{'  OVER' if over else ''}", flush=True)
            if not args.keep:
                log.unlink()
    sys.exit(is_over)


def _format_cost(cost: Cost) -> str:
    return f"{cost.seconds:.1f} s, {cost.peak} MB"


if __name__ == "__main__":
    main()
