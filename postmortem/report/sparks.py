"""A curve in one line of block characters.

In: a `SeriesView` and a width. Out: text. Not here: which curves are drawn (`report.plotted`).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from postmortem.core.shown import SeriesView
from postmortem.report.plotted import Curve, build_curve, find_first_nonfinite_index

_AND_BAD: Final = " x…"
_BLOCKS: Final = "▁▂▃▄▅▆▇█"


def draw_sparkline(series: SeriesView, width: int) -> str:
    """Draw a series in one line of block characters.

    X marks the first non-finite value and columns where half are not finite.

    Where little else than x would be seen, the finite stretch before takes the width.
    """
    drawn, bad = _draw_columns(series, width), find_first_nonfinite_index(series)
    if bad and 2 * drawn.count("x") > len(drawn):
        return (
            _draw_columns(replace(series, samples=series.samples[:bad]), width - len(_AND_BAD))
            + _AND_BAD
        )
    return drawn


def _draw_columns(series: SeriesView, width: int) -> str:
    one = build_curve(series)
    columns = min(width, len(one.values))
    span = one.xs[-1] - one.xs[0] or 1.0
    cells: list[list[float]] = [[] for _ in range(columns)]
    places = [min(columns - 1, int((x - one.xs[0]) / span * columns)) for x in one.xs]
    for column, value in zip(places, one.values, strict=True):
        cells[column].append(value)
    bad = find_first_nonfinite_index(series)
    drawn, last = [], " "
    for column, cell in enumerate(cells):
        if cell:
            last = "x" if bad is not None and places[bad] == column else _select_glyph(one, cell)
        drawn.append(last)
    return "".join(drawn)


def _select_glyph(curve: Curve, cell: Sequence[float]) -> str:
    finite = [value for value in cell if math.isfinite(value)]
    if 2 * len(finite) <= len(cell):
        return "x"
    return _BLOCKS[min(len(_BLOCKS) - 1, int(curve.height(max(finite)) * len(_BLOCKS)))]
