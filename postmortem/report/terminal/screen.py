"""The terminal report on one screen of 24 lines.

What matters most of everything, in the same order, and where the rest is.

In: a `Diagnosis`. Out: text. Not here: the whole terminal report (`terminal.whole`). The sparsest
form is written first; then, one after another and the most telling first, pieces are added that
still fit.
"""

from dataclasses import replace
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from postmortem.lazy_regex import lazy_compile
from postmortem.model.answer import Cause
from postmortem.model.diagnosis import Diagnosis
from postmortem.model.said import cut
from postmortem.model.shown import SeriesView
from postmortem.redaction.redactor import Redactor
from postmortem.report import about_run, parts
from postmortem.report.for_people import input_kind, presentable
from postmortem.report.plain import one_line, percent, weight
from postmortem.report.plotted import chosen
from postmortem.report.redacted import redact as hide
from postmortem.report.terminal.paper import Paper
from postmortem.report.terminal.screen_plan import UPGRADES, Plan
from postmortem.report.terminal.whole import (
    CURVES,
    draw_curve,
    fix_head,
    headline,
    quoted,
    told_by_the_log,
)
from postmortem.report.terminal.whole_commands import whole_command
from postmortem.report.terminal.wrap import wrapped
from postmortem.report.words import Words

ROOM: Final = 22
"""Lines of a screen of 24 that are ours: one is the prompt's, one the last line of standard
error."""
_LONGEST: Final = 1200
"""Characters of a text that can matter on a screen."""
_SENTENCE: Final = lazy_compile(r"[.!?](?=\s|$)\s*|[。！？]")


def render_screen(diagnosis: Diagnosis, *, width: int, color: bool, redact: bool = True) -> str:
    """Write the report for one screen."""
    redactor = Redactor() if redact else None
    shown = presentable(diagnosis)
    shown = hide(shown, redactor) if redactor is not None else shown
    plan = Plan()
    best = _written(shown, plan, width, color=color)
    for name, value in UPGRADES:
        tried = plan._replace(**{name: value})  # type: ignore[arg-type]
        paper = _written(shown, tried, width, color=color)
        if len(paper) <= ROOM:
            plan, best = tried, paper
        if len(best) == ROOM:
            break
    return best.finished()


def _written(diagnosis: Diagnosis, plan: Plan, width: int, *, color: bool) -> Paper:
    """Write what a plan allows."""
    paper = Paper(width, Words(diagnosis.language), color=color)
    cause = parts.main_cause(diagnosis)
    _verdict(paper, diagnosis, plan)
    _need(paper, diagnosis, plan)
    if cause is not None:
        _fixes(paper, cause, plan)
        _evidence(paper, diagnosis, cause, plan)
    else:
        _candidates(paper, diagnosis, plan)
    _curves(paper, diagnosis, plan)
    _around(paper, diagnosis, plan)
    if not input_kind(diagnosis):
        _gap(paper, plan)
        paper.say(Text(paper.words("screen.more"), style="dim"), most=1 if plan.title == 1 else 2)
    return paper


def _gap(paper: Paper, plan: Plan) -> None:
    if plan.is_spaced:
        paper.say("")


def _verdict(paper: Paper, diagnosis: Diagnosis, plan: Plan) -> None:
    words, verdict = paper.words, diagnosis.verdict
    headline(paper, diagnosis, plan.title)
    for line in (_standing(paper, diagnosis), parts.whose_and_retry(diagnosis, words)):
        if line:
            paper.say(line, most=plan.title)
    for warning in diagnosis.warnings[: plan.warnings]:
        paper.say(
            Text.assemble(
                (words("warnings") + words("colon"), "bold yellow"),
                (one_line(warning, 500), "yellow"),
            ),
            most=plan.title,
        )
    first = parts.first_failure(diagnosis, words)
    if first:
        paper.say(Text.assemble((words("first") + words("colon"), "bold"), first), most=plan.first)
    told_by_the_log(paper, diagnosis, plan.first)
    cause = parts.main_cause(diagnosis)
    if cause is None:
        paper.say(cut(" ".join(parts.paragraphs(verdict.summary)), _LONGEST), most=6)
    elif plan.said:
        _gap(paper, plan)
        paper.say(
            Text(
                _first_sentences(
                    cut(" ".join(parts.paragraphs(cause.explanation)), _LONGEST),
                    plan.said,
                    paper.measure,
                ),
                style="dim",
            ),
            most=plan.said,
        )


def _standing(paper: Paper, diagnosis: Diagnosis) -> str:
    """Say how sure the verdict is and name it.

    What the status word means, only if there is room on the line.
    """
    verdict, words = diagnosis.verdict, paper.words
    if verdict.cause is None:
        return parts.standing(diagnosis, words)
    whole = f"{parts.standing(diagnosis, words)} · {verdict.cause}"
    return (
        whole
        if cell_len(whole) <= paper.measure
        else " · ".join(
            (words.either("status", verdict.status), percent(verdict.probability), verdict.cause)
        )
    )


def _first_sentences(text: str, lines: int, width: int) -> str:
    """Give as many whole sentences as fit, or all of it to be cut if not even the first does."""
    ends = [
        match.end()
        for match in _SENTENCE.finditer(text)
        if len(wrapped(text[: match.end()].rstrip(), width)) <= lines
    ]
    return text[: ends[-1]].rstrip() if ends else text


