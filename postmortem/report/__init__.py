"""An analysis as text: for the terminal, as a page, as JSON, as a comment.

In: an `Analysis`, the name of a form, a language. Out: text. Not here: computing a verdict, reading
a log, writing a file, printing. A form's module is imported when it is asked for: Rich and Jinja
take longer to import than a small log takes to read.
"""

from dataclasses import replace
from importlib import import_module
from typing import Any, Final

from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import UsageError
from postmortem.core.names import LANGUAGES
from postmortem.report.display import translate_analysis

_RENDERERS: Final = {
    "terminal": ("postmortem.report.terminal.screen", "render_screen"),
    "html": ("postmortem.report.page.html", "render_html"),
    "json": ("postmortem.report.wire", "render_json"),
    "jsonl": ("postmortem.report.wire", "render_jsonl"),
    "sarif": ("postmortem.report.sarif", "render_sarif"),
    "github": ("postmortem.report.github", "render_github"),
    "markdown": ("postmortem.report.markdown", "render_markdown"),
}
_WHOLE: Final = ("postmortem.report.terminal.whole", "render_terminal")
_PAGE: Final = "html"
STORED: Final = "analysis"
"""The form that is kept: whole, in every language, unredacted."""
SHOWN_FORMS: Final = tuple(_RENDERERS)
"""What people and other programs read."""
FORMS: Final = (*SHOWN_FORMS, STORED)


def render(
    analysis: Analysis,
    form: str,
    *,
    language: str = "en",
    width: int = 80,
    color: bool = False,
    full: bool = False,
    redact: bool = True,
) -> str:
    """Render an analysis in one of `FORMS`; any other is a `UsageError`.

    `width`, `color` and `full` (all of it, not one screen) are for the terminal only. The page
    holds every language and opens in this one. `analysis` is the value itself, for programs that
    render, compare or keep it: it holds every language, and nothing in it is redacted.
    """
    if form not in FORMS:
        raise UsageError(
            f"there is no report form {form!r}", "format", f"choose one of {', '.join(FORMS)}"
        )
    if form == STORED:
        return str(import_module("postmortem.report.lossless").to_json(analysis))
    special: dict[str, Any] = {}
    if form == "terminal":
        special = {"width": width, "color": color}
    if form == _PAGE:
        others = [other for other in LANGUAGES if other != language]
        special = {"translations": [translate_analysis(analysis, other) for other in others]}
    else:
        # Redaction is most of a start's imports, and commands that render nothing import this.
        from postmortem.report.redacted import conceal_excerpt  # noqa: PLC0415

        # only the page shows them, but they tell what is a secret in other texts
        analysis = replace(analysis, quotes=tuple(map(conceal_excerpt, analysis.quotes)))
    module, name = _WHOLE if form == "terminal" and full else _RENDERERS[form]
    renderer = getattr(import_module(module), name)
    return str(renderer(translate_analysis(analysis, language), redact=redact, **special))
