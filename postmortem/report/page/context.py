"""What the template of the page shows, in one language.

In: a `Diagnosis` and words. Out: plain values by name. Not here: the curves (`page.panel_figures`),
joining the languages of a page (`page.html`).
"""

from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup, escape

from postmortem.model.answer import Cause, Evidence
from postmortem.model.diagnosis import Diagnosis
from postmortem.model.job_facts import Attempt
from postmortem.model.said import cut
from postmortem.model.visible import safe
from postmortem.redaction.redactor import Redactor
from postmortem.report import about_run, milestones_told, parts
from postmortem.report.for_people import input_kind
from postmortem.report.key_figures import failing_line, figures_of, own_code
from postmortem.report.page.process_lanes import lanes
from postmortem.report.page.quoted_lines import (
    LONGEST_LINE,
    NO_SPOT,
    number_of,
    quoted_files,
    spot_of,
    weighed,
)
from postmortem.report.page.replay_article import replay_context
from postmortem.report.page.small_curve import sketch
from postmortem.report.plain import file_name, number, percent, process, weight, when
from postmortem.report.wire import tool_version
from postmortem.report.words import Words

_FIXES_SHOWN: Final = 4
_FULL_WEIGHT: Final = 5.0
"""Log-odds from which the bar of a piece of evidence is full."""
_LISTED: Final = 200
_AT_ONCE: Final = 12
"""Entries of a list, the others of which are folded."""
_LOG_KINDS: Final = ("signature", "traceback", "setting")


def _prose(text: str) -> Markup:
    """Show what a text of ours puts between backticks as code."""
    pieces = safe(text).split("`")
    if len(pieces) % 2 == 0:
        return escape("`".join(pieces))
    return Markup().join(
        Markup("<code>{}</code>").format(piece) if index % 2 else piece
        for index, piece in enumerate(pieces)
    )


def _paragraphs(text: str) -> list[Markup]:
    return [_prose(paragraph) for paragraph in parts.paragraphs(text)]


def _is_link(text: str) -> bool:
    return text.startswith("https://")


_TOOLS: Final[Mapping[str, Any]] = {
    "share": percent,
    "number": number,
    "weight": weight,
    "when": when,
    "paragraphs": _paragraphs,
    "prose": _prose,
    "is_link": _is_link,
    "fixes_shown": _FIXES_SHOWN,
    "at_once": _AT_ONCE,
}
"""How the template writes a value, and how much it shows at once."""


def article_context(
    diagnosis: Diagnosis, words: Words, redactor: Redactor | None
) -> dict[str, Any]:
    """Gather what the template shows."""
    return {
        "d": diagnosis,
        "say": words,
        "has_log": not input_kind(diagnosis),
        "made": words("made", version=tool_version(), base=diagnosis.knowledge_base),
        "hidden": parts.hidden(redactor, words),
        "share_command": "" if input_kind(diagnosis) else about_run.share_command(diagnosis),
        **_TOOLS,
        "replay": replay_context(diagnosis.replay, words),
        **_verdict(diagnosis, words),
        **_happened(diagnosis, words),
        **_surroundings(diagnosis, words),
    }


def _verdict(diagnosis: Diagnosis, words: Words) -> dict[str, Any]:
    """Give the answer, what speaks for it, and what else was weighed."""
    cause = parts.main_cause(diagnosis)
    return {
        "mood": parts.mood(diagnosis),
        "is_sound": parts.is_sound(diagnosis),
        "tone": parts.tone(diagnosis),
        "fault": _fault(diagnosis, words),
        "own_code": own_code(diagnosis, words),
        "figures": figures_of(diagnosis, words),
        "sketch": sketch(diagnosis, words),
        "title": parts.title(diagnosis, words),
        "outcome": parts.outcome(diagnosis, diagnosis.outcome, words),
        "meaning": parts.meaning(diagnosis, words),
        "has_lead": diagnosis.verdict.status == "unknown" or parts.is_rivalled(diagnosis),
        "cause": cause,
        "evidence": _evidence(diagnosis, cause, words, is_cited=True) if cause is not None else [],
        "others": [
            (other, _evidence(diagnosis, other, words)) for other in parts.other_causes(diagnosis)
        ],
        "would_change": parts.would_change(diagnosis),
        "advisories": parts.advisories(diagnosis),
        "quotes": quoted_files(diagnosis, cause, words),
    }


