"""`postmortem schema`."""

import click

from postmortem.cli.say import show
from postmortem.report.wire import schema_text


@click.command("schema")
@click.argument("name", type=click.Choice(["report", "evaluation", "triage"]), default="report")
def command(name: str) -> None:
    """Print the JSON Schema of the report, of what `evaluate` writes, or of a triage."""
    show(schema_text(name))
