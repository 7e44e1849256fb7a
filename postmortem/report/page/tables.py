"""The values of a panel as a table.

In: a `Panel` and the names of its tracks. Out: plain values for `templates/charts.html.j2`. Not
here: choosing what a panel shows (`page.panel_layout`).
"""

import math
from collections.abc import Sequence
from typing import Any, Final

from postmortem.report.page.panel import Panel, Track
from postmortem.report.plain import format_number
from postmortem.report.words import Words

ROWS: Final = 60
"""Rows of a table at most."""
_Value = tuple[float | None, float]
"""Step and value."""
_Rows = dict[tuple[float, int], dict[int, _Value]]
"""By place and line, and within these by track."""


def build_value_table(panel: Panel, names: Sequence[str], words: Words) -> dict[str, Any]:
    """Give a table with a column for each track of a panel, and what it leaves out."""
    rows = _collect_rows(panel)
    chosen = _select_rows(panel, list(rows))
    shown = sum(len(rows[place]) for place in chosen)
    count = sum(track.series.points for track in panel.named)
    head = [words("record" if panel.axis == "record" else "step"), *names, words("chart.line")]
    return {
        "summary": words("chart.table", shown=shown, count=count),
        "caption": words("chart.caption", name=" · ".join(head[1:-1]), shown=shown, count=count),
        "head": head,
        "rows": [_build_row(panel, place, rows[place], len(names)) for place in chosen],
    }


def _build_row(
    panel: Panel, at: tuple[float, int], values: dict[int, _Value], count: int
) -> dict[str, Any]:
    """Write the values at a place; a track that has none there is empty."""
    x, line = at
    step = next((step for step, _ in values.values()), None)
    place = x if panel.axis == "record" else step
    return {
        "place": "" if place is None else format_number(place),
        "values": [
            format_number(values[track][1]) if track in values else "" for track in range(count)
        ],
        "line": line or "",
    }


def _collect_rows(panel: Panel) -> _Rows:
    """Bring the samples of all tracks into rows by place and line: (step, value) by track."""
    found: _Rows = {}
    for at, track in enumerate(panel.named):
        for place, (step, value, _) in zip(
            _list_row_keys(panel, track), track.series.samples, strict=True
        ):
            found.setdefault(place, {})[at] = (step, value)
    return dict(sorted(found.items()))


def _list_row_keys(panel: Panel, track: Track) -> list[tuple[float, int]]:
    """Give the row of each sample.

    Processes that print the same step share it, with the line of the first.
    """
    if not panel.is_of_processes:
        return [(x, line) for x, (_, _, line) in zip(track.xs, track.series.samples, strict=True)]
    lines = {
        x: line for x, (_, _, line) in zip(panel.tracks[0].xs, panel.main.samples, strict=True)
    }
    return [(x, lines.get(x, 0)) for x in track.xs]


def _select_rows(panel: Panel, rows: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """Choose the most informative rows, then evenly spread ones."""
    if len(rows) <= ROWS:
        return list(rows)
    kept = {rows[0], rows[-1]}
    for track in panel.named:
        places = _list_row_keys(panel, track)
        kept |= {
            places[index]
            for index in _find_notable_indexes([value for _, value, _ in track.series.samples])
        }
    room = max(0, ROWS - len(kept))
    others = [row for row in rows if row not in kept]
    kept |= {others[round(index * (len(others) - 1) / max(1, room - 1))] for index in range(room)}
    return sorted(kept)


def _find_notable_indexes(values: Sequence[float]) -> set[int]:
    """Give the indexes of the ends, the extremes, and what is around the first non-finite value."""
    last = len(values) - 1
    finite = [index for index, value in enumerate(values) if math.isfinite(value)]
    bad = next((index for index, value in enumerate(values) if not math.isfinite(value)), None)
    indexes = {0, last}
    if finite:
        indexes |= {min(finite, key=values.__getitem__), max(finite, key=values.__getitem__)}
    if bad is not None:
        indexes |= {max(0, bad - 1), bad, min(last, bad + 1)}
    return indexes
