"""`postmortem render ANALYSIS.json`."""

from pathlib import Path

import click

from postmortem.cli.delivery import check_output, deliver, form_for, refuse_overwriting
from postmortem.cli.job_or_analysis import kept_report
from postmortem.cli.options import SOURCE, form_options


@click.command("render")
@click.argument("path", type=SOURCE, metavar="ANALYSIS.json")
@form_options
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
    refuse_overwriting(output, [path])
    deliver(
        kept_report(path).in_language(language),
        form=form_for(form, output, open_=open_),
        output=output,
        redact=redact,
        full=full,
        open_=open_,
    )
