"""`postmortem env`."""

from pathlib import Path

import click

from postmortem.errors import UsageError
from postmortem.machine.dump import environment_dump


@click.command("env")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the dump to a file.")
def command(output: Path | None) -> None:
    """Write what decides between causes: GPUs, driver, versions, limits. No secrets, no network, no import of torch."""
    text = environment_dump()
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the dump cannot be written: {error.strerror}", output, "choose another file with -o") from error
    click.echo(f"postmortem: wrote {output}", err=True)
