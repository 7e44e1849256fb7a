"""The figures of a page: each panel as SVG, with its legend and its values as a table.

In: `Panel`s, words. Out: plain values for `templates/charts.html.j2`, phrases and numbers as JSON
for `templates/chart.js`. Not here: what a panel shows (`page.panel_layout`). The page holds the
numbers once for all languages; a figure refers to its panel by index.
"""

import json
import math
from collections.abc import Sequence
from typing import Any, Final

from markupsafe import Markup

from postmortem.core.answer import SeriesView
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.log_text import format_one_line
from postmortem.core.message import cut
from postmortem.report.display import format_number, process, shorten_source_path
from postmortem.report.page.chart import (
    DETAIL_HEIGHT,
    LONGEST_NAME,
    LONGEST_UNIT,
    SHAPES,
    STANDING,
    draw_panel,
    name_of,
)
from postmortem.report.page.panel import Panel, Track
from postmortem.report.parts import format_sample_location
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


_PHRASES: Final = (
    "at-step",
    "at-line",
    "at-record",
    "step",
    "record",
    "chart.line",
    "colon",
    "joint",
    *(
        f"chart.{name}"
        for name in ("log", "in", "out", "reset", "near", "hint", "live", "left-out", "bar")
    ),
)


def build_panel_contexts(
    diagnosis: Diagnosis, panels: Sequence[Panel], words: Words
) -> list[dict[str, Any]]:
    """Give what the template shows of each panel.

    A legend that the panel before has already given is not given again.
    """
    kinds = [{kind for kind, _ in _build_legend(panel, words)} for panel in panels]
    repeated = [
        any(
            panels[before].source == panel.source and kinds[at] <= kinds[before]
            for before in range(at)
        )
        for at, panel in enumerate(panels)
    ]
    return [
        _build_panel_context(diagnosis, panel, index, words)
        | ({"marks": []} if is_repeated else {})
        for index, (panel, is_repeated) in enumerate(zip(panels, repeated, strict=True))
    ]


def dump_script_phrases(words: Words) -> str:
    """Give the words of the script as JSON."""
    phrases = {key.removeprefix("chart."): words.raw(key) for key in _PHRASES}
    return json.dumps(
        phrases | {f"mark.{kind}": words.raw(f"mark.{kind}") for kind in SHAPES}, ensure_ascii=False
    )


def describe_series(series: SeriesView, words: Words) -> str:
    """Say in words what a curve shows.

    Points, range, first and last value, the first non-finite one.
    """
    shown = len(series.samples)
    unit = f" {format_one_line(series.unit, LONGEST_UNIT)}" if series.unit else ""
    parts = [
        (
            words("curve.points", count=series.points)
            if shown >= series.points
            else words("curve.drawn", shown=shown, count=series.points)
        ),
        f"{format_number(series.first[1])} → {format_number(series.last[1])}{unit}",
    ]
    if series.min is not None and series.max is not None:
        parts.append(
            words("curve.range", low=format_number(series.min), high=format_number(series.max))
        )
    if series.nonfinite:
        parts.append(words("curve.nonfinite", count=series.nonfinite))
    if series.first_nonfinite is not None:
        parts.append(
            words("curve.first-bad")
            + words("colon")
            + format_sample_location(*series.first_nonfinite, words)
        )
    return words("joint").join(parts)


def _build_panel_context(
    diagnosis: Diagnosis, panel: Panel, index: int, words: Words
) -> dict[str, Any]:
    """Give a panel as the template shows it: drawings, texts, legend, table."""
    key, names = f"{words.language}-chart-{index}", _list_track_names(diagnosis, panel, words)
    title, texts, legend = (
        " · ".join(names),
        _describe_tracks(panel, names, words),
        _build_legend(panel, words),
    )
    if panel.is_of_processes:
        title = f"{name_of(panel.main)} · {words('chart.processes', count=len(panel.tracks))}"
    description = words("stop").join([*texts, *(text for kind, text in legend if kind != "gap")])
    return {
        "index": index,
        "key": key,
        "source": panel.source,
        "title": title,
        "note": _note(diagnosis, panel, words),
        "drawing": _mark_safe(
            draw_panel(panel, words, key=key, title=title, description=description)
        ),
        "close": _close(panel, key, words),
        "texts": texts,
        "tracks": [
            (
                at,
                track.form,
                name,
                words("chart.right") if panel.has_right_axis and track.form == "steps" else "",
            )
            for at, (track, name) in enumerate(zip(panel.named, names, strict=True))
        ],
        "names": json.dumps(names, ensure_ascii=False) if panel.is_of_processes else "",
        "marks": [
            (kind, SHAPES["bad" if kind == "gap" else kind], kind in STANDING, text)
            for kind, text in legend
        ],
        "table": build_value_table(panel, names, words),
    }


