"""`postmortem serve`, `postmortem mcp`: the servers for browsers and for coding assistants.

In: options. Out: settings of a server, which runs until it is ended. Not here: the servers
(`interfaces.http`, `interfaces.mcp`), which are imported when they are started.
"""

import signal
import sys
from pathlib import Path
from typing import Any, Final

import click

from postmortem.core.errors import MissingExtra, UsageError, install_hint
from postmortem.core.names import SHIPPED, WITHOUT
from postmortem.interfaces.cli.messages import print_message
from postmortem.interfaces.cli.options import (
    FOLDER,
    PATTERNS,
    REDACT_ALWAYS,
    add_limit_options,
    add_model_options,
)


@click.command("serve")
@click.option("--config", type=FOLDER, help="A YAML file of settings: docs/service.md.")
@click.option("--host", help="Address to listen on (default: 127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port (default: 8765; 0: a free one).")
@click.option("--token-file", type=FOLDER, help="Tokens of who may ask, one a line.")
@click.option("--store", metavar="URL", help="A store of triages to show: a file or postgresql://…")
@add_limit_options("request")
@add_model_options
@PATTERNS
def serve_command(config: Path | None, **options: Any) -> int:
    """Serve reports over HTTP: a page to paste logs into, an API, the pages of a store's triages.

    Listens on this machine alone, unless tokens are set: docs/service.md.
    """
    try:
        from postmortem.interfaces.http import (  # noqa: PLC0415 -- an extra
            client_access,
            service_app,
            service_settings,
            webhook_routes,
        )
    except ImportError as error:
        raise MissingExtra(f"serve needs {error.name}", "", install_hint("service")) from error
    settings = service_settings.load_settings(config, _collect_set_options(options))
    tokens = client_access.load_tokens(settings.token_file)
    service_app.require_safe(settings, tokens)
    bot = webhook_routes.create_bot(settings)
    routers, background = (
        ([bot.router], [bot.answer_until_stopped]) if bot is not None else ([], [])
    )
    app = service_app.create_app(settings, tokens, routers, background)
    return service_app.serve(app, settings)


def _collect_set_options(options: dict[str, Any]) -> dict[str, Any]:
    """Give the settings that options name, those of limits apart."""
    limits = {
        "workers": options["workers"],
        "seconds": options["seconds"],
        "memory_mib": options["memory"],
        "body_mib": options["largest"],
    }
    named = {
        name: options[name]
        for name in ("host", "port", "token_file", "store")
        if options[name] is not None
    }
    if options["patterns"]:
        named["patterns"] = options["patterns"]
    if options["model"] is not None and str(options["model"]) != SHIPPED:
        named["model"] = str(options["model"])
    chosen = {name: value for name, value in limits.items() if value is not None}
    return named | ({"limits": chosen} if chosen else {})


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
@REDACT_ALWAYS
@add_limit_options("call", seconds=120.0, memory=4096, largest=(2048, "MiB"), workers=2)
@click.option(
    "--longest-text",
    "characters",
    type=click.IntRange(min=1),
    default=2_000_000,
    show_default=True,
    help="Characters of text that one call may pass.",
)
@add_model_options
@PATTERNS
def mcp_command(
    folders: tuple[Path, ...],
    *,
    takes_roots: bool,
    redact: bool,
    seconds: float,
    memory: int,
    largest: float,
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
        largest=int(largest * _MIB),
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
