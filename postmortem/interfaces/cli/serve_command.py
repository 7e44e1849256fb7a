"""`postmortem serve`."""

from pathlib import Path
from typing import Any

import click

from postmortem.core.errors import MissingExtra, install_hint
from postmortem.core.names import SHIPPED
from postmortem.interfaces.cli.options import FOLDER, PATTERNS, add_model_options


@click.command("serve")
@click.option("--config", type=FOLDER, help="A YAML file of settings: docs/service.md.")
@click.option("--host", help="Address to listen on (default: 127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port (default: 8765; 0: a free one).")
@click.option("--token-file", type=FOLDER, help="Tokens of who may ask, one a line.")
@click.option("--store", metavar="URL", help="A store of triages to show: a file or postgresql://…")
@click.option("--workers", type=click.IntRange(min=1), help="Analyses at a time (default: cores).")
@click.option(
    "--timeout", "seconds", type=click.FloatRange(min=1), help="Seconds for one analysis."
)
@click.option("--memory", type=click.IntRange(min=0), help="MiB for one process; 0: no limit.")
@click.option("--largest", type=click.FloatRange(min=0, min_open=True), help="MiB of one request.")
@add_model_options
@PATTERNS
def command(config: Path | None, **options: Any) -> int:
    """Serve reports over HTTP: a page to paste logs into, an API, the pages of a store's triages.

    Listens on this machine alone, unless tokens are set: docs/service.md.
    """
    try:
        from postmortem.interfaces.http import (  # noqa: PLC0415 -- an extra
            client_access,
            http_server,
            service_app,
            service_settings,
            webhook_routes,
        )
    except ImportError as error:
        raise MissingExtra(f"serve needs {error.name}", "", install_hint("service")) from error
    settings = service_settings.load_settings(config, _collect_set_options(options))
    tokens = client_access.load_tokens(settings.token_file)
    http_server.require_safe(settings, tokens)
    bot = webhook_routes.create_bot(settings)
    routers, background = (
        ([bot.router], [bot.answer_until_stopped]) if bot is not None else ([], [])
    )
    app = service_app.create_app(settings, tokens, routers, background)
    return http_server.serve(app, settings)


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
