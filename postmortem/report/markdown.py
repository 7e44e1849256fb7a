"""The Markdown report: short, for a comment under an issue.

In: a `Diagnosis`. Out: GitHub-flavoured Markdown. Not here: posting it (`bots`),
escaping and defusing log text (`report.markdown_text`).
"""

from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.model.answer import Cause, Evidence, Fix
from postmortem.model.diagnosis import Diagnosis
from postmortem.model.said import cut
from postmortem.model.shown import SignatureHit
from postmortem.names import GRAD_NORM, LOSS, LOSS_SCALE
from postmortem.redaction.redactor import Redactor
from postmortem.report import about_run, milestones_told, parts
from postmortem.report.for_people import presentable
from postmortem.report.key_figures import own_code
from postmortem.report.markdown_text import LONGEST, QUOTED, code, fence, fitted, folded, prose
from postmortem.report.plain import number, percent, place, process, weight
from postmortem.report.plotted import chosen
from postmortem.report.redacted import redact as hide
from postmortem.report.replay_told import facts, sections
from postmortem.report.sparks import sparkline
from postmortem.report.wire import tool_version
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
    shown = presentable(diagnosis)
    shown = hide(shown, redactor) if redactor is not None else shown
    words = Words(shown.language)
    blocks = [*_verdict(shown, words), *_need(shown, words)]
    cause = parts.main_cause(shown)
    if cause is not None:
        blocks += [*_fixes(cause.fixes, words), *_evidence(shown, cause, words)]
    blocks += [
        *_replay(shown, words),
        *_curves(shown, words),
        *_others(shown, words),
        *_harmless(shown, words),
        *_timeline(shown, words),
        *_environment(shown, words),
        *_doubts(shown, words),
    ]
    made = words("made", version=tool_version(), base=code(shown.knowledge_base))
    return fitted(
        blocks,
        "<sub>"
        + " · ".join(part for part in (made, parts.hidden(redactor, words)) if part)
        + "</sub>",
        words("comment.cut"),
        longest=longest,
    )


