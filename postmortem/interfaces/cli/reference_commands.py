"""`postmortem explain ID`, `postmortem schema`: look up what the rules know, the form of reports.

In: an id of a cause, message, condition, anomaly or fix; the name of a schema. Out: an article, a
JSON Schema. Not here: their content (`report.manual`, `report.wire`).
"""

import os
import shutil
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.markdown import Markdown

from postmortem.interfaces.cli.messages import show
from postmortem.interfaces.cli.options import LANGUAGE, PATTERNS
from postmortem.report.manual.articles import render_article, render_contents
from postmortem.report.manual.entries import find_entry
from postmortem.report.wire import read_schema
from postmortem.rules.base import load_compiled_rules


@click.command("explain")
@click.argument("name", metavar="[ID]", required=False)
@PATTERNS
@LANGUAGE
def explain_command(name: str | None, *, patterns: tuple[Path, ...], language: str) -> None:
    """Tell what the rules know of an ID that a report names.

    A cause, a message (signature), a condition, a shape, a fix or an advisory; without ID all
    causes are listed. Into a pipe or a file the page goes as Markdown.
    """
    rules = load_compiled_rules(patterns)
    text = (
        render_article(find_entry(rules, name), rules, language)
        if name
        else render_contents(rules, language)
    )
    show(_render_for_terminal(text) if sys.stdout.isatty() else text)


def _render_for_terminal(text: str) -> str:
    width = min(100, max(40, shutil.get_terminal_size((80, 24)).columns))
    console = Console(width=width, force_terminal=not os.environ.get("NO_COLOR"))
    with console.capture() as shown:
        console.print(Markdown(text, hyperlinks=False))
    return shown.get()


@click.command("schema")
@click.argument(
    "name", type=click.Choice(["report", "evaluation", "triage", "notice"]), default="report"
)
def schema_command(name: str) -> None:
    """Print the JSON Schema of the report, or of what `evaluate`, `triage` or `notify` write."""
    show(read_schema(name))
