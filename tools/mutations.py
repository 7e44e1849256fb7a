"""Logs that no program has printed.

Samples of every kind, cut, spliced, shuffled, and stuffed with what breaks readers.

In: a seed, the samples and the rules of the checkout. Out: `Input`s; the same seed and number give
the same bytes. Not here: what is done with them (`fuzz`).

An input begins as something whole (a sample, a job of many files, a notebook, a table, a state
file, an error file, an environment dump, the examples of rules, text built from a rule's own
pattern), is changed a few times, and may be packed at the end.
"""

import random
from collections.abc import Mapping
from typing import Final, NamedTuple

from beginnings import BEGINNINGS
from changes import BYTE_CHANGES, CHANGES
from ingredients import SECRETS, SMALL

LARGEST: Final = 1_500_000
"""Bytes of an input at most; a few are that large, most are as large as a sample."""
_MIDDLE: Final = 120_000
_ALPHABET: Final = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


class Input(NamedTuple):
    """What is analysed as one job."""

    files: Mapping[str, bytes]
    """By their paths below the job's folder."""
    dump: bytes
    """An environment dump, or nothing."""
    size: int
    """Bytes before packing."""
    secrets: Mapping[str, str]
    """Values that no redacted form may show, each with the line it was put into."""
    made: tuple[str, ...]
    """How it was made, a word each."""


def make(seed: int, number: int) -> Input:
    """Make an input."""
    chance = random.Random(f"{seed}/{number}")  # noqa: S311 -- it has to be the same again
    start = chance.choices([*BEGINNINGS], [*BEGINNINGS.values()])[0]
    files, dump = start(chance)
    made = [start.__name__.strip("_")]
    limit = LARGEST if chance.random() < 0.06 else _MIDDLE
    for _ in range(chance.choice([0, 1, 1, 2, 2, 3, 4, 6])):
        change = chance.choice(CHANGES)
        name = chance.choice(sorted(files))
        files[name] = change(files[name], chance)[: max(limit, 1)]
        made.append(change.__name__.strip("_"))
    if chance.random() < 0.1 and dump:
        dump = chance.choice(CHANGES)(dump, chance)[:SMALL]
    secrets = _planted(files, chance) if chance.random() < 0.25 else {}
    encoded = {name: text.encode("utf-8", "surrogatepass") for name, text in files.items()}
    size = sum(map(len, encoded.values())) + len(dump)
    if chance.random() < 0.35 and not secrets:
        name = chance.choice(sorted(encoded))
        change_bytes = chance.choice(BYTE_CHANGES)
        encoded[name] = change_bytes(encoded[name], chance)
        made.append(change_bytes.__name__.strip("_"))
    return Input(encoded, dump.encode("utf-8", "surrogatepass"), size, secrets, tuple(made))


def _planted(files: dict[str, str], chance: random.Random) -> dict[str, str]:
    """Put secrets into a log, each on a line of its own."""
    name, found = chance.choice(sorted(files)), {}
    if not name.endswith((".log", ".txt", ".out")):
        return {}
    lines = files[name].split("\n")
    for _ in range(chance.randint(1, 3)):
        value, line = "".join(chance.choice(_ALPHABET) for _ in range(34)), chance.choice(SECRETS)
        lines.insert(
            chance.choice([0, len(lines), chance.randint(0, len(lines))]),
            chance.choice(["", "", "[rank1]: ", "2024-05-01 12:00:00,123 - INFO - "])
            + line.format(value),
        )
        found[value] = line
    files[name] = "\n".join(lines)
    return found
