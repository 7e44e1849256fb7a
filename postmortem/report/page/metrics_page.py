"""The page of an evaluation: one self-contained HTML file in all languages, as the report's is.

In: the plain values of `postmortem.evaluation/1`. Out: HTML, with plots of shares as inline SVG
whose colours are CSS classes of `templates/chart.css`. Not here: the figures themselves
(`learn.metrics`), their tables (`report.evaluation_tables`), the same as text
(`terminal.summary_tables`), the frame (`page.frame`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from postmortem.core.names import LANGUAGES
from postmortem.report.evaluation_tables import (
    EVALUATION,
    Evaluation,
    build_cause_rows,
    build_confusion_rows,
    build_metric_rows,
    build_source_rows,
    format_cell,
    get_method_name,
    select_default_method,
)
from postmortem.report.page.chart_axes import BOTTOM, LEFT, WIDTH
from postmortem.report.page.frame import build_article, get_tool, render_page, render_template
from postmortem.report.words import Words

_HEIGHT: Final = 300
_TOP: Final = 26
_EDGE: Final = WIDTH - 18
_TICKS: Final = 5


class PlottedMethod(NamedTuple):
    """What is drawn of one way of judging."""

    colour: int
    points: Sequence[tuple[float, float]]
    radii: Sequence[float] = ()
    """Of its dots; none has none."""
    is_line: bool = True


class UnitPlot(NamedTuple):
    """A plot: its lines, its axes, its words."""

    drawn: Sequence[PlottedMethod]
    x_name: str
    y_name: str
    title: str
    description: str
    low: float = 0.0
    """Where the axis of values begins."""
    has_diagonal: bool = False


def draw_unit_plot(plot: UnitPlot, key: str) -> str:
    """Draw a plot; `key` makes the ids unique within a page."""
    name = escape(key)
    return "".join(
        (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {_HEIGHT}" role="img"'
            f' aria-labelledby="{name}-t {name}-d" xmlns="http://www.w3.org/2000/svg">',
            f'<title id="{name}-t">{escape(plot.title)}</title>',
            f'<desc id="{name}-d">{escape(plot.description)}</desc>',
            *_draw_axes(plot),
            *(part for curve in plot.drawn for part in _draw_series(plot, curve)),
            "</svg>",
        )
    )


def _compute_x(share: float) -> float:
    return round(LEFT + share * (_EDGE - LEFT), 1)


def _compute_y(plot: UnitPlot, share: float) -> float:
    within = (max(plot.low, share) - plot.low) / (1.0 - plot.low)
    return round(_HEIGHT - BOTTOM - within * (_HEIGHT - BOTTOM - _TOP), 1)


def _draw_axes(plot: UnitPlot) -> Iterator[str]:
    foot = _HEIGHT - BOTTOM
    for tick in range(_TICKS + 1):
        share = tick / _TICKS
        value = plot.low + share * (1.0 - plot.low)
        x, y = _compute_x(share), _compute_y(plot, value)
        yield f'<line class="grid" x1="{LEFT}" y1="{y}" x2="{_EDGE}" y2="{y}"/>'
        yield (
            f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.2g}'
            "</text>"
        )
        yield f'<line class="axis" x1="{x}" y1="{foot}" x2="{x}" y2="{foot + 4}"/>'
        yield f'<text class="tick" x="{x}" y="{foot + 16}" text-anchor="middle">{share:.1f}</text>'
    yield f'<line class="axis" x1="{LEFT}" y1="{foot}" x2="{_EDGE}" y2="{foot}"/>'
    yield (
        f'<text class="chart-note" x="{_EDGE}" y="{_HEIGHT - 4}" text-anchor="end">'
        f"{escape(plot.x_name)}</text>"
    )
    yield f'<text class="chart-note" x="{LEFT + 4}" y="{_TOP - 12}">{escape(plot.y_name)}</text>'
    if plot.has_diagonal:
        yield (
            '<path class="standing mark-resumed"'
            f' d="M{_compute_x(plot.low)} {_compute_y(plot, plot.low)}'
            f'L{_compute_x(1.0)} {_compute_y(plot, 1.0)}"/>'
        )


def _draw_series(plot: UnitPlot, curve: PlottedMethod) -> Iterator[str]:
    placed = [(_compute_x(x), _compute_y(plot, y)) for x, y in curve.points]
    if curve.is_line and len(placed) > 1:
        listed = " ".join(f"{x},{y}" for x, y in placed)
        style = f"curve series-{curve.colour} dash-{curve.colour}"
        yield f'<polyline class="{style}" points="{listed}"/>'
    radii = curve.radii or ([4.0] * len(placed) if len(placed) == 1 or not curve.is_line else [])
    for (x, y), radius in zip(placed, radii, strict=False):
        yield f'<circle class="dot series-{curve.colour}" cx="{x}" cy="{y}" r="{radius:.1f}"/>'


_AT_ONCE: Final = 20
_LEAST_DOT, _MOST_DOT = 2.5, 9.0
_COLOURS: Final = 8
_HALF: Final = 0.5
"""The precision below which the axis begins at 0."""


def render_evaluation(value: Evaluation, *, language: str = "en") -> str:
    """Write an evaluation as a page that opens in a language and can be switched to the others."""
    languages = [language, *(other for other in LANGUAGES if other != language)]
    return render_page([_render_article(value, code) for code in languages], [])


def _render_article(value: Evaluation, language: str) -> dict[str, Any]:
    """Render an evaluation in one language."""
    words = Words(language)
    phrases = EVALUATION[words.language]
    tool = get_tool(value)
    body = render_template(
        "evaluation.html.j2",
        say=words,
        told=phrases,
        at_once=_AT_ONCE,
        lead=_format_lead(value, phrases),
        judged=phrases[f"judged.{value['judged']}"],
        plots=[
            ("reliability", _build_reliability_plots(value, words)),
            ("coverage-plot", _build_coverage_plots(value, words)),
        ],
        made=words("made", version=tool["version"], base=tool["knowledge_base"]),
        classifier=tool["classifier"],
        **_build_tables(value, phrases),
    )
    return build_article(words, phrases["title"], body)


def _build_tables(value: Evaluation, phrases: Mapping[str, str]) -> dict[str, Any]:
    """Give the tables that are shown whole, and those whose rest is folded."""
    way = get_method_name(select_default_method(value), phrases)
    return {
        "tables": [
            ("overview", phrases["overview.note"], *build_metric_rows(value, phrases)),
            ("sources", phrases["sources.note"], *build_source_rows(value, phrases)),
        ],
        "listed": [
            (name, phrases[f"{name}.note"].format(way=way), *rows(value, phrases))
            for name, rows in (("causes", build_cause_rows), ("confusions", build_confusion_rows))
        ],
    }


def _format_lead(value: Evaluation, phrases: Mapping[str, str]) -> str:
    """Say the main figure in a sentence."""
    ways, best = value["ways"], select_default_method(value)
    rules = ways.get("rules", ways[best])
    key = "lead" if best != "rules" else "lead.one"
    return phrases[key].format(
        cases=rules["cases"],
        rules=rules["top1"],
        best=ways[best]["top1"],
        way=get_method_name(best, phrases),
    )


def _build_reliability_plots(value: Evaluation, words: Words) -> list[dict[str, Any]]:
    """Draw what the probabilities of each way promise and what they hold."""
    phrases = EVALUATION[words.language]
    return [
        _build_reliability_plot(way, index, figures, words)
        for index, (way, figures) in enumerate(value["ways"].items())
        if figures["reliability"] and get_method_name(way, phrases) and not way.startswith("last")
    ]


def _build_reliability_plot(
    way: str, index: int, figures: Mapping[str, Any], words: Words
) -> dict[str, Any]:
    phrases, key = EVALUATION[words.language], f"{words.language}-reliability-{index}"
    rows: Sequence[Mapping[str, Any]] = figures["reliability"]
    most = math.sqrt(max(row["cases"] for row in rows))
    radii = [max(_LEAST_DOT, _MOST_DOT * math.sqrt(row["cases"]) / most) for row in rows]
    points = [(row["probability"], row["right"]) for row in rows]
    described = words("semicolon").join(
        phrases["plot.point"].format(x=row["probability"], y=row["right"], cases=row["cases"])
        for row in rows
    )
    title = phrases["plot.reliability"].format(
        way=get_method_name(way, phrases), points=described, error=figures["ece"]
    )
    plot = UnitPlot(
        [PlottedMethod(index % _COLOURS, points, radii)],
        phrases["probability"],
        phrases["right"],
        get_method_name(way, phrases),
        title,
        has_diagonal=True,
    )
    head = [phrases["probability"], phrases["right"], phrases["cases"]]
    return {
        "key": key,
        "title": get_method_name(way, phrases),
        "note": f"{phrases['ece']}: {format_cell(figures['ece'])}",
        "drawing": Markup(draw_unit_plot(plot, key)),  # noqa: S704 -- our own, its texts escaped
        "legend": [],
        "head": head,
        "rows": [
            [format_cell(row["probability"]), format_cell(row["right"]), format_cell(row["cases"])]
            for row in rows
        ],
    }


def _build_coverage_plots(value: Evaluation, words: Words) -> list[dict[str, Any]]:
    """Draw how many verdicts are right if the less probable ones are kept back."""
    phrases, key = EVALUATION[words.language], f"{words.language}-coverage-plot-0"
    drawn, legend, rows = [], [], []
    for index, (way, figures) in enumerate(value["ways"].items()):
        points = [(covered, right) for _, covered, right in figures["precision_over_coverage"]]
        name, colour = get_method_name(way, phrases), index % _COLOURS
        is_line = bool(points)
        points = points or [(figures["coverage"], figures["verdict_precision"] or 0.0)]
        drawn.append(PlottedMethod(colour, points, is_line=is_line))
        legend.append((colour, is_line, name))
        covered, right = points[-1]
        rows.append([name, format_cell(covered), format_cell(right)])
    lowest = min((y for curve in drawn for _, y in curve.points), default=0.0)
    names = words("joint").join(name for _, _, name in legend)
    plot = UnitPlot(
        drawn,
        phrases["x.coverage"],
        phrases["y.precision"],
        phrases["coverage-plot"],
        phrases["plot.coverage"].format(ways=names),
        low=_HALF if lowest >= _HALF else 0.0,
    )
    return [
        {
            "key": key,
            "title": phrases["coverage-plot"],
            "note": "",
            "drawing": Markup(draw_unit_plot(plot, key)),  # noqa: S704 -- our own, its texts escaped
            "legend": legend,
            "head": [phrases["way"], phrases["x.coverage"], phrases["y.precision"]],
            "rows": rows,
        }
    ]
