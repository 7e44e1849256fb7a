"""The whole terminal report.

Everything that was found, readable from 40 columns up, plain text when colour is off.

In: a `Diagnosis`. Out: text. Not here: printing it (`cli`), choosing the width or colour, the same
on one screen (`terminal.screen`).
"""

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from postmortem.model.answer import Cause, Evidence, Fix
from postmortem.model.diagnosis import Diagnosis
from postmortem.model.shown import SeriesView
from postmortem.names import GRAD_NORM, LOSS, LOSS_SCALE
from postmortem.redaction.redactor import Redactor
from postmortem.report import about_run, milestones_told, parts
from postmortem.report.for_people import presentable
from postmortem.report.key_figures import beyond_the_line, own_code
from postmortem.report.plain import number, one_line, percent, place, process, weight
from postmortem.report.plotted import chosen
from postmortem.report.redacted import redact as hide
from postmortem.report.replay_told import facts, sections
from postmortem.report.sparks import sparkline
from postmortem.report.terminal.paper import MOODS, Paper
from postmortem.report.wire import tool_version
from postmortem.report.words import Words

CURVES: Final = (LOSS, GRAD_NORM, LOSS_SCALE)
_LISTED: Final = 12
_OTHERS_SHOWN: Final = 5
_HARMLESS_SHOWN: Final = 5
_EVENTS_SHOWN: Final = 10


def render_terminal(diagnosis: Diagnosis, *, width: int, color: bool, redact: bool = True) -> str:
    """Write the report for a terminal of a given width."""
    redactor = Redactor() if redact else None
    shown = presentable(diagnosis)
    shown = hide(shown, redactor) if redactor is not None else shown
    paper = Paper(width, Words(shown.language), color=color)
    _verdict(paper, shown)
    _need(paper, shown)
    cause = parts.main_cause(shown)
    if cause is not None:
        _fixes(paper, cause.fixes)
        _evidence(paper, shown, cause)
    _replay(paper, shown)
    _curves(paper, shown)
    _timeline(paper, shown)
    _others(paper, shown)
    _harmless(paper, shown)
    _run(paper, shown)
    _listed(paper, "unchecked", shown.verdict.not_checked)
    _listed(paper, "change-mind", shown.verdict.would_change)
    _sources(paper, shown)
    made = paper.words("made", version=tool_version(), base=one_line(shown.knowledge_base, 80))
    paper.say("")
    paper.say(
        Text(
            " · ".join(part for part in (made, parts.hidden(redactor, paper.words)) if part),
            style="dim",
        )
    )
    return paper.finished()


def headline(paper: Paper, diagnosis: Diagnosis, most: int | None = None) -> None:
    """Write how the run ended, and the cause."""
    style = MOODS[parts.mood(diagnosis)]
    head = Text(
        parts.outcome(diagnosis, diagnosis.outcome, paper.words).upper(),
        style=f"{MOODS[parts.tone(diagnosis)]} reverse",
    )
    paper.say(Text(parts.title(diagnosis, paper.words), style=style), head, head.cell_len + 2, most)


def _verdict(paper: Paper, diagnosis: Diagnosis) -> None:
    words, verdict = paper.words, diagnosis.verdict
    headline(paper, diagnosis)
    named = f"{verdict.cause} · " if verdict.cause is not None else ""
    for line in (named + parts.standing(diagnosis, words), parts.whose_and_retry(diagnosis, words)):
        if line:
            paper.say(line)
    for warning in diagnosis.warnings[:_LISTED]:
        paper.say(
            Text.assemble(
                (words("warnings") + words("colon"), "bold yellow"),
                (one_line(warning, 500), "yellow"),
            )
        )
    for paragraph in parts.paragraphs(verdict.summary):
        paper.say("")
        paper.say(paragraph)
    cause = parts.main_cause(diagnosis)
    if cause is not None and cause.explanation.strip() != verdict.summary.strip():
        for paragraph in parts.paragraphs(cause.explanation):
            paper.say("")
            paper.say(Text(paragraph, style="dim"))
    first = parts.first_failure(diagnosis, words)
    if first:
        paper.say("")
        paper.say(Text.assemble((words("first") + words("colon"), "bold"), first))
    told_by_the_log(paper, diagnosis)


