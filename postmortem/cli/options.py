"""Options and output that several commands share.

In: click parameters. Out: decorators, and `deliver`, which puts a report where it was asked for. Not here: the report itself.
"""

import os
import shutil
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from postmortem.errors import UsageError
from postmortem.library import Report
from postmortem.names import LANGUAGES
from postmortem.report import FORMS

Function = TypeVar("Function", bound=Callable[..., Any])


def report_options(function: Function) -> Function:
    """Add the options that say how the report looks and where it goes."""
    for option in (
        click.option("--patterns", "patterns", multiple=True, type=click.Path(path_type=Path), envvar="POSTMORTEM_PATTERNS", help="A further folder of rules."),
        click.option("--redact/--no-redact", default=None, help="Replace secrets, host and user names (default: in every format but terminal)."),
        click.option("--open", "open_", is_flag=True, help="Write the HTML page and open it in the browser."),
        click.option("--lang", "language", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of the report."),
        click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the report to a file; its suffix tells the format."),
        click.option("--format", "form", type=click.Choice(FORMS), help="Format of the report (default: terminal; plain text into a pipe)."),
    ):
        function = option(function)
    return function


def form_for(form: str | None, output: Path | None, *, open_: bool) -> str:
    """Choose the format: as asked, else by the file's suffix, else the terminal report."""
    if form:
        return form
    if open_:
        return "html"
    suffixes = {".html": "html", ".htm": "html", ".json": "json", ".md": "markdown"}
    return suffixes.get(output.suffix.lower(), "terminal") if output else "terminal"


def deliver(report: Report, *, form: str, output: Path | None, redact: bool | None, open_: bool, to_stderr: bool = False) -> None:
    """Print the report, or write it to a file; open the page if asked.

    Raises:
        UsageError: the file cannot be written.
    """
    stream = sys.stderr if to_stderr else sys.stdout
    is_screen = output is None and stream.isatty()
    text = report.render(form, width=max(40, shutil.get_terminal_size((80, 24)).columns), color=is_screen and not os.environ.get("NO_COLOR"), redact=redact)
    if open_ and output is None:
        output = Path.cwd() / "postmortem-report.html"
    if output is None:
        click.echo(text, nl=not text.endswith("\n"), err=to_stderr, color=True)
        return
    try:
        output.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the report cannot be written: {error.strerror}", output, "choose another file with -o") from error
    click.echo(f"postmortem: wrote {output}", err=True)
    if open_ and not webbrowser.open(output.resolve().as_uri()):
        click.echo("postmortem: no browser could be started; open the file yourself", err=True)
