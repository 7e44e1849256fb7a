"""Speed on logs of the usual shapes.

CPU seconds and peak memory, of this tree alone or against another one.

    python benchmarks/shapes.py [SHAPE ...] [--before TREE] [--megabytes 8] [--rounds 1]
                                [--keep FOLDER]

Each log is read by `postmortem analyze LOG --format json` of each tree in turn, start-up included;
user and system time are added up, so that a busy machine changes little. A ratio says how many
times the seconds of this tree the other one took. `same` says whether both reports agree in all but
the tool's own version.

The shapes: `trainer` (records between the redraws of a bar), `mmengine`, `generic` (a script with a
logger and lines that wander), `tqdm` (a bar with a loss, all on one line), `megatron`, `deepspeed`
(lines of eight ranks), `ranks` (20,000 errors over 1,024 ranks), `names` (a million names of
metrics) and `files` (a folder of 64 ranks, each of `--megabytes`).
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILES = 64
WORDS = ("shard", "cache", "worker", "buffer", "queue", "loader", "batch", "host")


def loss(random_: random.Random, step: int) -> float:
    """A loss that falls, with noise."""
    return 8 / (1 + step / 500) ** 0.3 + random_.random() / 5


def clock(step: int, separator: str = " ") -> str:
    """The time of a step."""
    day, hour, minute = 1 + step // 86400 % 28, step // 3600 % 24, step // 60 % 60
    return f"2024-05-{day:02d}{separator}{hour:02d}:{minute:02d}:{step % 60:02d}"


def bar(step: int, total: int, tail: str = "") -> str:
    """One draw of a bar."""
    return (
        f"\r{step * 100 // total:3d}%|{'█' * (step * 10 // total):<10}| {step}/{total}"
        f" [{step // 3600:02d}:{step // 60 % 60:02d}:{step % 60:02d}<1:02:03, "
        f" {1 + step % 97 / 100:.2f}s/it{tail}]"
    )


def trainer(random_: random.Random) -> Iterator[str]:
    """The Trainer with its bar: each record wipes it, is printed, and the bar is drawn again."""
    step, total = 0, 100_000
    while True:
        for _ in range(5):
            step += 1
            yield bar(step, total)
        yield (
            f"\r{' ' * 60}\r{{'loss': {loss(random_, step):.4f}, 'grad_norm':"
            f" {random_.random() * 3!r}, 'learning_rate': {2e-5 * (1 - step / total / 2)!r},"
            f" 'epoch': {step / 20_000:.2f}}}\n" + bar(step, total)
        )
        if step % 2500 == 0:
            yield (
                f"\r{' ' * 60}\r{{'eval_loss': {loss(random_, step):.6f}, 'eval_runtime': 3.3,"
                " 'eval_samples_per_second': 30.1, 'eval_steps_per_second': 3.8, 'epoch':"
                f" {step / 20_000:.2f}}}\n"
            )


def mmengine(random_: random.Random) -> Iterator[str]:
    """Lines of mmengine's logger."""
    for step in range(10, 1 << 40, 10):
        days = "1 day, " if step % 30_000 < 9000 else ""
        eta = f"{days}{step % 12}:{step % 60:02d}:{step // 60 % 60:02d}"
        yield (
            f"{clock(step).replace('-', '/')} - mmengine - INFO - Iter(train) [{step:6d}/900000] "
            f" base_lr: {1e-4 * random_.random():.4e} lr: {1e-4 * random_.random():.4e}  eta: {eta}"
            f"  time: {random_.random():.4f}  data_time: {random_.random() / 90:.4f}  memory:"
            f" {15423 + step % 7}  grad_norm: {random_.random():.4f}  loss:"
            f" {loss(random_, step):.4f}  decode.loss_ce: {loss(random_, step):.4f} "
            f" decode.acc_seg: {random_.random() * 99:.4f}\n"
        )
        if step % 16_000 == 0:
            yield (
                f"{clock(step).replace('-', '/')} - mmengine - INFO - Saving checkpoint at {step}"
                " iterations\n"
            )


