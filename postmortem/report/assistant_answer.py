"""A short diagnosis for a coding assistant, with quoted log text kept apart from our own.

In: a `Diagnosis`, the titles of the rules. Out: `AssistantAnswer`. Not here: the marks around what
is quoted (`report.untrusted_block`), pages of rules (`report.manual`).

`own` holds only what a log cannot influence: ids, titles of the taxonomy, figures, words of a fixed
vocabulary. Everything with text of a log, a path or a setting is in `quoted`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core.answer import Cause, Fix
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.visible import escape_control_characters
from postmortem.report import parts
from postmortem.report.for_people import prepare_for_display
from postmortem.report.plain import (
    format_one_line,
    format_percent,
    format_weight,
    place,
    process,
    shorten_source_path,
)
from postmortem.report.redacted import redact as hide
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.words import Words
from postmortem.report.words.assistant_words import ASSISTANT

_EVIDENCE, _FIXES, _OTHERS, _OPEN, _SOURCES, _WARNINGS = 8, 3, 3, 6, 16, 5
"""How many of each are told."""
_LONGEST: Final = 400
_LONGEST_SNIPPET: Final = 2000


class AssistantAnswer(NamedTuple):
    """What is said of a job."""

    own: str
    """In words of the program and its rules alone."""
    quoted: str
    """With words of the log."""
    figures: dict[str, Any]
    """The verdict for programs; no word of the log is among it."""


def build_answer(
    diagnosis: Diagnosis, titles: Mapping[str, str], *, redact: bool = True
) -> AssistantAnswer:
    """Tell a diagnosis.

    Args:
        diagnosis: in one language.
        titles: of causes and fixes by id, in that language, as the rules word them; of those
            alone that nothing is filled into.
        redact: replace secrets, host and user names.
    """
    shown = prepare_for_display(diagnosis)
    shown = hide(shown, Redactor()) if redact else shown
    words = Words(shown.language)
    phrases = ASSISTANT[words.language]
    cause = parts.get_main_cause(shown)
    fixes = cause.fixes[:_FIXES] if cause is not None else ()
    own = "\n".join(_render_trusted_lines(shown, fixes, titles, words))
    quoted = "\n".join(_render_quoted_sections(shown, cause, fixes, words))
    if not redact:
        own = f"{own}\n{phrases['unhidden']}"
    return AssistantAnswer(own, quoted, _build_verdict_values(shown, cause, titles))


def _render_trusted_lines(
    shown: Diagnosis, fixes: Sequence[Fix], titles: Mapping[str, str], words: Words
) -> Iterator[str]:
    """Yield what holds no word of the log."""
    phrases, colon, verdict = ASSISTANT[words.language], words("colon"), shown.verdict
    cause = verdict.cause
    title = parts.format_title(shown, words) if cause is None else titles.get(cause, cause)
    yield f"{parts.format_outcome(shown, shown.outcome, words)}{colon}{title}"
    standing = parts.format_confidence(shown, words)
    yield from filter(None, (" · ".join(filter(None, (cause, standing))),))
    yield from filter(None, (parts.format_owner_and_retry(shown, words),))
    yield from _list_advice(shown, phrases)
    others = [
        f"{format_percent(candidate.probability)} {candidate.id}"
        for candidate in parts.list_other_causes(shown)[:_OTHERS]
    ]
    if others:
        yield phrases["others"] + colon + words("joint").join(others)
    if fixes:
        yield (phrases["fixes"] + colon).rstrip()
    for number, fix in enumerate(fixes, 1):
        kind, safety = words.either("kind", fix.kind), words.either("safety", fix.safety)
        title = titles.get(fix.id, "")
        yield f"  {number}. {kind}{colon}{title} [{fix.id}; {safety}]"
    counts = {"need": len(verdict.need), "unchecked": len(verdict.not_checked)}
    if any(counts.values()):
        yield phrases["open"].format(**counts)


def _list_advice(shown: Diagnosis, phrases: Mapping[str, str]) -> Iterator[str]:
    """Yield what to make of a verdict that is none, or none yet."""
    if shown.verdict.cause is None:
        yield phrases["abstains"]
    elif shown.verdict.status == "hypothesis":
        yield phrases["hypothesis"]


def _render_quoted_sections(
    shown: Diagnosis, cause: Cause | None, fixes: Sequence[Fix], words: Words
) -> Iterator[str]:
    """Yield the sections that may hold words of the log."""
    phrases, verdict = ASSISTANT[words.language], shown.verdict
    yield from _render_section(phrases["first"], _describe_first_failure(shown, words))
    if cause is None or verdict.status == "hypothesis":
        yield from _render_section(phrases["summary"], parts.split_paragraphs(verdict.summary))
    if cause is not None:
        yield from _render_section(phrases["evidence"], _format_evidence(shown, cause, words))
    yield from _render_section(phrases["need"], _needs(shown, words))
    yield from _render_section(phrases["unchecked"], verdict.not_checked[:_OPEN])
    yield from _render_section(phrases["change"], verdict.would_change[:_OPEN])
    if fixes:
        yield phrases["details"]
        yield from _format_fixes(fixes)
    read = [source for source in shown.sources if source.kind != "ignored"]
    title = phrases["sources"].format(read=len(read), of=len(shown.sources))
    yield from _render_section(title, _format_sources(shown, words))
    yield from _render_section(phrases["warnings"], shown.warnings[:_WARNINGS])


def _render_section(title: str, items: Iterable[str]) -> Iterator[str]:
    """Yield a title and its lines; nothing where there is none."""
    lines = [f"  - {line}" for item in items if (line := format_one_line(item, _LONGEST))]
    if lines:
        yield from (title, *lines)


def _describe_first_failure(shown: Diagnosis, words: Words) -> Iterator[str]:
    yield parts.describe_first_failure(shown, words)
    frame = shown.first_failure.frame if shown.first_failure is not None else None
    if frame is not None:
        yield ASSISTANT[words.language]["frame"].format(
            file=frame.file, line=frame.line, function=frame.function, code=frame.code
        )


def _format_evidence(shown: Diagnosis, cause: Cause, words: Words) -> Iterator[str]:
    for item in parts.select_strongest_evidence(cause, _EVIDENCE):
        at = place(shown, item.source, (item.line, item.end_line), words)
        where = " ".join(filter(None, (at, process(item.where, words))))
        yield f"{format_weight(item.weight)} {where or words.either('by', item.kind)}: {item.text}"
    over = len(cause.evidence) - _EVIDENCE
    if over > 0:
        yield ASSISTANT[words.language]["more"].format(count=over)


def _needs(shown: Diagnosis, words: Words) -> Iterator[str]:
    for need in shown.verdict.need[:_OPEN]:
        yield f"{need.what}{words('colon')}{need.why}"
        if need.command:
            yield ASSISTANT[words.language]["command"].format(command=need.command)


def _format_fixes(fixes: Sequence[Fix]) -> Iterator[str]:
    """Yield fixes with the figures of this run filled in."""
    for number, fix in enumerate(fixes, 1):
        yield f"  {number}. {format_one_line(fix.title, _LONGEST)}"
        yield f"     {format_one_line(fix.why, _LONGEST)}"
        snippet = escape_control_characters(fix.snippet).rstrip("\n")
        if len(snippet) > _LONGEST_SNIPPET:
            snippet = snippet[:_LONGEST_SNIPPET] + "…"
        yield from (f"     | {line}" for line in snippet.splitlines())


def _format_sources(shown: Diagnosis, words: Words) -> Iterator[str]:
    """Yield the sources by their numbers, the ignored ones with the reason."""
    phrases = ASSISTANT[words.language]
    for index, source in enumerate(shown.sources[:_SOURCES]):
        name = shorten_source_path(shown, index, words)
        lines = phrases["lines"].format(kind=source.kind, count=source.lines)
        yield f"[{index}] {name} ({lines}){words('colon') + source.note if source.note else ''}"
    over = len(shown.sources) - _SOURCES
    if over > 0:
        yield phrases["more"].format(count=over)


def _build_verdict_values(
    shown: Diagnosis, cause: Cause | None, titles: Mapping[str, str]
) -> dict[str, Any]:
    """Give the verdict as plain values, of which a log can word none."""
    verdict = shown.verdict
    return {
        "cause": verdict.cause,
        "probability": verdict.probability,
        "status": verdict.status,
        "outcome": shown.outcome,
        "whose": verdict.whose,
        "retry": verdict.retry,
        "others": [
            {"cause": candidate.id, "probability": candidate.probability}
            for candidate in parts.list_other_causes(shown)[:_OTHERS]
        ],
        "fixes": [
            {"id": fix.id, "kind": fix.kind, "safety": fix.safety, "title": titles.get(fix.id, "")}
            for fix in (cause.fixes if cause is not None else ())
        ],
        "evidence": [
            {
                "kind": item.kind,
                "id": item.id,
                "weight": item.weight,
                "source": item.source,
                "line": item.line,
                "end_line": item.end_line,
            }
            for item in (
                parts.select_strongest_evidence(cause, _EVIDENCE) if cause is not None else ()
            )
        ],
        "sources_read": sum(source.kind != "ignored" for source in shown.sources),
        "sources_ignored": sum(source.kind == "ignored" for source in shown.sources),
    }
