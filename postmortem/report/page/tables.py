"""The values of a panel as a table.

In: a `Panel` and the names of its tracks. Out: plain values for `templates/charts.html.j2`. Not
here: choosing what a panel shows (`page.arrange`).
"""

import math
from collections.abc import Sequence
from typing import Any, Final

from postmortem.report.page.panel import Panel, Track
from postmortem.report.plain import number
from postmortem.report.words import Words

ROWS: Final = 60
"""Rows of a table at most."""


def value_table(panel: Panel, names: Sequence[str], words: Words) -> dict[str, Any]:
    rows = _rows(panel)
    chosen = _chosen(panel, list(rows))
    lines: list[dict[str, Any]] = []
    for x, line in chosen:
        values = rows[x, line]
        step = next((step for step, _ in values.values()), None)
        place = x if panel.axis == "record" else step
        lines.append(
            {
                "place": "" if place is None else number(place),
                "values": [
                    number(values[at][1]) if at in values else "" for at in range(len(names))
                ],
                "line": line or "",
            }
        )
    shown, count = (
        sum(len(rows[place]) for place in chosen),
        sum(track.series.points for track in panel.named),
    )
    head = [words("record" if panel.axis == "record" else "step"), *names, words("chart.line")]
    return {
        "summary": words("chart.table", shown=shown, count=count),
        "caption": words("chart.caption", name=" · ".join(head[1:-1]), shown=shown, count=count),
        "head": head,
        "rows": lines,
    }


_Rows = dict[tuple[float, int], dict[int, tuple[float | None, float]]]


def _rows(panel: Panel) -> _Rows:
    """Bring the samples of all tracks into rows by place and line: (step, value) by track."""
    found: _Rows = {}
    for at, track in enumerate(panel.named):
        for place, (step, value, _) in zip(
            _places(panel, track), track.series.samples, strict=True
        ):
            found.setdefault(place, {})[at] = (step, value)
    return dict(sorted(found.items()))


def _places(panel: Panel, track: Track) -> list[tuple[float, int]]:
    """Give the row of each sample.

    Processes that print the same step share it, with the line of the first.
    """
    if not panel.is_of_processes:
        return [(x, line) for x, (_, _, line) in zip(track.xs, track.series.samples, strict=True)]
    lines = {
        x: line for x, (_, _, line) in zip(panel.tracks[0].xs, panel.main.samples, strict=True)
    }
    return [(x, lines.get(x, 0)) for x in track.xs]


def _chosen(panel: Panel, rows: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """Choose the rows that tell most.

    Of each track the ends, the extremes and what stands around the first non-finite value; then
    evenly spread ones.
    """
    if len(rows) <= ROWS:
        return list(rows)
    kept = {rows[0], rows[-1]}
    for track in panel.named:
        places = _places(panel, track)
        values = [value for _, value, _ in track.series.samples]
        finite = [index for index, value in enumerate(values) if math.isfinite(value)]
        bad = next((index for index, value in enumerate(values) if not math.isfinite(value)), None)
        indexes = {0, len(values) - 1} | (
            {min(finite, key=values.__getitem__), max(finite, key=values.__getitem__)}
            if finite
            else set()
        )
        indexes |= set() if bad is None else {max(0, bad - 1), bad, min(len(values) - 1, bad + 1)}
        kept |= {places[index] for index in indexes}
    room = max(0, ROWS - len(kept))
    others = [row for row in rows if row not in kept]
    kept |= {others[round(index * (len(others) - 1) / max(1, room - 1))] for index in range(room)}
    return sorted(kept)
