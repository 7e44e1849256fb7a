"""The terminal report on one screen of 24 lines: the most important part of each section.

In: a `Diagnosis`. Out: text. Not here: the whole terminal report (`terminal.whole`). The shortest
form is written first; then pieces that still fit are added, the most informative first: a plan says
how much of each section is shown.
"""

from dataclasses import replace
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.text import Text

from postmortem.core.answer import Cause, SeriesView
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.log_text import compile_lazily, format_one_line
from postmortem.core.message import cut
from postmortem.report import about_run, parts
from postmortem.report.curves import select_series
from postmortem.report.display import detect_input_type, format_percent, format_weight
from postmortem.report.redacted import prepare_redacted
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.terminal.paper import Paper, wrap_command, wrap_paragraph
from postmortem.report.terminal.whole import (
    CURVES,
    draw_curve,
    format_evidence,
    format_fix_head,
    write_failure_details,
    write_headline,
)
from postmortem.report.words import Words


class Plan(NamedTuple):
    """How many lines or items of each kind are shown."""

    title: int = 1
    first: int = 1
    warnings: int = 1
    explanation: int = 0
    needs: int = 1
    fixes: int = 1
    reason: int = 0
    """Lines for why the first fix is to be done."""
    snippets: int = 0
    evidence: int = 1
    depth: int = 1
    """Lines that a piece of evidence may take."""
    candidates: int = 1
    curves: int = 0
    progress: int = 0
    environment: int = 0
    others: int = 0
    harmless: int = 0
    is_spaced: bool = False


UPGRADES: Final[tuple[tuple[str, int], ...]] = (
    ("needs", 2),
    ("fixes", 2),
    ("evidence", 2),
    ("snippets", 1),
    ("title", 2),
    ("reason", 1),
    ("curves", 1),
    ("progress", 1),
    ("candidates", 2),
    ("first", 2),
    ("is_spaced", 1),
    ("depth", 2),
    ("fixes", 3),
    ("explanation", 1),
    ("evidence", 3),
    ("snippets", 2),
    ("needs", 3),
    ("candidates", 3),
    ("explanation", 2),
    ("curves", 2),
    ("evidence", 4),
    ("environment", 1),
    ("others", 1),
    ("explanation", 3),
    ("warnings", 2),
    ("snippets", 3),
    ("harmless", 1),
    ("environment", 2),
    ("others", 2),
    ("fixes", 4),
    ("evidence", 5),
    ("curves", 3),
    ("explanation", 5),
    ("depth", 3),
    ("fixes", 5),
    ("evidence", 7),
    ("explanation", 9),
    ("harmless", 2),
    ("warnings", 8),
)


ROOM: Final = 22
"""Lines of a screen of 24 that are ours: one is the prompt's, one the last line of standard
error."""
_LONGEST: Final = 1200
"""Characters of a text that can matter on a screen."""
_SENTENCE: Final = compile_lazily(r"[.!?](?=\s|$)\s*|[。！？]")


def render_screen(diagnosis: Diagnosis, *, width: int, color: bool, redact: bool = True) -> str:
    """Write the report for one screen."""
    redactor = Redactor() if redact else None
    shown = prepare_redacted(diagnosis, redactor)
    plan = Plan()
    best = _render_plan(shown, plan, width, color=color)
    for name, value in UPGRADES:
        tried = plan._replace(**{name: value})  # type: ignore[arg-type]
        paper = _render_plan(shown, tried, width, color=color)
        if len(paper) <= ROOM:
            plan, best = tried, paper
        if len(best) == ROOM:
            break
    return best.finished()


def _render_plan(diagnosis: Diagnosis, plan: Plan, width: int, *, color: bool) -> Paper:
    """Write what a plan allows."""
    paper = Paper(width, Words(diagnosis.language), color=color)
    cause = parts.get_main_cause(diagnosis)
    _write_verdict(paper, diagnosis, plan)
    _write_needs(paper, diagnosis, plan)
    if cause is not None:
        _write_fixes(paper, diagnosis, cause, plan)
        _write_evidence(paper, diagnosis, cause, plan)
    else:
        _write_candidates(paper, diagnosis, plan)
    _draw_curves(paper, diagnosis, plan)
    _write_context(paper, diagnosis, plan)
    if not detect_input_type(diagnosis):
        _add_gap(paper, plan)
        paper.say(Text(paper.words("screen.more"), style="dim"), most=1 if plan.title == 1 else 2)
    return paper