def _fault(diagnosis: Diagnosis, words: Words) -> dict[str, Any] | None:
    """Give the line that failed, or that speaks most for the verdict, with its place."""
    quoted, first = failing_line(diagnosis), diagnosis.first_failure
    if quoted is None:
        return None
    return {
        "text": quoted.text,
        "spot": spot_of(diagnosis, quoted.source, (quoted.line, None), words),
        "process": process(first.where, words) if first is not None else "",
        "time": when(first.time).replace("T", " ") if first is not None else "",
    }


def _happened(diagnosis: Diagnosis, words: Words) -> dict[str, Any]:
    """Give what the log tells in the order of time."""
    return {
        "first": _first(diagnosis, words),
        "lanes": lanes(diagnosis, words),
        "timeline": [
            (
                event,
                spot_of(diagnosis, event.source, (event.line, None), words),
                process(event.where, words),
                milestones_told.told(event),
            )
            for event in diagnosis.timeline[:_LISTED]
        ],
        "events_left": max(0, len(diagnosis.timeline) - _LISTED) + diagnosis.events_left,
        "harmless": [
            (hit, spot_of(diagnosis, hit.source, (hit.line, hit.end_line), words))
            for hit in parts.harmless(diagnosis)
        ],
        "checkpoint": about_run.checkpoint(diagnosis, words),
    }


def _surroundings(diagnosis: Diagnosis, words: Words) -> dict[str, Any]:
    """Give what the run was made on and of, and the files that tell of it."""
    sources, attempts = diagnosis.sources, about_run.attempts(diagnosis)
    files = [about_run.source(source, words) for source in sources[:_LISTED]]
    tries = [_attempt(diagnosis, attempt, words) for attempt in attempts[:_LISTED]]
    return {
        "facts": about_run.facts(diagnosis.environment, words),
        "frameworks": about_run.frameworks(diagnosis),
        "packages": [
            (name, version, NO_SPOT) for name, version in diagnosis.environment.packages.items()
        ],
        "settings": [
            (
                name,
                about_run.setting_value(setting.value),
                spot_of(diagnosis, setting.source, (setting.line, None), words),
            )
            for name, setting in diagnosis.settings.items()
        ],
        "sources": _listed(files, len(sources), words),
        "attempts": _listed(tries, len(attempts), words),
    }


def _evidence(
    diagnosis: Diagnosis, cause: Cause, words: Words, *, is_cited: bool = False
) -> list[dict[str, Any]]:
    return [
        _item(diagnosis, item, words, number_of(words, index) if is_cited else "")
        for index, item in enumerate(weighed(cause), 1)
    ]


def _item(diagnosis: Diagnosis, item: Evidence, words: Words, name: str) -> dict[str, Any]:
    return {
        "anchor": name,
        "weight": weight(item.weight),
        "share": min(1.0, abs(item.weight) / _FULL_WEIGHT),
        "side": "for" if item.weight >= 0 else "against",
        "text": cut(item.text, LONGEST_LINE),
        "is_log": item.kind in _LOG_KINDS,
        "kind": words.either("by", item.kind),
        "for": words("side.for" if item.weight >= 0 else "side.against"),
        "references": item.references,
        "carried": [
            (
                list(one.terms),
                spot_of(diagnosis, one.source, (one.line, None), words),
            )
            for one in item.carried
            if one.terms
        ],
        "id": item.id,
        "spot": spot_of(diagnosis, item.source, (item.line, item.end_line), words),
        "process": process(item.where, words),
    }


def _first(diagnosis: Diagnosis, words: Words) -> dict[str, Any] | None:
    first = diagnosis.first_failure
    if first is None:
        return None
    spot = spot_of(diagnosis, first.source, (first.line, None), words)
    return {
        "spot": spot,
        "process": process(first.where, words),
        "time": when(first.time).replace("T", " "),
        "why": first.why,
    }


def _listed(items: list[str], count: int, words: Words) -> list[str]:
    """Say of a list what it leaves out."""
    return [*items, words("more", count=count - len(items))] if count > len(items) else items


def _attempt(diagnosis: Diagnosis, one: Attempt, words: Words) -> str:
    said = words(
        "attempt",
        first=one.first_line,
        last=one.last_line,
        outcome=parts.outcome(diagnosis, one.outcome, words),
    )
    return file_name(diagnosis, one.source, words) + words("colon") + said