def told_by_the_log(paper: Paper, diagnosis: Diagnosis, most: int | None = None) -> None:
    """Write where the user's own code failed, and what the message tells in figures."""
    words = paper.words
    where, code = own_code(diagnosis, words)
    if where:
        said = Text.assemble((words("own-code") + words("colon"), "bold"), (where, "cyan"))
        is_beside = said.cell_len + cell_len(code) + 2 <= paper.measure
        paper.say(said.append(f"  {code}") if is_beside and code else said, most=most)
        if code and not is_beside:
            paper.say(Text(code), indent=2, most=most)
    told = words("joint").join(
        label + words("colon") + value for label, value in beyond_the_line(diagnosis, words)
    )
    if told:
        paper.say(Text(told), most=most)


def _need(paper: Paper, diagnosis: Diagnosis) -> None:
    if not diagnosis.verdict.need:
        return
    paper.heading("need")
    indent = number_width(diagnosis.verdict.need)
    for index, need in enumerate(diagnosis.verdict.need, 1):
        paper.say(Text(one_line(need.what, 400), style="bold"), f"{index:>{indent - 2}}.", indent)
        paper.say(one_line(need.why, 600), indent=indent)
        if need.command:
            paper.code(need.command)


def number_width(items: Sequence[object]) -> int:
    """Give the columns of `  9. ` or `  10. `."""
    return len(str(len(items))) + 4


def _evidence(paper: Paper, diagnosis: Diagnosis, cause: Cause) -> None:
    paper.heading("evidence", paper.words("weight.note"))
    for item in sorted(cause.evidence, key=lambda item: -abs(item.weight)):
        color = "green" if item.weight >= 0 else "red"
        paper.say(
            quoted(paper, diagnosis, item), Text(f"  {weight(item.weight):>5}", style=color), 9
        )
        if told := parts.carried(diagnosis, item, paper.words):
            paper.say(Text(told, style="dim"), indent=9)
    if not cause.evidence:
        paper.say(paper.words("evidence.none"), indent=2)


def quoted(paper: Paper, diagnosis: Diagnosis, item: Evidence) -> Text:
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
    return text.append(one_line(item.text, 400))


def _fixes(paper: Paper, fixes: Sequence[Fix]) -> None:
    if not fixes:
        return
    words = paper.words
    paper.heading("fixes")
    indent = number_width(fixes)
    for index, fix in enumerate(fixes, 1):
        if index > 1:
            paper.say("")
        paper.say(fix_head(fix, words), f"{index:>{indent - 2}}.", indent)
        for paragraph in parts.paragraphs(fix.why):
            paper.say(paragraph, indent=indent)
        for reference in fix.references:
            paper.say(Text(one_line(reference, 300), style="dim"), indent=indent)
        if fix.snippet.strip():
            paper.code(fix.snippet)


