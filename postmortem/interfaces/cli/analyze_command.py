"""`postmortem analyze PATH...`."""

import gc
from contextlib import closing
from pathlib import Path
from typing import Final

import click

from postmortem.api import Report, analyze
from postmortem.core.host.streams import count_cores
from postmortem.core.names import SHIPPED
from postmortem.interfaces.cli.messages import print_message
from postmortem.interfaces.cli.options import (
    ENVIRONMENT,
    FOLDER,
    SOURCE,
    TRUST,
    add_model_options,
    check_standard_input,
    report_options,
)
from postmortem.interfaces.cli.report_output import (
    ProgressLine,
    check_not_overwriting,
    check_output,
    choose_format,
    write_report,
)
from postmortem.pipeline import get_matcher, open_model
from postmortem.report.display import detect_input_type
from postmortem.report.words import Words

_MOST_NAMED: Final = 3


@click.command("analyze")
@click.argument("paths", nargs=-1, required=True, type=SOURCE, metavar="PATH...")
@ENVIRONMENT
@click.option(
    "--exit-code",
    is_flag=True,
    help="Exit with 1 if the run failed or stalled, or anything but health is found.",
)
@click.option(
    "--attempt",
    type=click.IntRange(min=1),
    metavar="N",
    help="Judge attempt N of a log that holds several (default: the last).",
)
@add_model_options
@click.option(
    "--replay",
    "capsule",
    type=FOLDER,
    help="A capsule of the run's steps: they are run again, and what that shows is evidence.",
)
@TRUST
@report_options
def command(
    paths: tuple[str, ...],
    env_files: tuple[str, ...],
    *,
    exit_code: bool,
    attempt: int | None,
    model: Path | None,
    capsule: Path | None,
    trust_code: bool,
    form: str | None,
    output: Path | None,
    language: str,
    full: bool,
    open_: bool,
    redact: bool | None,
    patterns: tuple[Path, ...],
) -> int:
    """Name the cause of a failed training run from its log.

    All PATHs are one job: files (also .gz .bz2 .xz .zst), folders, or - for standard input.
    """
    check_output(output, form, open_=open_)
    check_standard_input(*paths, *env_files)
    _get_ready(model, patterns)
    with closing(ProgressLine()) as progress:
        report = analyze(
            list(paths),
            env=env_files,
            patterns=patterns,
            model=model or SHIPPED,
            progress=progress,
            replay=capsule,
            trust_code=trust_code,
            workers=count_cores(),
            attempt=attempt,
        ).in_language(language)
    check_not_overwriting(output, (source.path for source in report.diagnosis.sources))
    form = choose_format(form, output, open_=open_)
    write_report(report, form=form, output=output, redact=redact, full=full, open_=open_)
    if summary := progress.summary(report, len(get_matcher(patterns).knowledge.by_id)):
        print_message(summary)
    return _compute_exit_status(report, exit_code=exit_code)


def _get_ready(model: Path | None, patterns: tuple[Path, ...]) -> None:
    """Load rules and model."""
    _warn_of_unknown_model_causes(model, patterns)
    gc.freeze()  # the rules stay: the collector need not go through them again and again


def _warn_of_unknown_model_causes(model: Path | None, patterns: tuple[Path, ...]) -> None:
    """Say which causes a model was taught that no rule has a page of: it cannot name them."""
    chosen, known = open_model(model or SHIPPED), get_matcher(patterns).knowledge.causes
    untold = sorted(chosen.own.difference(known)) if chosen is not None else []
    if untold:
        named = ", ".join(untold[:_MOST_NAMED])
        print_message(
            f"the model was taught {named}, of which there is no page here: name its --patterns"
        )


def _compute_exit_status(report: Report, *, exit_code: bool) -> int:
    """Compute the exit status, and print why nothing could be judged."""
    kind = detect_input_type(report.diagnosis)
    if kind:
        words = Words("en")
        named = ", ".join(source.path for source in report.diagnosis.sources[:_MOST_NAMED])
        message = words(f"input.{kind}.says", name=report.diagnosis.sources[0].path)
        title = words(f"input.{kind}", count=len(report.diagnosis.sources))
        print_message(f"not a training log: {title} ({named}); {message}")
        return 2
    return int(exit_code and report.is_alarming)
