"""`postmortem schema`."""

import click

from postmortem.cli.say import show
from postmortem.report.wire import schema_text


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of the report."""
    show(schema_text())
