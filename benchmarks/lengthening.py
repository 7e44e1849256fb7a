"""Recorded logs made longer, with lines of the same shape, so that their truth stays.

In: the texts of a job's files, and how many characters are wanted. Out: the texts, lengthened.
Between two records of one shape stand further ones, with figures between theirs; steps and totals
are stretched with them. A job that prints no records talks more before it fails. Not here: what
else real life adds to a log (the lab's `variation`).
"""

import itertools
import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from harness.variation import CHATTER

RECORD: Final = re.compile(r"\b(?:\w*loss|step|iter\w*|epoch|global_step|reward)\b", re.IGNORECASE)
"""A word without which a line is no record of a training."""
PIECE: Final = re.compile(
    r"(?P<time>\d{4}[-/]\d\d[-/]\d\d[T ]?|\d\d/\d\d/\d{4}|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?Z?)"
    r"|(?<![\w.\[#])(?P<number>[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w:]|\.\d)"
)
STAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*Z ")
TALK: Final = tuple(line for line in CHATTER if not re.search(r"\d\d:\d\d:\d\d", line))
"""Without a clock, which would stand still."""
FEWEST: Final = 3
"""Records of one shape, below which it is no series."""
TALKING_SHARE: Final = 0.3
"""Of what is added to a log with records, at most so much is talk."""
WOBBLE: Final = 0.3
"""How far an added figure lies off the straight line, as a share of the distance."""
CONSOLES: Final = ("agent", "launch", "dmesg", "torchrun", "console")


@dataclass(frozen=True)
class Place:
    """A line as its words and its figures."""

    line: int
    words: tuple[str, ...]
    """One more than there are figures; times stand in them."""
    figures: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """The records of one shape in one file."""

    places: tuple[Place, ...]
    counters: frozenset[int]
    """Figures that only grow and are whole."""
    totals: frozenset[int]
    """Figures behind a counter and a slash."""
    steady: frozenset[int]
    """Figures that move one way only."""

    @property
    def weight(self) -> int:
        """Characters of one further record between each two."""
        return sum(
            len("".join(place.words)) + len("".join(place.figures)) + 1
            for place in self.places[:-1]
        )


def lengthened(
    texts: Mapping[str, str], size: int, draw: random.Random, *, is_pace_kept: bool = False
) -> dict[str, str]:
    """Give the files with about `size` characters together; longer ones stay as they are.

    `is_pace_kept` adds talk only: how many records came in a time is part of the truth.
    """
    missing = size - sum(map(len, texts.values()))
    if missing <= 0:
        return dict(texts)
    lines = {name: text.split("\n") for name, text in texts.items()}
    groups = {} if is_pace_kept else {name: _groups(lines[name]) for name in texts}
    weight = sum(group.weight for found in groups.values() for group in found)
    talking = int(missing * (draw.uniform(0, TALKING_SHARE) if weight else 1))
    more = (missing - talking) // weight if weight else 0
    for name, found in groups.items():
        if more:
            lines[name] = _denser(lines[name], found, more, draw)
    if not more:
        talking = missing
    talker = _talker(texts)
    lines[talker] = _talking(lines[talker], talking, draw)
    return {name: "\n".join(found) for name, found in lines.items()}


def _groups(lines: list[str]) -> list[Group]:
    """The series of a file."""
    shapes: dict[tuple[str, ...], list[Place]] = defaultdict(list)
    for number, line in enumerate(lines):
        if "\r" in line or len(line) > 2000 or not RECORD.search(line) or "Error" in line:
            continue
        place, shape = _read(number, line)
        if place.figures:
            shapes[shape].append(place)
    return [
        group for places in shapes.values() if len(places) >= FEWEST and (group := _group(places))
    ]


def _read(number: int, line: str) -> tuple[Place, tuple[str, ...]]:
    """A line as a place, and its shape: the words without times."""
    words, figures, shape, at = [""], [], [""], 0
    for match in PIECE.finditer(line):
        between = line[at : match.start()]
        words[-1] += between
        shape[-1] += between
        at = match.end()
        if match["time"]:
            words[-1] += match[0]
        else:
            figures.append(match[0])
            words.append("")
            shape.append("")
    words[-1] += line[at:]
    shape[-1] += line[at:]
    return Place(number, tuple(words), tuple(figures)), tuple(shape)