def _close(panel: Panel, key: str, words: Words) -> dict[str, Any] | None:
    """Give the drawing around a fault at the very edge, where there is one."""
    close, title = panel.close_up(), words("curve.detail", name=name_of(panel.main))
    if close is None:
        return None
    drawing = draw_panel(
        close,
        words,
        key=f"{key}-near",
        title=title,
        description=describe_series(close.main, words),
        height=DETAIL_HEIGHT,
    )
    return {"title": title, "drawing": _mark_safe(drawing)}


def _list_track_names(diagnosis: Diagnosis, panel: Panel, words: Words) -> list[str]:
    """Name the tracks: by their series, or by their processes."""
    if not panel.is_of_processes:
        return [name_of(track.series) for track in panel.tracks]
    return [
        format_one_line(
            process(track.series.where, words)
            or shorten_source_path(diagnosis, track.series.source, words),
            LONGEST_NAME,
        )
        for track in panel.named
    ]


def _describe_tracks(panel: Panel, names: Sequence[str], words: Words) -> list[str]:
    """Say in words what the tracks show; of several processes which was first."""
    if len(panel.tracks) == 1:
        return [describe_series(panel.main, words)]
    if not panel.is_of_processes:
        return [
            name + words("colon") + describe_series(track.series, words)
            for name, track in zip(names, panel.tracks, strict=True)
        ]
    firsts = [
        (one, name)
        for track, name in zip(panel.named, names, strict=True)
        if (one := track.series.first_nonfinite) is not None
    ]
    text = words("joint").join(
        f"{name} {words('at-step', value=format_number(step))}"
        for (step, _), name in sorted(firsts, key=lambda first: first[0][0] or 0.0)
    )
    rest = len(panel.tracks) - len(panel.named)
    return [
        names[0] + words("colon") + describe_series(panel.main, words),
        *([words("curve.first-bad") + words("colon") + text] if text else []),
        *([words("chart.thin", count=rest)] if rest else []),
    ]


def _mark_safe(drawing: str) -> Markup:
    return Markup(drawing)  # noqa: S704 -- our own drawing


def _note(diagnosis: Diagnosis, panel: Panel, words: Words) -> str:
    """Say of what process a panel is, and what must be known to read it."""
    main, scales = panel.main, {"log10": words("curve.log"), "log2": words("chart.scale")}
    notes = [
        scales.get(panel.scale, ""),
        words("curve.interleaved") if main.interleaved else "",
        main.unit,
    ]
    if not panel.is_of_processes:
        notes.append(process(main.where, words))
        if len({series.source for series in diagnosis.series}) > 1:
            notes.append(shorten_source_path(diagnosis, panel.source, words))
    return cut(" · ".join(format_one_line(part, 40) for part in notes if part), 80)


def _build_legend(panel: Panel, words: Words) -> list[tuple[str, str]]:
    """Name each kind of mark, with how often it came and how many of them are shown."""
    entries = [
        (kind, _format_mark_count(panel, kind, count, words)) for kind, count in panel.counts
    ]
    gaps = sum(track.series.nonfinite for track in panel.tracks)
    if gaps > 1:
        entries.append(("gap", words("mark.count", name=words("mark.gap"), count=gaps)))
    return entries


def _format_mark_count(panel: Panel, kind: str, count: int, words: Words) -> str:
    name, shown = words(f"mark.{kind}"), sum(spot.kind == kind for spot in panel.spots)
    if count == 1:
        return name
    if shown == count:
        return words("mark.count", name=name, count=count)
    return words("mark.some", name=name, count=count, shown=shown)
