"""Secrets in the rows of a table, by the name that heads their column.

In: text of several lines. Out: the rule of kind `secret` for the cells below a heading that names a
secret. Not here: a name beside its value in one row (`assignments`).

Columns are parted by bars, tabs, commas or several blanks. A launcher may have put anything before
each of the lines.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.report.redaction.hiding import (
    HidingPattern,
    HidingRule,
    Span,
    build_linear_pattern,
)
from postmortem.report.redaction.secret_names import NAME, NAME_HINT, evaluate_name, is_secret

_HEADING: Final = build_linear_pattern(
    rf"(?im)(?:^|[|│┃,;\t]|  |: |\] )[ \t]*(?P<n>{NAME})[ \t]*(?:[|│┃,;\t]|  |$)"
)
_PARTERS: Final = (
    HidingPattern("[|│┃]"),
    HidingPattern("\t"),
    HidingPattern(","),
    HidingPattern(";"),
    HidingPattern(" {2,}"),
)
_RULER: Final = HidingPattern(r"[^\n]{0,80}?[-=+:|│┃─━═┼╪╋├┤┝┥╞╡┠┨┡┩╇ \t]{5,}")
_TITLE: Final = HidingPattern(r"[^\W\d][\w ()./#-]{0,30}|#")
_FIGURE: Final = HidingPattern(r"[-+]?\d{1,5}|[-+]?[\d,]*\.\d+(?:e[-+]?\d+)?%?")
_MOST_ROWS: Final = 40
_LONGEST: Final = 2000


class _Cell(NamedTuple):
    start: int
    text: str


def _find_cells_below_names(text: str) -> Iterator[Span]:
    """Give the cells of the columns that a name of a secret heads."""
    done = 0
    for match in _HEADING.finditer(text):
        begin = text.rfind("\n", done, match.start(1)) + 1
        end = text.find("\n", match.end(1))
        if match.start(1) >= done and 0 < end - begin <= _LONGEST:
            done, found = _find_in_rows(text, begin, end)
            yield from found


def _find_in_rows(text: str, begin: int, end: int) -> tuple[int, list[Span]]:
    """Give the secrets in the rows of a table, of which the line of headings is given.

    And where its last row begins.
    """
    heading, found = text[begin:end].rstrip(), list[Span]()
    parter = next((one for one in _PARTERS if one.search(heading.strip())), None)
    if parter is None or not _are_titles(cells := _split(heading, parter)):
        return begin, found
    columns = [at for at, cell in enumerate(cells) if evaluate_name(cell.text)]
    for _ in range(_MOST_ROWS):
        begin = end + 1
        end = text.find("\n", begin)
        row = text[begin : end if end >= 0 else len(text)].rstrip()[: _LONGEST + 1]
        parts = _split(row, parter)
        if len(parts) == len(cells):
            found += _find_in_row(begin, parts, cells, columns)
        if end < 0 or not (len(parts) == len(cells) or _RULER.fullmatch(row)):
            break
    return begin, found


def _find_in_row(
    begin: int, parts: list[_Cell], titles: list[_Cell], columns: list[int]
) -> Iterator[Span]:
    """Yield the secrets of a row that begins at a place of the text."""
    for at in columns:
        if _is_secret_cell(titles[at].text, parts[at].text):
            start = begin + parts[at].start
            yield start, start + len(parts[at].text)


def _split(line: str, parter: HidingPattern) -> list[_Cell]:
    """Give the cells of a line, of the first one the last word: a launcher may stand before it."""
    cells, start = [], 0
    for end, following in [*(one.span() for one in parter.finditer(line)), (len(line), 0)]:
        part = line[start:end]
        cells.append(_Cell(start + len(part) - len(part.lstrip()), part.strip()))
        start = following
    first = cells[0].text.split(" ")[-1]
    cells[0] = _Cell(cells[0].start + len(cells[0].text) - len(first), first)
    return cells


def _are_titles(cells: list[_Cell]) -> bool:
    """Say whether all cells of a line are short names, at least two of them."""
    named = [cell.text for cell in cells if cell.text]
    return len(named) > 1 and all(map(_TITLE.fullmatch, named[1:]))


def _is_secret_cell(name: str, cell: str) -> bool:
    return (
        not _FIGURE.fullmatch(cell)
        and not evaluate_name(cell)
        and is_secret(evaluate_name(name), cell.strip("'\"`"), is_quoted=True, is_prose=False)
    )


TABLES: Final = (HidingRule("secret", NAME_HINT, _find_cells_below_names),)
