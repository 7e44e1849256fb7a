"""`postmortem env`."""

from pathlib import Path

import click

from postmortem.cli.options import write
from postmortem.machine.dump import dump_for, environment_dump


@click.command("env")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the dump to a file.")
@click.option("--python", "python", metavar="PYTHON", help="The training's interpreter, if it is not the one this program runs in.")
def command(output: Path | None, python: str | None) -> None:
    """Write what decides between causes: GPUs, driver, versions, limits. No secrets, no network, no import of torch."""
    text = dump_for([python]) if python else environment_dump()
    write(text, output, "dump")
