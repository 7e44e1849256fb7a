"""Tables that programs print: a heading and rows as text, or the HTML of a notebook.

In: a line that may be a heading, and the lines behind it; the first lines of a source without any;
lines with cells of the table that the Trainer draws in a notebook. Out: `Grid`, which makes records
of rows; a `Record` for each complete row of an HTML table with a step, losses and further metrics.
Not here: finding the rows in the source (`extraction.table_rows`), files that are a table as a
whole (`formats.csv_metrics`), the dicts that the Trainer prints elsewhere
(`patterns/formats/trainer.yaml`).

Columns are separated by bars, by commas, by tabs or by blanks. A heading is one only if a row
follows that has as many cells; a row is one only if it has as many cells as the heading.
"""

import functools
import itertools
import math
import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import ProcessId
from postmortem.core.log_text import compile_lazily
from postmortem.core.names import NAMELESS
from postmortem.extraction.formats.csv_metrics import list_metric_names
from postmortem.extraction.formats.figures import may_hold_figure, parse_value
from postmortem.extraction.formats.records import Record

TABLE_PRODUCER: Final = "table"
_BAD: Final = r"[+-]?(?:nan|inf(?:inity)?)"
_CELL: Final = (
    rf"(?:[+-]?[\d.]{{1,24}}(?:e[+-]?\d{{1,4}})?(?:/\d{{1,12}}|%|[a-z]{{1,3}})?|{_BAD}|\d[\d:.]*"
    r"|-{1,3}|none|n/a|true|false)"
)
_BAR: Final = rb"(?:\||\xe2\x94[\x82\x83]|\xe2\x95\x91)"
_ANY_CELL: Final = (
    rb"(?:\[[ \t]{0,8}[^\s|,\[\]\xe2]{1,40}[ \t]{0,8}\]|[^\s|,\[\xe2][^\s|,\xe2]{0,39})"
)
_BETWEEN: Final = rb"(?:[ \t]*(?:%b|,)[ \t]*|[ \t]+)" % _BAR
"""What lines are searched for: nothing in it can be read in two ways."""
_FIGURE: Final = compile_lazily(
    rf"(?:[+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[+-]?\d{{1,4}})?%?|{_BAD})$", re.IGNORECASE
)
_POSITION: Final = compile_lazily(r"(\d{1,12})/\d{1,12}$")
_IN_BRACKETS: Final = compile_lazily(r"\[\s{0,8}([^\s|,\[\]]{1,40})\s{0,8}\]")
"""A figure as NumPy prints an array of one."""
_LABEL: Final = compile_lazily(r"\s{0,8}(?:INFO|DEBUG): ")
"""A level that the logger puts before headings and rows alike."""
_BEFORE: Final = compile_lazily(rf"(?:{_LABEL.pattern})?[\s|]*")
_BAR_SIGN: Final = compile_lazily(r"[|│┃║]")
_ROW_START: Final = compile_lazily(
    rf"(?:{_LABEL.pattern})?[\s|│┃║]*(?:\[\s*)?{_CELL}:?(?=[\s|│┃║,\]]|$)", re.IGNORECASE
)
"""What a row begins with: its first cell."""
_EDGE: Final = " \t|│┃║"
_LETTERS_OF_ROWS: Final = frozenset("NnIiTtFfDd")
"""Letters that a row may begin with: of `nan`, `inf`, `none`, `true`, `false`, or of a level."""
_RULE: Final = compile_lazily(r"[\s\-=+|:─━═┏┓┗┛┡┩┢┪┣┫┳┻╇╋┼├┤┬┴┌┐└┘╪╞╡╒╕]*$")
_COLUMN: Final = compile_lazily(r"[A-Za-z#@%_][\w ./@%():#*-]{0,79}$")
_NO_COLUMN_SIGN: Final = compile_lazily(r"[^\w\s./@%():#*|│┃║,-]")
"""What stands in no name of a column and between none."""
_SPLITS: Final = (
    ("|", r"\|"),
    (",", r","),
    ("\t", r"(?:[ ]*\t)+"),
    ("  ", r"\s{2,}"),
    (" ", r"\s+"),
)
"""What may stand between the names of a heading, and how it is split there."""
_OF_SPLIT: Final = compile_lazily(
    r"\b(train(?:ing)?|val(?:id(?:ation)?)?|eval|test|dev) (?=loss\b)", re.IGNORECASE
)
"""A name of two words in a heading whose names stand a blank apart."""
_NO_COLUMN: Final = compile_lazily(
    r"^(?:#?|time(?:_?elapsed)?(?:_.*)?|dur|eta|elapsed|cp|timestamp|date)$|^(?:wall|run)_?time$"
)
_LOSS: Final = compile_lazily(r"loss|\b(?:[rm]?mse|nll|bce|ce|l1|elbo)\b", re.IGNORECASE)
_SCORE: Final = compile_lazily(r"reward|return|accuracy|\bacc\b", re.IGNORECASE)
_NO_OBJECTIVE: Final = compile_lazily(
    r"(?:^|[_/. -])(?:val|valid|validation|eval|test|dev|best|min|max)(?:$|[_/. -])"
    r"|loss[_ ](?:scale|ratio|weight)",
    re.IGNORECASE,
)
"""Columns that are not what a step minimises, though they name it."""
_BARS: Final = str.maketrans("│┃║", "|||")
_LOSSES: Final = (
    ("loss", compile_lazily(r"(?:tr(?:ain(?:ing)?)?|mini-?batch|avg)[_/.-]?loss$", re.IGNORECASE)),
    (
        "eval_loss",
        compile_lazily(r"(?:val(?:id(?:ation)?)?|eval|test|dev)[_/.-]?loss$", re.IGNORECASE),
    ),
)
_OF_EPISODES: Final = frozenset({"mean", "median", "max", "min", "stdev"})
"""Columns that tell the returns of the `episodes` that another one counts."""
_BETWEEN_CELLS: Final = compile_lazily(r"\s*\|\s*|\s*,\s*|\s+")
_DIGIT: Final = compile_lazily(r"\d")
_IS_CELL: Final = compile_lazily(_CELL, re.IGNORECASE)
_LONGEST: Final = 400
_MOST_COLUMNS: Final = 12
"""Of a table without a heading."""
_FEWEST_ROWS: Final = 6
"""Rows at the beginning of a source that make a table without a heading."""


