"""`postmortem run -- COMMAND...`."""

import os
import tempfile
import time
from pathlib import Path

import click

from postmortem.cli.options import check_output, deliver, form_for, report_options
from postmortem.cli.say import tell
from postmortem.errors import PostmortemError, UsageError
from postmortem.knowledge.base import load
from postmortem.library import analyze
from postmortem.machine.dump import dump_for
from postmortem.machine.launch import Done, launch


@click.command("run", context_settings={"ignore_unknown_options": True})
@click.argument("command_line", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option("--log", "log", type=click.Path(path_type=Path, dir_okay=False), help="Keep the command's output in this new file (default: kept only if it fails, in postmortem-run-<time>.log).")
@report_options
def command(
    command_line: tuple[str, ...], *, log: Path | None, form: str | None, output: Path | None, language: str, full: bool, open_: bool, redact: bool | None, patterns: tuple[Path, ...],
) -> int:
    """Run COMMAND, pass its output through, and analyse it if it fails.

    The exit status is the command's own (128 + n for signal n). The report goes to standard error.
    """
    check_output(output, form, open_=open_)
    load(patterns)      # a wrong folder is found before hours of training, not after
    kept = _log_file(log)
    done = None
    try:
        done = launch(command_line, kept)
    finally:
        if log is None and (done is None or done.status == 0):
            kept.unlink()
    if done.status == 0:
        return 0
    click.echo("", err=True)     # the command may have ended within a line
    tell(f"the command ended with {done.signal or f'exit status {done.status}'}; its output is kept in {kept}")
    try:
        with tempfile.TemporaryDirectory(prefix="postmortem-") as folder:
            dump = Path(folder) / "environment.txt"
            dump.write_text(dump_for(command_line), encoding="utf-8")
            report = analyze(kept, env=[dump], language=language, patterns=patterns, facts=_facts(done))
        deliver(report, form=form_for(form, output, open_=open_), output=output, redact=redact, full=full, open_=open_, to_stderr=True)
    except PostmortemError as error:    # the exit status is the command's own, whatever becomes of the report
        tell(str(error))
    return done.status


def _log_file(log: Path | None) -> Path:
    """Choose where the output goes: never over a file that is there."""
    if log is not None:
        if log.exists() and log.stat().st_size:
            raise UsageError("the log is there already", log, "choose a new file with --log, or remove it")
        return log
    name = f"postmortem-run-{time.strftime('%Y%m%d-%H%M%S')}"
    try:
        handle, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".log", dir=Path.cwd())
    except OSError:
        handle, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".log")
    os.close(handle)
    return Path(path)


def _facts(done: Done) -> dict[str, str]:
    return {"env_exit_status": str(done.status)} | ({"env_signal": done.signal} if done.signal else {})
