"""The command line: thin shells over the library.

The one place where an error becomes a line and exit status 2.

In: arguments. Out: the report on standard output, everything else on standard error.
Not here: anything useful from Python.
"""

import atexit
import gc
import importlib
import os
import shlex
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NoReturn

import click

from postmortem.core.errors import PostmortemError
from postmortem.core.host.streams import describe_stream_error, flush_streams, hold_places
from postmortem.interfaces.cli.messages import print_message, show

COMMANDS: Final = {
    "analyze": "Name the cause of a failed training run from its log.",
    "run": "Run a training command; analyse its output if it fails.",
    "triage": "Judge many failed jobs; say on one page what they died of.",
    "watch": "Follow the log of a running job and warn before it stops.",
    "compare": "Show what differs between a good run and a bad one.",
    "replay": "Run the suspect steps of a capsule again, and test the causes.",
    "render": "Render an analysis that was written before; the log is not needed.",
    "share": "Write the smallest redacted part of a log that still tells the same.",
    "notify": "Send a short message of a verdict to a chat or a webhook.",
    "comment": "Put the report under an issue or pull request, in one comment that is kept.",
    "explain": "Tell what the rules know of a cause, a message, a condition or a fix.",
    "serve": "Serve reports over HTTP: a page to paste logs into, an API, triages.",
    "mcp": "Serve coding assistants over the Model Context Protocol.",
    "env": "Write an environment dump to go with a log.",
    "patterns": "Check or list the rules.",
    "train": "Train the text classifier on labelled logs.",
    "evaluate": "Say how good rules and classifier are on labelled logs.",
    "label": "Record what a run really died of, to train the classifier with.",
    "schema": "Print the JSON Schema of the report, an evaluation, a triage or a notice.",
}

_GROUPED: Final = {
    **dict.fromkeys(("explain", "schema"), "reference_commands"),
    **dict.fromkeys(("render", "compare", "share", "env"), "report_commands"),
    **dict.fromkeys(("notify", "comment"), "sending_commands"),
    **dict.fromkeys(("serve", "mcp"), "server_commands"),
    **dict.fromkeys(("label", "train", "evaluate"), "learning_commands"),
}
"""Commands that share a module, and its name; any other has a module of its own."""
_DEBUG: Final = "POSTMORTEM_DEBUG"
_SELDOM: Final = 100_000
"""Objects between two rounds of the collector: modules and rules are many, and none is garbage."""


class _Lazy(click.Group):
    """A group whose commands are imported when they are called.

    So a start pays for one of them only.
    """

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """List the commands in the order of the manual."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        """Import one command."""
        if name not in COMMANDS:
            return None
        module = importlib.import_module(
            f"postmortem.interfaces.cli.{_GROUPED.get(name, f'{name}_command')}"
        )
        command: click.Command = getattr(
            module, f"{name}_command" if name in _GROUPED else "command"
        )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error for a file name suggests `analyze`.

        Raises:
            UsageError: there is no such command.
        """
        first = args[0]
        if first not in COMMANDS and not first.startswith("-") and Path(first).exists():
            again = shlex.join(["postmortem", "analyze", *args])
            raise click.UsageError(f"{first!r} is a file, not a command; to analyse it: {again}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview without importing any command."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="train-postmortem", prog_name="postmortem")
def cli() -> None:
    """The log of a failed training run in; the cause, the evidence and the fixes out."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an error that the user can mend is one line, and exit status 2."""
    if arguments is None:
        gc.set_threshold(_SELDOM)
    hold_places()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    held = ExitStack()
    status = _run_cli(arguments, held)
    fault = flush_streams()
    if fault is not None and not isinstance(fault, BrokenPipeError) and status == 0:
        status = _report_error(f"standard output cannot be written: {describe_stream_error(fault)}")
    if arguments is None:
        # A program that ends holds on to its signals: one that came now would change its status.
        _end(status)
    held.close()
    sys.exit(status)


def _end(status: int) -> NoReturn:
    """End the program: at once, if nothing else runs in it and nobody looks for a fault.

    Python would take all modules and rules apart first, which took 20 ms of a short run.
    """
    if threading.active_count() == 1 and not os.environ.get(_DEBUG):
        atexit._run_exitfuncs()  # noqa: SLF001 -- what others have asked for is done
        flush_streams()
        os._exit(status)
    sys.exit(status)


def _run_cli(arguments: list[str] | None, held: ExitStack) -> int:
    result: Any = None
    try:
        result = cli.main(args=arguments, standalone_mode=False, obj=held)
    except (PostmortemError, click.Abort) as error:
        return _report_error(str(error) or "interrupted")
    except (
        click.exceptions.Exit,
        SystemExit,
    ) as done:  # the latter is click's answer to a reader of a manual page who has seen enough
        return done.exit_code if isinstance(done, click.exceptions.Exit) else 0
    except click.exceptions.NoArgsIsHelpError as asked:
        show(asked.format_message() + "\n")
    except click.ClickException as error:
        return _report_error(error.format_message() + _format_usage_hint(error))
    except OSError as error:
        return _report_error(
            f"{describe_stream_error(error)}{f' ({error.filename})' if error.filename else ''};"
            " make room, or see to its permissions"
        )
    except Exception as error:
        if os.environ.get(_DEBUG):
            raise
        return _report_error(
            f"internal error: {type(error).__name__}: {error}; set {_DEBUG}=1 for the"
            " traceback and report it"
        )
    return result if isinstance(result, int) else 0


def _format_usage_hint(error: click.ClickException) -> str:
    return (
        f"; see: {error.ctx.command_path} --help"
        if isinstance(error, click.UsageError) and error.ctx
        else ""
    )


def _report_error(message: str) -> int:
    """Say why nothing was done; gives the exit status."""
    print_message(message)
    return 2
