"""`postmortem analyze PATH...`."""

import gc
from contextlib import closing
from pathlib import Path
from typing import Final

import click

from postmortem.api import Report, analyze
from postmortem.cli.delivery import check_output, deliver, form_for, refuse_overwriting
from postmortem.cli.options import (
    FOLDER,
    SOURCE,
    TRUST,
    check_sources,
    model_options,
    report_options,
)
from postmortem.cli.progress_line import ProgressLine
from postmortem.cli.say import tell
from postmortem.host.usable_cores import core_count
from postmortem.names import SHIPPED
from postmortem.pipeline import machine_for, model_for
from postmortem.report.for_people import input_kind
from postmortem.report.words import Words

_TOLD: Final = 3


@click.command("analyze")
@click.argument("paths", nargs=-1, required=True, type=SOURCE, metavar="PATH...")
@click.option(
    "--env",
    "env_files",
    multiple=True,
    type=SOURCE,
    help=(
        "An environment dump that is not in the log (collect_env, nvidia-smi, pip list, postmortem"
        " env)."
    ),
)
@click.option(
    "--exit-code",
    is_flag=True,
    help="Exit with 1 if the run failed or stalled, or anything but health is found.",
)
@model_options
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
    check_sources(*paths, *env_files)
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
            workers=core_count(),
        ).in_language(language)
    refuse_overwriting(output, (source.path for source in report.diagnosis.sources))
    form = form_for(form, output, open_=open_)
    deliver(report, form=form, output=output, redact=redact, full=full, open_=open_)
    if summary := progress.summary(report, len(machine_for(patterns).knowledge.by_id)):
        tell(summary)
    return _status(report, exit_code=exit_code)


def _get_ready(model: Path | None, patterns: tuple[Path, ...]) -> None:
    """Load rules and model."""
    _tell_untold(model, patterns)
    gc.freeze()  # the rules stay: the collector need not go through them again and again


def _tell_untold(model: Path | None, patterns: tuple[Path, ...]) -> None:
    """Say which causes a model was taught that no rule has a page of: it cannot name them."""
    chosen, known = model_for(model or SHIPPED), machine_for(patterns).knowledge.causes
    untold = sorted(chosen.own.difference(known)) if chosen is not None else []
    if untold:
        named = ", ".join(untold[:_TOLD])
        tell(f"the model was taught {named}, of which there is no page here: name its --patterns")


def _status(report: Report, *, exit_code: bool) -> int:
    """Give the exit status that tells what was found, and say why nothing could be judged."""
    kind = input_kind(report.diagnosis)
    if kind:
        words = Words("en")
        named = ", ".join(one.path for one in report.diagnosis.sources[:_TOLD])
        says = words(f"input.{kind}.says", name=report.diagnosis.sources[0].path)
        title = words(f"input.{kind}", count=len(report.diagnosis.sources))
        tell(f"not a training log: {title} ({named}); {says}")
        return 2
    return int(exit_code and report.is_alarming)
