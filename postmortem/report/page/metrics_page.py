"""The page of an evaluation: one self-contained HTML file in all languages, as the report's is.

In: the plain values of `postmortem.evaluation/1`. Out: HTML. Not here: the figures themselves
(`learn.metrics`), the same as tables of text (`terminal.metrics_tables`), the frame (`page.frame`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from postmortem.core.names import LANGUAGES
from postmortem.report.metrics_rows import (
    Evaluation,
    build_cause_rows,
    build_confusion_rows,
    build_metric_rows,
    build_source_rows,
    format_cell,
    get_method_name,
    select_default_method,
)
from postmortem.report.page.frame import TAGS, load_templates, render_page
from postmortem.report.page.unit_plot import PlottedMethod, UnitPlot, draw_unit_plot
from postmortem.report.words import Words
from postmortem.report.words.evaluation_words import EVALUATION

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
    body = (
        load_templates()
        .get_template("evaluation.html.j2")
        .render(
            say=words,
            told=phrases,
            at_once=_AT_ONCE,
            lead=_format_lead(value, phrases),
            judged=phrases[f"judged.{value['judged']}"],
            plots=[
                ("reliability", _build_reliability_plots(value, words)),
                ("coverage-plot", _build_coverage_plots(value, words)),
            ],
            made=words(
                "made",
                version=_get_tool_field(value, "version"),
                base=_get_tool_field(value, "knowledge_base"),
            ),
            classifier=_get_tool_field(value, "classifier"),
            **_build_tables(value, phrases),
        )
    )
    return {
        "language": words.language,
        "lang": TAGS[words.language],
        "title": phrases["title"],
        "say": words,
        "body": Markup(body),  # noqa: S704 -- escaped by its template
    }


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


def _get_tool_field(value: Evaluation, name: str) -> str:
    return str(value["tool"].get(name) or "")


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
