"""`postmortem mcp`."""

import signal
import sys
from pathlib import Path
from typing import Final

import click

from postmortem.core.errors import MissingExtra, UsageError, install_hint
from postmortem.core.names import SHIPPED, WITHOUT
from postmortem.interfaces.cli.messages import print_message
from postmortem.interfaces.cli.options import FOLDER, PATTERNS, add_model_options

_MIB: Final = 2**20


@click.command("mcp")
@click.option(
    "--root",
    "folders",
    multiple=True,
    type=FOLDER,
    help="A folder that may be read, beside those that the client announces; may be repeated.",
)
@click.option(
    "--client-roots/--no-client-roots",
    "takes_roots",
    default=True,
    show_default=True,
    help="Whether the folders that the client announces may be read.",
)
@click.option(
    "--redact/--no-redact",
    default=True,
    show_default=True,
    help="Replace secrets, host and user names.",
)
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(min=1),
    default=120.0,
    show_default=True,
    help="Seconds that one call may take.",
)
@click.option(
    "--memory",
    type=click.IntRange(min=0),
    default=4096,
    show_default=True,
    help="MiB that one call may hold; 0: no limit.",
)
@click.option(
    "--largest",
    type=click.IntRange(min=1),
    default=2048,
    show_default=True,
    help="MiB of files that one call may read.",
)
@click.option(
    "--longest-text",
    "characters",
    type=click.IntRange(min=1),
    default=2_000_000,
    show_default=True,
    help="Characters of text that one call may pass.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Calls that run at the same time.",
)
@add_model_options
@PATTERNS
def command(
    folders: tuple[Path, ...],
    *,
    takes_roots: bool,
    redact: bool,
    seconds: float,
    memory: int,
    largest: int,
    characters: int,
    workers: int,
    model: Path | None,
    patterns: tuple[Path, ...],
) -> int:
    """Serve coding assistants over the Model Context Protocol.

    A client starts it and speaks to it on standard input and output: docs/assistants.md.
    """
    _require_folders(folders)
    try:
        from postmortem.interfaces.mcp import call_worker, server  # noqa: PLC0415 -- an extra
    except ImportError as error:
        raise MissingExtra(f"mcp needs {error.name}", "", install_hint("mcp")) from error
    if sys.stdin.isatty():
        print_message(
            "waiting for a client on standard input; assistants start this: docs/assistants.md"
        )
    named = str(model or SHIPPED)
    call = call_worker.CallSettings(
        patterns=tuple(str(folder.resolve()) for folder in patterns),
        model=None if named == WITHOUT else named,
        memory=memory,
        largest=largest * _MIB,
        is_redacted=redact,
    )
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing is to be brought to an end
    server.run_server(
        server.ServerSettings(folders, takes_roots, characters, workers, seconds, call)
    )
    return 0


def _require_folders(folders: tuple[Path, ...]) -> None:
    """Refuse a folder that is none, before a client waits for what it holds.

    Raises:
        UsageError: no such folder.
    """
    for folder in folders:
        if not folder.is_dir():
            raise UsageError("no such folder", folder, "name a folder with --root")
