"""`postmortem run -- COMMAND...`."""

import tempfile
from pathlib import Path

import click

from postmortem.cli.options import deliver, form_for, report_options
from postmortem.library import analyze
from postmortem.machine.dump import dump_for
from postmortem.machine.launch import launch


@click.command("run", context_settings={"ignore_unknown_options": True})
@click.argument("command_line", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option("--log", "log", type=click.Path(path_type=Path, dir_okay=False), help="Keep the command's output in this file.")
@report_options
def command(
    command_line: tuple[str, ...], *, log: Path | None, form: str | None, output: Path | None, language: str, open_: bool, redact: bool | None, patterns: tuple[Path, ...],
) -> int:
    """Run COMMAND, pass its output through, and analyse it if it fails.

    The exit status is the command's own (128 + n for signal n). The report goes to standard error.
    """
    with tempfile.TemporaryDirectory(prefix="postmortem-") as folder:
        kept = log or Path(folder) / "run.log"
        done = launch(command_line, kept)
        if done.status == 0:
            return 0
        dump = Path(folder) / "environment.txt"
        dump.write_text(dump_for(command_line), encoding="utf-8")
        facts = {"env_exit_status": str(done.status)} | ({"env_signal": done.signal} if done.signal else {})
        click.echo(f"\npostmortem: the command ended with {done.signal or f'exit status {done.status}'}; reading its output", err=True)
        report = analyze(kept, env=[dump], language=language, patterns=patterns, facts=facts)
        deliver(report, form=form_for(form, output, open_=open_), output=output, redact=redact, open_=open_, to_stderr=True)
    return done.status