def generic(random_: random.Random) -> Iterator[str]:
    """A script of its own, with a logger, and lines between whose words and numbers wander."""
    for step in range(1, 1 << 40):
        head = f"{clock(step)},{step % 1000:03d} - train - INFO - "
        yield (
            f"{head}Epoch {step // 5000} step {step} loss: {loss(random_, step):.4f} lr"
            f" {1e-4 * random_.random():.4e} grad_norm {random_.random() * 4:.3f} |"
            f" {random_.randint(3000, 4000)} tok/s\n"
        )
        if step % 4 == 0:
            yield (
                f"{head}{random_.choice(WORDS)} {random_.choice(WORDS)} {random_.randint(0, 9999)}"
                f" took {random_.random():.3f} s\n"
            )
        if step % 50 == 0:
            yield (
                f"{head}moving average of the {random_.choice(WORDS)} loss over"
                f" {random_.randint(10, 99)} steps: {loss(random_, step):.4f}\n"
            )
        if step % 500 == 0:
            yield f"{head}validation at step {step}: val_loss: {loss(random_, step):.4f}\n"


def tqdm(random_: random.Random) -> Iterator[str]:
    """A bar with its metrics behind it, epoch after epoch, drawn twice at each step."""
    epoch, total = 0, 20_000
    while True:
        for step in range(1, total):
            label = f"\rEpoch {epoch}: "
            yield (
                label
                + bar(step, total, f", loss={loss(random_, step):.4f}")[1:]
                + label
                + bar(
                    step,
                    total,
                    f", loss={loss(random_, step):.4f}, lr={1e-4 * random_.random():.2e}",
                )[1:]
            )
        epoch += 1
        yield "\n"


def megatron(random_: random.Random) -> Iterator[str]:
    """Lines of Megatron."""
    for step in range(1, 1 << 40):
        yield (
            f" [{clock(step)}] iteration {step:8d}/ 5000000 | consumed samples: {step * 256:12d} |"
            f" elapsed time per iteration (ms): {500 + random_.random():.1f} | throughput per GPU"
            f" (TFLOP/s/GPU): {random_.random() * 99:.1f} | learning rate:"
            f" {1e-4 * random_.random():.6E} | global batch size:   256 | lm loss:"
            f" {loss(random_, step):.6E} | loss scale: 65536.0 | grad norm: {random_.random():.3f}"
            " | num zeros: 0.0 | number of skipped iterations:   0 | number of nan iterations:  "
            " 0 |\n"
        )


def deepspeed(random_: random.Random) -> Iterator[str]:
    """DeepSpeed's step lines and timers, and a loss of each of eight ranks."""
    for step in range(10, 1 << 40, 10):
        stamp = f"[{clock(step)},{step % 1000:03d}] [INFO] "
        yield (
            f"{stamp}[logging.py:96:log_dist] [Rank 0] step={step}, skipped=3,"
            f" lr=[{2e-5 * random_.random()!r}], mom=[(0.9, 0.999)]\n"
        )
        yield (
            f"{stamp}[timer.py:199:stop] epoch=0/micro_step={step * 4}/global_step={step},"
            f" RunningAvgSamplesPerSec={random_.random() * 90!r},"
            f" CurrSamplesPerSec={random_.random() * 90!r}, MemAllocated=12.34GB,"
            " MaxMemAllocated=30.1GB\n"
        )
        for rank in random_.sample(range(8), 8):
            yield (
                f"[rank{rank}]: step {step} loss: {loss(random_, step):.4f} lr:"
                f" {2e-5 * random_.random():.3e}\n"
            )
            yield f"Epoch: 0, Step: {step}, Rank: {rank}, loss = {loss(random_, step):.6f}\n"