def _group(places: list[Place]) -> Group | None:
    """What moves in a series and how; nothing if nothing moves."""
    columns = list(zip(*(place.figures for place in places), strict=True))
    values = [[float(text) for text in column] for column in columns]
    steady = {
        index
        for index, column in enumerate(values)
        if all(a <= b for a, b in itertools.pairwise(column))
        or all(a >= b for a, b in itertools.pairwise(column))
    }
    counters = {
        index
        for index in steady
        if values[index][-1] > values[index][0] and all(one.isdigit() for one in columns[index])
    }
    if all(column[0] == text for column in values for text in column):
        return None
    totals = {
        index + 1
        for index in counters
        if index + 1 < len(values) and places[0].words[index + 1].strip() in {"/", "of"}
    }
    return Group(tuple(places), frozenset(counters), frozenset(totals), frozenset(steady))


def _denser(lines: list[str], groups: list[Group], more: int, draw: random.Random) -> list[str]:
    """The lines with `more` records between each two of a series."""
    added: dict[int, list[str]] = {}
    for group in groups:
        for place in group.places:
            lines[place.line] = _stretched(place, group, more + 1)
        for earlier, later in itertools.pairwise(group.places):
            added[earlier.line] = list(_between(earlier, later, group, more, draw))
    found: list[str] = []
    for number, line in enumerate(lines):
        found.append(line)
        found += added.get(number, ())
    return found


def _stretched(place: Place, group: Group, factor: int) -> str:
    figures = [
        str(int(figure) * factor)
        if index in group.counters | group.totals and figure.isdigit()
        else figure
        for index, figure in enumerate(place.figures)
    ]
    return "".join(itertools.chain.from_iterable(zip(place.words, [*figures, ""], strict=True)))


def _between(
    one: Place, other: Place, group: Group, more: int, draw: random.Random
) -> Iterator[str]:
    """The records between two."""
    columns = [
        _column(index, one.figures[index], other.figures[index], group, more, draw)
        for index in range(len(one.figures))
    ]
    template = "%s".join(word.replace("%", "%%") for word in one.words)
    return (template % row for row in zip(*columns, strict=True))


def _column(
    index: int, first: str, last: str, group: Group, more: int, draw: random.Random
) -> list[str]:
    """A figure's values between two records, printed as the first is."""
    start, stop = float(first), float(last)
    if index in group.counters or index in group.totals:
        distance = int(stop) - int(start) if index in group.counters else 0
        return [str(int(start) * (more + 1) + distance * k) for k in range(1, more + 1)]
    if start == stop or not math.isfinite(start - stop):
        return [first] * more
    wobble = 0.0 if index in group.steady else abs(stop - start) * WOBBLE
    floor = min(start, stop) if min(start, stop) >= 0 else -math.inf
    pool = [draw.gauss(0, wobble) for _ in range(97)] if wobble else [0.0]
    step, shown = (stop - start) / (more + 1), _printed_as(first)
    return [
        shown(max(floor, start + step * k + noise))
        for k, noise in zip(range(1, more + 1), itertools.cycle(pool))
    ]


def _printed_as(figure: str) -> Callable[[float], str]:
    """What prints a value with as many places."""
    if "e" in figure.lower():
        return f"{{:.{max(1, len(figure.lower().split('e')[0].replace('.', '')) - 1)}e}}".format
    return f"{{:.{len(figure.partition('.')[2])}f}}".format


def _talker(texts: Mapping[str, str]) -> str:
    """The file that talks: the first that is a process's own."""
    own = [name for name in texts if not name.rpartition("/")[2].startswith(CONSOLES)]
    return max(own or list(texts), key=lambda name: (len(texts[name]) > 0, name))


def _talking(lines: list[str], size: int, draw: random.Random) -> list[str]:
    """The lines with so many characters of talk behind the first."""
    at = 1 if len(lines) > 1 and not lines[0].startswith(("Traceback", " ")) else 0
    stamp = STAMP.match(lines[0])
    prefix = stamp[0] if stamp else ""
    added: list[str] = []
    for number in itertools.count(1):
        if size <= 0:
            break
        added.append(prefix + _make_message(number, draw))
        size -= len(added[-1]) + 1
    return [*lines[:at], *added, *lines[at:]]


def _make_message(number: int, draw: random.Random) -> str:
    """A line that says nothing of a failure."""
    kind = draw.randrange(8)
    if kind < 2:
        return TALK[draw.randrange(len(TALK))]
    if kind < 5:
        return (
            f"INFO:data:shard {number:06d}: {draw.randrange(10**4, 10**5)} samples,"
            f" {draw.random() * 400:.1f} MB"
        )
    if kind < 7:
        return f"DEBUG:fsspec.local:open file: /data/corpus/part-{number:06d}.parquet"
    return f"INFO:tokenize:batch {number} done, {draw.randrange(10**5, 10**6)} tokens"
