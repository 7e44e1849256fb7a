"""Reading speed, as a ratio to the least that any reader must do, in one run; peak memory.

Start-up time.

    python benchmarks/reading.py [--megabytes 300] [--rounds 3] [--reference SCRIPT] [--keep FOLDER]

Generates three logs: noise (no rule's literal in it), dense (Trainer and DeepSpeed metric lines,
nothing else) and hits (a signature on every 20th line), and runs `postmortem analyze` and the
reference over each in turn. The reference is called as `SCRIPT LOG LITERALS [dense]`, where
LITERALS holds the program's own literals, a line each.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from postmortem.pipeline import machine_for

WORDS = (
    "loading",
    "shard",
    "tokens",
    "worker",
    "cache",
    "queue",
    "epoch",
    "model",
    "layer",
    "buffer",
    "ready",
    "sync",
    "batch",
    "device",
    "stage",
    "host",
)
SIGNATURES = (
    (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
        " capacity of 79.15 GiB of which 1.20 GiB is free."
    ),
    "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
    "RuntimeError: CUDA error: device-side assert triggered",
    "ModuleNotFoundError: No module named 'flash_attn'",
    "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed. ",
)


def noise(random_: random.Random) -> Iterator[str]:
    """Lines that no rule looks at."""
    pool = [
        " ".join(random_.choice(WORDS) for _ in range(random_.randint(6, 14)))
        + f" {random_.randint(0, 10**6)}"
        for _ in range(5000)
    ]
    while True:
        yield random_.choice(pool)


def dense(random_: random.Random) -> Iterator[str]:
    """Metric lines only: three of the Trainer for one of DeepSpeed."""
    step = 0
    while True:
        step += 1
        if step % 4:
            yield (
                f"{{'loss': {random_.random() * 3:.4f}, 'grad_norm': {random_.random() * 9:.16f},"
                f" 'learning_rate': {2e-5 * random_.random():.17g}, 'epoch': {step / 5000:.2f}}}"
            )
        else:
            yield (
                f"[2024-05-01 12:00:{step % 60:02d},{step % 1000:03d}] [INFO]"
                f" [logging.py:96:log_dist] [Rank 0] step={step}, skipped=0,"
                f" lr=[{2e-5 * random_.random():.6g}], mom=[(0.9, 0.999)]"
            )


def hits(random_: random.Random) -> Iterator[str]:
    """Noise with a signature on every 20th line."""
    plain = noise(random_)
    while True:
        for _ in range(19):
            yield next(plain)
        yield random_.choice(SIGNATURES)


def write(path: Path, lines: Iterator[str], megabytes: float) -> None:
    """Write about so many megabytes."""
    size, limit, chunk = 0, int(megabytes * 1e6), []
    with path.open("w", encoding="utf-8") as stream:
        while size < limit:
            chunk = [next(lines) + "\n" for _ in range(20000)]
            size += sum(map(len, chunk))
            stream.writelines(chunk)


def timed(argv: list[str]) -> tuple[float, int]:
    """Run a command; gives wall seconds and its peak memory in MB."""
    start = time.perf_counter()
    with Path(os.devnull).open("w") as sink:
        child = subprocess.Popen(argv, stdout=sink, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"failed: {' '.join(argv)}")
    return time.perf_counter() - start, usage.ru_maxrss // 1024


def main() -> None:
    """Measure and print one line a log."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--reference", default=str(Path(__file__).with_name("reference.py")))
    parser.add_argument("--keep", default="")
    args = parser.parse_args()
    folder = Path(args.keep or tempfile.mkdtemp(prefix="postmortem-bench-"))
    folder.mkdir(exist_ok=True)
    literals = folder / "literals.txt"
    literals.write_bytes(
        b"\n".join(literal for literal in machine_for(()).literals if b"\n" not in literal)
    )
    print(f"{len(machine_for(()).literals)} literals")
    for name, lines in (("noise", noise), ("dense", dense), ("hits", hits)):
        log = folder / f"{name}.log"
        if not log.exists():
            write(log, lines(random.Random(7)), args.megabytes)
        options = ["dense"] if name == "dense" else []
        reference = [sys.executable, args.reference, str(log), str(literals), *options]
        print(f"{name}: {beside(log, reference, args.rounds)}")
    print(f"100 lines: {started(folder):.2f} x the time of `python -c 'import numpy'`")


def beside(log: Path, reference: list[str], rounds: int) -> str:
    """Read a log, in turn with the reference, and say how long both take."""
    ours, theirs, peak = [], [], 0
    for _ in range(rounds):
        theirs.append(timed(reference)[0])
        seconds, memory = timed(analysis(log))
        ours.append(seconds)
        peak = max(peak, memory)
    ratio = statistics.median(one / other for one, other in zip(ours, theirs, strict=True))
    return (
        f"{statistics.median(ours):.2f} s, reference {statistics.median(theirs):.2f} s,"
        f" ratio {ratio:.2f}, peak {peak} MB"
    )


def started(folder: Path) -> float:
    """Give the time of a log of 100 lines, in times of a Python that imports NumPy."""
    small = folder / "small.log"
    small.write_text(
        "".join(
            f"{{'loss': {3 - i / 50:.4f}, 'learning_rate': 2e-05, 'epoch': {i / 100:.2f}}}\n"
            for i in range(100)
        )
    )
    numpy = [sys.executable, "-c", "import numpy"]
    return statistics.median(timed(analysis(small))[0] / timed(numpy)[0] for _ in range(7))


def analysis(log: Path) -> list[str]:
    """Give the command that analyses a log."""
    return [sys.executable, "-m", "postmortem", "analyze", str(log), "--format", "json"]


if __name__ == "__main__":
    main()
