"""`postmortem analyze PATH...`."""

import gc
from contextlib import closing
from pathlib import Path

import click

from postmortem.api import analyze
from postmortem.cli.delivery import check_output, deliver, form_for, refuse_overwriting
from postmortem.cli.options import SOURCE, check_sources, report_options
from postmortem.cli.progress_line import ProgressLine
from postmortem.cli.say import tell
from postmortem.pipeline import machine_for


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
@report_options
def command(
    paths: tuple[str, ...],
    env_files: tuple[str, ...],
    *,
    exit_code: bool,
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
    machine_for(patterns)
    gc.freeze()  # the rules stay: the collector need not go through them again and again
    with closing(ProgressLine()) as progress:
        report = analyze(
            list(paths), env=env_files, patterns=patterns, progress=progress
        ).in_language(language)
    refuse_overwriting(output, (source.path for source in report.diagnosis.sources))
    deliver(
        report,
        form=form_for(form, output, open_=open_),
        output=output,
        redact=redact,
        full=full,
        open_=open_,
    )
    if summary := progress.summary(report, len(machine_for(patterns).knowledge.by_id)):
        tell(summary)
    if exit_code and not any(source.lines for source in report.diagnosis.sources):
        tell("there is nothing to judge: all files are empty; pass the file that holds the output")
        return 2
    return 1 if exit_code and report.is_alarming else 0
