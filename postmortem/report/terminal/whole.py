"""The full terminal report, readable from 40 columns up, plain text when colour is off.

In: a `Diagnosis`. Out: text. Not here: printing it (`cli`), choosing the width or colour, the
report on one screen (`terminal.screen`).
"""

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from postmortem.core.answer import Cause, Evidence, Fix, SeriesView
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.log_text import format_one_line
from postmortem.core.names import GRAD_NORM, LOSS, LOSS_SCALE
from postmortem.report import about_run, parts
from postmortem.report.curves import draw_sparkline, select_series
from postmortem.report.display import format_number, format_percent, format_weight, place, process
from postmortem.report.key_figures import find_user_code, list_extra_message_values
from postmortem.report.redacted import prepare_redacted
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.replay_texts import iter_replay_sections, list_replay_facts
from postmortem.report.terminal.paper import MOODS, Paper
from postmortem.report.wire import get_tool_version
from postmortem.report.words import Words

CURVES: Final = (LOSS, GRAD_NORM, LOSS_SCALE)
_LISTED: Final = 12
_OTHERS_SHOWN: Final = 5
_HARMLESS_SHOWN: Final = 5
_EVENTS_SHOWN: Final = 10


def render_terminal(diagnosis: Diagnosis, *, width: int, color: bool, redact: bool = True) -> str:
    """Write the report for a terminal of a given width."""
    redactor = Redactor() if redact else None
    shown = prepare_redacted(diagnosis, redactor)
    paper = Paper(width, Words(shown.language), color=color)
    _write_verdict(paper, shown)
    _write_needs(paper, shown)
    cause = parts.get_main_cause(shown)
    if cause is not None:
        _write_fixes(paper, diagnosis, cause.fixes)
        _write_evidence(paper, shown, cause)
    _replay(paper, shown)
    _draw_curves(paper, shown)
    _write_timeline(paper, shown)
    _write_other_causes(paper, shown)
    _write_harmless(paper, shown)
    _run(paper, shown)
    _write_list(paper, "unchecked", shown.verdict.not_checked)
    _write_list(paper, "change-mind", shown.verdict.would_change)
    _write_sources(paper, shown)
    made = paper.words(
        "made", version=get_tool_version(), base=format_one_line(shown.knowledge_base, 80)
    )
    paper.say("")
    paper.say(
        Text(
            " · ".join(
                part for part in (made, parts.describe_redactions(redactor, paper.words)) if part
            ),
            style="dim",
        )
    )
    return paper.finished()


def write_headline(paper: Paper, diagnosis: Diagnosis, most: int | None = None) -> None:
    """Write how the run ended, and the cause."""
    style = MOODS[parts.get_verdict_color(diagnosis)]
    head = Text(
        parts.format_outcome(diagnosis, diagnosis.outcome, paper.words).upper(),
        style=f"{MOODS[parts.get_outcome_color(diagnosis)]} reverse",
    )
    paper.say(
        Text(parts.format_title(diagnosis, paper.words), style=style), head, head.cell_len + 2, most
    )


def _write_verdict(paper: Paper, diagnosis: Diagnosis) -> None:
    words, verdict = paper.words, diagnosis.verdict
    write_headline(paper, diagnosis)
    named = f"{verdict.cause} · " if verdict.cause is not None else ""
    for line in (
        named + parts.format_confidence(diagnosis, words),
        parts.format_owner_and_retry(diagnosis, words),
    ):
        if line:
            paper.say(line)
    for warning in diagnosis.warnings[:_LISTED]:
        paper.say(
            Text.assemble(
                (words("warnings") + words("colon"), "bold yellow"),
                (format_one_line(warning, 500), "yellow"),
            )
        )
    for paragraph in parts.split_paragraphs(verdict.summary):
        paper.say("")
        paper.say(paragraph)
    cause = parts.get_main_cause(diagnosis)
    if cause is not None and cause.explanation.strip() != verdict.summary.strip():
        for paragraph in parts.split_paragraphs(cause.explanation):
            paper.say("")
            paper.say(Text(paragraph, style="dim"))
    first = parts.describe_first_failure(diagnosis, words)
    if first:
        paper.say("")
        paper.say(Text.assemble((words("first") + words("colon"), "bold"), first))
    write_failure_details(paper, diagnosis)