def _need(paper: Paper, diagnosis: Diagnosis, plan: Plan) -> None:
    needs = diagnosis.verdict.need if diagnosis.verdict.cause is None else ()
    if not needs:
        return
    _gap(paper, plan)
    paper.say(Text(paper.words("need"), style="bold cyan"))
    for index, need in enumerate(needs[: plan.needs], 1):
        paper.say(Text(one_line(need.what, 400), style="bold"), f"  {index}.", 5, plan.depth)
        _command(paper, need.command, "bash")


def _fixes(paper: Paper, cause: Cause, plan: Plan) -> None:
    if not cause.fixes:
        return
    _gap(paper, plan)
    over = len(cause.fixes) - plan.fixes
    note = paper.words("bracketed", text=paper.words("more", count=over)) if over > 0 else ""
    paper.say(Text.assemble((paper.words("fixes"), "bold cyan"), (note, "dim")))
    room = plan.snippets
    for index, fix in enumerate(cause.fixes[: plan.fixes], 1):
        head = fix_head(fix, paper.words)
        paper.say(
            (
                head
                if head.cell_len <= paper.measure - 5
                else fix_head(replace(fix, safety="safe"), paper.words)
            ),
            f"  {index}.",
            5,
            plan.title,
        )
        if room and _command(paper, fix.snippet, fix.language):
            room -= 1


def _command(paper: Paper, code: str, language: str) -> bool:
    """Write a command that fits whole; of others the title stands alone, and the rest is told."""
    lines = whole_command(code, language, paper.measure - 5)
    for line in lines:
        paper.say(Text(line, style="green"), indent=5)
    return bool(lines)


def _evidence(paper: Paper, diagnosis: Diagnosis, cause: Cause, plan: Plan) -> None:
    if not cause.evidence:
        return
    _gap(paper, plan)
    over = len(cause.evidence) - plan.evidence
    note = paper.words("bracketed", text=paper.words("more", count=over)) if over > 0 else ""
    paper.say(Text.assemble((paper.words("evidence"), "bold cyan"), (note, "dim")))
    for item in parts.strongest(cause, plan.evidence):
        paper.say(
            quoted(paper, diagnosis, item),
            Text(f"  {weight(item.weight):>5}", style="green" if item.weight >= 0 else "red"),
            9,
            plan.depth,
        )


def _candidates(paper: Paper, diagnosis: Diagnosis, plan: Plan) -> None:
    others = parts.other_causes(diagnosis)
    if not others:
        return
    _gap(paper, plan)
    paper.say(Text(paper.words("candidates"), style="bold cyan"))
    for cause in others[: plan.candidates]:
        _candidate(paper, cause)
        strongest = max(cause.evidence, key=lambda item: abs(item.weight), default=None)
        if strongest is not None and plan.depth > 1:
            paper.say(
                Text(f"{weight(strongest.weight)} ").append_text(
                    quoted(paper, diagnosis, strongest)
                ),
                indent=9,
                most=plan.depth - 1,
            )


def _candidate(paper: Paper, cause: Cause) -> None:
    paper.say(
        Text(one_line(cause.title, 200)).append(f"  {cause.id}", style="dim"),
        f"  {percent(cause.probability):>5}",
        9,
        1,
    )


def _curves(paper: Paper, diagnosis: Diagnosis, plan: Plan) -> None:
    """Draw the curves, the one that shows the failure first.

    One of a single point only where there is no other.
    """
    first = diagnosis.first_failure

    def rank(one: SeriesView) -> tuple[bool, bool]:
        return len(one.samples) < 2, first is None or one.source != first.source or all(
            line != first.line for _, _, line in one.samples
        )

    series = sorted(chosen(diagnosis.series, CURVES, each=1), key=rank)[: plan.curves]
    for one in series:
        draw_curve(paper, one, max(len(one.name) for one in series) + 4)


def _around(paper: Paper, diagnosis: Diagnosis, plan: Plan) -> None:
    """Write where the run stood, what it ran on, what else was weighed."""
    words = paper.words
    environment = " · ".join(
        part
        for part in (about_run.frameworks(diagnosis), about_run.environment_line(diagnosis, words))
        if part
    )
    others = parts.other_causes(diagnosis) if diagnosis.verdict.cause is not None else ()
    said = [
        ("progress", words("joint").join(about_run.progress(diagnosis, words)), 2 * plan.progress),
        ("environment", environment, plan.environment),
        (
            "others.short",
            words("joint").join(
                f"{percent(one.probability)} {one_line(one.title, 200)}" for one in others[:3]
            ),
            max(plan.others, diagnosis.verdict.status == "hypothesis"),
        ),
        (
            "harmless",
            words("joint").join(
                one_line(hit.title or hit.text, 200) for hit in parts.harmless(diagnosis)[:3]
            ),
            plan.harmless,
        ),
    ]
    shown = [(key, text, most) for key, text, most in said if text and most]
    for key, text, most in shown:
        paper.say(Text.assemble((words(key) + words("colon"), "bold"), text), most=most)
