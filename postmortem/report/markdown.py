"""The Markdown report: short, for a comment under an issue.

In: a `Diagnosis`. Out: GitHub-flavoured Markdown. Not here: posting it (`bots`), escaping and
defusing log text (`report.markdown_text`).
"""

from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.core.answer import Cause, Evidence, Fix, SignatureHit
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.message import cut
from postmortem.core.names import GRAD_NORM, LOSS, LOSS_SCALE
from postmortem.report import about_run, parts
from postmortem.report.curves import draw_sparkline, select_series
from postmortem.report.display import (
    format_number,
    format_percent,
    format_weight,
    place,
    process,
)
from postmortem.report.key_figures import find_user_code
from postmortem.report.markdown_text import (
    LONGEST,
    QUOTED,
    escape_prose,
    format_code_block,
    format_details,
    format_inline_code,
    join_blocks,
)
from postmortem.report.redacted import prepare_redacted
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.replay_texts import iter_replay_sections, list_replay_facts
from postmortem.report.wire import get_tool_version
from postmortem.report.words import Words

CURVES: Final = (LOSS, GRAD_NORM, LOSS_SCALE)
_ROWS: Final = 30
_FIXES_SHOWN: Final = 3
_EVIDENCE_SHOWN: Final = 6
_OTHERS_SHOWN: Final = 3
_WARNINGS_SHOWN: Final = 5
_EVENTS_SHOWN: Final = 15
_DOUBTS_SHOWN: Final = 12
_SPARKS: Final = 40
_EXPLAINED: Final = 700


def render_markdown(diagnosis: Diagnosis, *, redact: bool = True, longest: int = LONGEST) -> str:
    """Write the report as a comment: the verdict, what to do, the strongest evidence.

    The rest is folded, and left out where it would be too long for one.
    """
    redactor = Redactor() if redact else None
    shown = prepare_redacted(diagnosis, redactor)
    words = Words(shown.language)
    blocks = [*_render_verdict(shown, words), *_render_needs(shown, words)]
    cause = parts.get_main_cause(shown)
    if cause is not None:
        blocks += [
            *_render_fixes(shown, cause.fixes, words),
            *_render_evidence(shown, cause, words),
        ]
    blocks += [
        *_replay(shown, words),
        *_render_curves(shown, words),
        *_render_other_causes(shown, words),
        *_render_harmless(shown, words),
        *_render_timeline(shown, words),
        *_render_environment(shown, words),
        *_render_confidence_limits(shown, words),
    ]
    made = words("made", version=get_tool_version(), base=format_inline_code(shown.knowledge_base))
    return join_blocks(
        blocks,
        "<sub>"
        + " · ".join(part for part in (made, parts.describe_redactions(redactor, words)) if part)
        + "</sub>",
        words("comment.cut"),
        longest=longest,
    )


