"""The page of a comparison: one self-contained HTML file in all languages, as the report's is.

In: a `Comparison`. Out: HTML. Not here: finding what differs (`compare`), the curves
(`page.compared_curves`), the frame of the page and its policy (`page.frame`).
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from markupsafe import Markup

from postmortem.model.comparison import Comparison, Differing, Wording
from postmortem.model.diagnosis import Diagnosis
from postmortem.model.said import Said
from postmortem.names import LANGUAGES
from postmortem.redaction.redactor import Redactor
from postmortem.report import parts
from postmortem.report.comparison_redacted import in_language, learnt, redacted
from postmortem.report.for_people import presentable
from postmortem.report.page.compared_curves import figures_of, panels_of
from postmortem.report.page.frame import TAGS, page_of, templates
from postmortem.report.page.panel import Panel
from postmortem.report.page.panel_figures import phrases
from postmortem.report.plain import one_line, percent
from postmortem.report.side_by_side import curve_in_words
from postmortem.report.wire import tool_version
from postmortem.report.words import Words
from postmortem.report.words.comparison_words import COMPARISON

_PATHS_SHOWN: Final = 4
_AT_ONCE: Final = 40
"""Lines and facts of a section, the others of which are folded."""
_LISTED: Final = 1000
_LONGEST: Final = 400


def render_comparison(
    compared: Comparison[Said], *, language: str = "en", redact: bool = True
) -> str:
    """Write a comparison as a page that opens in a language and can be switched to the others."""
    redactor = learnt(in_language(compared, language)) if redact else None
    languages = [language, *(other for other in LANGUAGES if other != language)]
    articles = [_article(in_language(compared, one), redactor) for one in languages]
    return page_of(articles, articles[0]["charts"])


def _article(found: Comparison, redactor: Redactor | None) -> dict[str, Any]:
    """Render a comparison in one language; the same redactor serves all of them."""
    words = Words(found.bad.language)
    told = COMPARISON[words.language]
    hide: Callable[[str], str] = str
    if redactor is not None:
        found, hide = redacted(found, redactor), redactor.text
    charts = panels_of(found)
    body = (
        templates()
        .get_template("comparison.html.j2")
        .render(
            say=words,
            told=told,
            phrases=phrases(words),
            at_once=_AT_ONCE,
            listed=_LISTED,
            made=words("made", version=tool_version(), base=found.bad.knowledge_base),
            hidden=parts.hidden(redactor, words),
            **_differences(found, charts, hide, words),
        )
    )
    return {
        "language": words.language,
        "lang": TAGS[words.language],
        "title": told["title"],
        "say": words,
        "charts": charts,
        "body": Markup(body),  # noqa: S704 -- escaped by its template
    }


def _differences(
    found: Comparison, charts: Sequence[Panel], hide: Callable[[str], str], words: Words
) -> dict[str, Any]:
    """Give what stands side by side."""
    told, drawn = COMPARISON[words.language], {panel.main.name for panel in charts}
    said = {curve.name: curve_in_words(curve, told) for curve in found.curves}
    return {
        "mood": parts.mood(found.bad),
        "lead": next(iter(said.values()), ""),
        "runs": [
            (told["good"], _run(found.good, hide, words)),
            (told["bad"], _run(found.bad, hide, words)),
        ],
        "facts": [
            ("settings", _facts(found.settings, hide)),
            ("environment", _facts(found.environment, hide)),
        ],
        "figures": figures_of(charts, found, said, words),
        "sentences": [sentence for name, sentence in said.items() if name not in drawn],
        "lines": [
            ("only_bad", _lines(found.only_bad, hide)),
            ("only_good", _lines(found.only_good, hide)),
        ],
    }


def _run(run: Diagnosis, hide: Callable[[str], str], words: Words) -> dict[str, str]:
    """Say of a run what was read, how it ended, and why."""
    shown, verdict = presentable(run), run.verdict
    paths = [source.path for source in run.sources if source.kind != "ignored"]
    more = [words("more", count=len(paths) - _PATHS_SHOWN)] if len(paths) > _PATHS_SHOWN else []
    return {
        "paths": hide(words("joint").join([*paths[:_PATHS_SHOWN], *more])),
        "outcome": parts.outcome(shown, run.outcome, words),
        "title": hide(parts.title(shown, words)),
        "cause": f"{verdict.cause} · {percent(verdict.probability)}" if verdict.cause else "",
        "mood": parts.mood(run),
    }


def _facts(
    differing: Sequence[Differing], hide: Callable[[str], str]
) -> list[tuple[str | None, ...]]:
    """Give rows of name, good and bad."""
    return [
        (
            one_line(name, 80),
            *(None if value is None else one_line(hide(value), _LONGEST) for value in (good, bad)),
        )
        for name, good, bad in differing
    ]


def _lines(wordings: Sequence[Wording], hide: Callable[[str], str]) -> list[dict[str, Any]]:
    """Give the lines of one run, with their files where there are several."""
    is_several = len({one.source for one in wordings}) > 1
    return [
        {
            "text": one_line(one.text, _LONGEST),
            "line": one.line,
            "times": one.times,
            "file": hide(one.source).replace("\\", "/").rsplit("/", 1)[-1] if is_several else "",
        }
        for one in wordings[:_LISTED]
    ]
