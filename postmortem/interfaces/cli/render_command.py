"""`postmortem render ANALYSIS.json`."""

from pathlib import Path

import click

from postmortem.interfaces.cli.job_or_analysis import load_stored_report
from postmortem.interfaces.cli.options import SOURCE, add_format_options
from postmortem.interfaces.cli.report_output import (
    check_not_overwriting,
    check_output,
    choose_format,
    write_report,
)


@click.command("render")
@click.argument("path", type=SOURCE, metavar="ANALYSIS.json")
@add_format_options
def command(
    path: str,
    *,
    form: str | None,
    output: Path | None,
    language: str,
    full: bool,
    open_: bool,
    redact: bool | None,
) -> None:
    """Render an analysis that `analyze --format analysis` has written; the log is not needed.

    ANALYSIS.json may be compressed, or - for standard input.
    """
    check_output(output, form, open_=open_)
    check_not_overwriting(output, [path])
    write_report(
        load_stored_report(path).in_language(language),
        form=choose_format(form, output, open_=open_),
        output=output,
        redact=redact,
        full=full,
        open_=open_,
    )
