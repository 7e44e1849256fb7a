"""`postmortem env`."""

from pathlib import Path

import click

from postmortem.core.host.dump import Dump, build_environment_dump, dump_for
from postmortem.interfaces.cli.messages import print_message
from postmortem.interfaces.cli.options import OUTPUT
from postmortem.interfaces.cli.report_output import write


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
    dump = dump_for([python]) if python else Dump(build_environment_dump())
    if dump.problem:
        print_message(dump.problem)
    write(dump.text, output, "dump")
