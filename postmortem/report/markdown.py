"""The Markdown report: short, for a comment under an issue.

In: a `Diagnosis`. Out: GitHub-flavoured Markdown. Not here: posting it (`bots`).
Log text stands in fences longer than any run of backticks in it, or is escaped; mentions and issue numbers are defused.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from postmortem.model.diagnosis import Cause, Diagnosis, Evidence, Fix, SignatureHit
from postmortem.reading.redaction import Redactor
from postmortem.report import parts
from postmortem.report.plain import cut, one_line, percent, place, process, safe, weight
from postmortem.report.presentable import presentable
from postmortem.report.redacted import redact as hide
from postmortem.report.wire import tool_version
from postmortem.report.words import Words

_SPECIAL: Final = re.compile(r"[\\`*_\[\]~$|]|^[#+=-]|^\d{1,9}(?=[.)])")
_PINGING: Final = re.compile(r"[@#](?=\w)|\b(?:GH|gh)(?=-\d)")
_EVIDENCE_SHOWN: Final = 6
_OTHERS_SHOWN: Final = 3
_QUOTED: Final = 300
_WARNINGS_SHOWN: Final = 5
_EVENTS_SHOWN: Final = 15


def render_markdown(diagnosis: Diagnosis, *, redact: bool = True) -> str:
    """Write the report as a comment."""
    redactor = Redactor() if redact else None
    shown = presentable(diagnosis)
    shown = hide(shown, redactor) if redactor is not None else shown
    words = Words(shown.language)
    blocks = [*_verdict(shown, words), *_need(shown, words)]
    cause = parts.main_cause(shown)
    if cause is not None:
        blocks += [*_evidence(shown, cause, words), *_fixes(cause.fixes, words)]
    blocks += [*_others(shown, words), *_harmless(shown, words), *_timeline(shown, words), *_environment(shown, words)]
    made = words("made", version=tool_version(), base=one_line(shown.knowledge_base, 80))
    blocks.append("<sub>" + prose(" · ".join(part for part in (made, parts.hidden(redactor, words)) if part)) + "</sub>")
    return "\n\n".join(blocks) + "\n"


def prose(text: str) -> str:
    """Escape a text on one line, so that it is shown as it is and notifies nobody."""
    flat = _PINGING.sub(lambda match: match[0] + "\u200b", one_line(text, 2000))
    escaped = escape(flat, quote=False)
    return _SPECIAL.sub(lambda match: f"{match[0]}\u200b" if match[0].isdigit() else f"\\{match[0]}", escaped)


def code(text: str) -> str:
    """Put a text on one line into inline code that it cannot break out of."""
    flat = one_line(text, _QUOTED)
    ticks = "`" * (_longest_run(flat) + 1)
    gap = " " if flat[:1] == "`" or flat[-1:] == "`" else ""
    return f"{ticks}{gap}{flat}{gap}{ticks}" if flat else ""


def fence(text: str, language: str = "") -> str:
    """Put a text into a fenced block that it cannot break out of."""
    body = safe(text).strip("\n")
    ticks = "`" * max(3, _longest_run(body) + 1)
    info = language if re.fullmatch(r"[A-Za-z0-9+-]{1,20}", language) else ""
    return f"{ticks}{info}\n{body}\n{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)


def _verdict(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    verdict = diagnosis.verdict
    outcome = parts.outcome(diagnosis, diagnosis.outcome, words)
    yield f"### {prose(outcome + words('colon') + parts.title(diagnosis, words))}"
    named = f"{code(verdict.cause)} · " if verdict.cause is not None else ""
    said = [named + prose(parts.standing(diagnosis, words)), prose(parts.whose_and_retry(diagnosis, words))]
    for warning in diagnosis.warnings[:_WARNINGS_SHOWN]:
        yield f"> **{words('warnings')}**{words('colon')}{prose(warning)}"
    if any(said):
        yield "  \n".join(part for part in said if part)
    yield from (prose(paragraph) for paragraph in parts.paragraphs(verdict.summary))
    first = parts.first_failure(diagnosis, words)
    if first:
        yield f"**{words('first')}**{words('colon')}{prose(first)}"


def _need(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    if diagnosis.verdict.need:
        yield f"**{words('need')}**"
    for index, need in enumerate(diagnosis.verdict.need, 1):
        yield f"{index}. {prose(need.what)}{words('colon')}{prose(need.why)}"
        if need.command:
            yield fence(need.command, "sh")


def _evidence(diagnosis: Diagnosis, cause: Cause, words: Words) -> Iterator[str]:
    items = sorted(cause.evidence, key=lambda item: -abs(item.weight))
    if not items:
        return
    yield f"**{words('evidence')}**{words('bracketed', text=words('weight.note'))}"
    yield fence("\n".join(_evidence_line(diagnosis, item, words) for item in items[:_EVIDENCE_SHOWN]), "text")


def _evidence_line(diagnosis: Diagnosis, item: Evidence, words: Words) -> str:
    where = place(diagnosis, item.source, (item.line, item.end_line), words) if item.line is not None else words.either("by", item.kind)
    return "  ".join(part for part in (f"{weight(item.weight):>5}", where, process(item.where, words), one_line(item.text, _QUOTED)) if part)


def _fixes(fixes: Sequence[Fix], words: Words) -> Iterator[str]:
    if fixes:
        yield f"**{words('fixes')}**"
    for index, fix in enumerate(fixes, 1):
        safety = "" if fix.safety == "safe" else words("bracketed", text=words.either("safety", fix.safety))
        why = prose(cut(" ".join(parts.paragraphs(fix.why)), 600))
        yield f"{index}. **{words.either('kind', fix.kind)}**{words('colon')}{prose(fix.title)}{safety}{words('stop') if why else ''}{why}"
        if fix.snippet.strip():
            yield fence(fix.snippet, fix.language)


def _others(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    others = parts.other_causes(diagnosis)[:_OTHERS_SHOWN]
    if others:
        heading = words("others" if diagnosis.verdict.cause is not None else "candidates")
        rows = [f"- {prose(percent(cause.probability))} {prose(cause.title)}{words('bracketed', text=code(cause.id))}" for cause in others]
        yield f"**{heading}**\n\n" + "\n".join(rows)


def _harmless(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    hits = parts.harmless(diagnosis)[:_OTHERS_SHOWN]
    if hits:
        rows = [_harmless_row(diagnosis, hit, words) for hit in hits]
        yield f"**{words('harmless')}**\n\n" + "\n".join(rows)


def _harmless_row(diagnosis: Diagnosis, hit: SignatureHit, words: Words) -> str:
    because = words("colon") + prose(hit.because) if hit.because else ""
    return f"- {prose(hit.title or hit.text)}{words('bracketed', text=code(parts.spot(diagnosis, hit, words)))}{because}"


def _timeline(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    events = parts.milestones(diagnosis, _EVENTS_SHOWN)
    if len(events) >= 3:
        rows = ["  ".join(parts.milestone(diagnosis, event, words)) for event in events]
        yield f"<details><summary>{words('timeline')}</summary>\n\n{fence(chr(10).join(rows), 'text')}\n\n</details>"


def _environment(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    said = [parts.frameworks(diagnosis), parts.environment_line(diagnosis, words), *parts.progress(diagnosis, words)]
    lines = [part for part in said if part]
    if lines:
        yield f"<details><summary>{words('environment')}</summary>\n\n{fence(chr(10).join(lines), 'text')}\n\n</details>"
