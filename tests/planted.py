"""Lines with planted secrets, and lines that only look like it.

They are drawn anew from the shapes in `tests/data`.

In: `planted.txt`, `named.txt`, `look_alikes.txt`. Out: lines. Not here: what becomes of them.
No secret stands in the files, so nobody's scanner takes one for real.
"""

import random
import re
import string
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_DATA = Path(__file__).parent / "data"
_SHAPE = re.compile(r"\{(?:uuid|[AaUhdb]\d+)\}")
_MARKED = re.compile(r"«([^»]+)»")
_LINE_BREAK = "⏎"
_CHARACTERS = {
    "A": string.ascii_letters + string.digits, "a": string.ascii_lowercase + string.digits, "U": string.ascii_uppercase + "234567", "h": "0123456789abcdef", "d": string.digits,
    "b": string.ascii_letters + string.digits + "+/",
}  # fmt: skip


class Planted(NamedTuple):
    """A line and what of it must not be seen."""

    line: str
    secrets: tuple[str, ...]


def _drawn(shape: str, chance: random.Random) -> str:
    if shape == "{uuid}":
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))
    kind, length = shape[1], int(shape[2:-1])
    first = chance.choice([char for char in _CHARACTERS[kind] if char.isalnum() and char != "0"])
    return (
        first
        + "".join(chance.choice(_CHARACTERS[kind]) for _ in range(length - 2))
        + (
            chance.choice("3456789")
            if length > 1 and kind != "a"
            else chance.choice("xyz")
            if length > 1
            else ""
        )
    )


def _lines(name: str) -> Iterator[str]:
    for number, line in enumerate((_DATA / name).read_text(encoding="utf-8").splitlines()):
        if line and not line.startswith("#"):
            chance = random.Random(number)
            drawn = _SHAPE.sub(lambda match, chance=chance: _drawn(match[0], chance), line)
            yield drawn.replace(_LINE_BREAK, "\n")


def planted(name: str = "planted.txt") -> list[Planted]:
    """Give the lines with secrets, or with names (`named.txt`)."""
    return [
        Planted(_MARKED.sub(r"\1", line), tuple(_MARKED.findall(line))) for line in _lines(name)
    ]


def look_alikes() -> list[str]:
    """Give the lines with none."""
    return list(_lines("look_alikes.txt"))