def _add_gap(paper: Paper, plan: Plan) -> None:
    if plan.is_spaced:
        paper.say("")


def _write_verdict(paper: Paper, diagnosis: Diagnosis, plan: Plan) -> None:
    words, verdict = paper.words, diagnosis.verdict
    write_headline(paper, diagnosis, plan.title)
    for line in (
        _format_confidence(paper, diagnosis),
        parts.format_owner_and_retry(diagnosis, words),
    ):
        if line:
            paper.say(line, most=plan.title)
    for warning in diagnosis.warnings[: plan.warnings]:
        paper.say(
            Text.assemble(
                (words("warnings") + words("colon"), "bold yellow"),
                (format_one_line(warning, 500), "yellow"),
            ),
            most=plan.title,
        )
    first = parts.describe_first_failure(diagnosis, words)
    if first:
        paper.say(Text.assemble((words("first") + words("colon"), "bold"), first), most=plan.first)
    write_failure_details(paper, diagnosis, plan.first)
    cause = parts.get_main_cause(diagnosis)
    if cause is None:
        paper.say(cut(" ".join(parts.split_paragraphs(verdict.summary)), _LONGEST), most=6)
    elif plan.explanation:
        _add_gap(paper, plan)
        paper.say(
            Text(
                _select_first_sentences(
                    cut(" ".join(parts.split_paragraphs(cause.explanation)), _LONGEST),
                    plan.explanation,
                    paper.measure,
                ),
                style="dim",
            ),
            most=plan.explanation,
        )


def _format_confidence(paper: Paper, diagnosis: Diagnosis) -> str:
    """Give the confidence and the status of the verdict.

    The meaning of the status is added if it fits on the line.
    """
    verdict, words = diagnosis.verdict, paper.words
    if verdict.cause is None:
        return parts.format_confidence(diagnosis, words)
    whole = f"{parts.format_confidence(diagnosis, words)} · {verdict.cause}"
    return (
        whole
        if cell_len(whole) <= paper.measure
        else " · ".join(
            (
                words.either("status", verdict.status),
                format_percent(verdict.probability),
                verdict.cause,
            )
        )
    )


def _select_first_sentences(text: str, lines: int, width: int) -> str:
    """Give as many whole sentences as fit, or all of it to be cut if not even the first does."""
    ends = [
        match.end()
        for match in _SENTENCE.finditer(text)
        if len(wrap_paragraph(text[: match.end()].rstrip(), width)) <= lines
    ]
    return text[: ends[-1]].rstrip() if ends else text


def _write_needs(paper: Paper, diagnosis: Diagnosis, plan: Plan) -> None:
    needs = diagnosis.verdict.need if diagnosis.verdict.cause is None else ()
    if not needs:
        return
    _add_gap(paper, plan)
    paper.say(Text(paper.words("need"), style="bold cyan"))
    for index, need in enumerate(needs[: plan.needs], 1):
        paper.say(Text(format_one_line(need.what, 400), style="bold"), f"  {index}.", 5, plan.depth)
        _write_command(paper, need.command, "bash")


def _write_fixes(paper: Paper, diagnosis: Diagnosis, cause: Cause, plan: Plan) -> None:
    if not cause.fixes:
        return
    _add_gap(paper, plan)
    over = len(cause.fixes) - plan.fixes
    note = paper.words("bracketed", text=paper.words("more", count=over)) if over > 0 else ""
    paper.say(Text.assemble((paper.words("fixes"), "bold cyan"), (note, "dim")))
    room = plan.snippets
    for index, fix in enumerate(cause.fixes[: plan.fixes], 1):
        kind = parts.name_fix_kind(diagnosis, index, fix, paper.words)
        head = format_fix_head(fix, kind, paper.words)
        paper.say(
            (
                head
                if head.cell_len <= paper.measure - 5
                else format_fix_head(replace(fix, safety="safe"), kind, paper.words)
            ),
            f"  {index}.",
            5,
            plan.title,
        )
        if index == 1 and plan.reason and fix.why:
            reason = _select_first_sentences(
                format_one_line(fix.why, _LONGEST), plan.reason, paper.measure - 5
            )
            paper.say(Text(reason, style="dim"), indent=5, most=plan.reason)
        if room and _write_command(paper, fix.snippet, fix.language):
            room -= 1


