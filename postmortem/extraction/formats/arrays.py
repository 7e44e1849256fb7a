"""Read lists of figures under names, rows of them, and columns of figures with nothing else.

In: a text that is JSON, or printed Python: mappings, assignments, arrays of NumPy; the beginning of
a source and its path; a line and those behind it. Out: a `FigureArray` for each list of figures, a
`FigureRow` for each mapping in a list, with raw lines; a `Grid` of one or two columns whose name
stands once above them, or nowhere. Not here: which lists are curves (`formats.histories`), where
such a text stands in a log (`extraction.multiline`), finding rows in a source
(`extraction.table_rows`), tables whose heading names several columns (`formats.tables`).

Tokens are read, no values: the parsers of JSON take no `nan` and no array of NumPy, and tell no
lines. What is cut off gives what stands before the cut.

`numpy.savetxt` and `print(loss, file=f)` write bare columns as files, a logger writes stretches of
them: then each row has the prefix of the line that names it.
"""

import itertools
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.core.names import NAMELESS
from postmortem.extraction.formats.record_parts import normalise_metric_name
from postmortem.extraction.formats.tables import Grid

MOST_FIGURES: Final = 2_000_000
"""Figures of one text; what stands behind them is not read."""
_MOST_ARRAYS, _MOST_ROWS = 5000, 200_000
"""Of one text."""
_DEEPEST: Final = 48
_LONGEST_NAME: Final = 80
_PIECE: Final = 1 << 20
"""Characters of a list that are split at once."""
_TOKEN: Final = compile_lazily(
    r"(?P<text>\"[^\"\\\n]*(?:\\.[^\"\\\n]*)*\"?|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?)"
    r"|(?P<number>[+-]?(?:\d[\d.]*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|(?:nan|NaN|inf|Infinity)\b))"
    r"|(?P<word>[^\W\d][\w./@%-]*(?: [^\W\d][\w./@%-]*)*)"
    r"|(?P<sign>[{}\[\]:=,])"
)
_FIGURES: Final = compile_lazily(
    r"[\s\d.,eE+-]*(?:(?:nan|NaN|inf|Infinity|null|None)[\s\d.,eE+-]*)*"
)
"""What a list holds that holds figures alone."""
_FIRST: Final = compile_lazily(r"\s*(?=[\d.+nNI-])")
_ABSENT: Final = frozenset({"null", "None"})
_OF_ARRAY: Final = compile_lazily(
    r"(?:(?:np|numpy|jnp|torch)\.)?(?:array|asarray|Array|tensor|deque|list|Series)$"
)
_DTYPE: Final = compile_lazily(r"np\.float\d{1,3}\(([^()]{1,40})\)")


class FigureArray(NamedTuple):
    """A list of figures under a name."""

    path: tuple[str, ...]
    """The names that lead to it."""
    values: "array[float]"
    """Without those that are absent."""
    places: Sequence[int]
    """Where in the list each stands, from 1."""
    lines: "array[int]"
    length: int
    """With those that are absent."""


class FigureRow(NamedTuple):
    """The figures of a mapping that stands in a list, or under a number."""

    path: tuple[str, ...]
    """The names that lead to the list."""
    values: dict[str, float]
    line: int
    key: str
    """Under which it stands; empty in a list."""


class Document(NamedTuple):
    """What a text holds."""

    arrays: list[FigureArray]
    rows: list[FigureRow]
    is_whole: bool
    """It is one value, or the beginning of one, with nothing behind it."""


@dataclass(slots=True)
class _Level:
    """A mapping or a list that is open."""

    sign: str
    name: str = ""
    """Under which it stands."""
    line: int = 0
    """Where it begins, if it is a row."""
    row: dict[str, float] | None = None
    """The figures of the row that it is, or is a part of."""
    prefix: str = ""
    """Before the names of a part of a row."""


