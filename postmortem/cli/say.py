"""What the program says beside the report: one line on standard error that no file name or argument can steer.

In: a message. Out: a line. Not here: the report.
"""

from typing import Final

import click

from postmortem.report.plain import one_line

_LONGEST: Final = 2000


def tell(message: str) -> None:
    """Write one line on standard error."""
    click.echo(f"postmortem: {one_line(message, _LONGEST)}", err=True)
