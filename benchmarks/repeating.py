"""A recorded log that goes on as it began: its own lines again, with further figures.

In: the text of a log, and how many characters are wanted. Out: a text that is longer by whole
repetitions of what the log repeats itself, from the first line of its most frequent shape up to the
last. What is counted goes on, totals with it, and of other figures the last digits are drawn anew.
So records, bars and talk follow each other as they did, and records of several lines stay whole.
Not here: jobs whose truth must stay (`lengthening.py`).
"""

import itertools
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

BREAK: Final = re.compile(r"(\r\n|\n|\r)")
PIECE: Final = re.compile(
    r"\d{4}[-/]\d\d[-/]\d\d|\d\d/\d\d/\d{4}|\d+(?::\d\d)+(?:[.,]\d+)?"
    r"|(?<![\w.])(?P<figure>\d{1,3}(?:,\d{3})+(?!\d)|[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
)
FILL: Final = re.compile(r"(?<=\S)[\s#=\u2588-\u258f]+|^\s+$")
"""How full a bar is, and how a figure is padded: no part of a shape, as what is indented is."""
LONGEST: Final = 2000
"""Characters of a line beyond which it comes again as it is."""
FEWEST: Final = 2
"""Lines of one shape, below which a log repeats nothing."""
KEPT: Final = 2
"""Decimals of a figure that is not counted which stay."""


class Frame(NamedTuple):
    """A line, or one draw of it."""

    words: tuple[str, ...]
    """One more than there are figures; times stand in them."""
    figures: tuple[str, ...]
    shape: tuple[str, ...]
    end: str
    """Its line break."""


class Columns(NamedTuple):
    """What becomes of the figures of a shape."""

    advance: Mapping[int, float]
    """By column that is counted: how far a repetition brings it."""
    totals: frozenset[str]
    """What columns are counted up to."""
    steady: frozenset[int]
    """Columns that never change."""


def repeated(text: str, size: int, draw: random.Random) -> str:
    """Give a log of about `size` characters; a longer one stays as it is, as does one of no shape.

    The same text gives the same log, given a generator in the same state.
    """
    frames = list(_frames(text))
    counts = Counter(frame.shape for frame in frames if frame.figures)
    shape = max(counts, key=lambda one: counts[one], default=())
    if counts[shape] < FEWEST:
        return text
    places = [number for number, frame in enumerate(frames) if frame.shape == shape]
    body = frames[places[0] : places[-1]]
    columns = _columns(body)
    totals = frozenset[str]().union(*(column.totals for column in columns.values()))
    times = max(0, round((size - len(text)) / sum(map(_length, body))))
    turns = [
        (frames[: places[0]], 0),
        *((body, turn) for turn in range(times + 1)),
        (frames[places[-1] :], times),
    ]
    return "".join(
        _shown(_stretched(frame, totals, times + 1), columns.get(frame.shape), turn, draw)
        for part, turn in turns
        for frame in part
    )


def _frames(text: str) -> Iterator[Frame]:
    pieces = BREAK.split(text)
    for line, end in itertools.zip_longest(pieces[::2], pieces[1::2], fillvalue=""):
        words, figures, at = list[str](), list[str](), 0
        for match in PIECE.finditer(line) if len(line) <= LONGEST else ():
            if match["figure"]:
                words.append(line[at : match.start()])
                figures.append(match[0])
                at = match.end()
        words.append(line[at:])
        shape = tuple(FILL.sub(" ", PIECE.sub("", word)) for word in words)
        yield Frame(tuple(words), tuple(figures), shape, end)


def _length(frame: Frame) -> int:
    return sum(map(len, (*frame.words, *frame.figures, frame.end)))


def _columns(frames: Sequence[Frame]) -> dict[tuple[str, ...], Columns]:
    """Tell for each shape what is counted in it."""
    of_shape = defaultdict(list)
    for frame in frames:
        of_shape[frame.shape].append(frame)
    return {shape: _columns_of(shape, found) for shape, found in of_shape.items()}


def _columns_of(shape: tuple[str, ...], frames: Sequence[Frame]) -> Columns:
    columns = list(zip(*(frame.figures for frame in frames), strict=True))
    steady = {index for index, column in enumerate(columns) if len(set(column)) == 1}
    advance, totals = dict[int, float](), set[str]()
    for index, column in enumerate(columns):
        values = [_value(cell) for cell in column]
        if index in steady or any(earlier > later for earlier, later in itertools.pairwise(values)):
            continue
        if index + 1 in steady and shape[index + 1].strip() == "/":
            totals.add(columns[index + 1][0])
            advance[index] = _value(columns[index + 1][0])
        elif not shape[index + 1].startswith("%"):
            span = (values[-1] - values[0]) * len(values) / (len(values) - 1)
            advance[index] = span if "." in column[0] else round(span)
    return Columns(advance, frozenset(totals), frozenset(steady))


def _stretched(frame: Frame, totals: frozenset[str], factor: int) -> Frame:
    """Give a line with what is counted up to made larger, wherever it stands."""
    figures = [
        _raised(figure, _value(figure) * (factor - 1))
        if figure.replace(",", "") in totals
        else figure
        for figure in frame.figures
    ]
    return frame._replace(figures=tuple(figures))


def _shown(frame: Frame, columns: Columns | None, turn: int, draw: random.Random) -> str:
    """Show a line in a repetition."""
    figures = list(frame.figures)
    if columns is not None and turn:
        for index, figure in enumerate(figures):
            if index in columns.advance:
                figures[index] = _raised(figure, turn * columns.advance[index])
            elif index not in columns.steady:
                figures[index] = _drawn(figure, draw)
    return "".join(itertools.chain(*zip(frame.words, [*figures, frame.end], strict=True)))


def _value(figure: str) -> float:
    return float(figure.replace(",", ""))


def _raised(figure: str, by: float) -> str:
    grouped = "," if "," in figure else ""
    return f"{_value(figure) + by:{grouped}.{len(figure.partition('.')[2])}f}"


def _drawn(figure: str, draw: random.Random) -> str:
    """Draw the last decimals of a figure anew."""
    whole, point, decimals = figure.partition(".")
    places = re.match(r"\d*", decimals)
    count = len(places[0]) if places else 0
    if count <= KEPT:
        return figure
    fresh = "".join(draw.choices("0123456789", k=count - KEPT))
    return f"{whole}{point}{decimals[:KEPT]}{fresh}{decimals[count:]}"