def parse_arrays(text: str, first: int = 1) -> Document:
    """Read a text whose first line has this raw number."""
    return _Parser(_DTYPE.sub(r"\1", text) if "np.float" in text else text, first).parse()


class _Parser:
    """Reads one text."""

    def __init__(self, text: str, first: int) -> None:
        self._text, self._line, self._counted = text, first, 0
        self._levels = [_Level("")]
        self._name, self._is_named = "", False
        """The text or word that was read last, and whether a sign of its value stands behind it."""
        self._close = -1
        """Where the next `]` stands, once it has been looked for."""
        self._room = MOST_FIGURES
        self._document = Document([], [], is_whole=True)

    def parse(self) -> Document:
        """Read it to its end, or as far as may be."""
        position, closed, is_whole = 0, False, True
        while (token := _TOKEN.search(self._text, position)) is not None:
            if closed:
                is_whole = False
                break
            position = token.end()
            sign = token["sign"]
            if sign is None:
                self._take_value(token)
            elif sign in "[{":
                end = self._take_figures(position) if sign == "[" else None
                if end is None:
                    self._open(sign, token.start())
                else:
                    position = end
                    self._forget()
            elif sign in "]}":
                closed = self._leave(sign)
            else:
                self._is_named = sign in ":=" and bool(self._name)
            if len(self._levels) > _DEEPEST or self._room <= 0 or self._is_full():
                break
        return self._document._replace(is_whole=is_whole)

    def _is_full(self) -> bool:
        document = self._document
        return len(document.arrays) > _MOST_ARRAYS or len(document.rows) > _MOST_ROWS

    def _forget(self) -> None:
        self._name, self._is_named = "", False

    def _get_line(self, position: int) -> int:
        """Give the raw line of a position behind those that were asked for."""
        self._line += self._text.count("\n", self._counted, position)
        self._counted = position
        return self._line

    def _take_value(self, token: re.Match[str]) -> None:
        """Take a text, a word or a number: a name, or a value of a row."""
        if token["number"] is None:
            word = token[0] if token["text"] is None else token[0][1:-1]
            if not (self._is_named and _OF_ARRAY.match(word)):
                self._name, self._is_named = word[:_LONGEST_NAME].strip(), False
            return
        level = self._levels[-1]
        if self._is_named and level.row is not None:
            value = _parse_figure(token["number"])
            if value is not None:
                level.row.setdefault(f"{level.prefix}{self._name}", value)
        self._forget()

    def _open(self, sign: str, position: int) -> None:
        above, name = self._levels[-1], self._name if self._is_named else ""
        level = _Level(sign, name)
        if sign == "{" and above.row is not None:
            level.row = above.row
            level.prefix = f"{above.prefix}{name}/" if name else above.prefix
        elif sign == "{" and (above.sign == "[" or name[-1:].isdigit()):
            level.row, level.line = {}, self._get_line(position)
        self._levels.append(level)
        self._forget()

    def _leave(self, sign: str) -> bool:
        """Leave a mapping or a list; says whether it was the outermost."""
        self._forget()
        if len(self._levels) == 1:
            return False
        level = self._levels.pop()
        if sign == "}" and level.row and level.line:
            path = tuple(above.name for above in self._levels if above.name)
            self._document.rows.append(FigureRow(path, level.row, level.line, level.name))
        return len(self._levels) == 1

    def _take_figures(self, start: int) -> int | None:
        """Take a list if it holds figures alone; gives where it ends."""
        text = self._text
        if not _FIRST.match(text, start):
            return None
        if self._close < start:
            found = text.find("]", start)
            self._close = len(text) if found < 0 else found
        figures = _FIGURES.match(text, start)
        if figures is None or figures.end() < self._close:
            return None
        path = tuple(level.name for level in self._levels if level.name)
        if self._is_named:
            self._add(self._read((*path, self._name), start))
        return self._close + 1

    def _add(self, found: FigureArray) -> None:
        if found.length:
            self._document.arrays.append(found)
            self._room -= found.length

    def _read(self, path: tuple[str, ...], start: int) -> FigureArray:
        """Read the figures up to the end of a list."""
        line = self._get_line(start)
        values, places, lines, count = array("d"), array("q"), array("q"), 0
        is_cut = self._close == len(self._text)
        for number, figure in _iter_figures(self._text, start, self._close, line):
            count += 1
            value = _parse_figure(figure)
            if value is not None:
                values.append(value)
                places.append(count)
                lines.append(number)
            if count >= self._room:
                break
        if is_cut and values and count < self._room:  # it may be half of one
            count -= 1
            del values[count:], places[count:], lines[count:]
        return FigureArray(path, values, places, lines, count)


