"""`postmortem watch PATH...`."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import click

from postmortem.core.diagnosis import Ended, Noted, Warned, WatchEvent
from postmortem.core.errors import UsageError
from postmortem.interfaces.cli import messages as say
from postmortem.interfaces.cli.messages import note, show
from postmortem.interfaces.cli.options import LANGUAGE, PATTERNS, REDACT, SOURCE
from postmortem.interfaces.watch import alerts
from postmortem.interfaces.watch.alerts import Address
from postmortem.interfaces.watch.watcher import Settings, Watcher
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.watch_events import FORMS, EventFormatter, serialize_event, serialize_events


@click.command("watch")
@click.argument("paths", nargs=-1, required=True, type=SOURCE, metavar="PATH...")
@click.option(
    "--interval",
    type=float,
    default=2.0,
    show_default=True,
    help="Seconds between two looks at the log.",
)
@click.option(
    "--stall",
    type=float,
    default=None,
    help=(
        "Seconds of silence that are too many, 0 for any (default: by the run's own pace, at least"
        " 480; 3600 before that is known)."
    ),
)
@click.option(
    "--until-warning",
    is_flag=True,
    help="Stop at the first warning (default: go on until the run is over).",
)
@click.option(
    "--once", is_flag=True, help="Judge what is in the log now, as far as it goes, and stop."
)
@click.option(
    "--exec",
    "command_text",
    metavar="COMMAND",
    help=(
        "Run this at each warning and when the run has failed; the event is on its standard input"
        " as JSON, and in POSTMORTEM_* variables. No shell."
    ),
)
@click.option(
    "--webhook",
    metavar="URL",
    help="Post each warning, and the news that the run has failed, to this address as JSON.",
)
@click.option(
    "--webhook-link-local",
    is_flag=True,
    help="Let the webhook lead to a link-local address (169.254.0.0/16, fe80::/10).",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    default="terminal",
    show_default=True,
    help=(
        "Format of what is written to standard output: jsonl as it comes, json when the watch ends."
    ),
)
@LANGUAGE
@REDACT
@PATTERNS
def command(
    paths: tuple[str, ...],
    *,
    interval: float,
    stall: float | None,
    until_warning: bool,
    once: bool,
    command_text: str | None,
    webhook: str | None,
    webhook_link_local: bool,
    form: str,
    language: str,
    redact: bool | None,
    patterns: tuple[Path, ...],
) -> int:
    """Follow the log of a running job and warn before the job itself stops.

    All PATHs are one job: files that may not be there yet, grow, are emptied or replaced, or
    folders. Each kind of warning is told once. Exit status: 0 no warning, 1 a warning or a failed
    run, 2 the log cannot be watched.
    """
    words = alerts.split_command_line(command_text) if command_text is not None else []
    address = None
    if webhook is not None:
        address = Address(webhook, allows_link_local=webhook_link_local)
    settings = Settings(interval, stall, once, until_warning, patterns)
    watcher = Watcher(paths, settings, time.time, time.sleep)
    is_redacted = form != "terminal" if redact is None else redact
    out = _Output(
        EventFormatter(paths, language, Redactor() if is_redacted else None),
        form,
        is_alone=not words and address is None,
    )
    abroad = _Recipients(
        EventFormatter(paths, language, None if redact is False else Redactor()), words, address
    )
    last = _follow_events(watcher, out, abroad)
    out.close()
    return int(last is not None and last.is_bad)


def _follow_events(watcher: Watcher, out: "_Output", abroad: "_Recipients") -> Ended | None:
    """Write and send each event as it comes; return the end of the watch."""
    last: Ended | None = None
    try:
        for event in watcher.iter_events():
            out.write(event)
            last = event if isinstance(event, Ended) else None
            if isinstance(event, Warned) or (isinstance(event, Ended) and event.how == "failed"):
                abroad.notify(event)
            if out.is_over:
                return last or watcher.build_end("interrupted")
    except KeyboardInterrupt:
        last = watcher.build_end("interrupted")
        out.write(last)
    return last


class _Output:
    """Standard output in the chosen form; notes go to standard error."""

    def __init__(self, teller: EventFormatter, form: str, *, is_alone: bool) -> None:
        """Choose the form; `is_alone`: no other recipient, so an unread watch ends."""
        self._teller, self._form, self._is_alone = teller, form, is_alone
        self._has_reader = True
        self._events: list[dict[str, Any]] = []
        self._has_color = (
            form == "terminal" and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        )

    @property
    def is_over(self) -> bool:
        """Whether nobody receives the events any more."""
        return self._is_alone and not self._has_reader

    def write(self, event: WatchEvent) -> None:
        """Write an event as it comes."""
        if self._form == "jsonl":
            self._show(serialize_event(self._teller.wire(event)))
        elif self._form == "json":
            self._events.append(self._teller.wire(event))
        elif isinstance(event, Noted):
            note(f"postmortem: {self._teller.line(event)}\n")
        else:
            self._show(self._teller.terminal(event, color=self._has_color) + "\n")

    def close(self) -> None:
        """Write what was held back."""
        if self._form == "json":
            self._show(serialize_events(self._events))

    def _show(self, text: str) -> None:
        """Write to standard output; if that fails, other recipients still get the event."""
        try:
            self._has_reader = self._has_reader and show(text)
        except UsageError as error:
            if self._is_alone:
                raise
            say.print_message(str(error))
            self._has_reader = False


class _Recipients:
    """Other recipients of warnings: a command of the user's, a web address."""

    def __init__(self, teller: EventFormatter, words: list[str], address: Address | None) -> None:
        """Take the command, split into words, and the address; either may be missing."""
        self._teller, self._words, self._address = teller, words, address

    def notify(self, event: Warned | Ended) -> None:
        """Tell others; what goes wrong with it is said and no more."""
        values = self._teller.wire(event)
        text = serialize_event(values)
        if self._words and (
            problem := alerts.run(self._words, text, _build_event_variables(values))
        ):
            say.print_message(problem)
        if self._address is not None and (problem := alerts.post(self._address, text, time.sleep)):
            say.print_message(f"the webhook was not told: {problem}")


def _build_event_variables(values: dict[str, Any]) -> dict[str, str]:
    """Build the environment variables that describe an event to a command."""
    variables = {
        "EVENT": values["event"],
        "KIND": values["kind"],
        "TEXT": values["text"],
        "PATH": values.get("path"),
        "STEP": values.get("step"),
        "LINE": values.get("line"),
        "CHECKPOINT": values.get("checkpoint"),
    }
    return {
        f"POSTMORTEM_{name}": (
            f"{value:g}" if isinstance(value, float) else str(value).replace("\0", "")
        )
        for name, value in variables.items()
        if value is not None
    }