def _render_verdict(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    verdict = diagnosis.verdict
    outcome = parts.format_outcome(diagnosis, diagnosis.outcome, words)
    head = outcome[:1].upper() + outcome[1:] + words("colon") + parts.format_title(diagnosis, words)
    yield f"### {escape_prose(head)}"
    named = f"{format_inline_code(verdict.cause)} · " if verdict.cause is not None else ""
    sentences = [
        named + escape_prose(parts.format_confidence(diagnosis, words)),
        escape_prose(parts.format_owner_and_retry(diagnosis, words)),
    ]
    for warning in diagnosis.warnings[:_WARNINGS_SHOWN]:
        yield f"> **{words('warnings')}**{words('colon')}{escape_prose(warning)}"
    if any(sentences):
        yield "  \n".join(part for part in sentences if part)
    cause = parts.get_main_cause(diagnosis)
    if cause is None or verdict.status == "hypothesis" or not cause.explanation:
        yield from (
            escape_prose(paragraph) for paragraph in parts.split_paragraphs(verdict.summary)
        )
    if cause is not None:
        yield from (
            escape_prose(cut(paragraph, _EXPLAINED))
            for paragraph in parts.split_paragraphs(cause.explanation)[:1]
        )
    first = parts.describe_first_failure(diagnosis, words)
    if first:
        yield f"**{words('first')}**{words('colon')}{escape_prose(first)}"
    yield from _own_code(diagnosis, words)


def _own_code(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    """Yield the user's own line that failed, and its statement."""
    where, statement = find_user_code(diagnosis, words)
    if where:
        yield f"**{words('own-code')}**{words('colon')}{format_inline_code(where)}"
    if statement:
        yield format_code_block(statement, "python")


def _render_needs(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    if diagnosis.verdict.need:
        items = [
            f"{index}. {escape_prose(need.what)}{words('colon')}{escape_prose(need.why)}"
            + _format_snippet(need.command, "sh", index)
            for index, need in enumerate(diagnosis.verdict.need, 1)
        ]
        yield f"**{words('need')}**"
        yield from items


def _format_snippet(code_: str, language: str, index: int) -> str:
    """Put a snippet under an item of a numbered list."""
    return (
        "\n\n" + format_code_block(code_, language, _build_indent(index)) if code_.strip() else ""
    )


def _build_indent(index: int) -> str:
    """Give the blanks under which a text belongs to the item `9. ` or `10. `."""
    return " " * len(f"{index}. ")


def _render_evidence(diagnosis: Diagnosis, cause: Cause, words: Words) -> Iterator[str]:
    shown = parts.select_strongest_evidence(cause, _EVIDENCE_SHOWN)
    rest = [
        item
        for item in parts.select_strongest_evidence(cause, len(cause.evidence))
        if item not in shown
    ]
    if shown:
        yield (
            f"**{words('evidence')}**{words('bracketed', text=words('weight.note'))}\n\n"
            + "\n".join(_format_evidence_row(diagnosis, item, words) for item in shown)
        )
    for first in range(0, len(rest), _ROWS):
        yield format_details(
            words("evidence.more", count=len(rest) - first),
            "\n".join(
                _format_evidence_row(diagnosis, item, words) for item in rest[first : first + _ROWS]
            ),
        )


def _format_evidence_row(diagnosis: Diagnosis, item: Evidence, words: Words) -> str:
    where = (
        format_inline_code(place(diagnosis, item.source, (item.line, item.end_line), words))
        if item.line is not None
        else words.either("by", item.kind)
    )
    place_text = " ".join(
        part for part in (where, escape_prose(process(item.where, words))) if part
    )
    text = escape_prose(cut(item.text, QUOTED))
    row = f"- **{format_weight(item.weight)}** {place_text}{words('colon')}{text}"
    terms = parts.format_evidence_terms(diagnosis, item, words)
    return f"{row}  \n  {escape_prose(terms)}" if terms else row


def _render_fixes(diagnosis: Diagnosis, fixes: Sequence[Fix], words: Words) -> Iterator[str]:
    if not fixes:
        return
    items = [
        _format_fix(index, fix, parts.name_fix_kind(diagnosis, index, fix, words), words)
        for index, fix in enumerate(fixes, 1)
    ]
    yield f"**{words('fixes')}**"
    yield from items[:_FIXES_SHOWN]
    if items[_FIXES_SHOWN:]:
        yield format_details(
            words("fixes.more", count=len(items) - _FIXES_SHOWN), *items[_FIXES_SHOWN:]
        )


def _format_fix(index: int, fix: Fix, kind: str, words: Words) -> str:
    safety = (
        "" if fix.safety == "safe" else words("bracketed", text=words.either("safety", fix.safety))
    )
    why = escape_prose(cut(" ".join(parts.split_paragraphs(fix.why)), 600))
    return (
        f"{index}. **{kind}{words('colon')}"
        f"{escape_prose(fix.title)}**{safety}"
        + (f"  \n{_build_indent(index)}{why}" if why else "")
        + _format_snippet(fix.snippet, fix.language, index)
    )


def _render_curves(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    """Draw the curves that matter in one line each."""
    series = [
        curve for curve in select_series(diagnosis.series, CURVES, each=1) if len(curve.samples) > 1
    ]
    if series:
        width = max(len(curve.name) for curve in series)
        rows = [
            f"{curve.name:{width}}  {draw_sparkline(curve, _SPARKS)}"
            f"  {format_number(curve.first[1])} → {format_number(curve.last[1])}"
            for curve in series
        ]
        yield f"**{words('curves')}**\n\n" + format_code_block("\n".join(rows), "text")


def _replay(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    """Say what running the steps again has shown; the trials are folded."""
    found = diagnosis.replay
    if found is None:
        return
    paragraphs = [
        f"{label}{words('colon')}{escape_prose(value)}"
        for label, value in list_replay_facts(found, words)
    ]
    yield "  \n".join(
        [f"**{words('replay')}**{words('colon')}{escape_prose(found.summary)}", *paragraphs]
    )
    for title, lines in iter_replay_sections(found, words):
        yield format_details(title, format_code_block("\n".join(lines), "text"))


def _render_other_causes(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    others = parts.list_other_causes(diagnosis)[:_OTHERS_SHOWN]
    if others:
        is_named = diagnosis.verdict.cause is not None
        rows = "\n".join(
            f"- {escape_prose(format_percent(cause.probability))}"
            f" {escape_prose(cause.title)}{words('bracketed', text=format_inline_code(cause.id))}"
            for cause in others
        )
        yield (
            format_details(words("others"), rows)
            if is_named
            else f"**{words('candidates')}**\n\n{rows}"
        )


def _render_harmless(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    hits = parts.list_harmless_signatures(diagnosis)[:_OTHERS_SHOWN]
    if hits:
        yield format_details(
            words("harmless"),
            "\n".join(_format_harmless_row(diagnosis, hit, words) for hit in hits),
        )


def _format_harmless_row(diagnosis: Diagnosis, hit: SignatureHit, words: Words) -> str:
    because = words("colon") + escape_prose(hit.because) if hit.because else ""
    spot = words(
        "bracketed", text=format_inline_code(parts.format_signature_location(diagnosis, hit, words))
    )
    return f"- {escape_prose(hit.title or hit.text)}{spot}{because}"


def _render_timeline(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    events = parts.select_milestones(diagnosis, _EVENTS_SHOWN)
    if len(events) >= 3:
        left = len(diagnosis.timeline) - len(events) + diagnosis.events_left
        rest = [escape_prose(words("more", count=left))] if left else []
        yield format_details(
            words("timeline"),
            format_code_block(
                "\n".join(
                    "  ".join(parts.format_milestone(diagnosis, event, words)) for event in events
                ),
                "text",
            ),
            *rest,
        )


def _render_environment(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    progress = about_run.describe_progress(diagnosis, words)
    lines = [*about_run.describe_environment(diagnosis, words), *filter(None, progress)]
    if lines:
        yield format_details(words("environment"), format_code_block("\n".join(lines), "text"))


def _render_confidence_limits(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    """Say what was not looked at and what would change the verdict."""
    for key, texts in (
        ("change-mind", diagnosis.verdict.would_change),
        ("unchecked", diagnosis.verdict.not_checked),
    ):
        if texts:
            yield format_details(
                words(key), "\n".join(f"- {escape_prose(text)}" for text in texts[:_DOUBTS_SHOWN])
            )
