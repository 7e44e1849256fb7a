"""`postmortem compare GOOD BAD`."""

from pathlib import Path

import click

from postmortem.core.errors import UsageError
from postmortem.core.names import LANGUAGES
from postmortem.interfaces.cli.options import OUTPUT, PATTERNS, SOURCE, check_sources
from postmortem.interfaces.cli.report_output import (
    check_not_overwriting,
    check_output,
    choose_format,
    write,
)
from postmortem.interfaces.compare import compare_runs
from postmortem.report.side_by_side import FORMS, render


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
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    default=None,
    help="Format of the comparison (default: by the suffix of the file, else terminal).",
)
@click.option("-o", "--output", type=OUTPUT, help="Write it to a file.")
@click.option(
    "--lang",
    "language",
    type=click.Choice(LANGUAGES),
    default="en",
    show_default=True,
    help="Language of the comparison.",
)
@click.option(
    "--redact/--no-redact",
    default=None,
    help="Replace secrets, host and user names (default: in every format but terminal).",
)
@PATTERNS
def command(
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
    check_output(output, form, open_=False)
    form = _choose_comparison_format(form, output)
    check_sources(good, bad, *good_env, *bad_env)
    check_not_overwriting(output, (good, bad, *good_env, *bad_env))
    found = compare_runs([good], [bad], good_env=good_env, bad_env=bad_env, patterns=patterns)
    is_hiding = form != "terminal" if redact is None else redact
    text = render(found, form, language=language, redact=is_hiding)
    write(text, output, "comparison")


def _choose_comparison_format(name: str | None, output: Path | None) -> str:
    """Choose the format; a report has some that a comparison has not."""
    form = choose_format(name, output, open_=False)
    if form not in FORMS:
        raise UsageError(
            f"a comparison is not written as {form}", output, f"choose one of {', '.join(FORMS)}"
        )
    return form
