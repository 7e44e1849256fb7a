"""`postmortem share PATH...`."""

import functools
from pathlib import Path

import click

from postmortem.core.names import LANGUAGES
from postmortem.interfaces.cli.messages import print_message
from postmortem.interfaces.cli.options import OUTPUT, PATTERNS, SOURCE, check_sources
from postmortem.interfaces.cli.report_output import check_not_overwriting, require_folder, write
from postmortem.interfaces.share import build_minimal_excerpt
from postmortem.report.markdown_text import LONGEST, count_utf16_units
from postmortem.report.sharing import IssueText


@click.command(
    "share",
    help=(
        "Write the smallest redacted part of a log that still tells the same, with the verdict, to"
        " paste into an issue."
    ),
)
@click.argument("paths", nargs=-1, required=True, type=SOURCE, metavar="PATH...")
@click.option(
    "--env",
    "env_files",
    multiple=True,
    type=SOURCE,
    help="An environment dump that is not in the log.",
)
@click.option("-o", "--output", type=OUTPUT, help="Write the text to a file.")
@click.option(
    "--lang",
    "language",
    type=click.Choice(LANGUAGES),
    default="en",
    show_default=True,
    help="Language of the verdict.",
)
@click.option(
    "--redact/--no-redact",
    default=True,
    show_default=True,
    help="Replace secrets, host and user names.",
)
@click.option(
    "--prompt",
    is_flag=True,
    help="Put the question for a language model above the lines: check, contradict, fix.",
)
@PATTERNS
def command(
    paths: tuple[str, ...],
    env_files: tuple[str, ...],
    *,
    output: Path | None,
    language: str,
    redact: bool,
    prompt: bool,
    patterns: tuple[Path, ...],
) -> None:
    """Write the smallest redacted part of a log that still tells the same."""
    require_folder(output, "text")
    check_sources(*paths, *env_files)
    check_not_overwriting(output, (*paths, *env_files))
    text = functools.partial(IssueText, language=language, redact=redact)
    made = build_minimal_excerpt(
        list(paths), env=env_files, patterns=patterns, text=text, prompt=prompt
    )
    write(made.text, output, "text")
    note = "" if made.is_same else "; it is NOT judged as the whole is: send the whole log"
    long = (
        f"; longer than an issue can be ({LONGEST:,} characters): attach it as a file"
        if count_utf16_units(made.text) > LONGEST
        else ""
    )
    print_message(f"{made.lines} of {made.of} lines{note}{long}")