def _verdict(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    verdict = diagnosis.verdict
    outcome = parts.outcome(diagnosis, diagnosis.outcome, words)
    head = outcome[:1].upper() + outcome[1:] + words("colon") + parts.title(diagnosis, words)
    yield f"### {prose(head)}"
    named = f"{code(verdict.cause)} · " if verdict.cause is not None else ""
    said = [
        named + prose(parts.standing(diagnosis, words)),
        prose(parts.whose_and_retry(diagnosis, words)),
    ]
    for warning in diagnosis.warnings[:_WARNINGS_SHOWN]:
        yield f"> **{words('warnings')}**{words('colon')}{prose(warning)}"
    if any(said):
        yield "  \n".join(part for part in said if part)
    cause = parts.main_cause(diagnosis)
    if cause is None or verdict.status == "hypothesis" or not cause.explanation:
        yield from (prose(paragraph) for paragraph in parts.paragraphs(verdict.summary))
    if cause is not None:
        yield from (
            prose(cut(paragraph, _EXPLAINED))
            for paragraph in parts.paragraphs(cause.explanation)[:1]
        )
    first = parts.first_failure(diagnosis, words)
    if first:
        yield f"**{words('first')}**{words('colon')}{prose(first)}"
    yield from _own_code(diagnosis, words)


def _own_code(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    """Yield the user's own line that failed, and its statement."""
    where, statement = own_code(diagnosis, words)
    if where:
        yield f"**{words('own-code')}**{words('colon')}{code(where)}"
    if statement:
        yield fence(statement, "python")


def _need(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    if diagnosis.verdict.need:
        items = [
            f"{index}. {prose(need.what)}{words('colon')}{prose(need.why)}"
            + _snippet(need.command, "sh", index)
            for index, need in enumerate(diagnosis.verdict.need, 1)
        ]
        yield f"**{words('need')}**"
        yield from items


def _snippet(code_: str, language: str, index: int) -> str:
    """Put a snippet under an item of a numbered list."""
    return "\n\n" + fence(code_, language, _indent(index)) if code_.strip() else ""


def _indent(index: int) -> str:
    """Give the blanks under which a text belongs to the item `9. ` or `10. `."""
    return " " * len(f"{index}. ")


def _evidence(diagnosis: Diagnosis, cause: Cause, words: Words) -> Iterator[str]:
    shown = parts.strongest(cause, _EVIDENCE_SHOWN)
    rest = [item for item in parts.strongest(cause, len(cause.evidence)) if item not in shown]
    if shown:
        yield (
            f"**{words('evidence')}**{words('bracketed', text=words('weight.note'))}\n\n"
            + "\n".join(_evidence_row(diagnosis, item, words) for item in shown)
        )
    for first in range(0, len(rest), _ROWS):
        yield folded(
            words("evidence.more", count=len(rest) - first),
            "\n".join(
                _evidence_row(diagnosis, item, words) for item in rest[first : first + _ROWS]
            ),
        )


def _evidence_row(diagnosis: Diagnosis, item: Evidence, words: Words) -> str:
    where = (
        code(place(diagnosis, item.source, (item.line, item.end_line), words))
        if item.line is not None
        else words.either("by", item.kind)
    )
    said = " ".join(part for part in (where, prose(process(item.where, words))) if part)
    row = f"- **{weight(item.weight)}** {said}{words('colon')}{prose(cut(item.text, QUOTED))}"
    told = parts.carried(diagnosis, item, words)
    return f"{row}  \n  {prose(told)}" if told else row


def _fixes(fixes: Sequence[Fix], words: Words) -> Iterator[str]:
    if not fixes:
        return
    items = [_fix(index, fix, words) for index, fix in enumerate(fixes, 1)]
    yield f"**{words('fixes')}**"
    yield from items[:_FIXES_SHOWN]
    if items[_FIXES_SHOWN:]:
        yield folded(words("fixes.more", count=len(items) - _FIXES_SHOWN), *items[_FIXES_SHOWN:])


def _fix(index: int, fix: Fix, words: Words) -> str:
    safety = (
        "" if fix.safety == "safe" else words("bracketed", text=words.either("safety", fix.safety))
    )
    why = prose(cut(" ".join(parts.paragraphs(fix.why)), 600))
    return (
        f"{index}. **{words.either('kind', fix.kind)}{words('colon')}{prose(fix.title)}**{safety}"
        + (f"  \n{_indent(index)}{why}" if why else "")
        + _snippet(fix.snippet, fix.language, index)
    )


def _curves(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    """Draw the curves that matter in one line each."""
    series = [one for one in chosen(diagnosis.series, CURVES, each=1) if len(one.samples) > 1]
    if series:
        width = max(len(one.name) for one in series)
        rows = [
            f"{one.name:{width}}  {sparkline(one, _SPARKS)}  {number(one.first[1])} →"
            f" {number(one.last[1])}"
            for one in series
        ]
        yield f"**{words('curves')}**\n\n" + fence("\n".join(rows), "text")


def _replay(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    """Say what running the steps again has shown; the trials are folded."""
    found = diagnosis.replay
    if found is None:
        return
    told = [f"{label}{words('colon')}{prose(value)}" for label, value in facts(found, words)]
    yield "  \n".join([f"**{words('replay')}**{words('colon')}{prose(found.summary)}", *told])
    for title, lines in sections(found, words):
        yield folded(title, fence("\n".join(lines), "text"))


def _others(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    others = parts.other_causes(diagnosis)[:_OTHERS_SHOWN]
    if others:
        is_named = diagnosis.verdict.cause is not None
        rows = "\n".join(
            f"- {prose(percent(cause.probability))}"
            f" {prose(cause.title)}{words('bracketed', text=code(cause.id))}"
            for cause in others
        )
        yield folded(words("others"), rows) if is_named else f"**{words('candidates')}**\n\n{rows}"


def _harmless(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    hits = parts.harmless(diagnosis)[:_OTHERS_SHOWN]
    if hits:
        yield folded(
            words("harmless"), "\n".join(_harmless_row(diagnosis, hit, words) for hit in hits)
        )


def _harmless_row(diagnosis: Diagnosis, hit: SignatureHit, words: Words) -> str:
    because = words("colon") + prose(hit.because) if hit.because else ""
    spot = words("bracketed", text=code(parts.spot(diagnosis, hit, words)))
    return f"- {prose(hit.title or hit.text)}{spot}{because}"


def _timeline(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    events = milestones_told.milestones(diagnosis, _EVENTS_SHOWN)
    if len(events) >= 3:
        left = len(diagnosis.timeline) - len(events) + diagnosis.events_left
        rest = [prose(words("more", count=left))] if left else []
        yield folded(
            words("timeline"),
            fence(
                "\n".join(
                    "  ".join(milestones_told.milestone(diagnosis, event, words))
                    for event in events
                ),
                "text",
            ),
            *rest,
        )


def _environment(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    said = [
        about_run.frameworks(diagnosis),
        about_run.environment_line(diagnosis, words),
        *about_run.progress(diagnosis, words),
    ]
    lines = [part for part in said if part]
    if lines:
        yield folded(words("environment"), fence("\n".join(lines), "text"))


def _doubts(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    """Say what was not looked at and what would change the verdict."""
    for key, texts in (
        ("change-mind", diagnosis.verdict.would_change),
        ("unchecked", diagnosis.verdict.not_checked),
    ):
        if texts:
            yield folded(
                words(key), "\n".join(f"- {prose(text)}" for text in texts[:_DOUBTS_SHOWN])
            )