def write_failure_details(paper: Paper, diagnosis: Diagnosis, most: int | None = None) -> None:
    """Write the failing place in the user's code and the figures of the message."""
    words = paper.words
    where, code = find_user_code(diagnosis, words)
    if where:
        text = Text.assemble((words("own-code") + words("colon"), "bold"), (where, "cyan"))
        fits_on_line = text.cell_len + cell_len(code) + 2 <= paper.measure
        paper.say(text.append(f"  {code}") if fits_on_line and code else text, most=most)
        if code and not fits_on_line:
            paper.say(Text(code), indent=2, most=most)
    details = words("joint").join(
        label + words("colon") + value
        for label, value in list_extra_message_values(diagnosis, words)
    )
    if details:
        paper.say(Text(details), most=most)


def _write_needs(paper: Paper, diagnosis: Diagnosis) -> None:
    if not diagnosis.verdict.need:
        return
    paper.heading("need")
    indent = compute_number_width(diagnosis.verdict.need)
    for index, need in enumerate(diagnosis.verdict.need, 1):
        paper.say(
            Text(format_one_line(need.what, 400), style="bold"), f"{index:>{indent - 2}}.", indent
        )
        paper.say(format_one_line(need.why, 600), indent=indent)
        if need.command:
            paper.code(need.command)


def compute_number_width(items: Sequence[object]) -> int:
    """Give the columns of `  9. ` or `  10. `."""
    return len(str(len(items))) + 4


def _write_evidence(paper: Paper, diagnosis: Diagnosis, cause: Cause) -> None:
    paper.heading("evidence", paper.words("weight.note"))
    for item in sorted(cause.evidence, key=lambda item: -abs(item.weight)):
        color = "green" if item.weight >= 0 else "red"
        paper.say(
            format_evidence(paper, diagnosis, item),
            Text(f"  {format_weight(item.weight):>5}", style=color),
            9,
        )
        if terms := parts.format_evidence_terms(diagnosis, item, paper.words):
            paper.say(Text(terms, style="dim"), indent=9)
    if not cause.evidence:
        paper.say(paper.words("evidence.none"), indent=2)


def format_evidence(paper: Paper, diagnosis: Diagnosis, item: Evidence) -> Text:
    """Write a piece of evidence behind its place."""
    where = (
        place(diagnosis, item.source, (item.line, item.end_line), paper.words)
        if item.line is not None
        else ""
    )
    who = process(item.where, paper.words)
    text = Text()
    for part, style in ((where, "cyan"), (who, "dim")):
        if part:
            text.append(part, style=style).append("  ")
    if not where:
        text.append(paper.words.either("by", item.kind) + paper.words("colon"), style="dim")
    return text.append(format_one_line(item.text, 400))


def _write_fixes(paper: Paper, diagnosis: Diagnosis, fixes: Sequence[Fix]) -> None:
    if not fixes:
        return
    words = paper.words
    paper.heading("fixes")
    indent = compute_number_width(fixes)
    for index, fix in enumerate(fixes, 1):
        if index > 1:
            paper.say("")
        head = format_fix_head(fix, parts.name_fix_kind(diagnosis, index, fix, words), words)
        paper.say(head, f"{index:>{indent - 2}}.", indent)
        for paragraph in parts.split_paragraphs(fix.why):
            paper.say(paragraph, indent=indent)
        for reference in fix.references:
            paper.say(Text(format_one_line(reference, 300), style="dim"), indent=indent)
        if fix.snippet.strip():
            paper.code(fix.snippet)


def format_fix_head(fix: Fix, kind: str, words: Words) -> Text:
    """Write what kind of fix it is, its title, and what it costs."""
    head = Text.assemble(
        (kind + words("colon"), "bold magenta"),
        (format_one_line(fix.title, 300), "bold"),
    )
    if fix.safety != "safe":
        head.append(words("marked", text=words.either("safety", fix.safety)), style="yellow")
    return head


def _replay(paper: Paper, diagnosis: Diagnosis) -> None:
    """Write what running the steps again has shown."""
    found = diagnosis.replay
    if found is None:
        return
    paper.heading("replay")
    paper.say(format_one_line(found.summary, 400), indent=2)
    for label, value in list_replay_facts(found, paper.words):
        paper.say(Text.assemble((label + paper.words("colon"), "bold"), value), indent=2)
    for title, lines in iter_replay_sections(found, paper.words):
        paper.say(Text(title, style="bold"), indent=2)
        for line in lines:
            paper.say(line, "    -", 6)


