"""`postmortem run -- COMMAND...`."""

import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import click

from postmortem.core.errors import UsageError
from postmortem.core.host.files import KeptLog
from postmortem.core.host.launching import Done, run_command
from postmortem.core.host.signals import Signals
from postmortem.interfaces.cli.failure_analysis import AnalysisOptions, run_analysis_process
from postmortem.interfaces.cli.messages import note, print_message
from postmortem.interfaces.cli.options import OUTPUT, report_options
from postmortem.interfaces.cli.report_output import check_output, choose_format
from postmortem.rules.base import load


@click.command("run", context_settings={"ignore_unknown_options": True})
@click.argument(
    "command_line", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND..."
)
@click.option(
    "--log",
    "log",
    type=OUTPUT,
    help=(
        "Keep the command's output in this new file (default: kept only if it fails, in"
        " postmortem-run-<time>.log)."
    ),
)
@report_options
@click.pass_obj
def command(
    held: ExitStack,
    command_line: tuple[str, ...],
    *,
    log: Path | None,
    form: str | None,
    output: Path | None,
    language: str,
    full: bool,
    open_: bool,
    redact: bool | None,
    patterns: tuple[Path, ...],
) -> int:
    """Run COMMAND, pass its output through, and analyse it if it fails.

    The exit status is the command's own (128 + n for signal n). The report goes to standard error.
    """
    check_output(output, form, open_=open_)
    if patterns:
        load(patterns)  # a wrong folder is found before hours of training, not after
    kept = _open_log(log, output)
    wanted = AnalysisOptions(
        choose_format(form, output, open_=open_), output, language, full, open_, redact, patterns
    )
    signals = Signals()
    held.callback(signals.close)
    try:
        done = run_command(command_line, kept, signals)
    except UsageError:
        kept.close()
        if log is None:
            kept.remove()  # nothing has been run, so it is empty
        raise
    try:
        _finish_run(done, kept, command_line, wanted, signals, is_requested=log is not None)
    except Exception as error:  # noqa: BLE001 -- the exit status is the command's own, whatever becomes of the report
        print_message(f"the report failed: {type(error).__name__}: {error}")
    return done.status


def _finish_run(
    done: Done,
    kept: KeptLog,
    command_line: tuple[str, ...],
    wanted: AnalysisOptions,
    signals: Signals,
    *,
    is_requested: bool,
) -> None:
    """Say what was not passed on or kept, delete a log that nobody wants, analyse what failed."""
    kept.close()
    problems = [problem for problem in (*done.problems, kept.problem()) if problem]
    if done.status == 0 and not problems:
        if not is_requested:
            kept.remove()
        return
    _print_outcome(done, kept, problems)
    if not done.status or not kept.paths:
        return
    if signals.unheard.is_set():
        print_message(
            f"a signal came: the analysis is left out; postmortem analyze {kept.paths[0]} does it"
        )
        return
    problem = run_analysis_process(
        kept.paths, command_line, _collect_exit_facts(done), wanted, signals
    )
    if problem:
        print_message(problem)


def _print_outcome(done: Done, kept: KeptLog, problems: Sequence[str]) -> None:
    note("\n")  # the command may have ended within a line
    for problem in problems:
        print_message(problem)
    where = (
        f"its output is kept in {kept.paths[0]}"
        if kept.paths
        else "none of its output could be kept"
    )
    print_message(f"the command ended with {done.signal or f'exit status {done.status}'}; {where}")


def _open_log(log: Path | None, output: Path | None) -> KeptLog:
    """Choose where the output goes: never over a file that is there."""
    if log is None:
        return _create_log()
    if log.exists() and (not log.is_file() or log.stat().st_size):
        raise UsageError(
            "the log is there already", log, "choose a new file with --log, or remove it"
        )
    if output is not None and output.resolve() == log.resolve():
        raise UsageError(
            "the report would overwrite the log", output, "choose another file with -o"
        )
    try:
        return KeptLog(log)
    except OSError as error:
        raise UsageError(
            f"the log cannot be written: {error.strerror}", log, "choose another file with --log"
        ) from error


def _create_log() -> KeptLog:
    """Make a log in this folder, else among the temporary files.

    A command runs even where neither takes one.
    """
    name = f"postmortem-run-{time.strftime('%Y%m%d-%H%M%S')}-"
    for folder in (Path.cwd, tempfile.gettempdir):
        with suppress(OSError):
            handle, path = tempfile.mkstemp(prefix=name, suffix=".log", dir=folder())
            os.close(handle)
            return KeptLog(Path(path))
    return KeptLog(None)


def _collect_exit_facts(done: Done) -> dict[str, str]:
    return {"env_exit_status": str(done.status)} | (
        {"env_signal": done.signal} if done.signal else {}
    )
