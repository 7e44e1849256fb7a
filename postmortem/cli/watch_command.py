"""`postmortem watch PATH...`."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from postmortem.model.watching import Ended, Event, Noted, Warned
from postmortem.names import LANGUAGES
from postmortem.reading.redaction import Redactor
from postmortem.report.watching import FORMS, Teller, document, jsonl
from postmortem.watch import tell
from postmortem.watch.watcher import Settings, Watcher


@click.command("watch")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--interval", type=float, default=2.0, show_default=True, help="Seconds between two looks at the log.")
@click.option("--stall", type=float, default=None, help="Seconds of silence that are too many, 0 for any (default: by the run's own pace, at least 480; 3600 before that is known).")
@click.option("--until-warning", is_flag=True, help="Stop at the first warning (default: go on until the run is over).")
@click.option("--once", is_flag=True, help="Judge what is in the log now, as far as it goes, and stop.")
@click.option("--exec", "command_text", metavar="COMMAND", help="Run this at each warning and when the run has failed; the event is on its standard input as JSON, and in POSTMORTEM_* variables. No shell.")
@click.option("--webhook", metavar="URL", help="Post each warning, and the news that the run has failed, to this address as JSON.")
@click.option("--format", "form", type=click.Choice(FORMS), default="terminal", show_default=True, help="Format of what is written to standard output: jsonl as it comes, json when the watch ends.")
@click.option("--lang", "language", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of the warnings.")
@click.option("--redact/--no-redact", default=None, help="Replace secrets, host and user names (default: in all but the terminal).")
@click.option("--patterns", "patterns", multiple=True, type=click.Path(path_type=Path), envvar="POSTMORTEM_PATTERNS", help="A further folder of rules.")
def command(
    paths: tuple[str, ...], *, interval: float, stall: float | None, until_warning: bool, once: bool, command_text: str | None, webhook: str | None, form: str, language: str, redact: bool | None,
    patterns: tuple[Path, ...],
) -> int:
    """Follow the log of a running job and warn before the job itself stops.

    All PATHs are one job: files that may not be there yet, grow, are emptied or replaced, or folders. Each kind of warning is told once.
    Exit status: 0 no warning, 1 a warning or a failed run, 2 the log cannot be watched.
    """
    words = tell.command_line(command_text) if command_text is not None else []
    url = tell.checked_url(webhook) if webhook is not None else ""
    watcher = Watcher(paths, Settings(interval, stall, once, until_warning, language, patterns), time.time, time.sleep)
    out = _Output(Teller(paths, language, Redactor() if (form != "terminal" if redact is None else redact) else None), form)
    abroad = Teller(paths, language, None if redact is False else Redactor())
    last: Ended | None = None
    try:
        for event in watcher.events():
            out.write(event)
            last = event if isinstance(event, Ended) else None
            if isinstance(event, Warned) or (isinstance(event, Ended) and event.how == "failed"):
                _tell(abroad.wire(event), words, url)
    except KeyboardInterrupt:
        last = watcher.ended("interrupted")
        out.write(last)
    out.close()
    return int(last is not None and last.is_bad)


class _Output:
    """Standard output in the chosen form; notes go to standard error."""

    def __init__(self, teller: Teller, form: str) -> None:
        self._teller, self._form = teller, form
        self._events: list[dict[str, Any]] = []
        self._has_color = form == "terminal" and sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def write(self, event: Event) -> None:
        """Write an event as it comes."""
        if self._form == "jsonl":
            click.echo(jsonl(self._teller.wire(event)), nl=False)
        elif self._form == "json":
            self._events.append(self._teller.wire(event))
        elif isinstance(event, Noted):
            click.echo(f"postmortem: {self._teller.line(event)}", err=True)
        else:
            click.echo(self._teller.terminal(event, color=self._has_color), color=self._has_color or None)
        with suppress(OSError):
            sys.stdout.flush()

    def close(self) -> None:
        """Write what was held back."""
        if self._form == "json":
            click.echo(document(self._events), nl=False)


def _tell(values: dict[str, Any], words: list[str], url: str) -> None:
    """Tell others; what goes wrong with it is said and no more."""
    text = jsonl(values)
    if words:
        told = {"EVENT": values["event"], "KIND": values["kind"], "TEXT": values["text"], "PATH": values.get("path"), "STEP": values.get("step"), "LINE": values.get("line"), "CHECKPOINT": values.get("checkpoint")}
        variables = {f"POSTMORTEM_{name}": f"{value:g}" if isinstance(value, float) else str(value).replace("\0", "") for name, value in told.items() if value is not None}
        if problem := tell.run(words, text, variables):
            click.echo(f"postmortem: {problem}", err=True)
    if url and (problem := tell.post(url, text, time.sleep)):
        click.echo(f"postmortem: the webhook was not told: {problem}", err=True)
