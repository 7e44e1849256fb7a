"""`postmortem render ANALYSIS.json`."""

from pathlib import Path
from typing import Final

import click

from postmortem.api import Report
from postmortem.cli.delivery import check_output, deliver, form_for, refuse_overwriting
from postmortem.cli.options import SOURCE, form_options
from postmortem.errors import InputError
from postmortem.reading.opener import open_log
from postmortem.reading.readable import fill
from postmortem.report.lossless import from_json

_LARGEST: Final = 1 << 30
"""Bytes, unpacked; a report of ten thousand processes has some hundred million."""


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
        Report(from_json(_text(path), path), language),
        form=form_for(form, output, open_=open_),
        output=output,
        redact=redact,
        full=full,
        open_=open_,
    )


def _text(path: str) -> str:
    opened = open_log(path)
    try:
        raw = fill(opened, _LARGEST + 1)
    finally:
        opened.close()
    if len(raw) > _LARGEST:
        raise InputError("too large for an analysis", path, "name what --format analysis wrote")
    return raw.decode("utf-8", "replace")
