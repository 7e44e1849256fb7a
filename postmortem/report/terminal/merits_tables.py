"""An evaluation as tables of text.

In: the plain values of `postmortem.evaluation/1`. Out: text. Not here: the figures
(`learn.merits`), the page (`page.merits_page`).
"""

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from postmortem.model.visible import safe
from postmortem.report.merits_rows import (
    Evaluation,
    best_way,
    causes_of,
    confused,
    figure_rows,
    source_rows,
    way_name,
)
from postmortem.report.words.evaluation_words import EVALUATION

_SHOWN: Final = 15
_WIDTH: Final = 144


def evaluation_text(value: Evaluation, *, language: str = "en") -> str:
    """Write the tables of an evaluation."""
    told = EVALUATION[language if language in EVALUATION else "en"]
    best = way_name(best_way(value), told)
    console = Console(width=_WIDTH, force_terminal=False, no_color=True)
    head, taken = confused(value, told)
    with console.capture() as shown:
        console.print(
            told[f"judged.{value['judged']}"],
            _table(told["overview"], *figure_rows(value, told)),
            _table(f"{told['sources']} ({told['top1']})", *source_rows(value, told)),
            _table(f"{told['causes']} ({best})", *causes_of(value, told)),
            _table(f"{told['confusions']} ({best})", head, taken[:_SHOWN]),
        )
    return "\n".join(line.rstrip() for line in shown.get().split("\n"))


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left")
    for number, name in enumerate(head):
        table.add_column(name, justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(safe(one)) for one in row))
    return table