def _write_command(paper: Paper, code: str, language: str) -> bool:
    """Write a command that fits; of a longer one only the title, and how to see it."""
    lines = wrap_command(code, language, paper.measure - 5)
    for line in lines:
        paper.say(Text(line, style="green"), indent=5)
    return bool(lines)


def _write_evidence(paper: Paper, diagnosis: Diagnosis, cause: Cause, plan: Plan) -> None:
    if not cause.evidence:
        return
    _add_gap(paper, plan)
    over = len(cause.evidence) - plan.evidence
    note = paper.words("bracketed", text=paper.words("more", count=over)) if over > 0 else ""
    paper.say(Text.assemble((paper.words("evidence"), "bold cyan"), (note, "dim")))
    for item in parts.select_strongest_evidence(cause, plan.evidence):
        paper.say(
            format_evidence(paper, diagnosis, item),
            Text(
                f"  {format_weight(item.weight):>5}", style="green" if item.weight >= 0 else "red"
            ),
            9,
            plan.depth,
        )


def _write_candidates(paper: Paper, diagnosis: Diagnosis, plan: Plan) -> None:
    others = parts.list_other_causes(diagnosis)
    if not others:
        return
    _add_gap(paper, plan)
    paper.say(Text(paper.words("candidates"), style="bold cyan"))
    for cause in others[: plan.candidates]:
        _write_candidate(paper, cause)
        strongest = max(cause.evidence, key=lambda item: abs(item.weight), default=None)
        if strongest is not None and plan.depth > 1:
            paper.say(
                Text(f"{format_weight(strongest.weight)} ").append_text(
                    format_evidence(paper, diagnosis, strongest)
                ),
                indent=9,
                most=plan.depth - 1,
            )


def _write_candidate(paper: Paper, cause: Cause) -> None:
    paper.say(
        Text(format_one_line(cause.title, 200)).append(f"  {cause.id}", style="dim"),
        f"  {format_percent(cause.probability):>5}",
        9,
        1,
    )


def _draw_curves(paper: Paper, diagnosis: Diagnosis, plan: Plan) -> None:
    """Draw the curves, the one that shows the failure first.

    One of a single point only where there is no other.
    """
    first = diagnosis.first_failure

    def rank(curve: SeriesView) -> tuple[bool, bool]:
        return len(curve.samples) < 2, first is None or curve.source != first.source or all(
            line != first.line for _, _, line in curve.samples
        )

    series = sorted(select_series(diagnosis.series, CURVES, each=1), key=rank)[: plan.curves]
    for shown in series:
        draw_curve(paper, shown, max(len(curve.name) for curve in series) + 4)


def _write_context(paper: Paper, diagnosis: Diagnosis, plan: Plan) -> None:
    """Write the progress, the environment and the other candidates."""
    words = paper.words
    environment = " · ".join(about_run.describe_environment(diagnosis, words))
    others = parts.list_other_causes(diagnosis) if diagnosis.verdict.cause is not None else ()
    texts = [
        (
            "progress",
            words("joint").join(about_run.describe_progress(diagnosis, words)),
            2 * plan.progress,
        ),
        ("environment", environment, plan.environment),
        (
            "others.short",
            words("joint").join(
                f"{format_percent(other.probability)} {format_one_line(other.title, 200)}"
                for other in others[:3]
            ),
            max(plan.others, diagnosis.verdict.status == "hypothesis"),
        ),
        (
            "harmless",
            words("joint").join(
                format_one_line(hit.title or hit.text, 200)
                for hit in parts.list_harmless_signatures(diagnosis)[:3]
            ),
            plan.harmless,
        ),
    ]
    shown = [(key, text, most) for key, text, most in texts if text and most]
    for key, text, most in shown:
        paper.say(Text.assemble((words(key) + words("colon"), "bold"), text), most=most)
