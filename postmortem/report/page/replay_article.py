"""A replay on a page: a section of a report, or a page of its own.

In: a `Replayed`. Out: what the template shows; HTML. Not here: the picture (`page.module_peaks`),
the frame of the page and its policy (`page.frame`).
"""

from typing import Any, Final

from markupsafe import Markup

from postmortem.core.message import Message
from postmortem.core.names import LANGUAGES
from postmortem.core.replayed import Replayed
from postmortem.report import parts, replay_texts
from postmortem.report.one_language import translate_replay
from postmortem.report.page.frame import TAGS, load_templates, render_page
from postmortem.report.page.module_peaks import draw_peaks
from postmortem.report.plain import format_number
from postmortem.report.redacted import redact
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.wire import get_tool_version
from postmortem.report.words import Words

MOODS: Final = {
    "confirmed": "bad",
    "refuted": "good",
    "not-reproduced": "open",
    "not-testable": "",
}


def render_replay(found: Replayed[Message], language: str, redactor: Redactor | None) -> str:
    """Write a page that opens in a language and can be switched to the others."""
    languages = [language, *(other for other in LANGUAGES if other != language)]
    return render_page([_render_article(found, code, redactor) for code in languages], [])


def _render_article(
    found: Replayed[Message], language: str, redactor: Redactor | None
) -> dict[str, Any]:
    words = Words(language)
    shown = translate_replay(found, language)
    shown = redact(shown, redactor) if redactor is not None else shown
    body = (
        load_templates()
        .get_template("replay.html.j2")
        .render(
            say=words,
            replay=replay_context(shown, words),
            made=f"postmortem {get_tool_version()}",
            hidden=parts.describe_redactions(redactor, words),
        )
    )
    return {
        "language": words.language,
        "lang": TAGS[words.language],
        "title": words("replay.title"),
        "say": words,
        "charts": [],
        "body": Markup(body),  # noqa: S704 -- escaped by its template
    }


def replay_context(found: Replayed | None, words: Words) -> dict[str, Any] | None:
    """Give what the section shows; None if nothing was replayed."""
    if found is None:
        return None
    shown = replay_texts.sort_trials(found)
    return {
        "summary": found.summary,
        "facts": replay_texts.list_replay_facts(found, words),
        "verdicts": [
            (
                words("replay.verdict." + cause.verdict),
                MOODS[cause.verdict],
                cause.title or cause.cause,
                cause.cause,
                words("semicolon").join(cause.reasons),
            )
            for cause in replay_texts.sort_tested_causes(found)
        ],
        "culprits": [
            replay_texts.describe_faulty_sample(culprit, words) for culprit in found.culprits
        ],
        "trials": [
            (trial.title, words("replay.outcome." + trial.outcome), trial.text)
            for trial in shown
            if trial.outcome != "skipped"
        ],
        "skipped": [(trial.title, trial.text) for trial in shown if trial.outcome == "skipped"],
        "drawing": draw_peaks(found, words),
        "peaks_of": words(
            "replay.peaks.of",
            of=found.peaks_of,
            dtype=found.limit_of,
            limit=format_number(found.limit),
        ),
        "notes": replay_texts.list_notes(found, words),
        "mood": "bad" if found.confirmed else "open",
    }
