"""`postmortem env`."""

from pathlib import Path

import click

from postmortem.cli.delivery import write
from postmortem.cli.options import OUTPUT
from postmortem.cli.say import tell
from postmortem.host.dump import Dump, dump_for, environment_dump


@click.command("env")
@click.option("-o", "--output", type=OUTPUT, help="Write the dump to a file.")
@click.option(
    "--python",
    "python",
    metavar="PYTHON",
    help="The training's interpreter, if it is not the one this program runs in.",
)
def command(output: Path | None, python: str | None) -> None:
    """Write what decides between causes: GPUs, driver, versions, limits.

    No secrets, no network, no import of torch.
    """
    dump = dump_for([python]) if python else Dump(environment_dump())
    if dump.problem:
        tell(dump.problem)
    write(dump.text, output, "dump")
