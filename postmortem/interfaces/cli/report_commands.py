"""`postmortem render`, `compare`, `share`, `env`: what else can be written of a run.

In: a stored analysis, two runs, a log, this machine. Out: a report, a comparison, the shortest
excerpt with the same verdict, an environment dump. Not here: the work (`interfaces.compare`,
`interfaces.share`, `core.host.dump`).
"""

import functools
from pathlib import Path

import click

from postmortem.core.host.dump import Dump, build_environment_dump, dump_for
from postmortem.interfaces.cli.job_or_analysis import load_stored_report
from postmortem.interfaces.cli.messages import print_message
from postmortem.interfaces.cli.options import (
    ENVIRONMENT,
    LANGUAGE,
    PATTERNS,
    REDACT_ALWAYS,
    SOURCE,
    WRITE_TO,
    add_format_options,
    add_output_options,
    check_sources,
)
from postmortem.interfaces.cli.report_output import (
    check_not_overwriting,
    check_output,
    choose_format,
    choose_format_among,
    require_folder,
    write,
    write_report,
)
from postmortem.interfaces.compare import compare_runs
from postmortem.interfaces.share import build_minimal_excerpt
from postmortem.report.markdown_text import LONGEST, count_utf16_units
from postmortem.report.sharing import IssueText
from postmortem.report.side_by_side import FORMS, render


@click.command("render")
@click.argument("path", type=SOURCE, metavar="ANALYSIS.json")
@add_format_options
def render_command(
    path: str,
    *,
    form: str | None,
    output: Path | None,
    language: str,
    full: bool,
    open_: bool,
    redact: bool | None,
) -> None:
    """Render an analysis that `analyze --format analysis` has written; the log is not needed.

    ANALYSIS.json may be compressed, or - for standard input.
    """
    check_output(output, form, open_=open_)
    check_not_overwriting(output, [path])
    write_report(
        load_stored_report(path).in_language(language),
        form=choose_format(form, output, open_=open_),
        output=output,
        redact=redact,
        full=full,
        open_=open_,
    )


@click.command("compare")
@click.argument("good", type=SOURCE)
@click.argument("bad", type=SOURCE)
@click.option(
    "--good-env",
    multiple=True,
    type=SOURCE,
    help="An environment dump of the good run that is not in its log.",
)
@click.option("--bad-env", multiple=True, type=SOURCE, help="An environment dump of the bad run.")
@add_output_options(FORMS)
@PATTERNS
def compare_command(
    good: str,
    bad: str,
    good_env: tuple[str, ...],
    bad_env: tuple[str, ...],
    *,
    form: str | None,
    output: Path | None,
    language: str,
    redact: bool | None,
    patterns: tuple[Path, ...],
) -> None:
    """Show what differs between a run that went well and one that did not.

    Settings, environment, curves, lines.

    GOOD and BAD are each a file or a folder.
    """
    form = choose_format_among(FORMS, form, output, "comparison")
    check_sources(good, bad, *good_env, *bad_env)
    check_not_overwriting(output, (good, bad, *good_env, *bad_env))
    found = compare_runs([good], [bad], good_env=good_env, bad_env=bad_env, patterns=patterns)
    is_hiding = form != "terminal" if redact is None else redact
    text = render(found, form, language=language, redact=is_hiding)
    write(text, output, "comparison")


@click.command(
    "share",
    help=(
        "Write the smallest redacted part of a log that still tells the same, with the verdict, to"
        " paste into an issue."
    ),
)
@click.argument("paths", nargs=-1, required=True, type=SOURCE, metavar="PATH...")
@ENVIRONMENT
@WRITE_TO
@LANGUAGE
@REDACT_ALWAYS
@click.option(
    "--prompt",
    is_flag=True,
    help="Put the question for a language model above the lines: check, contradict, fix.",
)
@PATTERNS
def share_command(
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


@click.command("env")
@WRITE_TO
@click.option(
    "--python",
    "python",
    metavar="PYTHON",
    help="The training's interpreter, if it is not the one this program runs in.",
)
def env_command(output: Path | None, python: str | None) -> None:
    """Write what decides between causes: GPUs, driver, versions, limits.

    No secrets, no network, no import of torch.
    """
    dump = dump_for([python]) if python else Dump(build_environment_dump())
    if dump.problem:
        print_message(dump.problem)
    write(dump.text, output, "dump")
