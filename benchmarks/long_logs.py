"""Logs of trainings as long as wanted: records, bars, talk and now and then a caught traceback.

    python benchmarks/long_logs.py MEGABYTES [--rank 0] > LOG

In: a random generator, the rank, megabytes. Out: `Stretch`: bytes that can be had again with later
steps, so that a log of any length is made of one stretch of 64 MB. Not here: measuring
(`files.py`, `memory.py`).
"""

import argparse
import random
import sys
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

DIGITS: Final = 9
"""Every step is printed with so many, so that a later one takes no more room."""
STRETCH: Final = 64.0
"""Megabytes after which a log comes again, with later steps."""
BAR_EVERY, TALK_EVERY, CAUGHT_EVERY = 10, 4, 5000
_STEP: Final = "\0" * DIGITS
_VALUES: Final = 5000
_SHARDS: Final = ("c4-en", "c4-de", "books", "code", "wiki")
_CAUGHT: Final = (
    "[rank{rank}]: WARNING data.loader: shard unreadable, the next one is taken",
    "[rank{rank}]: Traceback (most recent call last):",
    '[rank{rank}]:   File "/workspace/train/data/loader.py", line 212, in __iter__',
    "[rank{rank}]:     sample = self.reader.read(key)",
    '[rank{rank}]:   File "/workspace/train/data/reader.py", line 88, in read',
    '[rank{rank}]:     raise ValueError(f"bad length {{length}} in {{key}}")',
    "[rank{rank}]: ValueError: bad length 0 in shard-{number}",
)
END: Final = (
    "[rank{rank}]: Traceback (most recent call last):\n"
    '[rank{rank}]:   File "/workspace/train/train.py", line 301, in <module>\n'
    "[rank{rank}]:     main()\n"
    '[rank{rank}]:   File "/workspace/train/train.py", line 244, in main\n'
    "[rank{rank}]:     loss = model(batch)\n"
    '[rank{rank}]:   File "/workspace/train/model.py", line 97, in forward\n'
    "[rank{rank}]:     scores = query @ key.transpose(-2, -1)\n"
    "[rank{rank}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0"
    " has a total capacity of 79.15 GiB of which 1.20 GiB is free. Including non-PyTorch memory,"
    " this process has 77.94 GiB memory in use. Of the allocated memory 70.50 GiB is allocated by"
    " PyTorch, and 5.12 GiB is reserved by PyTorch but unallocated.\n"
)
"""What the rank at fault ends with."""
PEER: Final = (
    "[rank{rank}]:[E ProcessGroupNCCL.cpp:607] [Rank {rank}] Watchdog caught collective operation"
    " timeout: WorkNCCL(SeqNum=90211, OpType=ALLREDUCE, NumelIn=16777216, NumelOut=16777216,"
    " Timeout(ms)=600000) ran for 600021 milliseconds before timing out.\n"
)
"""What the others end with."""


class Stretch:
    """A part of a log, whose steps can be raised."""

    def __init__(self, text: str) -> None:
        """Take its text, in which NULs stand for steps, one step higher at each new one."""
        self._data = np.frombuffer(bytearray(text.encode("ascii")), dtype=np.uint8)
        starts = np.flatnonzero(self._data == 0)[::DIGITS]
        self._places = starts[:, None] + np.arange(DIGITS)
        self._powers = 10 ** np.arange(DIGITS - 1, -1, -1)
        self.steps = len(starts)
        """Records in it."""

    def at(self, first: int) -> bytes:
        """Give it with steps from `first` on."""
        steps = np.arange(first, first + self.steps)[:, None]
        self._data[self._places] = 48 + steps // self._powers % 10
        return self._data.tobytes()


def stretch(random_: random.Random, rank: int, megabytes: float) -> Stretch:
    """Make a stretch of about so many megabytes; ranks differ in the layout of their records."""
    size, limit, parts = 0, int(megabytes * 1e6), []
    for line in _lines(random_, rank):
        size += len(line) + 1
        if size > limit:
            break
        parts.append(line)
    return Stretch("\n".join(parts) + "\n")


def _lines(random_: random.Random, rank: int) -> Iterator[str]:
    """Yield lines without end; the step of a record is left open."""
    values = [random_.random() for _ in range(_VALUES)]
    record = _LAYOUTS[rank % len(_LAYOUTS)]
    number = 0
    while True:
        number += 1
        one, other = values[number % _VALUES], values[number * 7 % (_VALUES - 1)]
        yield record(one, other)
        if number % TALK_EVERY == 0:
            yield (
                f"[rank{rank}]: INFO data.loader: shard {_SHARDS[number % len(_SHARDS)]}"
                f"-{number:06d} opened, {int(one * 90000)} samples, queue {number % 64}"
            )
        if number % BAR_EVERY == 0:
            yield _bar(number, one)
        if number % CAUGHT_EVERY == 0:
            yield from (line.format(rank=rank, number=number) for line in _CAUGHT)


def _bar(number: int, one: float) -> str:
    """Give the draws of a data loader's bar, of one line."""
    return "".join(
        f"\rLoading shards: {now}%|{'#' * (now // 10):<10}| {now}/100"
        f" [00:{now // 2:02d}<00:{50 - now // 2:02d}, {one * 9:.2f}it/s]"
        for now in range(number // BAR_EVERY % 25, 101, 25)
    )


def _own(one: float, other: float) -> str:
    return (
        f"step {_STEP} | loss {2 + one:.4f} | lr {2e-5 * other:.4e} | grad norm {other * 3:.3f}"
        f" | {one * 90 + 400:.1f} ms"
    )


def _megatron(one: float, other: float) -> str:
    return (
        f" iteration {_STEP}/ 500000000 | consumed samples: {int(one * 1e9):12d}"
        f" | elapsed time per iteration (ms): {400 + one * 90:.1f}"
        f" | learning rate: {2e-4 * other:.3E} | global batch size:   256"
        f" | lm loss: {2 + one:.6E} | loss scale: 65536.0 | grad norm: {other * 3:.3f}"
        " | number of skipped iterations:   0 | number of nan iterations:   0 |"
    )


def _mmengine(one: float, other: float) -> str:
    return (
        f"08/02 10:{int(one * 60):02d}:{int(other * 60):02d} - mmengine - INFO - Iter(train)"
        f" [{_STEP}/900000000]  lr: {2e-5 * other:.4e}  eta: 1 day, 2:03:04  time: {one:.4f}"
        f"  data_time: {other / 99:.4f}  memory: 15210  loss: {2 + one:.4f}"
        f"  grad_norm: {other * 3:.4f}"
    )


_LAYOUTS: Final[tuple[Callable[[float, float], str], ...]] = (_own, _megatron, _mmengine)


def written(megabytes: float, rank: int = 0, end: str = END) -> Iterator[bytes]:
    """Yield a log of about so many megabytes that ends in a failure."""
    part = stretch(random.Random(rank), rank, min(megabytes, STRETCH))
    first = 1
    for _ in range(max(1, round(megabytes / STRETCH))):
        yield part.at(first)
        first += part.steps
    yield end.format(rank=rank).encode()


def main() -> None:
    """Write a log to standard output."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("megabytes", type=float)
    parser.add_argument("--rank", type=int, default=0)
    args = parser.parse_args()
    for part in written(args.megabytes, args.rank):
        sys.stdout.buffer.write(part)


if __name__ == "__main__":
    main()