class Grid(NamedTuple):
    """A table whose columns are known."""

    names: tuple[str, ...]
    """What each column is; empty for one that is no metric."""
    row: re.Pattern[bytes]
    """Finds lines that may be rows."""
    has_prefix: bool
    """Its lines carry a prefix of the logger, which must be taken off first."""
    has_tabs: bool = False
    """Tabs tell its cells apart: a row that is cut is known as one."""
    is_bare: bool = False
    """`row` reads its cells, too, and another line ends it (`formats.arrays`)."""

    def record(self, text: str, where: ProcessId) -> Record | None:
        """Read a row; None if the line is none."""
        cells = self._split(text)
        if cells is None:
            return None
        step, values = math.nan, dict[str, float]()
        for name, cell in zip(self.names, cells, strict=False):
            value = _parse_cell(cell)
            if name == "step":
                step = math.nan if value is None else value
            elif name and value is not None:
                values.setdefault(name, value)
        return Record(step, list(values.items()), where) if set(values) - {"epoch"} else None

    def _split(self, text: str) -> Sequence[str] | None:
        if self.is_bare:
            found = self.row.match(text.encode())
            return None if found is None else [cell.decode() for cell in found.groups()]
        count = len(self.names)
        if self.has_tabs:
            count = min(count, max(text.count("\t") + 1, count // 2))
        return _split_cells(text, count)


def build_grid(
    ways: Sequence[Sequence[str]], lines: Iterable[str], *, has_prefix: bool
) -> Grid | None:
    """Make a table of the columns that a line may name, and of a few lines behind it."""
    row = find_first_row(lines)
    if row is None:
        return None
    for names in ways:
        if _split_cells(row, len(names)) is not None:
            has_tabs = not has_prefix and row.count("\t") == len(names) - 1
            return _build_grid_from_names(names, has_prefix=has_prefix, has_tabs=has_tabs)
        cells = _split_cells(row, len(names) + 1)
        if cells is not None and cells[0].isdecimal():  # numbered rows of a printed data frame
            return _build_grid_from_names(["#", *names], has_prefix=has_prefix)
    return None


def build_headless_grid(lines: Sequence[str], title: str = "") -> Grid | None:
    """Make a table of the first lines of a source if they are nothing but a step and figures.

    One figure is what the title of the source says, else the loss; which of several it is, nothing
    tells.
    """
    rows = [_split_counted_cells(line) for line in lines if line.strip()][:_FEWEST_ROWS]
    if len(rows) < _FEWEST_ROWS or not all(map(_is_counted, rows)) or not _has_even_counts(rows):
        return None
    width = len(rows[0])
    several = [f"{NAMELESS}{number}" for number in range(2, width + 1)]
    further = several if width > 2 else [title or "loss"]
    return _build_grid_from_names(["step", *further], has_prefix=False)


def _has_even_counts(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether rows are equally wide, their counts rise evenly, and a figure has decimals."""
    apart = {int(after[0]) - int(before[0]) for before, after in itertools.pairwise(rows)}
    is_even = len(apart) == 1 and min(apart) > 0
    return is_even and len(set(map(len, rows))) == 1 and any("." in row[1] for row in rows)


def _split_counted_cells(line: str) -> list[str]:
    """Split a line, which may have a colon behind its count."""
    count, *rest = line.replace(",", " ").split() or [""]
    return [count.removesuffix(":"), *rest]


def _is_counted(row: Sequence[str]) -> bool:
    """Say whether a row is a whole number and figures."""
    return (
        2 <= len(row) <= _MOST_COLUMNS
        and row[0].isdecimal()
        and all(_FIGURE.match(cell) for cell in row[1:])
    )


def _format_headings(names: Sequence[str]) -> list[str]:
    """Give the names of columns, each as one canonical word."""
    heads = ["_".join(name.split()).strip("*") for name in names]
    if "episodes" in heads:
        heads = [f"{head}_return" if head in _OF_EPISODES else head for head in heads]
    return heads


def _build_grid_from_names(
    names: Sequence[str], *, has_prefix: bool, has_tabs: bool = False
) -> Grid:
    heads = _format_headings(names)
    called = [
        ""
        if _NO_COLUMN.search(head.lower())
        else next((name for name, kind in _LOSSES if kind.match(head)), name)
        for head, name in zip(heads, list_metric_names(heads), strict=True)
    ]
    objectives = [
        index
        for index, name in enumerate(called)
        if _LOSS.search(name) and not _NO_OBJECTIVE.search(name)
    ]
    if "loss" not in called and len(objectives) == 1:
        called[objectives[0]] = "loss"
    has_words = (
        rb"[^\n]{0,100}?(?<=[\s:|\]])" if has_prefix else rb"(?:[ \t]|%b)*(?=[\d.+-])" % _BAR
    )
    fewest = max(1, len(names) // 2) if has_tabs else len(names)
    more = rb"(?:%b%b){%d,%d}" % (_BETWEEN, _ANY_CELL, fewest - 1, len(names) - 1)
    pattern = rb"^%b%b%b(?:(?:[ \t]|%b)[^\n\d]{0,30})?\r?$" % (has_words, _ANY_CELL, more, _BAR)
    return Grid(tuple(called), re.compile(pattern, re.MULTILINE), has_prefix, has_tabs)


@functools.lru_cache(maxsize=64)
def split_columns(line: str, above: str = "") -> list[list[str]]:
    """Give the columns that a line may name, split in each way in which it can be.

    A name may begin on the line above. One that names no loss has bars.
    """
    if _NO_COLUMN_SIGN.search(line) or not may_be_heading(line):
        return []
    joined = _LABEL.sub("", _join_two_line_heading(above, line), count=1)
    text = joined.translate(_BARS).strip().strip("|").strip()
    if not _names_metric(text):
        return []
    ways = [
        [name.strip(" |*") for name in re.split(split, text)]
        for sign, split in _SPLITS
        if sign in text
    ]
    ways.append(_OF_SPLIT.sub(r"\1_", text).split())
    return [names for names in ways if len(names) >= 2 and all(map(_COLUMN.match, names))]


def _names_metric(text: str) -> bool:
    """Say whether a heading names a loss, or, with signs between its names, a score."""
    is_split = any(sign in text for sign in "|,\t")
    names_any = _LOSS.search(text) or (is_split and _SCORE.search(text))
    return len(text) <= _LONGEST and bool(names_any)


def may_be_heading(line: str) -> bool:
    """Say whether a line may name columns, whatever stands above it."""
    return bool(_BAR_SIGN.search(line) or _LOSS.search(line))


def find_first_row(lines: Iterable[str]) -> str | None:
    """Give the first row of the lines behind a heading; None if another line stands there."""
    for line in lines:
        first = line.lstrip(_EDGE)[:1]
        if first.isalpha() and first not in _LETTERS_OF_ROWS:
            return None
        if not _RULE.match(line):
            return line if _ROW_START.match(line) else None
    return None


def is_labelled(line: str) -> bool:
    """Say whether a level stands before what a line holds of a table."""
    return _LABEL.match(line) is not None


def _join_two_line_heading(above: str, line: str) -> str:
    """Join a heading of two lines, whose names have a word on each."""
    if "|" not in line or line.count("|") != above.count("|"):
        return line
    pairs = list(zip(above.split("|"), line.split("|"), strict=True))
    if all(cell.strip() for _, cell in pairs[1:-1]):
        return line
    return "|".join(f"{first.strip()} {second.strip()}" for first, second in pairs)


@functools.lru_cache(maxsize=8)
def _split_cells(text: str, count: int) -> list[str] | None:
    """Split a row into its cells; None if it has not so many, or too few figures among them."""
    if not may_hold_figure(text):
        return None
    text = _IN_BRACKETS.sub(r"\1", text.translate(_BARS))
    before = _BEFORE.match(text)
    body = text[before.end() if before else 0 :]
    cells = _BETWEEN_CELLS.split(body.rstrip(" |\t\r"), maxsplit=count)
    cells[0] = cells[0].removesuffix(":")
    if len(cells) == count + 1 and not _DIGIT.search(cells[-1]):
        cells.pop()
    if len(cells) != count or not all(map(_IS_CELL.fullmatch, cells)):
        return None
    figures = [cell for cell in cells if _FIGURE.match(cell)]
    return (
        cells
        if (_parse_cell(cells[0]) is not None and len(figures) >= 2) or _is_placed(cells)
        else None
    )


def _is_placed(cells: Sequence[str]) -> bool:
    """Say whether a position of a length comes first and a figure stands behind it."""
    return bool(_POSITION.match(cells[0])) and any(_FIGURE.match(cell) for cell in cells[1:])


def _parse_cell(cell: str) -> float | None:
    """Read a cell; a time, a memory and a blank have no value."""
    if position := _POSITION.match(cell):
        return float(position[1])
    return parse_value(cell.rstrip("%")) if _FIGURE.match(cell) else None


HTML_WORDS: Final = (b"<th>", b"<td>", b"</tr>", b"</table>")
TRAINER_PRODUCER: Final = "transformers-trainer"
_HTML_CELL: Final = compile_lazily(r"<(?P<kind>th|td)>(?P<text>[^<]{0,80})|(?P<end></tr>|</table>)")
_HTML_NAMES: Final = {"training loss": "loss", "validation loss": "eval_loss", "epoch": "epoch"}
_MOST_HTML_COLUMNS: Final = 100


class TableReader:
    """Reads tables of one source cell by cell."""

    def __init__(self) -> None:
        """Begin outside of any table."""
        self._columns: list[str] = []
        self._cells: list[str] = []
        self._is_head = True

    def read(self, text: str, where: ProcessId) -> list[Record]:
        """Read a line; gives the rows that end on it."""
        found = []
        for cell in _HTML_CELL.finditer(text):
            if cell["end"]:
                record = self._row(where)
                found += [record] if record is not None else []
                if cell["end"] == "</table>":
                    self._columns, self._is_head = [], True
            elif cell["kind"] == "th":
                self._columns = [
                    *(self._columns if self._is_head else [])[:_MOST_HTML_COLUMNS],
                    cell["text"].strip(),
                ]
                self._is_head = True
            else:
                self._cells = [*self._cells[:_MOST_HTML_COLUMNS], cell["text"].strip()]
        return found

    def _row(self, where: ProcessId) -> Record | None:
        cells, self._cells = self._cells, []
        if not cells:
            return None
        self._is_head = False
        if (
            len(cells) != len(self._columns)
            or self._columns[0] not in {"Step", "Epoch"}
            or "Training Loss" not in self._columns
        ):
            return None
        step, values = math.nan, []
        for column, text in zip(self._columns, cells, strict=True):
            value = parse_value(text)
            if value is None:
                continue
            if column == "Step":
                step = value
            else:
                values.append(
                    (_HTML_NAMES.get(column.lower(), column.lower().replace(" ", "_")), value)
                )
        return Record(step, values, where) if values else None
