"""An evaluation, and what a triage found, as tables of text.

In: the plain values of `postmortem.evaluation/1` or `postmortem.triage/1`. Out: text. Not here: the
figures (`learn.metrics`, `fleet.overview`), the pages (`page.metrics_page`, `page.triage_page`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from postmortem.core.log_text import escape_control_characters
from postmortem.core.message import say
from postmortem.report.evaluation_tables import (
    EVALUATION,
    Evaluation,
    build_cause_rows,
    build_confusion_rows,
    build_metric_rows,
    build_source_rows,
    get_method_name,
    select_default_method,
)
from postmortem.report.words import PhraseTable

_CONFUSIONS_SHOWN: Final = 15
_EVALUATION_WIDTH: Final = 144


def render_evaluation_text(value: Evaluation, *, language: str = "en") -> str:
    """Write the tables of an evaluation."""
    phrases = EVALUATION[language if language in EVALUATION else "en"]
    best = get_method_name(select_default_method(value), phrases)
    console = Console(width=_EVALUATION_WIDTH, force_terminal=False, no_color=True)
    head, taken = build_confusion_rows(value, phrases)
    with console.capture() as shown:
        console.print(
            phrases[f"judged.{value['judged']}"],
            _build_metrics_table(phrases["overview"], *build_metric_rows(value, phrases)),
            _build_metrics_table(
                f"{phrases['sources']} ({phrases['top1']})", *build_source_rows(value, phrases)
            ),
            _build_metrics_table(
                f"{phrases['causes']} ({best})", *build_cause_rows(value, phrases)
            ),
            _build_metrics_table(
                f"{phrases['confusions']} ({best})", head, taken[:_CONFUSIONS_SHOWN]
            ),
        )
    return "\n".join(line.rstrip() for line in shown.get().split("\n"))


def _build_metrics_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left")
    for number, name in enumerate(head):
        table.add_column(name, justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(escape_control_characters(cell)) for cell in row))
    return table


_CAUSES_SHOWN: Final = 12
_TRIAGE_WIDTH: Final = 100
_PHRASES: Final = PhraseTable(
    {
        "jobs": say(
            "{jobs:,} jobs: {judged:,} judged ({analyses:,} different), {not_judged:,} not"
            " judged, {unclassified:,} without a cause"
        ),
        "lost": say("{lost_gpu_hours:,.0f} GPU-hours lost"),
        "since": say("since the last triage: {new:,} new groups, {vanished:,} vanished"),
        "cause": say("cause"),
        "none": say("no cause stands out"),
        "count": say("jobs"),
        "groups": say("groups"),
        "gpu": say("GPU-h"),
        "more": say("{count:,} more causes on the page"),
    }
)


def render_triage_text(value: Mapping[str, Any], *, language: str = "en") -> str:
    """Write the counts and the most frequent causes."""
    phrases = _PHRASES[language if language in _PHRASES else "en"]
    totals = value["totals"]
    lines = [phrases["jobs"].format(**totals)]
    if totals["lost_gpu_hours"] is not None:
        lines.append(phrases["lost"].format(**totals))
    if value["since"] is not None:
        new = sum(group["is_new"] for group in value["groups"])
        lines.append(phrases["since"].format(new=new, vanished=len(value["vanished"])))
    console = Console(width=_TRIAGE_WIDTH, force_terminal=False, no_color=True)
    with console.capture() as shown:
        console.print(*lines, _build_causes_table(value, phrases, language), sep="\n")
        if len(value["causes"]) > _CAUSES_SHOWN:
            console.print(phrases["more"].format(count=len(value["causes"]) - _CAUSES_SHOWN))
    return "\n".join(line.rstrip() for line in shown.get().split("\n"))


def _build_causes_table(
    value: Mapping[str, Any], phrases: Mapping[str, str], language: str
) -> Table:
    has_hours = any(cause["gpu_hours"] is not None for cause in value["causes"])
    table = Table()
    table.add_column(phrases["cause"], overflow="fold")
    for name in ("count", "groups", *(["gpu"] if has_hours else [])):
        table.add_column(phrases[name], justify="right")
    for cause in value["causes"][:_CAUSES_SHOWN]:
        name = cause["title"][language] if cause["cause"] else phrases["none"]
        figures = [f"{cause['jobs']:,}", f"{cause['groups']:,}"]
        if has_hours:
            figures.append("–" if cause["gpu_hours"] is None else f"{cause['gpu_hours']:,.0f}")
        table.add_row(*(Text(escape_control_characters(cell)) for cell in (name, *figures)))
    return table