def ranks(random_: random.Random) -> Iterator[str]:
    """Errors of 1,024 ranks between their records; ends after 20,000 errors."""
    for step in range(1, 21):
        for rank in random_.sample(range(1024), 1000):
            yield (
                f"[rank{rank}]: step {step} loss: {loss(random_, step):.4f} lr:"
                f" {2e-5 * random_.random():.3e}\n"
            )
            yield f"[rank{rank}]: RuntimeError: CUDA error: device-side assert triggered\n"


def names(random_: random.Random) -> Iterator[str]:
    """A million names of metrics, ten on a line."""
    for step in range(100_000):
        pairs = ", ".join(
            f"'layer.{step * 10 + number}/norm': {random_.random():.4f}" for number in range(10)
        )
        yield (
            f"{{'loss': {loss(random_, step):.4f}, {pairs}, 'learning_rate': 1e-05, 'epoch':"
            f" {step / 1000:.2f}}}\n"
        )


SHAPES: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "trainer": trainer,
    "mmengine": mmengine,
    "generic": generic,
    "tqdm": tqdm,
    "megatron": megatron,
    "deepspeed": deepspeed,
    "ranks": ranks,
    "names": names,
    "files": deepspeed,
}


def write(path: Path, lines: Iterator[str], megabytes: float) -> None:
    """Write about so many megabytes, or what there is."""
    size, limit = 0, megabytes * 1e6
    with path.open("w", encoding="utf-8") as stream:
        for line in lines:
            size += stream.write(line)
            if size > limit:
                break


def made(shape: str, folder: Path, megabytes: float) -> Path:
    """The log (or the folder) of a shape."""
    path = folder / (shape if shape == "files" else f"{shape}.log")
    if shape == "files" and not path.exists():
        path.mkdir()
        for number in range(FILES):
            write(path / f"rank{number}.log", deepspeed(random.Random(number)), megabytes)
    elif not path.exists():
        write(
            path, SHAPES[shape](random.Random(7)), 1e6 if shape in {"ranks", "names"} else megabytes
        )
    return path


def spent(tree: Path, log: Path, report: Path) -> tuple[float, int]:
    """Let a tree read a log; gives CPU seconds and the peak memory in MB."""
    with report.open("wb") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "postmortem", "analyze", str(log), "--format", "json"],
            stdout=out,
            stderr=subprocess.DEVNULL,
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree)},
        )
        _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"failed in {tree}: {log}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def read_report(report: Path) -> dict[str, Any]:
    """What a report says of the log, without the tool's own version."""
    return {
        name: value
        for name, value in json.loads(report.read_text(encoding="utf-8")).items()
        if name != "tool"
    }


def main() -> None:
    """Measure and print one line a shape."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shapes", nargs="*", choices=[*SHAPES, []], metavar="SHAPE")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--keep", default="")
    args = parser.parse_args()
    folder = Path(args.keep or tempfile.mkdtemp(prefix="postmortem-shapes-"))
    folder.mkdir(exist_ok=True, parents=True)
    reports = {
        tree: folder / f"report-{number}.json"
        for number, tree in enumerate([ROOT, *([args.before.resolve()] if args.before else [])])
    }
    for shape in args.shapes or SHAPES:
        log = made(shape, folder, args.megabytes)
        rounds = [
            [spent(tree, log, report) for tree, report in reports.items()]
            for _ in range(args.rounds)
        ]
        (seconds, memory), *other = (min(trial) for trial in zip(*rounds, strict=True))
        line = f"{shape}: {seconds:.2f} s, {memory} MB"
        for before, peak in other:
            one, two = map(read_report, reports.values())
            parts = sorted(name for name in {*one, *two} if one.get(name) != two.get(name))
            line += (
                f"; before {before:.2f} s, {peak} MB; ratio {before / seconds:.2f};"
                f" {'same' if not parts else 'differ in ' + ', '.join(parts)}"
            )
        print(line, flush=True)


if __name__ == "__main__":
    main()