def fix_head(fix: Fix, words: Words) -> Text:
    """Write what kind of fix it is, its title, and what it costs."""
    head = Text.assemble(
        (words.either("kind", fix.kind) + words("colon"), "bold magenta"),
        (one_line(fix.title, 300), "bold"),
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
    paper.say(one_line(found.summary, 400), indent=2)
    for label, value in facts(found, paper.words):
        paper.say(Text.assemble((label + paper.words("colon"), "bold"), value), indent=2)
    for title, lines in sections(found, paper.words):
        paper.say(Text(title, style="bold"), indent=2)
        for line in lines:
            paper.say(line, "    -", 6)


def _others(paper: Paper, diagnosis: Diagnosis) -> None:
    others = parts.other_causes(diagnosis)
    if not others:
        return
    paper.heading("others" if diagnosis.verdict.cause is not None else "candidates")
    for cause in others[:_OTHERS_SHOWN]:
        text = Text(one_line(cause.title, 200)).append(f"  {cause.id}", style="dim")
        paper.say(text, f"  {percent(cause.probability):>5}", 9)
        if diagnosis.verdict.cause is None and cause.evidence:
            strongest = max(cause.evidence, key=lambda item: abs(item.weight))
            paper.say(
                Text(f"{weight(strongest.weight)} ").append_text(
                    quoted(paper, diagnosis, strongest)
                ),
                indent=9,
            )
    if len(others) > _OTHERS_SHOWN:
        paper.say(paper.words("more", count=len(others) - _OTHERS_SHOWN), indent=9)


def _harmless(paper: Paper, diagnosis: Diagnosis) -> None:
    hits = parts.harmless(diagnosis)
    if not hits:
        return
    paper.heading("harmless")
    for hit in hits[:_HARMLESS_SHOWN]:
        text = Text(one_line(hit.title or hit.text, 200)).append(
            f"  {parts.spot(diagnosis, hit, paper.words)}", style="cyan"
        )
        paper.say(text, "  -", 4)
        if hit.because:
            paper.say(Text(one_line(hit.because, 300), style="dim"), indent=4)
    if len(hits) > _HARMLESS_SHOWN:
        paper.say(paper.words("more", count=len(hits) - _HARMLESS_SHOWN), indent=4)


def _curves(paper: Paper, diagnosis: Diagnosis) -> None:
    series = chosen(diagnosis.series, CURVES, each=1)
    if not series:
        return
    paper.heading(
        "curves", paper.words("curve.mark") if any(one.nonfinite for one in series) else ""
    )
    label_width = max(len(one.name) for one in series) + 4
    for one in series:
        draw_curve(paper, one, label_width)


def draw_curve(paper: Paper, series: SeriesView, label_width: int) -> None:
    """Write one curve on one line."""
    words = paper.words
    label = Text(f"  {series.name}", style="bold")
    if len(series.samples) == 1:
        paper.say(parts.single_point(series, words), label, label_width)
        return
    ends = f"{number(series.first[1])} → {number(series.last[1])}"
    if series.nonfinite:
        ends += words("joint") + words("curve.nonfinite", count=series.nonfinite)
    room = max(8, min(60, paper.measure - label_width - cell_len(ends) - 4))
    text = Text(sparkline(series, room)).append(f"  {ends}", style="dim")
    paper.say(text, label, label_width)


def _timeline(paper: Paper, diagnosis: Diagnosis) -> None:
    """Write the turning points; a failure that stands alone has been told above."""
    events = milestones_told.milestones(diagnosis, _EVENTS_SHOWN)
    if len(events) < 3:
        return
    paper.heading("timeline")
    for event in events:
        where, what = milestones_told.milestone(diagnosis, event, paper.words)
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
    environment = " · ".join(
        part
        for part in (about_run.frameworks(diagnosis), about_run.environment_line(diagnosis, words))
        if part
    )
    if environment:
        paper.heading("environment")
        paper.say(environment, indent=2)
    _listed(paper, "progress", about_run.progress(diagnosis, words))


def _listed(paper: Paper, key: str, items: Sequence[str]) -> None:
    if items:
        paper.heading(key)
    for item in items[:_LISTED]:
        paper.say(one_line(item, 500), "  -", 4)
    if len(items) > _LISTED:
        paper.say(paper.words("more", count=len(items) - _LISTED), indent=4)


def _sources(paper: Paper, diagnosis: Diagnosis) -> None:
    sources = sorted(diagnosis.sources, key=lambda source: source.kind == "ignored")
    _listed(paper, "sources", [about_run.source(source, paper.words) for source in sources])
