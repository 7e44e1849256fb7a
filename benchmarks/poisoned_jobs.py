"""Jobs that no analysis gets through unhurt, or that are no logs at all.

In: a folder and a name to write under. Out: files, and the states that a triage may give them. Only
what can lie on a real disk: nothing asks the program to misbehave.
"""

import gzip
import itertools
import os
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

LINE: Final = "{'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 2e-05, 'epoch': 0.01}\n"
MIB: Final = 1 << 20
LONG_LINE: Final = 50 * MIB
NESTED: Final = 10 * MIB
BOMB: Final = 8 << 30
"""Bytes that the packed bomb holds."""
SPARSE: Final = 1 << 40
"""Bytes that the sparse file seems to hold; none of them is on the disk."""


class Poison(NamedTuple):
    """A kind of poisoned job."""

    ending: str
    """Behind `slurm-<id>`."""
    write: Callable[[Path, random.Random], None]
    states: tuple[str, ...]
    """That a triage may rightly give; nothing where the job may also be left out."""


def _garbage(path: Path, draw: random.Random) -> None:
    path.write_bytes(draw.randbytes(2 * MIB))


def _long_line(path: Path, _draw: random.Random) -> None:
    with path.open("wb") as stream:
        for _ in range(LONG_LINE // MIB):
            stream.write((b"loss: 2.31 nan [" * (MIB // 16))[:MIB])


def _nested(path: Path, _draw: random.Random) -> None:
    unit = b'{"a": ['
    path.write_bytes(
        b'{"global_step": 5, "log_history": [{"step": 1, "loss": 1.5}, '
        + unit * (NESTED // len(unit))
    )


def _bomb(path: Path, _draw: random.Random) -> None:
    """Members of 64 MiB, one behind the other: a reader unpacks them all."""
    member = gzip.compress(b"0" * (64 * MIB), 9, mtime=0)
    with path.open("wb") as stream:
        stream.write(gzip.compress(LINE.encode() * 100, mtime=0))
        for _ in range(BOMB // (64 * MIB)):
            stream.write(member)


def _cut_archive(path: Path, draw: random.Random) -> None:
    lines = "".join(
        LINE.replace("2.31", f"{4 - step / 5000:.4f}").replace("0.01", f"{step / 1000:.3f}")
        for step in range(10_000)
    )
    packed = gzip.compress(lines.encode(), mtime=0)
    path.write_bytes(packed[: draw.randint(len(packed) // 3, len(packed) * 2 // 3)])


def _broken_utf16(path: Path, draw: random.Random) -> None:
    """A mark, lone halves of pairs, and an odd number of bytes."""
    text = (LINE * 200).encode("utf-16-le")
    lone = bytes(itertools.chain.from_iterable((draw.randrange(256), 0xD8) for _ in range(4000)))
    path.write_bytes(b"\xff\xfe" + text + lone + text + b"\x41")


def _forbidden(path: Path, _draw: random.Random) -> None:
    """Not readable, but for root."""
    path.write_text(LINE * 200, encoding="utf-8")
    path.chmod(0)


def _empty(path: Path, _draw: random.Random) -> None:
    path.touch()


def _pipe(path: Path, _draw: random.Random) -> None:
    """Who opens it waits for ever."""
    os.mkfifo(path)


def _sparse(path: Path, _draw: random.Random) -> None:
    """A log that seems to have a terabyte: reading it never ends."""
    with path.open("wb") as stream:
        stream.write(LINE.encode() * 200)
        stream.truncate(SPARSE)


def _loop(path: Path, _draw: random.Random) -> None:
    """A link to itself."""
    path.symlink_to(path.name)


def _names(path: Path, _draw: random.Random) -> None:
    """No name of a metric comes twice, no process either: what is remembered grows."""
    with path.open("w", encoding="utf-8") as stream:
        for number in range(200_000):
            stream.write(
                f"[rank{number % 8192}]: {{'loss': 1.5, 'metric_{number}': 0.1, 'epoch': 0.1}}\n"
            )


REFUSED: Final = ("unreadable", "judged")
KINDS: Final[Mapping[str, Poison]] = {
    "binary garbage": Poison(".out", _garbage, REFUSED),
    "line of 50 MB": Poison(".out", _long_line, ("judged", "timed-out")),
    "nested JSON": Poison(".out", _nested, ("judged", "timed-out")),
    "gzip bomb": Poison(".out.gz", _bomb, ("timed-out", "unreadable", "judged")),
    "cut archive": Poison(".out.gz", _cut_archive, REFUSED),
    "broken UTF-16": Poison(".out", _broken_utf16, REFUSED),
    "not permitted": Poison(".out", _forbidden, REFUSED),
    "empty": Poison(".out", _empty, REFUSED),
    "pipe": Poison(".out", _pipe, ("unreadable", "timed-out")),
    "sparse terabyte": Poison(".out", _sparse, ("timed-out", "unreadable")),
    "link in a circle": Poison(".out", _loop, ("unreadable",)),
    "ever new names": Poison(".out", _names, ("judged", "timed-out", "out-of-memory")),
}
LARGEST: Final = LONG_LINE + NESTED + 40 * MIB
"""Bytes on the disk of one of each."""


def kinds(count: int) -> Iterator[str]:
    """So many kinds, over and over."""
    return itertools.islice(itertools.cycle(KINDS), count)
