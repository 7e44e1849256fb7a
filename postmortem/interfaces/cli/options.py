"""Options that several commands share.

In: click parameters. Out: decorators. Not here: where a report goes (`cli.report_output`).
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from postmortem.core.errors import UsageError
from postmortem.core.names import LANGUAGES, WITHOUT
from postmortem.interfaces.cli.messages import print_message
from postmortem.reading.sources import STDIN
from postmortem.report import FORMS

Function = TypeVar("Function", bound=Callable[..., Any])


class _NonEmptyPath(click.Path):
    """A path that is not empty.

    An empty one, as an unset variable of a script leaves it, would be the folder that the user
    happens to be in.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse nothing at all."""
        if not os.fspath(value):
            self.fail("the path is empty; is a variable not set?", param, ctx)
        return super().convert(value, param, ctx)


SOURCE: Final = _NonEmptyPath(allow_dash=True)
"""What is read: a file, a folder, or - for standard input."""
OUTPUT: Final = _NonEmptyPath(path_type=Path, dir_okay=False)
FOLDER: Final = _NonEmptyPath(path_type=Path)


def check_standard_input(*paths: str) -> None:
    """Refuse standard input where it would be read twice.

    Raises:
        UsageError: it is named more than once.
    """
    if paths.count(STDIN) > 1:
        raise UsageError(
            "standard input is named more than once", STDIN, "it can be read once only"
        )


def check_sources(*paths: str) -> None:
    """Refuse what `analyze` refuses too, where it is not called: as above, and several jobs.

    Raises:
        InputError: a folder holds several jobs.
        UsageError: standard input is named more than once.
    """
    from postmortem.api import refuse_several_jobs  # noqa: PLC0415 -- not every command analyses

    check_standard_input(*paths)
    refuse_several_jobs(paths)


_LONGEST_LINK: Final = 500
LANGUAGE: Final = click.option(
    "--lang",
    "language",
    type=click.Choice(LANGUAGES),
    default="en",
    show_default=True,
    help="Language of what is written.",
)
REDACT: Final = click.option(
    "--redact/--no-redact",
    default=None,
    help="Replace secrets, host and user names (default: in every format but terminal).",
)
REDACT_ALWAYS: Final = click.option(
    "--redact/--no-redact",
    default=True,
    show_default=True,
    help="Replace secrets, host and user names.",
)
WRITE_TO: Final = click.option("-o", "--output", type=OUTPUT, help="Write it to a file.")
ENVIRONMENT: Final = click.option(
    "--env",
    "env_files",
    multiple=True,
    type=SOURCE,
    help=(
        "An environment dump that is not in the log (collect_env, nvidia-smi, pip list, postmortem"
        " env)."
    ),
)
DRY_RUN: Final = click.option(
    "--dry-run", is_flag=True, help="Print what would be sent, and send nothing."
)
TRUST: Final = click.option(
    "--trust-code",
    is_flag=True,
    help="Execute the file of your own code that a capsule names (it is held to its checksum).",
)


def _check_rule_folders(
    _context: click.Context, _option: click.Parameter, folders: tuple[Path, ...]
) -> tuple[Path, ...]:
    """Warn of a folder without any rule: most likely another one was meant."""
    for folder in folders:
        if folder.is_dir() and next(folder.rglob("*.yaml"), None) is None:
            print_message(
                f"no rule lies in {folder}: a rule is a .yaml file, see patterns/README.md"
            )
    return folders


PATTERNS: Final = click.option(
    "--patterns",
    "patterns",
    multiple=True,
    type=FOLDER,
    envvar="POSTMORTEM_PATTERNS",
    callback=_check_rule_folders,
    help="A further folder of rules.",
)


def _parse_report_link(_context: click.Context, _option: click.Parameter, text: str | None) -> str:
    """Take the address of a report: one that a chat shows as it is."""
    if text is None:
        return ""
    is_plain = text.isascii() and text.isprintable() and not {*text} & {*' <>|"`'}
    if len(text) > _LONGEST_LINK or not is_plain or not text.startswith(("https://", "http://")):
        raise click.BadParameter("no web address of a report; for example https://…/report.html")
    return text


LINK: Final = click.option(
    "--link",
    callback=_parse_report_link,
    metavar="URL",
    help="Address of the whole report, shown below the rest.",
)


def add_model_options(function: Function) -> Function:
    """Add the options that select the text classifier used besides the rules."""
    with_file = click.option(
        "--model",
        "model",
        type=FOLDER,
        help=(
            "A text classifier of your own (`postmortem train`; also in POSTMORTEM_MODEL) in place"
            " of the package's."
        ),
    )
    without = click.option(
        "--no-model", "model", flag_value=WITHOUT, help="Judge by the rules alone."
    )
    return with_file(without(function))


def report_options(function: Function) -> Function:
    """Add the options that say what is looked for, how the report looks and where it goes."""
    return add_format_options(PATTERNS(function))


def add_format_options(function: Function) -> Function:
    """Add the options that say how the report looks and where it goes."""
    opened = click.option(
        "--open", "open_", is_flag=True, help="Write the HTML page and open it in the browser."
    )
    full = click.option(
        "--full",
        is_flag=True,
        help="All of the terminal report, not one screen of it (a file gets all of it anyway).",
    )
    return add_output_options(FORMS)(opened(full(function)))


def add_output_options(forms: Sequence[str]) -> Callable[[Function], Function]:
    """Give what adds the options that say in which of `forms` something is written, and where."""
    form = click.option(
        "--format",
        "form",
        type=click.Choice(forms),
        help="Format (default: by the suffix of the file, else terminal; plain text into a pipe).",
    )
    return lambda function: form(WRITE_TO(LANGUAGE(REDACT(function))))


def add_limit_options(
    work: str,
    *,
    seconds: float | None = None,
    memory: int | None = None,
    largest: tuple[float | None, str] = (None, "MiB"),
    workers: int | None = None,
) -> Callable[[Function], Function]:
    """Give what adds the limits of worker processes that do one `work` (a job, a call) at a time.

    Args:
        work: what they do, as help calls it.
        seconds: the default of --timeout; None where settings hold it, as of the others.
        memory: in MiB.
        largest: with its unit.
        workers: processes.
    """
    size, unit = largest
    processes = "Processes." if workers else "Processes (default: one a core)."
    options = (
        ("--workers", "workers", click.IntRange(min=1), workers, processes),
        ("--timeout", "seconds", click.FloatRange(min=1), seconds, f"Seconds for one {work}."),
        ("--memory", "memory", click.IntRange(min=0), memory, "MiB for one process; 0: no limit."),
        (
            "--largest",
            "largest",
            click.FloatRange(min=0, min_open=True),
            size,
            f"{unit} of one {work}.",
        ),
    )

    def add(function: Function) -> Function:
        for option, name, kind, default, text in reversed(options):
            function = click.option(
                option, name, type=kind, default=default, show_default=True, help=text
            )(function)
        return function

    return add
