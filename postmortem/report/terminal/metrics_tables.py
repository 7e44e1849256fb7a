"""An evaluation as tables of text.

In: the plain values of `postmortem.evaluation/1`. Out: text. Not here: the figures
(`learn.metrics`), the page (`page.metrics_page`).
"""

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from postmortem.core.visible import escape_control_characters
from postmortem.report.metrics_rows import (
    Evaluation,
    build_cause_rows,
    build_confusion_rows,
    build_metric_rows,
    build_source_rows,
    get_method_name,
    select_default_method,
)
from postmortem.report.words.evaluation_words import EVALUATION

_SHOWN: Final = 15
_WIDTH: Final = 144


def render_evaluation_text(value: Evaluation, *, language: str = "en") -> str:
    """Write the tables of an evaluation."""
    phrases = EVALUATION[language if language in EVALUATION else "en"]
    best = get_method_name(select_default_method(value), phrases)
    console = Console(width=_WIDTH, force_terminal=False, no_color=True)
    head, taken = build_confusion_rows(value, phrases)
    with console.capture() as shown:
        console.print(
            phrases[f"judged.{value['judged']}"],
            _build_table(phrases["overview"], *build_metric_rows(value, phrases)),
            _build_table(
                f"{phrases['sources']} ({phrases['top1']})", *build_source_rows(value, phrases)
            ),
            _build_table(f"{phrases['causes']} ({best})", *build_cause_rows(value, phrases)),
            _build_table(f"{phrases['confusions']} ({best})", head, taken[:_SHOWN]),
        )
    return "\n".join(line.rstrip() for line in shown.get().split("\n"))


def _build_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left")
    for number, name in enumerate(head):
        table.add_column(name, justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(escape_control_characters(cell)) for cell in row))
    return table
