"""`postmortem explain ID`: what the rules know of a cause, message, condition, shape or fix."""

import os
import shutil
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.markdown import Markdown

from postmortem.cli.options import LANGUAGE, PATTERNS
from postmortem.cli.say import show
from postmortem.knowledge.base import compiled_rules
from postmortem.report.manual.articles import article, contents
from postmortem.report.manual.entries import look_up


@click.command("explain")
@click.argument("name", metavar="[ID]", required=False)
@PATTERNS
@LANGUAGE
def command(name: str | None, *, patterns: tuple[Path, ...], language: str) -> None:
    """Tell what the rules know of an ID that a report names.

    A cause, a message (signature), a condition, a shape, a fix or an advisory; without ID all
    causes are listed. Into a pipe or a file the page goes as Markdown.
    """
    rules = compiled_rules(patterns)
    text = article(look_up(rules, name), rules, language) if name else contents(rules, language)
    show(_for_a_screen(text) if sys.stdout.isatty() else text)


def _for_a_screen(text: str) -> str:
    width = min(100, max(40, shutil.get_terminal_size((80, 24)).columns))
    console = Console(width=width, force_terminal=not os.environ.get("NO_COLOR"))
    with console.capture() as shown:
        console.print(Markdown(text, hyperlinks=False))
    return shown.get()
