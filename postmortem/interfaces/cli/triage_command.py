"""`postmortem triage PATH... --out DIR`.

In: options. Out: the folder of results; on standard error the progress (work done, speed, time
left): one line that is drawn again on a terminal, a line now and then elsewhere. Not here: counting
(`fleet.judging_jobs`).
"""

import os
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from postmortem.core.errors import MissingExtra, UsageError, install_hint
from postmortem.core.host.streams import count_cores
from postmortem.core.names import SHIPPED, WITHOUT
from postmortem.interfaces.cli.messages import StatusLine, print_message, show
from postmortem.interfaces.cli.options import (
    FOLDER,
    LANGUAGE,
    PATTERNS,
    add_limit_options,
    add_model_options,
)
from postmortem.report.terminal.summary_tables import render_triage_text

_ON_TERMINAL, _ELSEWHERE = 0.2, 30.0
_HOUR, _MINUTE = 3600, 60
_EACH: Final = 300_000
"""Bytes that are read in the time that a job costs beside its reading."""
_STAGES: Final = {
    "finding": "finding jobs",
    "reading": "reading",
    "judging": "judging",
    "reports": "writing reports",
}


class TriageProgress(StatusLine):
    """Call it with what is done; `close` wipes the drawn line."""

    def __init__(self) -> None:
        """Start the clock."""
        super().__init__()
        self._start = self._last_report = time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        self._stage = ""

    def __call__(self, stage: str, done: int, tasks: int, size: int, whole: int) -> None:
        """Tell how far a stage is: tasks and bytes, done and in all."""
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._start, self._last_report = stage, now, now
        if now - self._last_report < (_ON_TERMINAL if self._is_terminal else _ELSEWHERE):
            return
        self._last_report = now
        text = format_progress_line(
            _STAGES.get(stage, stage), done, tasks, size, whole, now - self._start
        )
        if self._is_terminal:
            self.draw(text)
        else:
            print_message(text)


def format_progress_line(
    stage: str, done: int, tasks: int, size: int, whole: int, seconds: float
) -> str:
    """Format the progress; the remaining time is estimated from bytes plus a share for each job."""
    text = f"{stage}: {done:,} of {tasks:,}"
    if seconds <= 0 or not done:
        return text
    text += f", {done / seconds:,.1f} jobs/s, {size / 1e6 / seconds:,.1f} MB/s"
    share = (size + done * _EACH) / (whole + tasks * _EACH)
    return f"{text}, {_format_duration(seconds * (1 / share - 1))} left" if share else text


def _format_duration(seconds: float) -> str:
    whole = round(seconds)
    if whole >= _HOUR:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE:02d} min"
    return f"{whole // _MINUTE} min {whole % _MINUTE:02d} s" if whole >= _MINUTE else f"{whole} s"


def _parse_shard(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> tuple[int, int] | None:
    """Read `2/8`."""
    if text is None:
        return None
    one, _, of = text.partition("/")
    if not (one.isdigit() and of.isdigit() and 1 <= int(one) <= int(of)):
        raise click.BadParameter(f"{text!r} is no part such as 2/8, counted from 1")
    return int(one), int(of)


def _parse_time_zone(
    _context: click.Context, _option: click.Parameter, name: str | None
) -> ZoneInfo | None:
    """Look a time zone up."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise click.BadParameter(
            f"no time zone {name!r} is known here; write it as Europe/Berlin, or UTC"
        ) from error


@click.command("triage")
@click.argument("places", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--out",
    "output",
    type=FOLDER,
    required=True,
    help="Folder for the overview, the results and the reports.",
)
@click.option(
    "--store",
    metavar="URL",
    help="A file for SQLite, or postgresql://…; default: triage.sqlite in the folder of --out.",
)
@click.option("--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True)
@click.option("--address", help="Of a Ray cluster; without it Ray runs on this machine.")
@click.option(
    "--shard",
    callback=_parse_shard,
    metavar="I/N",
    help="Judge one of N parts only, into a store that all parts share; no page is written.",
)
@click.option("--jobs", "scheduler", type=FOLDER, help="sacct --json, sacct -P, CSV or JSONL.")
@click.option(
    "--zone",
    callback=_parse_time_zone,
    metavar="NAME",
    help="Zone of the times in --jobs that name none, as Europe/Berlin; default: this machine's.",
)
@click.option(
    "--reports",
    type=click.Choice(["groups", "all", "none"]),
    default="groups",
    show_default=True,
    help="Jobs that get a page of their own: one of each group, all, none.",
)
@add_limit_options("job", seconds=300.0, memory=4096, largest=(8.0, "GiB"))
@click.option(
    "--retry", "is_retried", is_flag=True, help="Judge again what could not be judged before."
)
@LANGUAGE
@add_model_options
@PATTERNS
def command(places: tuple[str, ...], **options: Any) -> int:
    """Judge many failed jobs, each content once, and say on one page what they died of.

    A PATH is a log, a folder of jobs, or a URL that fsspec opens. Killed and begun again, it goes
    on where it was.
    """
    try:
        from postmortem.fleet.full_triage import run_triage  # noqa: PLC0415 -- an extra
        from postmortem.fleet.judging_jobs import TriageConfig  # noqa: PLC0415 -- an extra
        from postmortem.fleet.worker_tasks import JobSettings  # noqa: PLC0415 -- an extra
    except ImportError as error:
        raise MissingExtra(f"triage needs {error.name}", "", install_hint("triage")) from error
    _make(options["output"])
    options["store"] = options["store"] or str(options["output"] / "triage.sqlite")
    options["workers"] = options["workers"] or count_cores()
    patterns = tuple(str(folder.resolve()) for folder in options.pop("patterns"))
    model, memory = _resolve_model(options.pop("model")), options.pop("memory")
    config = TriageConfig(places, settings=JobSettings(patterns, model, memory), **options)
    with closing(TriageProgress()) as progress:
        done = run_triage(config, progress)
    if done.value is not None:
        show(render_triage_text(done.value, language=options["language"]))
    for message in done.notes:
        print_message(message.text(options["language"]))
    return 0


def _make(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"the folder cannot be made: {error.strerror}", output, "name another with --out"
        ) from error


def _resolve_model(model: Path | str | None) -> str | None:
    """Give what a worker that stands in another folder opens."""
    named = os.environ.get("POSTMORTEM_MODEL", SHIPPED) if model is None else str(model)
    return None if named == WITHOUT else named and str(Path(named).resolve())
