"""`postmortem schema`."""

import click

from postmortem.report.wire import schema_text


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of the report."""
    click.echo(schema_text(), nl=False)
