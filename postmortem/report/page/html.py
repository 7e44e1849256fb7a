"""The report page: one self-contained HTML file in all languages, complete without its script.

It needs no network, has a light and a dark style, and fits phones and paper.

In: a `Diagnosis`, and the same in other languages. Out: HTML. Not here: the layout (`templates/`),
which lines are quoted (`story.quotes`). Every value passes `core.visible` and then Jinja's
escaping; only our own SVG, style sheet and script are marked as safe. The frame with its policy is
`page.frame`'s.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from postmortem.core.diagnosis import Diagnosis
from postmortem.core.shown import SeriesView
from postmortem.report import parts
from postmortem.report.for_people import prepare_for_display
from postmortem.report.page import panel_figures
from postmortem.report.page.context import build_article_context
from postmortem.report.page.frame import TAGS, load_templates, render_page
from postmortem.report.page.panel import Panel
from postmortem.report.page.panel_layout import build_panels
from postmortem.report.plain import format_number, format_one_line
from postmortem.report.plotted import is_constant, select_series
from postmortem.report.redacted import redact as hide
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.words import Words

_CHARTS_SHOWN: Final = 12
_CONSTANT_SHOWN: Final = 12


def render_html(
    diagnosis: Diagnosis, *, redact: bool = True, translations: Sequence[Diagnosis] = ()
) -> str:
    """Write the report as a page.

    It opens in the language of the diagnosis and can be switched to those of its translations.
    """
    redactor = Redactor() if redact else None
    environment = load_templates()
    articles = [
        _render_article(shown, environment, redactor) for shown in (diagnosis, *translations)
    ]
    return render_page(articles, articles[0]["charts"])


def _render_article(
    diagnosis: Diagnosis, environment: Environment, redactor: Redactor | None
) -> dict[str, Any]:
    """Render the report in one language.

    The same redactor gives a name the same pseudonym in all of them.
    """
    shown = prepare_for_display(diagnosis)
    shown = hide(shown, redactor) if redactor is not None else shown
    words = Words(shown.language)
    first = shown.first_failure
    wanted = select_series(shown.series, failing=None if first is None else first.source)
    drawn = tuple(curve for curve in wanted if not is_constant(curve))[:_CHARTS_SHOWN]
    charts = build_panels(shown, drawn)
    body = environment.get_template("article.html.j2").render(
        curves=_build_curves_context(shown, drawn, charts, words)
        | {"constant": _describe_constant_series(filter(is_constant, wanted), words)},
        **build_article_context(shown, words, redactor),
    )
    title = f"{parts.format_title(shown, words)} · {words('report')}"
    return {
        "language": words.language,
        "lang": TAGS[words.language],
        "title": title,
        "say": words,
        "charts": charts,
        "body": Markup(body),  # noqa: S704 -- escaped by its template
    }


def _build_curves_context(
    diagnosis: Diagnosis, drawn: Sequence[SeriesView], charts: Sequence[Panel], words: Words
) -> dict[str, Any]:
    """Give the curves in one language.

    Figures, phrases of the script, series described in words, the number of series left out.
    """
    in_charts = {id(track.series) for panel in charts for track in panel.tracks}
    return {
        "figures": panel_figures.build_panel_contexts(diagnosis, charts, words),
        "phrases": panel_figures.dump_script_phrases(words),
        "points": [
            (curve.name, parts.describe_single_point(curve, words))
            for curve in drawn
            if id(curve) not in in_charts and len(curve.samples) < 2
        ],
        "more": sum(not is_constant(curve) for curve in diagnosis.series)
        - len(in_charts.union(map(id, drawn))),
    }


def _describe_constant_series(series: Iterable[SeriesView], words: Words) -> str:
    """Tell in a line of the series that never change; of a name the first."""
    values = {
        curve.name: (format_number(curve.first[1]), curve.points)
        for curve in reversed(list(series))
    }
    texts = [
        words("curve.constant.one", name=format_one_line(name, 40), value=value, count=count)
        for name, (value, count) in sorted(values.items())[:_CONSTANT_SHOWN]
    ]
    return words("curve.constant", what=words("semicolon").join(texts)) if texts else ""
