"""The page of a comparison: one self-contained HTML file in all languages, as the report's is.

In: a `Comparison`. Out: HTML. Not here: finding what differs (`compare`), the curves
(`page.comparison_curves`), the frame of the page and its policy (`page.frame`).
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from markupsafe import Markup

from postmortem.core.comparison import Comparison, Differing, Wording
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.message import Message
from postmortem.core.names import LANGUAGES
from postmortem.report import parts
from postmortem.report.comparison_redacted import (
    build_redactor,
    redact_comparison,
    translate_comparison,
)
from postmortem.report.comparison_texts import describe_divergence
from postmortem.report.for_people import prepare_for_display
from postmortem.report.page.comparison_curves import (
    build_comparison_contexts,
    build_comparison_panels,
)
from postmortem.report.page.frame import TAGS, load_templates, render_page
from postmortem.report.page.panel import Panel
from postmortem.report.page.panel_figures import dump_script_phrases
from postmortem.report.plain import format_one_line, format_percent
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.wire import get_tool_version
from postmortem.report.words import Words
from postmortem.report.words.comparison_words import COMPARISON

_PATHS_SHOWN: Final = 4
_AT_ONCE: Final = 40
"""Lines and facts of a section, the others of which are folded."""
_LISTED: Final = 1000
_LONGEST: Final = 400


def render_comparison(
    compared: Comparison[Message], *, language: str = "en", redact: bool = True
) -> str:
    """Write a comparison as a page that opens in a language and can be switched to the others."""
    redactor = build_redactor(translate_comparison(compared, language)) if redact else None
    languages = [language, *(other for other in LANGUAGES if other != language)]
    articles = [
        _render_article(translate_comparison(compared, code), redactor) for code in languages
    ]
    return render_page(articles, articles[0]["charts"])


def _render_article(found: Comparison, redactor: Redactor | None) -> dict[str, Any]:
    """Render a comparison in one language; the same redactor serves all of them."""
    words = Words(found.bad.language)
    phrases = COMPARISON[words.language]
    hide: Callable[[str], str] = str
    if redactor is not None:
        found, hide = redact_comparison(found, redactor), redactor.text
    charts = build_comparison_panels(found)
    body = (
        load_templates()
        .get_template("comparison.html.j2")
        .render(
            say=words,
            told=phrases,
            phrases=dump_script_phrases(words),
            at_once=_AT_ONCE,
            listed=_LISTED,
            made=words("made", version=get_tool_version(), base=found.bad.knowledge_base),
            hidden=parts.describe_redactions(redactor, words),
            **_build_differences(found, charts, hide, words),
        )
    )
    return {
        "language": words.language,
        "lang": TAGS[words.language],
        "title": phrases["title"],
        "say": words,
        "charts": charts,
        "body": Markup(body),  # noqa: S704 -- escaped by its template
    }


def _build_differences(
    found: Comparison, charts: Sequence[Panel], hide: Callable[[str], str], words: Words
) -> dict[str, Any]:
    """Give what stands side by side."""
    phrases, drawn = COMPARISON[words.language], {panel.main.name for panel in charts}
    divergences = {curve.name: describe_divergence(curve, phrases) for curve in found.curves}
    return {
        "mood": parts.get_verdict_color(found.bad),
        "lead": next(iter(divergences.values()), ""),
        "runs": [
            (phrases["good"], _run(found.good, hide, words)),
            (phrases["bad"], _run(found.bad, hide, words)),
        ],
        "facts": [
            ("settings", _build_difference_rows(found.settings, hide)),
            ("environment", _build_difference_rows(found.environment, hide)),
        ],
        "figures": build_comparison_contexts(charts, found, divergences, words),
        "sentences": [sentence for name, sentence in divergences.items() if name not in drawn],
        "lines": [
            ("only_bad", _build_line_rows(found.only_bad, hide)),
            ("only_good", _build_line_rows(found.only_good, hide)),
        ],
    }


def _run(run: Diagnosis, hide: Callable[[str], str], words: Words) -> dict[str, str]:
    """Say of a run what was read, how it ended, and why."""
    shown, verdict = prepare_for_display(run), run.verdict
    paths = [source.path for source in run.sources if source.kind != "ignored"]
    more = [words("more", count=len(paths) - _PATHS_SHOWN)] if len(paths) > _PATHS_SHOWN else []
    return {
        "paths": hide(words("joint").join([*paths[:_PATHS_SHOWN], *more])),
        "outcome": parts.format_outcome(shown, run.outcome, words),
        "title": hide(parts.format_title(shown, words)),
        "cause": f"{verdict.cause} · {format_percent(verdict.probability)}"
        if verdict.cause
        else "",
        "mood": parts.get_verdict_color(run),
    }


def _build_difference_rows(
    differing: Sequence[Differing], hide: Callable[[str], str]
) -> list[tuple[str | None, ...]]:
    """Give rows of name, good and bad."""
    return [
        (
            format_one_line(name, 80),
            *(
                None if value is None else format_one_line(hide(value), _LONGEST)
                for value in (good, bad)
            ),
        )
        for name, good, bad in differing
    ]


def _build_line_rows(
    wordings: Sequence[Wording], hide: Callable[[str], str]
) -> list[dict[str, Any]]:
    """Give the lines of one run, with their files where there are several."""
    is_several = len({wording.source for wording in wordings}) > 1
    return [
        {
            "text": format_one_line(wording.text, _LONGEST),
            "line": wording.line,
            "times": wording.times,
            "file": hide(wording.source).replace("\\", "/").rsplit("/", 1)[-1]
            if is_several
            else "",
        }
        for wording in wordings[:_LISTED]
    ]