def _write_other_causes(paper: Paper, diagnosis: Diagnosis) -> None:
    others = parts.list_other_causes(diagnosis)
    if not others:
        return
    paper.heading("others" if diagnosis.verdict.cause is not None else "candidates")
    for cause in others[:_OTHERS_SHOWN]:
        text = Text(format_one_line(cause.title, 200)).append(f"  {cause.id}", style="dim")
        paper.say(text, f"  {format_percent(cause.probability):>5}", 9)
        if diagnosis.verdict.cause is None and cause.evidence:
            strongest = max(cause.evidence, key=lambda item: abs(item.weight))
            paper.say(
                Text(f"{format_weight(strongest.weight)} ").append_text(
                    format_evidence(paper, diagnosis, strongest)
                ),
                indent=9,
            )
    if len(others) > _OTHERS_SHOWN:
        paper.say(paper.words("more", count=len(others) - _OTHERS_SHOWN), indent=9)


def _write_harmless(paper: Paper, diagnosis: Diagnosis) -> None:
    hits = parts.list_harmless_signatures(diagnosis)
    if not hits:
        return
    paper.heading("harmless")
    for hit in hits[:_HARMLESS_SHOWN]:
        text = Text(format_one_line(hit.title or hit.text, 200)).append(
            f"  {parts.format_signature_location(diagnosis, hit, paper.words)}", style="cyan"
        )
        paper.say(text, "  -", 4)
        if hit.because:
            paper.say(Text(format_one_line(hit.because, 300), style="dim"), indent=4)
    if len(hits) > _HARMLESS_SHOWN:
        paper.say(paper.words("more", count=len(hits) - _HARMLESS_SHOWN), indent=4)


def _draw_curves(paper: Paper, diagnosis: Diagnosis) -> None:
    series = select_series(diagnosis.series, CURVES, each=1)
    if not series:
        return
    paper.heading(
        "curves", paper.words("curve.mark") if any(curve.nonfinite for curve in series) else ""
    )
    label_width = max(len(curve.name) for curve in series) + 4
    for curve in series:
        draw_curve(paper, curve, label_width)


def draw_curve(paper: Paper, series: SeriesView, label_width: int) -> None:
    """Write one curve on one line."""
    words = paper.words
    label = Text(f"  {series.name}", style="bold")
    if len(series.samples) == 1:
        paper.say(parts.describe_single_point(series, words), label, label_width)
        return
    ends = f"{format_number(series.first[1])} → {format_number(series.last[1])}"
    if series.nonfinite:
        ends += words("joint") + words("curve.nonfinite", count=series.nonfinite)
    room = max(8, min(60, paper.measure - label_width - cell_len(ends) - 4))
    text = Text(draw_sparkline(series, room)).append(f"  {ends}", style="dim")
    paper.say(text, label, label_width)


def _write_timeline(paper: Paper, diagnosis: Diagnosis) -> None:
    """Write the timeline; a failure that is its only event was shown above."""
    events = parts.select_milestones(diagnosis, _EVENTS_SHOWN)
    if len(events) < 3:
        return
    paper.heading("timeline")
    for event in events:
        where, what = parts.format_milestone(diagnosis, event, paper.words)
        style = "bold" if event.role == "cause" else ""
        paper.say(Text.assemble((where, "cyan"), "  ", (what, style)), "  -", 4)
    if len(diagnosis.timeline) > len(events):
        paper.say(
            Text(
                paper.words("timeline.more", count=len(diagnosis.timeline) - len(events)),
                style="dim",
            ),
            indent=4,
        )
    if diagnosis.events_left:
        paper.say(
            Text(paper.words("timeline.left", count=diagnosis.events_left), style="dim"), indent=4
        )


def _run(paper: Paper, diagnosis: Diagnosis) -> None:
    """Write environment and progress, one paragraph each."""
    words = paper.words
    environment = " · ".join(about_run.describe_environment(diagnosis, words))
    if environment:
        paper.heading("environment")
        paper.say(environment, indent=2)
    _write_list(paper, "progress", about_run.describe_progress(diagnosis, words))


def _write_list(paper: Paper, key: str, items: Sequence[str]) -> None:
    if items:
        paper.heading(key)
    for item in items[:_LISTED]:
        paper.say(format_one_line(item, 500), "  -", 4)
    if len(items) > _LISTED:
        paper.say(paper.words("more", count=len(items) - _LISTED), indent=4)


def _write_sources(paper: Paper, diagnosis: Diagnosis) -> None:
    sources = sorted(diagnosis.sources, key=lambda source: source.kind == "ignored")
    _write_list(
        paper, "sources", [about_run.describe_source(source, paper.words) for source in sources]
    )