def _iter_figures(text: str, start: int, end: int, line: int) -> Iterator[tuple[int, str]]:
    """Yield the figures of a list with their raw lines, of which the first is that of its start."""
    between = "," if "," in text[start : start + 200] else None
    while start < end:
        border = end
        if end - start > _PIECE:
            border = max(text.rfind("," if between else " ", start, start + _PIECE), start) + 1
            border = end if border == start + 1 else border
        for row in text[start:border].split("\n"):
            for figure in row.split(between):
                if bare := figure.strip():
                    yield line, bare
            line += 1
        line -= 1
        start = border


def _parse_figure(text: str) -> float | None:
    if text in _ABSENT:
        return None
    try:
        return float(text)
    except ValueError:
        return None


_BARE_FIGURE: Final = (
    r"[+-]?(?:(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:[eE][+-]?\d{1,4})?|nan|NaN|inf|Infinity)"
)
_ENDS_OF_FIGURES: Final = frozenset(bytes([sign]) for sign in b"0123456789.nNfy")
_BEHIND_FIGURE: Final = b" \t\r)],;"
_BARE_CELL: Final = rf"({_BARE_FIGURE})"
_ROWS: Final = (
    rf"[ \t\[(]*{_BARE_CELL}[ \t\])]*[,;]?[ \t]*\r?$",
    rf"[ \t\[(]*{_BARE_CELL}(?:[ \t]*[,;][ \t]*|[ \t]+){_BARE_CELL}[ \t\])]*[,;]?[ \t]*\r?$",
)
"""Rows of one column and of two."""
_ONLY_ROWS: Final = compile_lazily(rb"[\s\d.,;eE+\-\[\]()naifNIty]*$")
"""What a source holds that holds nothing else."""
_DECIMAL: Final = compile_lazily(r"\.|\d[eE]|nan|NaN|inf")
_SPLIT_NAME: Final = r"(?:train(?:ing)?|val(?:id(?:ation)?)?|test|dev|eval)"
_METRIC: Final = (
    r"loss(?:es)?|acc(?:s|uracy|uracies)?|rewards?|returns?|scores?|perplexity|ppl|bleu|r?mse|mae|nll"
    r"|elbo|f1|auc|m?iou|dice|psnr|ssim|wer|cer"
)
_TITLE: Final = compile_lazily(
    rf"(?P<name>(?:(?:{_SPLIT_NAME}|mean|avg|average|total|cumulative|episodes?|ep|epoch|step)"
    rf"[ _-]?)*(?:{_METRIC})(?:[ _-]{_SPLIT_NAME})?)"
    r"(?:[ _-]?(?:history|hist|list|curve|log|values?|per_epoch))?"
    r"[ _-]?\d{0,4}$",
    re.IGNORECASE,
)
"""A name that says what its only column is."""
_HEADING: Final = compile_lazily(
    rf"(?P<prefix>(?:[^\n]{{0,120}}(?:[|:>\]]|[ \t]-|[ \t])[ \t]{{1,16}}|[^\n]{{0,120}}[|>\]\t])?)"
    rf"(?P<name>(?:[A-Za-z]{{2,14}}[ _/-]){{0,3}}(?:{_METRIC})(?:[ _/-][A-Za-z]{{2,14}}){{0,2}})"
    r":?[ \t]{0,16}\r?$",
    re.IGNORECASE,
)
_FEWEST_BARE_ROWS: Final = 6
"""Rows at the beginning of a source without a heading."""
_FEWEST_BEHIND: Final = 4
"""Rows behind a heading."""


