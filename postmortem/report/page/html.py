"""The report page: one self-contained HTML file in all languages, complete without its script.

It needs no network, has a light and a dark style, and fits phones and paper.

In: a `Diagnosis`, and the same in other languages. Out: HTML; for its template plain values by
name, in one language. Not here: the layout (`templates/`), the curves (`page.panel_figures`),
timeline lanes, quoted lines and the small curve (`page.article_parts`). Every value passes
`core.log_text` and then Jinja's escaping; only our own SVG, style sheet and script are marked as
safe. The frame with its policy is `page.frame`'s.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup, escape

from postmortem.core.answer import Cause, Evidence, SeriesView
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import Attempt
from postmortem.core.log_text import escape_control_characters, format_one_line
from postmortem.core.message import cut
from postmortem.report import about_run, parts
from postmortem.report.curves import is_constant, select_series
from postmortem.report.display import (
    detect_input_type,
    format_number,
    format_percent,
    format_time,
    format_weight,
    process,
    shorten_source_path,
)
from postmortem.report.key_figures import find_failing_line, find_user_code, list_key_values
from postmortem.report.page import panel_figures
from postmortem.report.page.article_parts import (
    LONGEST_LINE,
    NO_SPOT,
    build_evidence_anchor,
    build_lanes,
    build_quoted_files,
    build_spot,
    draw_sketch,
    sort_evidence,
)
from postmortem.report.page.frame import build_article, render_page, render_template
from postmortem.report.page.panel import Panel
from postmortem.report.page.panel_layout import build_panels
from postmortem.report.page.replay_article import replay_context
from postmortem.report.redacted import prepare_redacted
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.wire import get_tool_version
from postmortem.report.words import Words

_FIXES_SHOWN: Final = 4
_FULL_WEIGHT: Final = 5.0
"""Log-odds from which the bar of a piece of evidence is full."""
_LISTED: Final = 200
_AT_ONCE: Final = 12
"""Entries of a list, the others of which are folded."""
_LOG_KINDS: Final = ("signature", "traceback", "setting")


def _format_prose(text: str) -> Markup:
    """Show what a text of ours puts between backticks as code."""
    pieces = escape_control_characters(text).split("`")
    if len(pieces) % 2 == 0:
        return escape("`".join(pieces))
    return Markup().join(
        Markup("<code>{}</code>").format(piece) if index % 2 else piece
        for index, piece in enumerate(pieces)
    )


def _format_paragraphs(text: str) -> list[Markup]:
    return [_format_prose(paragraph) for paragraph in parts.split_paragraphs(text)]


def _is_link(text: str) -> bool:
    return text.startswith("https://")


_TOOLS: Final[Mapping[str, Any]] = {
    "share": format_percent,
    "number": format_number,
    "weight": format_weight,
    "when": format_time,
    "paragraphs": _format_paragraphs,
    "prose": _format_prose,
    "is_link": _is_link,
    "fixes_shown": _FIXES_SHOWN,
    "at_once": _AT_ONCE,
}
"""How the template writes a value, and how much it shows at once."""


def build_article_context(
    diagnosis: Diagnosis, words: Words, redactor: Redactor | None
) -> dict[str, Any]:
    """Gather what the template shows."""
    return {
        "d": diagnosis,
        "say": words,
        "has_log": not detect_input_type(diagnosis),
        "made": words("made", version=get_tool_version(), base=diagnosis.knowledge_base),
        "hidden": parts.describe_redactions(redactor, words),
        "share_command": ""
        if detect_input_type(diagnosis)
        else about_run.build_share_command(diagnosis),
        **_TOOLS,
        "replay": replay_context(diagnosis.replay, words),
        **_build_verdict_context(diagnosis, words),
        **_build_timeline_context(diagnosis, words),
        **_build_environment_context(diagnosis, words),
    }


def _build_verdict_context(diagnosis: Diagnosis, words: Words) -> dict[str, Any]:
    """Build the verdict, its evidence and the other candidates."""
    cause = parts.get_main_cause(diagnosis)
    return {
        "mood": parts.get_verdict_color(diagnosis),
        "is_sound": parts.is_sound(diagnosis),
        "tone": parts.get_outcome_color(diagnosis),
        "fault": _build_fault_context(diagnosis, words),
        "own_code": find_user_code(diagnosis, words),
        "figures": list_key_values(diagnosis, words),
        "sketch": draw_sketch(diagnosis, words),
        "title": parts.format_title(diagnosis, words),
        "outcome": parts.format_outcome(diagnosis, diagnosis.outcome, words),
        "meaning": parts.describe_status(diagnosis, words),
        "has_lead": diagnosis.verdict.status == "unknown" or parts.is_rivalled(diagnosis),
        "cause": cause,
        "evidence": _build_evidence_list(diagnosis, cause, words, is_cited=True)
        if cause is not None
        else [],
        "others": [
            (other, _build_evidence_list(diagnosis, other, words))
            for other in parts.list_other_causes(diagnosis)
        ],
        "would_change": parts.list_verdict_changes(diagnosis),
        "advisories": parts.list_advisories(diagnosis),
        "quotes": build_quoted_files(diagnosis, cause, words),
    }


def _build_fault_context(diagnosis: Diagnosis, words: Words) -> dict[str, Any] | None:
    """Give the failing line, or else the line with the strongest evidence, with its place."""
    quoted, first = find_failing_line(diagnosis), diagnosis.first_failure
    if quoted is None:
        return None
    return {
        "text": quoted.text,
        "spot": build_spot(diagnosis, quoted.source, (quoted.line, None), words),
        "process": process(first.where, words) if first is not None else "",
        "time": format_time(first.time).replace("T", " ") if first is not None else "",
    }


def _build_timeline_context(diagnosis: Diagnosis, words: Words) -> dict[str, Any]:
    """Build the timeline."""
    return {
        "first": _build_first_failure_context(diagnosis, words),
        "lanes": build_lanes(diagnosis, words),
        "timeline": [
            (
                event,
                build_spot(diagnosis, event.source, (event.line, None), words),
                process(event.where, words),
                parts.split_event_text(event),
            )
            for event in diagnosis.timeline[:_LISTED]
        ],
        "events_left": max(0, len(diagnosis.timeline) - _LISTED) + diagnosis.events_left,
        "harmless": [
            (hit, build_spot(diagnosis, hit.source, (hit.line, hit.end_line), words))
            for hit in parts.list_harmless_signatures(diagnosis)
        ],
        "checkpoint": about_run.describe_checkpoint(diagnosis, words),
    }


def _build_environment_context(diagnosis: Diagnosis, words: Words) -> dict[str, Any]:
    """Build the environment of the run and the list of its files."""
    sources, attempts = diagnosis.sources, about_run.list_attempts(diagnosis)
    files = [about_run.describe_source(source, words) for source in sources[:_LISTED]]
    tries = [_format_attempt(diagnosis, attempt, words) for attempt in attempts[:_LISTED]]
    return {
        "facts": about_run.list_environment_facts(diagnosis.environment, words),
        "frameworks": about_run.format_frameworks(diagnosis),
        "packages": [
            (name, version, NO_SPOT) for name, version in diagnosis.environment.packages.items()
        ],
        "settings": [
            (
                name,
                about_run.format_setting_value(setting.value),
                build_spot(diagnosis, setting.source, (setting.line, None), words),
            )
            for name, setting in diagnosis.settings.items()
        ],
        "sources": _add_remainder_note(files, len(sources), words),
        "attempts": _add_remainder_note(tries, len(attempts), words),
    }


def _build_evidence_list(
    diagnosis: Diagnosis, cause: Cause, words: Words, *, is_cited: bool = False
) -> list[dict[str, Any]]:
    return [
        _build_evidence_item(
            diagnosis, item, words, build_evidence_anchor(words, index) if is_cited else ""
        )
        for index, item in enumerate(sort_evidence(cause), 1)
    ]


def _build_evidence_item(
    diagnosis: Diagnosis, item: Evidence, words: Words, name: str
) -> dict[str, Any]:
    return {
        "anchor": name,
        "weight": format_weight(item.weight),
        "share": min(1.0, abs(item.weight) / _FULL_WEIGHT),
        "side": "for" if item.weight >= 0 else "against",
        "text": cut(item.text, LONGEST_LINE),
        "is_log": item.kind in _LOG_KINDS,
        "kind": words.either("by", item.kind),
        "for": words("side.for" if item.weight >= 0 else "side.against"),
        "references": item.references,
        "carried": [
            (
                list(entry.terms),
                build_spot(diagnosis, entry.source, (entry.line, None), words),
            )
            for entry in item.carried
            if entry.terms
        ],
        "id": item.id,
        "spot": build_spot(diagnosis, item.source, (item.line, item.end_line), words),
        "process": process(item.where, words),
    }


def _build_first_failure_context(diagnosis: Diagnosis, words: Words) -> dict[str, Any] | None:
    first = diagnosis.first_failure
    if first is None:
        return None
    spot = build_spot(diagnosis, first.source, (first.line, None), words)
    return {
        "spot": spot,
        "process": process(first.where, words),
        "time": format_time(first.time).replace("T", " "),
        "why": first.why,
    }


def _add_remainder_note(items: list[str], count: int, words: Words) -> list[str]:
    """Say of a list what it leaves out."""
    return [*items, words("more", count=count - len(items))] if count > len(items) else items


def _format_attempt(diagnosis: Diagnosis, attempt: Attempt, words: Words) -> str:
    text = words(
        "attempt",
        first=attempt.first_line,
        last=attempt.last_line,
        outcome=parts.format_outcome(diagnosis, attempt.outcome, words),
    )
    return shorten_source_path(diagnosis, attempt.source, words) + words("colon") + text


_CHARTS_SHOWN: Final = 12
_CONSTANT_SHOWN: Final = 12


def render_html(
    diagnosis: Diagnosis, *, redact: bool = True, translations: Sequence[Diagnosis] = ()
) -> str:
    """Write the report as a page.

    It opens in the language of the diagnosis and can be switched to those of its translations.
    """
    redactor = Redactor() if redact else None
    articles = [_render_article(shown, redactor) for shown in (diagnosis, *translations)]
    return render_page(articles, articles[0]["charts"])


def _render_article(diagnosis: Diagnosis, redactor: Redactor | None) -> dict[str, Any]:
    """Render the report in one language.

    The same redactor gives a name the same pseudonym in all of them.
    """
    shown = prepare_redacted(diagnosis, redactor)
    words = Words(shown.language)
    first = shown.first_failure
    wanted = select_series(shown.series, failing=None if first is None else first.source)
    drawn = tuple(curve for curve in wanted if not is_constant(curve))[:_CHARTS_SHOWN]
    charts = build_panels(shown, drawn)
    body = render_template(
        "article.html.j2",
        curves=_build_curves_context(shown, drawn, charts, words)
        | {"constant": _describe_constant_series(filter(is_constant, wanted), words)},
        **build_article_context(shown, words, redactor),
    )
    title = f"{parts.format_title(shown, words)} · {words('report')}"
    return build_article(words, title, body, charts=charts)


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
