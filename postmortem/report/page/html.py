"""The page: one self-contained HTML file in all languages, whole without its one script.

It needs no network, is light and dark, fit for a phone and for paper.

In: a `Diagnosis`, and the same in other languages. Out: HTML. Not here: the layout (`templates/`),
which lines are quoted (`story.quotes`). Every value passes `plain.safe` and then Jinja's escaping;
only our own SVG, style sheet and script are marked as safe. The page's policy names both by their
hashes, so that nothing else can run or restyle it.
"""

import base64
import functools
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from postmortem.model.diagnosis import Diagnosis
from postmortem.model.shown import SeriesView
from postmortem.model.visible import safe
from postmortem.redaction.redactor import Redactor
from postmortem.report import parts
from postmortem.report.for_people import presentable
from postmortem.report.page import chart_data, panel_figures
from postmortem.report.page.arrange import panels
from postmortem.report.page.context import article_context
from postmortem.report.page.panel import Panel
from postmortem.report.plain import number, one_line
from postmortem.report.plotted import chosen, is_constant
from postmortem.report.redacted import redact as hide
from postmortem.report.words import Words
from postmortem.resources import folder

_TAGS: Final = {"en": "en", "zh": "zh-CN"}
_CHARTS_SHOWN: Final = 12
_CONSTANT_SHOWN: Final = 12
_STYLES: Final = ("vendor/uPlot.min.css", "style.css", "chart.css")
_CHART_SCRIPTS: Final = ("vendor/uPlot.LICENSE", "vendor/uPlot.iife.min.js", "chart.js")


def render_html(
    diagnosis: Diagnosis, *, redact: bool = True, translations: Sequence[Diagnosis] = ()
) -> str:
    """Write the report as a page.

    It opens in the language of the diagnosis and can be switched to those of its translations.
    """
    redactor = Redactor() if redact else None
    environment = _environment()
    articles = [_article(shown, environment, redactor) for shown in (diagnosis, *translations)]
    charts = articles[0]["charts"]
    style, script = _own(*_STYLES), _own("page.js", *(_CHART_SCRIPTS if charts else ()))
    template = environment.get_template("report.html.j2")
    return template.render(
        articles=articles,
        charts=chart_data.data(charts) if charts else "",
        style=Markup(style),  # noqa: S704 -- our own files
        style_hash=_hash("\n" + style),
        script=Markup(script),  # noqa: S704 -- our own files
        script_hash=_hash(script),
    )


def _own(*names: str) -> str:
    """Join files of ours; a licence becomes a comment."""
    texts = [
        (folder("templates") / name).read_text(encoding="utf-8").rstrip("\n") for name in names
    ]
    return "".join(
        f"/*\n{text}\n*/\n" if name.endswith("LICENSE") else f"{text}\n"
        for name, text in zip(names, texts, strict=True)
    )


def _hash(text: str) -> str:
    """Name a script or style as a content-security policy does."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _article(
    diagnosis: Diagnosis, environment: Environment, redactor: Redactor | None
) -> dict[str, Any]:
    """Render the report in one language.

    The same redactor gives a name the same pseudonym in all of them.
    """
    shown = presentable(diagnosis)
    shown = hide(shown, redactor) if redactor is not None else shown
    words = Words(shown.language)
    first = shown.first_failure
    wanted = chosen(shown.series, failing=None if first is None else first.source)
    drawn = tuple(one for one in wanted if not is_constant(one))[:_CHARTS_SHOWN]
    charts = panels(shown, drawn)
    body = environment.get_template("article.html.j2").render(
        curves=_curves(shown, drawn, charts, words)
        | {"constant": _constant(filter(is_constant, wanted), words)},
        **article_context(shown, words, redactor),
    )
    title = f"{parts.title(shown, words)} · {words('report')}"
    return {
        "language": words.language,
        "lang": _TAGS[words.language],
        "title": title,
        "say": words,
        "charts": charts,
        "body": Markup(body),  # noqa: S704 -- escaped by its template
    }


@functools.cache
def _environment() -> Environment:
    """Give the templates, compiled once."""
    return Environment(
        loader=FileSystemLoader(folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown,
    )


def _shown(value: Any) -> Any:
    """Neutralise control characters in whatever the template prints."""
    return safe(value) if type(value) is str else value


def _curves(
    diagnosis: Diagnosis, drawn: Sequence[SeriesView], charts: Sequence[Panel], words: Words
) -> dict[str, Any]:
    """Give the curves in one language.

    Figures, what the script says, what is told in words, how many series are left out.
    """
    in_charts = {id(track.series) for panel in charts for track in panel.tracks}
    return {
        "figures": panel_figures.figures(diagnosis, charts, words),
        "phrases": panel_figures.phrases(words),
        "points": [
            (one.name, parts.single_point(one, words))
            for one in drawn
            if id(one) not in in_charts and len(one.samples) < 2
        ],
        "more": sum(not is_constant(one) for one in diagnosis.series)
        - len(in_charts.union(map(id, drawn))),
    }


def _constant(series: Iterable[SeriesView], words: Words) -> str:
    """Tell in a line of the series that never change; of a name the first."""
    values = {one.name: (number(one.first[1]), one.points) for one in reversed(list(series))}
    said = [
        words("curve.constant.one", name=one_line(name, 40), value=value, count=count)
        for name, (value, count) in sorted(values.items())[:_CONSTANT_SHOWN]
    ]
    return words("curve.constant", what=words("semicolon").join(said)) if said else ""
