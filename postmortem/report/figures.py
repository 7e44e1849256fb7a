"""The figures of a page: each panel with its drawing, its legend, its values as a table.

And the numbers that the page's script draws.

In: `Panel`s, words. Out: plain values for `templates/charts.html.j2`, JSON for
`templates/chart.js`. Not here: what a panel shows (`report.panels`). The numbers stand once in a
page, whatever its languages; a figure names its panel by its index.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from postmortem.model.diagnosis import Diagnosis, SeriesView
from postmortem.model.said import cut
from postmortem.report.chart import DETAIL_HEIGHT, SHAPES, STANDING, svg
from postmortem.report.panels import Panel, Track
from postmortem.report.parts import step_and_line
from postmortem.report.plain import file_name, number, one_line, process
from postmortem.report.words import Words

ROWS: Final = 60
"""Rows of a table at most."""
_LONGEST_NAME: Final = 28
_LONGEST_UNIT: Final = 16
_DIGITS: Final = 7
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


def figures(diagnosis: Diagnosis, panels: Sequence[Panel], words: Words) -> list[dict[str, Any]]:
    """Give what the template shows of each panel.

    A legend that the panel before has already given is not given again.
    """
    kinds = [{kind for kind, _ in _legend(panel, words)} for panel in panels]
    repeated = [
        any(
            panels[before].source == panel.source and kinds[at] <= kinds[before]
            for before in range(at)
        )
        for at, panel in enumerate(panels)
    ]
    return [
        _figure(diagnosis, panel, index, words) | ({"marks": []} if is_repeated else {})
        for index, (panel, is_repeated) in enumerate(zip(panels, repeated, strict=True))
    ]


def phrases(words: Words) -> str:
    """Give the words of the script as JSON."""
    said = {key.removeprefix("chart."): words.raw(key) for key in _PHRASES}
    return json.dumps(
        said | {f"mark.{kind}": words.raw(f"mark.{kind}") for kind in SHAPES}, ensure_ascii=False
    )


def data(panels: Sequence[Panel]) -> Markup:
    """Write the numbers of all panels as JSON that cannot close its element."""
    pool: dict[tuple[float | None, ...], int] = {}
    listed = [_panel_data(panel, pool) for panel in panels]
    whole = {
        "shapes": dict(SHAPES),
        "standing": STANDING,
        "pool": [[None if value is None else _short(value) for value in values] for values in pool],
        "panels": listed,
    }
    return Markup(  # noqa: S704 -- escaped
        json.dumps(whole, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
    )


def described(series: SeriesView, words: Words) -> str:
    """Say in words what a curve shows.

    Points, range, first and last value, the first non-finite one.
    """
    shown = len(series.samples)
    unit = f" {one_line(series.unit, _LONGEST_UNIT)}" if series.unit else ""
    parts = [
        (
            words("curve.points", count=series.points)
            if shown >= series.points
            else words("curve.drawn", shown=shown, count=series.points)
        ),
        f"{number(series.first[1])} → {number(series.last[1])}{unit}",
    ]
    if series.min is not None and series.max is not None:
        parts.append(words("curve.range", low=number(series.min), high=number(series.max)))
    if series.nonfinite:
        parts.append(words("curve.nonfinite", count=series.nonfinite))
    if series.first_nonfinite is not None:
        parts.append(
            words("curve.first-bad")
            + words("colon")
            + step_and_line(*series.first_nonfinite, words)
        )
    return words("joint").join(parts)


def _figure(diagnosis: Diagnosis, panel: Panel, index: int, words: Words) -> dict[str, Any]:
    key, close = f"{words.language}-chart-{index}", panel.close_up()
    names = _names(diagnosis, panel, words)
    title = (
        f"{_name(panel.main)} · {words('chart.processes', count=len(panel.tracks))}"
        if panel.is_of_processes
        else " · ".join(names)
    )
    named = _texts(panel, names, words)
    said = words("stop").join(
        [*named, *(text for kind, text in _legend(panel, words) if kind != "gap")]
    )
    near = words("curve.detail", name=_name(panel.main))
    return {
        "index": index,
        "key": key,
        "source": panel.source,
        "title": title,
        "note": _note(diagnosis, panel, words),
        "drawing": _drawn(svg(panel, words, key=key, title=title, description=said)),
        "close": (
            None
            if close is None
            else {
                "title": near,
                "drawing": _drawn(
                    svg(
                        close,
                        words,
                        key=f"{key}-near",
                        title=near,
                        description=described(close.main, words),
                        height=DETAIL_HEIGHT,
                    )
                ),
            }
        ),
        "texts": named,
        "tracks": [
            (at, track.form, name, _axis_note(panel, track, words))
            for at, (track, name) in enumerate(zip(panel.named, names, strict=True))
        ],
        "names": json.dumps(names, ensure_ascii=False) if panel.is_of_processes else "",
        "marks": [
            (kind, SHAPES["bad" if kind == "gap" else kind], kind in STANDING, text)
            for kind, text in _legend(panel, words)
        ],
        "table": _table(panel, names, words),
    }


def _names(diagnosis: Diagnosis, panel: Panel, words: Words) -> list[str]:
    """Name the tracks: by their series, or by their processes."""
    if not panel.is_of_processes:
        return [_name(track.series) for track in panel.tracks]
    return [
        one_line(
            process(track.series.where, words) or file_name(diagnosis, track.series.source, words),
            _LONGEST_NAME,
        )
        for track in panel.named
    ]


def _texts(panel: Panel, names: Sequence[str], words: Words) -> list[str]:
    """Say in words what the tracks show; of several processes which was first."""
    if len(panel.tracks) == 1:
        return [described(panel.main, words)]
    if not panel.is_of_processes:
        return [
            name + words("colon") + described(track.series, words)
            for name, track in zip(names, panel.tracks, strict=True)
        ]
    firsts = [
        (one, name)
        for track, name in zip(panel.named, names, strict=True)
        if (one := track.series.first_nonfinite) is not None
    ]
    said = words("joint").join(
        f"{name} {words('at-step', value=number(step))}"
        for (step, _), name in sorted(firsts, key=lambda one: one[0][0] or 0.0)
    )
    rest = len(panel.tracks) - len(panel.named)
    return [
        names[0] + words("colon") + described(panel.main, words), *([words("curve.first-bad") + words("colon") + said] if said else []),
        *([words("chart.thin", count=rest)] if rest else []),
    ]  # fmt: skip


def _drawn(drawing: str) -> Markup:
    return Markup(drawing)  # noqa: S704 -- our own drawing


def _name(series: SeriesView) -> str:
    return one_line(series.name, _LONGEST_NAME)


def _note(diagnosis: Diagnosis, panel: Panel, words: Words) -> str:
    """Say of what process a panel is, and what must be known to read it."""
    main = panel.main
    several = len({one.source for one in diagnosis.series}) > 1
    said = [
        words("curve.log") if panel.scale == "log10" else "", words("chart.scale") if panel.scale == "log2" else "", words("curve.interleaved") if main.interleaved else "",
        main.unit, *(() if panel.is_of_processes else (process(main.where, words), file_name(diagnosis, panel.source, words) if several else "")),
    ]  # fmt: skip
    return cut(" · ".join(one_line(part, 40) for part in said if part), 80)


def _axis_note(panel: Panel, track: Track, words: Words) -> str:
    return words("chart.right") if panel.has_right_axis and track.form == "steps" else ""


def _legend(panel: Panel, words: Words) -> list[tuple[str, str]]:
    """Name each kind of mark, with how often it came and how many of them are shown."""
    said = []
    for kind, count in panel.counts:
        shown = sum(spot.kind == kind for spot in panel.spots)
        name = words(f"mark.{kind}")
        said.append(
            (
                kind,
                (
                    name
                    if count == 1
                    else (
                        words("mark.count", name=name, count=count)
                        if shown == count
                        else words("mark.some", name=name, count=count, shown=shown)
                    )
                ),
            )
        )
    gaps = sum(track.series.nonfinite for track in panel.tracks)
    return (
        [*said, ("gap", words("mark.count", name=words("mark.gap"), count=gaps))]
        if gaps > 1
        else said
    )


def _table(panel: Panel, names: Sequence[str], words: Words) -> dict[str, Any]:
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


def _panel_data(panel: Panel, pool: dict[tuple[float | None, ...], int]) -> Mapping[str, Any]:
    """Give the numbers of a panel; places and lines that panels share stand once, in the pool."""

    def pooled(values: Sequence[float | None]) -> int:
        return pool.setdefault(tuple(values), len(pool))

    lines = pooled([line for _, _, line in panel.main.samples])
    return {
        "group": f"record-{panel.source}-{lines}" if panel.axis == "record" else f"{panel.axis}-{panel.source}",
        "source": panel.source, "axis": panel.axis, "scale": panel.scale, "range": [_short(panel.left), _short(panel.right)],
        "near": None if panel.near is None else [_short(x) for x in panel.near],
        "bad": None if panel.bad is None else [_name_of_bad(panel), number(panel.bad.value), panel.bad.step, panel.bad.line],
        "processes": panel.is_of_processes,
        "tracks": [_track_data(track, pooled) for track in panel.tracks],
        "marks": [[spot.kind, _short(spot.x), spot.line, None if spot.step is None else _short(spot.step)] for spot in panel.spots],
    }  # fmt: skip


def _name_of_bad(panel: Panel) -> str:
    """Name the series of the first non-finite value where it is not the panel's own."""
    return (
        ""
        if panel.bad is None or panel.bad.name == panel.main.name
        else one_line(panel.bad.name, _LONGEST_NAME)
    )


def _track_data(track: Track, pooled: Any) -> Mapping[str, Any]:
    steps = [step for step, _, _ in track.series.samples]
    values = [value for _, value, _ in track.series.samples]
    odd = {
        str(index): number(value) for index, value in enumerate(values) if not math.isfinite(value)
    }
    return {
        "name": _name(track.series), "unit": one_line(track.series.unit, _LONGEST_UNIT), "form": track.form, "x": pooled(track.xs), "line": pooled([line for _, _, line in track.series.samples]),
        "step": None if steps == list(track.xs) else pooled(steps), "y": [_short(value) if math.isfinite(value) else None for value in values], "odd": odd,
    }  # fmt: skip


def _short(value: float) -> float:
    """Round a number as far as nobody sees it; a whole one is written without a point."""
    if float(value).is_integer() and abs(value) < 1e15:
        return int(value)
    return float(f"{value:.{_DIGITS}g}")