def name_column(path: str) -> str:
    """Give what the name of a file says of its only column; empty if it says nothing."""
    found = _TITLE.match(PurePath(path).name.split(".")[0])
    if found is None:
        return ""
    name = re.sub(r"(?i)(?<=reward|return)s$|(?<=score)s$|(?<=acc)s$", "", found["name"])
    return normalise_metric_name("_".join(re.split(r"[ _-]+", name)))


def build_bare_grid(lines: Sequence[str], rest: bytes, title: str) -> Grid | None:
    """Make a table of the first lines of a source that holds nothing but rows.

    Args:
        lines: the first lines.
        rest: all that is known of the source.
        title: what its name says of the figures.
    """
    texts = [line.rstrip("\r") for line in lines if line.strip()][:_FEWEST_BARE_ROWS]
    if len(texts) < _FEWEST_BARE_ROWS or not _ONLY_ROWS.match(rest):
        return None
    for width in (1, 2):
        rows = [re.match(_ROWS[width - 1], text) for text in texts]
        if all(row is not None for row in rows):
            cells = [row.groups() for row in rows if row is not None]
            return _build_grid(cells, title)
    return None


def _build_grid(rows: Sequence[Sequence[str]], title: str) -> Grid | None:
    """Make a table of its first rows; one without a name has decimals."""
    if not title and not any(_DECIMAL.search(cell) for row in rows for cell in row):
        return None
    row = _compile_row(b"", len(rows[0]))
    return Grid(_name_columns(rows, title), row, has_prefix=False, is_bare=True)


def _name_columns(rows: Sequence[Sequence[str]], title: str) -> tuple[str, ...]:
    """Name one column or two; of two, a first one that rises is the step."""
    if len(rows[0]) == 1:
        return (title or f"{NAMELESS}1",)
    firsts = [float(row[0]) for row in rows]
    if all(before < after for before, after in itertools.pairwise(firsts)):
        return ("step", title or f"{NAMELESS}2")
    return tuple(f"{title}_{n}" if title else f"{NAMELESS}{n}" for n in (1, 2))


def build_headed_grid(heading: bytes, behind: Sequence[bytes]) -> Grid | None:
    """Make a table of one column whose name a line holds, and of the rows behind it.

    These have the same before them as the name has: the prefix of a logger, or nothing.
    """
    if len(behind) < _FEWEST_BEHIND or not all(map(_ends_in_figure, behind)):
        return None
    found = _HEADING.match(heading.decode("utf-8", "replace"))
    if found is None:
        return None
    row = _compile_row(found["prefix"].encode(), 1)
    cells = [match[1] for line in behind if (match := row.match(line)) is not None]
    if len(cells) < len(behind) or not any(_DECIMAL.search(cell.decode()) for cell in cells):
        return None
    name = normalise_metric_name(found["name"].strip())
    return Grid((name,), row, has_prefix=False, is_bare=True)


def _ends_in_figure(line: bytes) -> bool:
    """Say whether a line may be a row."""
    return line.rstrip(_BEHIND_FIGURE)[-1:] in _ENDS_OF_FIGURES


def _compile_row(prefix: bytes, width: int) -> "re.Pattern[bytes]":
    """Compile the pattern of rows with a prefix in which any number may stand for another."""
    before = re.sub(rb"\d+", rb"\\d+", re.escape(prefix))
    return re.compile(b"^" + before + _ROWS[width - 1].encode(), re.MULTILINE)
