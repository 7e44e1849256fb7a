"""Columns of figures whose rows hold nothing else: a name stands once above them, or nowhere.

In: the beginning of a source and its path; a line and those behind it. Out: a `Grid` of one or two
columns. Not here: tables whose heading names several columns (`formats.grids`), finding the rows in
the source (`extraction.table_rows`).

`numpy.savetxt` and `print(loss, file=f)` write such files, a logger such stretches: then each row
has the prefix of the line that names it.
"""

import itertools
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.names import NAMELESS
from postmortem.extraction.formats.grids import Grid
from postmortem.extraction.formats.metric_names import normalise_metric_name

_FIGURE: Final = (
    r"[+-]?(?:(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:[eE][+-]?\d{1,4})?|nan|NaN|inf|Infinity)"
)
_ENDS_OF_FIGURES: Final = frozenset(bytes([sign]) for sign in b"0123456789.nNfy")
_BEHIND_FIGURE: Final = b" \t\r)],;"
_CELL: Final = rf"({_FIGURE})"
_ROWS: Final = (
    rf"[ \t\[(]*{_CELL}[ \t\])]*[,;]?[ \t]*\r?$",
    rf"[ \t\[(]*{_CELL}(?:[ \t]*[,;][ \t]*|[ \t]+){_CELL}[ \t\])]*[,;]?[ \t]*\r?$",
)
"""Rows of one column and of two."""
_ONLY_ROWS: Final = compile_lazily(rb"[\s\d.,;eE+\-\[\]()naifNIty]*$")
"""What a source holds that holds nothing else."""
_DECIMAL: Final = compile_lazily(r"\.|\d[eE]|nan|NaN|inf")
_SPLIT: Final = r"(?:train(?:ing)?|val(?:id(?:ation)?)?|test|dev|eval)"
_METRIC: Final = (
    r"loss(?:es)?|acc(?:s|uracy|uracies)?|rewards?|returns?|scores?|perplexity|ppl|bleu|r?mse|mae|nll"
    r"|elbo|f1|auc|m?iou|dice|psnr|ssim|wer|cer"
)
_TITLE: Final = compile_lazily(
    rf"(?P<name>(?:(?:{_SPLIT}|mean|avg|average|total|cumulative|episodes?|ep|epoch|step)[ _-]?)*"
    rf"(?:{_METRIC})(?:[ _-]{_SPLIT})?)(?:[ _-]?(?:history|hist|list|curve|log|values?|per_epoch))?"
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
_FEWEST: Final = 6
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
    texts = [line.rstrip("\r") for line in lines if line.strip()][:_FEWEST]
    if len(texts) < _FEWEST or not _ONLY_ROWS.match(rest):
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
