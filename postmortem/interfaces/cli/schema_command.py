"""`postmortem schema`."""

import click

from postmortem.interfaces.cli.messages import show
from postmortem.report.wire import read_schema


@click.command("schema")
@click.argument(
    "name", type=click.Choice(["report", "evaluation", "triage", "notice"]), default="report"
)
def command(name: str) -> None:
    """Print the JSON Schema of the report, or of what `evaluate`, `triage` or `notify` write."""
    show(read_schema(name))
